package dev.tollgate.samples.hibernate;

import dev.tollgate.jdbc.TollgateDataSource;
import javax.sql.DataSource;
import org.hibernate.SessionFactory;
import org.hibernate.cfg.AvailableSettings;
import org.hibernate.cfg.Configuration;
import org.hibernate.tool.schema.Action;

/**
 * The schema of a library, made from its entities. Hibernate takes its dialect from the product
 * name, which is H2's.
 *
 * <p>Run it: {@code samples/tools/run.sh hibernate.Library}.
 */
public final class Library {
  private Library() {}

  /**
   * The configuration of the entities over this cluster; the caller decides what becomes of the
   * schema.
   *
   * @param cluster a data source; a pool would do as well. With nothing but a URL, Hibernate makes
   *     connections of its own and turns their autocommit off
   */
  public static Configuration over(DataSource cluster) {
    Configuration configuration =
        new Configuration().addAnnotatedClass(Author.class).addAnnotatedClass(Book.class);
    configuration.getProperties().put(AvailableSettings.JAKARTA_NON_JTA_DATASOURCE, cluster);
    return configuration;
  }

  /** Creates what the entities need and the schema lacks, then compares the two. */
  public static void migrate(DataSource cluster) {
    try (SessionFactory factory =
        over(cluster).setSchemaExportAction(Action.UPDATE).buildSessionFactory()) {
      factory.getSchemaManager().validateMappedObjects();
    }
  }

  /**
   * @param arguments the JDBC URL
   */
  public static void main(String[] arguments) {
    TollgateDataSource cluster = new TollgateDataSource();
    cluster.setUrl(arguments[0]);
    migrate(cluster);
    System.out.println("the schema fits the entities");
  }
}
