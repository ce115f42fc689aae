package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.log.LogStatus;
import dev.tollgate.log.ratis.WrittenVote;
import java.io.IOException;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Properties;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Nodes whose data directory does not fit, and nodes that were removed. */
class NodeIdentityTest {
  private static final Duration DEADLINE = Duration.ofSeconds(40);

  @TempDir Path directory;

  @Test
  void removedNodeSaysSoAndEnds() throws Exception {
    try (LocalCluster cluster = LocalCluster.started(directory, 3);
        Connection connection = connected(cluster)) {
      run(connection, "CREATE TABLE T(ID INT PRIMARY KEY)");
      awaitAnnounced(connection, 3);
      String away = cluster.follower();
      cluster.stop(away);
      run(connection, "CALL remove_node('" + away + "')");
      cluster.start(away);
      assertFails(cluster, away, "RemovedException", "was removed from the cluster and ends");
      cluster.stop(away);
      IOException again = assertThrows(IOException.class, () -> cluster.start(away));
      assertTrue(again.getMessage().contains("was removed from the cluster"), again.getMessage());
      String healthy = cluster.follower();
      run(connection, "CALL remove_node('" + healthy + "')");
      assertFails(cluster, healthy, "RemovedException", "was removed from the cluster and ends");
      cluster.stop(healthy);
      assertEndsAgain(cluster, healthy);
      // as a driver does that lost the answer
      run(connection, "CALL remove_node('" + healthy + "')");
      SQLException unknown =
          assertThrows(SQLException.class, () -> run(connection, "CALL remove_node('n9')"));
      assertTrue(unknown.getMessage().contains("node n9 is no member"), unknown.getMessage());
    }
  }

  private static void assertEndsAgain(LocalCluster cluster, String removed) {
    try {
      cluster.start(removed);
    } catch (IOException e) {
      assertTrue(e.getMessage().contains("was removed from the cluster and ends"), e.toString());
      return;
    }
    assertFails(cluster, removed, "RemovedException", "was removed from the cluster and ends");
    cluster.stop(removed);
  }

  @Test
  void nodeWithTheDataOfAnotherClusterIsRefused() throws Exception {
    try (LocalCluster cluster = LocalCluster.started(directory.resolve("a"), 3)) {
      try (Connection connection = connected(cluster)) {
        run(connection, "CREATE TABLE T(ID INT PRIMARY KEY)", "INSERT INTO T VALUES(1)");
      }
      cluster.stopAll();
      try (LocalCluster other = cluster.twin(directory.resolve("b"))) {
        other.startAll();
        try (Connection connection = connected(other)) {
          run(connection, "CREATE TABLE OTHERS(ID INT PRIMARY KEY)");
        }
        // a node that knows no cluster gives way to any
        await().atMost(DEADLINE).until(() -> !clusterId(other.data("n3")).equals("null"));
        assertNotEquals(clusterId(cluster.data("n1")), clusterId(other.data("n3")));
        other.stopAll();
        WrittenVote.setTerm(other.data("n3"), 1_000);
        other.start("n3");
        cluster.start("n1");
        cluster.start("n2");
        assertFails(other, "n3", "StrangerException", "is of another cluster");
      }
      try (Connection connection = connected(cluster)) {
        run(connection, "INSERT INTO T VALUES(2)");
      }
      assertTrue(cluster.node(cluster.leader()).status().term() < 1_000);
    }
  }

  @Test
  void wipedFollowerDoesNotPassForTheOneThatItWas() throws Exception {
    try (LocalCluster cluster = LocalCluster.started(directory, 3);
        Connection connection = connected(cluster)) {
      run(connection, "CREATE TABLE T(ID INT PRIMARY KEY)");
      awaitAnnounced(connection, 3);
      String wiped = cluster.follower();
      assertEquals(
          List.of(wiped),
          rows(
              connection,
              "SELECT NODE_ID FROM TOLLGATE.NODES WHERE NODE_ID = '"
                  + wiped
                  + "' AND SILENT_MS < 30000 AND ENTRIES_BEHIND >= 0 AND INCARNATION = '"
                  + incarnation(cluster.data(wiped))
                  + "' AND CLUSTER_ID = '"
                  + clusterId(cluster.data(wiped))
                  + "'"));
      cluster.stop(wiped);
      delete(cluster.data(wiped));
      cluster.start(wiped);
      assertFails(cluster, wiped, "StrangerException", "CALL remove_node");
      run(connection, "INSERT INTO T VALUES(1)");
    }
  }

