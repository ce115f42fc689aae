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
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;

/**
 * A database that is empty at the start of each test: that of a node in this JVM or, with
 * -Dtollgate.cluster=true, of three processes, which all tests share. Tests with the tag "cluster"
 * run both ways.
 */
public final class TestDatabase implements BeforeEachCallback, AfterEachCallback {
  private static final boolean CLUSTER = Boolean.getBoolean("tollgate.cluster");

  private ThreeNodes nodes;
  private String url = "";
  private Connection keepsTheNode;

  @Override
  public void beforeEach(ExtensionContext context) throws SQLException {
    if (CLUSTER) {
      nodes =
          context
              .getRoot()
              .getStore(Namespace.GLOBAL)
              .getOrComputeIfAbsent(ThreeNodes.class, key -> new ThreeNodes(), ThreeNodes.class);
      url = nodes.url();
    } else {
      url = "jdbc:tollgate:mem:" + UUID.randomUUID();
    }
    keepsTheNode = connect();
    if (CLUSTER) {
      ThreeNodes.clear(keepsTheNode);
    }
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

  /** Kills the leader, if there are three processes, and lets it come back by and by. */
  public void loseLeader() {
    if (CLUSTER) {
      nodes.loseLeader();
    }
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
