package dev.tollgate.samples;

import dev.tollgate.cluster.ClusterProcesses;
import dev.tollgate.cluster.NodeProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A cluster of three processes, started when the first test needs it. */
final class ThreeNodes implements AutoCloseable {
  private static final long READY_SECONDS = 60;

  private final ClusterProcesses cluster;
  private CompletableFuture<String> returning = CompletableFuture.completedFuture("");

  ThreeNodes() {
    try {
      Path directory =
          Files.createTempDirectory(Files.createDirectories(Path.of("target")), "nodes");
      cluster = new ClusterProcesses("tools", directory, 3);
    } catch (Exception e) {
      throw new IllegalStateException("the nodes did not start, see target/node-logs", e);
    }
  }

  String url() {
    return cluster.url("");
  }

  /** Kills the leader once the one that was killed before is back. */
  void loseLeader() {
    try {
      returning.get(READY_SECONDS, TimeUnit.SECONDS);
      NodeProcess leader = cluster.leader();
      leader.kill();
      returning = leader.start();
    } catch (Exception e) {
      throw new IllegalStateException("the leader was not replaced, see target/node-logs", e);
    }
  }

  /** Removes what earlier tests left. */
  static void clear(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String lease : ask(statement, "SELECT LEASE_ID FROM TOLLGATE.LEASES")) {
        statement.execute("SELECT revoke_lease(" + lease + ")");
      }
      for (String lock : ask(statement, "SELECT DISTINCT LOCK_NAME FROM TOLLGATE.FENCES")) {
        statement.execute("SELECT acquire_lock('" + lock + "')");
      }
      String ofTables = " FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = 'PUBLIC'";
      for (String table : ask(statement, "SELECT TABLE_NAME" + ofTables)) {
        statement.execute("DROP TABLE IF EXISTS \"" + table + "\" CASCADE");
      }
      String ofSequences = " FROM INFORMATION_SCHEMA.SEQUENCES WHERE SEQUENCE_SCHEMA = 'PUBLIC'";
      for (String sequence : ask(statement, "SELECT SEQUENCE_NAME" + ofSequences)) {
        statement.execute("DROP SEQUENCE IF EXISTS \"" + sequence + "\"");
      }
    }
  }

  private static List<String> ask(Statement statement, String query) throws SQLException {
    List<String> values = new ArrayList<>();
    try (ResultSet rows = statement.executeQuery(query)) {
      while (rows.next()) {
        values.add(rows.getString(1));
      }
    }
    return values;
  }

  @Override
  public void close() {
    cluster.close();
  }
}