  /** A majority of two without the wiped node: nothing may be won with its vote. */
  @Test
  void wipedFollowerDoesNotVote() throws Exception {
    try (LocalCluster cluster = LocalCluster.started(directory, 3)) {
      try (Connection connection = connected(cluster)) {
        run(connection, "CREATE TABLE T(ID INT PRIMARY KEY)");
        awaitAnnounced(connection, 3);
      }
      String leader = cluster.leader();
      List<String> others =
          cluster.nodes().keySet().stream().filter(id -> !id.equals(leader)).toList();
      String wiped = others.get(0);
      String alone = others.get(1);
      cluster.stopAll();
      delete(cluster.data(wiped));
      cluster.start(wiped);
      cluster.start(alone);
      assertFails(cluster, wiped, "StrangerException", "CALL remove_node");
      assertNotEquals(LogStatus.Role.LEADER, cluster.node(alone).status().role());
    }
  }

  @Test
  void nameOfARemovedNodeIsNotUsedAgain() throws Exception {
    try (LocalCluster cluster = LocalCluster.started(directory, 3);
        Connection connection = connected(cluster)) {
      awaitAnnounced(connection, 3);
      String removed = cluster.follower();
      run(connection, "CALL remove_node('" + removed + "')");
      SQLException refused =
          assertThrows(
              SQLException.class,
              () ->
                  run(
                      connection,
                      "CALL add_node('"
                          + removed
                          + "', '"
                          + cluster.raftAddress(removed)
                          + "', 'x:1')"));
      assertEquals("55T04", refused.getSQLState());
      assertTrue(refused.getMessage().contains("never used"), refused.getMessage());
    }
  }

  private static Connection connected(LocalCluster cluster) throws SQLException {
    cluster.leader();
    return cluster.connect();
  }

  private static void assertFails(
      LocalCluster cluster, String node, String exception, String message) {
    await().atMost(DEADLINE).until(() -> cluster.node(node).failure() != null);
    Throwable failure = cluster.node(node).failure();
    assertEquals(exception, failure.getClass().getSimpleName(), failure.toString());
    assertTrue(failure.getMessage().contains(message), failure.getMessage());
  }

  private static void awaitAnnounced(Connection connection, int nodes) {
    await()
        .atMost(DEADLINE)
        .until(
            () ->
                rows(
                            connection,
                            "SELECT NODE_ID FROM TOLLGATE.NODES WHERE CLIENT_ADDRESS IS NOT NULL")
                        .size()
                    == nodes);
  }

  private static String clusterId(Path data) throws IOException {
    return String.valueOf(properties(data.resolve("identity")).getProperty("cluster"));
  }

  private static String incarnation(Path data) throws IOException {
    return properties(data.resolve("identity")).getProperty("incarnation");
  }

  private static Properties properties(Path file) throws IOException {
    Properties properties = new Properties();
    if (Files.exists(file)) {
      try (Reader in = Files.newBufferedReader(file)) {
        properties.load(in);
      }
    }
    return properties;
  }

  private static void delete(Path data) throws IOException {
    try (Stream<Path> files = Files.walk(data)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }

  private static List<String> rows(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet result = statement.executeQuery(sql)) {
      Stream.Builder<String> rows = Stream.builder();
      while (result.next()) {
        rows.add(result.getString(1));
      }
      return rows.build().toList();
    }
  }

  private static void run(Connection connection, String... statements) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    }
  }
}
