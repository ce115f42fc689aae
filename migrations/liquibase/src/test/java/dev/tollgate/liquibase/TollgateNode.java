package dev.tollgate.liquibase;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.UUID;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** A node in this JVM, empty at the start of each test. */
final class TollgateNode implements BeforeEachCallback, AfterEachCallback {
  private final String url = "jdbc:tollgate:mem:" + UUID.randomUUID();
  private Connection keeper;

  @Override
  public void beforeEach(ExtensionContext context) throws SQLException {
    keeper = connect();
  }

  @Override
  public void afterEach(ExtensionContext context) throws SQLException {
    keeper.close();
  }

  String url() {
    return url;
  }

  Connection connect() throws SQLException {
    return DriverManager.getConnection(url);
  }

  void execute(String sql) throws SQLException {
    try (Statement statement = keeper.createStatement()) {
      statement.execute(sql);
    }
  }

  String ask(String sql) throws SQLException {
    return ask(keeper, sql);
  }

  /** The first column of the first row. */
  static String ask(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      return row.next() ? row.getString(1) : "no row";
    }
  }
}
