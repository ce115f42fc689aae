package dev.tollgate.samples.schema;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import liquibase.Liquibase;
import liquibase.database.DatabaseFactory;
import liquibase.database.jvm.JdbcConnection;
import liquibase.exception.LiquibaseException;
import liquibase.resource.ClassLoaderResourceAccessor;

/**
 * An instance of an application. All instances start at the same time and bring the tables up to
 * date; one of them does it, and the others wait for it.
 */
public final class Shop {
  private Shop() {}

  /**
   * @param arguments the URL of the database
   */
  public static void main(String[] arguments) throws SQLException, LiquibaseException {
    String url = arguments[0];
    bringUpToDate(url);
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT COUNT(*) FROM customer")) {
      row.next();
      System.out.println("open for " + row.getInt(1) + " customers");
    }
  }

  /** The lock, the fence and the ledger of statements come with the jar of tollgate-liquibase. */
  static void bringUpToDate(String url) throws SQLException, LiquibaseException {
    Connection connection = DriverManager.getConnection(url);
    try (Liquibase liquibase =
        new Liquibase(
            "db/changelog.sql",
            new ClassLoaderResourceAccessor(),
            DatabaseFactory.getInstance()
                .findCorrectDatabaseImplementation(new JdbcConnection(connection)))) {
      liquibase.update("");
    }
  }
}
