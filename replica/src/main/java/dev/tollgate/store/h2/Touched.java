package dev.tollgate.store.h2;

import static java.util.Objects.requireNonNull;

import dev.tollgate.h2.CatalogChanges;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.h2.engine.Database;
import org.h2.engine.DbObject;
import org.h2.schema.Domain;
import org.h2.schema.Schema;
import org.h2.schema.SchemaObject;
import org.h2.table.Table;
import org.h2.util.HasSQL;

/**
 * What a definition has touched, so that its follow-up takes time in proportion to the definition
 * and not to the schema.
 *
 * @param tables tables and views that exist, in order of their names
 * @param domains domains that exist, in order of their names
 * @param names full names, as H2 writes them into texts, of all that was touched, and what was
 *     removed or renamed had before
 * @param former those of {@code names} that objects had before
 * @param schemas true if a schema was touched
 */
public record Touched(
    List<Table> tables,
    List<Domain> domains,
    Set<String> names,
    Set<String> former,
    boolean schemas) {
  public static final Comparator<SchemaObject> BY_NAME =
      Comparator.<SchemaObject, String>comparing(object -> object.getSchema().getName())
          .thenComparing(DbObject::getName);

  public Touched {
    requireNonNull(tables, "tables");
    requireNonNull(domains, "domains");
    requireNonNull(names, "names");
    requireNonNull(former, "former");
  }

  /** All objects of a database. */
  static Touched everything(Database database) {
    List<DbObject> all = new ArrayList<>();
    for (Schema schema : database.getAllSchemasNoMeta()) {
      all.addAll(schema.getAllTablesAndViews(null));
      all.addAll(schema.getAllDomains());
    }
    return of(all, new LinkedHashSet<>());
  }

  /** All objects of a database. */
  public static Touched everything(H2Database database) {
    return everything(database.h2());
  }

  /** What was recorded until now. */
  public static Touched by(CatalogChanges changes) {
    return of(changes.touched(), changes.formerNames());
  }

  private static Touched of(Collection<DbObject> touched, Set<String> former) {
    List<Table> tables = new ArrayList<>();
    List<Domain> domains = new ArrayList<>();
    Set<String> names = new LinkedHashSet<>(former);
    boolean schemas = false;
    for (DbObject object : touched) {
      schemas |= object instanceof Schema;
      if (object instanceof SchemaObject part && exists(part)) {
        names.add(part.getSQL(HasSQL.DEFAULT_SQL_FLAGS));
        if (part instanceof Table table) {
          tables.add(table);
        } else if (part instanceof Domain domain) {
          domains.add(domain);
        }
      }
    }
    tables.sort(BY_NAME);
    domains.sort(BY_NAME);
    return new Touched(tables, domains, names, new LinkedHashSet<>(former), schemas);
  }

  /** False for what H2 has removed, by itself or with its schema. */
  @SuppressWarnings("ReferenceEquality") // H2 compares ids, and gives them again
  public static boolean exists(SchemaObject object) {
    if (!object.isValid() || !object.getSchema().isValid()) {
      return false;
    }
    String name = object.getName();
    if (object instanceof Table table) {
      return table.getSchema().findTableOrView(null, name) == table;
    }
    return !(object instanceof Domain domain) || domain.getSchema().findDomain(name) == domain;
  }
}
