package dev.tollgate.samples;

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
public final class MemoryNode implements BeforeEachCallback, AfterEachCallback {
  private String url = "";
  private Connection keepsTheNode;

  @Override
  public void beforeEach(ExtensionContext context) throws SQLException {
    url = "jdbc:tollgate:mem:" + UUID.randomUUID();
    keepsTheNode = connect();
  }

  @Override
  public void afterEach(ExtensionContext context) throws SQLException {
    keepsTheNode.close();
  }

  public String url() {
    return url;
  }

  public Connection connect() throws SQLException {
    return DriverManager.getConnection(url);
  }

  /** What a statement on a connection of its own returns, in words: a number of rows or a value. */
  public String ask(String sql) throws SQLException {
    return ask(keepsTheNode, sql);
  }

  public static String ask(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      if (!statement.execute(sql)) {
        return String.valueOf(statement.getUpdateCount());
      }
      try (ResultSet rows = statement.getResultSet()) {
        return rows.next() ? String.valueOf(rows.getString(1)) : "no row";
      }
    }
  }
}
