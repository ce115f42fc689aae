package dev.tollgate.cluster;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A cluster whose nodes come and go while clients work. */
class MembershipIT {
  private static final String MEMBERS = "SELECT NODE_ID FROM TOLLGATE.NODES ORDER BY NODE_ID";
  private static final int CLIENTS = 4;

  /** Between two rows of a client: up to five nodes share the processors with the clients. */
  private static final Duration PAUSE = Duration.ofMillis(20);

  /** Rows whose restore takes seconds. */
  private static final int LARGE = 204_800;

  @TempDir Path directory;

  /** Clients that know the first node only, and go on until they are told to stop. */
  private static final class Load {
    private final String url;
    private final AtomicBoolean stopped = new AtomicBoolean();
    private final AtomicInteger written = new AtomicInteger();
    private final List<CompletableFuture<Void>> clients = new ArrayList<>();

    Load(String url) {
      this.url = url;
      for (int i = 0; i < CLIENTS; i++) {
        int client = i;
        clients.add(CompletableFuture.runAsync(() -> write(client)));
      }
    }

    private void write(int client) {
      try (Connection connection = DriverManager.getConnection(url);
          Statement statement = connection.createStatement()) {
        for (int n = 0; !stopped.get(); n++) {
          long token = number(statement, "SELECT acquire_lock('job" + client % 2 + "')");
          statement.executeUpdate(
              "INSERT INTO T(CLIENT, N, TOKEN) VALUES(" + client + ", " + n + ", " + token + ")");
          number(statement, "SELECT CASE WHEN release_lock('job" + client % 2 + "') THEN 1 END");
          written.incrementAndGet();
          LockSupport.parkNanos(PAUSE.toNanos());
        }
      } catch (SQLException e) {
        throw new IllegalStateException("client " + client, e);
      }
    }

    /** Some more rows than now. */
    void awaitProgress() {
      int until = written.get() + 80;
      await()
          .atMost(ClusterProcesses.DEADLINE)
          .until(
              () ->
                  written.get() >= until
                      || clients.stream().anyMatch(CompletableFuture::isCompletedExceptionally));
    }

    void end() throws Exception {
      stopped.set(true);
      for (CompletableFuture<Void> client : clients) {
        client.get(1, TimeUnit.MINUTES);
      }
    }
  }

  @Test
  void fromOneNodeToFiveToThreeOthersUnderLoad() throws Exception {
    try (ClusterProcesses cluster = new ClusterProcesses("MembershipIT", directory, 1)) {
      NodeProcess first = cluster.node("n1");
      createTable(cluster);
      Load load = new Load(cluster.url("failoverTimeout=30s"));
      try {
        for (List<String> ids : List.of(List.of("n2"), List.of("n3"), List.of("n4", "n5"))) {
          load.awaitProgress();
          List<CompletableFuture<String>> ready = new ArrayList<>();
          for (String id : ids) {
            ready.add(cluster.joining(id).start());
          }
          NodeProcess.awaitAll(ready);
        }
        assertEquals(List.of("n1|", "n2|", "n3|", "n4|", "n5|"), members(cluster));
        load.awaitProgress();
        // the only one that the clients' URL names, and the leader as a rule
        call(cluster, "CALL remove_node('n1')");
        awaitRemoved(first);
        cluster.forget(first);
        load.awaitProgress();
        String leader = cluster.leader().id();
        String other = leader.equals("n2") ? "n3" : "n2";
        call(cluster, "CALL transfer_leadership('" + other + "')");
        assertEquals(other, cluster.leader().id());
        load.awaitProgress();
        call(cluster, "CALL remove_node('" + leader + "')");
        NodeProcess removed = cluster.node(leader);
        awaitRemoved(removed);
        removed.start();
        awaitRemoved(removed);
        cluster.forget(removed);
        load.awaitProgress();
      } finally {
        load.end();
      }
      assertEquals(3, members(cluster).size());
      awaitEqual(cluster, load.written.get());
      System.out.println("MembershipIT: " + load.written.get() + " locks taken and rows written");
    }
  }

  /** To restore the snapshot takes it longer than three election timeouts, and it is silent. */
  @Test
  void nodeThatHasToRestoreALargeSnapshotJoins() throws Exception {
    try (ClusterProcesses cluster =
        new ClusterProcesses("MembershipIT-large", directory, 1, "--election-timeout=100")) {
      createTable(cluster);
      fill(cluster, LARGE);
      call(cluster, "CALL take_snapshot()");
      cluster.joining("n2").startAndAwait();
      assertEquals(List.of("n1|", "n2|"), members(cluster));
      assertEquals(
          List.of(LARGE + "|"),
          cluster.rowsAt(cluster.node("n2"), "SELECT COUNT(DISTINCT CLIENT) FROM T"));
    }
  }

  /** The leader ends while the node takes its snapshot, so another one has to add the node. */
  @Tag("nightly")
  @Test
  void nodeThatJoinsOutlivesTheLeader() throws Exception {
    try (ClusterProcesses cluster = new ClusterProcesses("MembershipIT-leader", directory, 3)) {
      createTable(cluster);
      fill(cluster, 2 * LARGE);
      call(cluster, "CALL take_snapshot()");
      NodeProcess leader = cluster.leader();
      NodeProcess joining = cluster.joining("n4");
      CompletableFuture<String> ready = joining.start();
      await()
          .atMost(ClusterProcesses.DEADLINE)
          .until(() -> sinceLastStart(joining).contains("set new configuration"));
      leader.kill();
      ready.get(ClusterProcesses.DEADLINE.toSeconds(), TimeUnit.SECONDS);
      assertEquals(4, members(cluster).size());
      assertEquals(
          List.of(2 * LARGE + "|"),
          cluster.rowsAt(joining, "SELECT COUNT(DISTINCT CLIENT) FROM T"));
    }
  }

  /** Writes so many rows that a snapshot takes a while. */
  private static void fill(ClusterProcesses cluster, int enough) throws Exception {
    int rows = 1_600;
    call(cluster, "INSERT INTO T SELECT X, 0, 0, NULL FROM SYSTEM_RANGE(1, " + rows + ")");
    for (; rows < enough; rows *= 2) {
      call(cluster, "INSERT INTO T SELECT CLIENT + " + rows + ", 0, 0, NULL FROM T");
    }
  }

  @Test
  void nodeWhoseDiskIsLostIsReplaced() throws Exception {
    try (ClusterProcesses cluster = new ClusterProcesses("MembershipIT-disk", directory, 3)) {
      createTable(cluster);
      NodeProcess lost =
          cluster.nodes().stream()
              .filter(node -> !node.id().equals(cluster.leader().id()))
              .findFirst()
              .orElseThrow();
      lost.kill();
      NodeProcess sameName = cluster.joining(lost.id());
      deleteAll(lost.data());
      assertThrows(Exception.class, sameName::startAndAwait);
      // a node without data does not pass for the one that had some and said that it was ready
      awaitEnd(
          sameName, 1, "tollgate server: node " + lost.id() + " belongs to the cluster already");
      assertFalse(sinceLastStart(sameName).contains("at dev.tollgate.cli"), "no stack");
      cluster.forget(sameName);
      deleteAll(lost.data());
      lost.start();
      awaitEnd(lost, 78, "is not the data directory that its cluster knows under this name");

      call(cluster, "CALL remove_node('" + lost.id() + "')");
      cluster.forget(lost);
      cluster.joining("n4").startAndAwait();
      call(cluster, "INSERT INTO T(CLIENT, N, TOKEN) VALUES(0, 0, 0)");
      awaitEqual(cluster, 1);
    }
  }

  @Test
  void changesThatWouldLoseTheQuorumAreRefused() throws Exception {
    try (ClusterProcesses cluster = new ClusterProcesses("MembershipIT-quorum", directory, 3)) {
      String leader = cluster.leader().id();
      List<NodeProcess> others =
          cluster.nodes().stream().filter(node -> !node.id().equals(leader)).toList();
      String dead = others.get(0).id();
      String alive = others.get(1).id();
      others.get(0).kill();
      // of the two that would be left one is dead
      SQLException refused =
          assertThrows(
              SQLException.class, () -> call(cluster, "CALL remove_node('" + alive + "')"));
      assertEquals("55T04", refused.getSQLState());
      assertTrue(refused.getMessage().contains("Start " + dead), refused.getMessage());
      assertEquals(3, members(cluster).size());

      call(cluster, "CALL remove_node('" + dead + "')");
      call(cluster, "CALL remove_node('" + alive + "')");
      assertEquals(List.of(leader + "|"), members(cluster));
      assertRefused(cluster, "CALL remove_node('" + leader + "')", "the only member");
      call(cluster, "CALL remove_node('" + dead + "')");
      assertRefused(cluster, "CALL remove_node('n9')", "members are " + leader);
      assertRefused(cluster, "CALL add_node('n9', 'nonsense', 'x:1')", "write host:port");
      assertRefused(cluster, "CALL add_node('n9', '127.0.0.1:1', 'x:1')", "did not answer");
      assertRefused(cluster, "CALL resign_leadership('" + leader + "')", "no other member");
      assertRefused(cluster, "CALL resign_leadership('n9')", "no member");
      assertRefused(cluster, "CALL transfer_leadership('n9')", "no member");
    }
  }

  private static void assertRefused(ClusterProcesses cluster, String call, String why) {
    SQLException refused = assertThrows(SQLException.class, () -> call(cluster, call));
    assertEquals("55T04", refused.getSQLState(), refused.getMessage());
    assertTrue(refused.getMessage().contains(why), refused.getMessage());
  }

  private static void createTable(ClusterProcesses cluster) throws SQLException {
    call(
        cluster,
        "CREATE TABLE T(CLIENT INT, N INT, TOKEN BIGINT, U UUID DEFAULT RANDOM_UUID(),"
            + " PRIMARY KEY(CLIENT, N))");
  }

  private static void call(ClusterProcesses cluster, String sql) throws SQLException {
    try (Connection connection = cluster.connect("failoverTimeout=30s");
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static List<String> members(ClusterProcesses cluster) throws SQLException {
    return cluster.rowsAt(cluster.leader(), MEMBERS);
  }

  /** A supervisor must not start it again. */
  private static void awaitRemoved(NodeProcess node) throws Exception {
    awaitEnd(node, 0, "was removed from the cluster and ends");
  }

  private static void awaitEnd(NodeProcess node, int status, String why) throws Exception {
    await().atMost(ClusterProcesses.DEADLINE).until(() -> !node.isAlive());
    String log = sinceLastStart(node);
    assertEquals(status, node.awaitEnd(), log);
    assertTrue(log.contains(why), log);
  }

  /** A log has earlier runs of the node, and of the test, too. */
  private static String sinceLastStart(NodeProcess node) throws Exception {
    String log = Files.readString(node.log());
    return log.substring(Math.max(0, log.lastIndexOf(" starts: process ")));
  }

  private static void awaitEqual(ClusterProcesses cluster, int rows) {
    await()
        .atMost(ClusterProcesses.DEADLINE)
        .ignoreExceptions()
        .until(
            () -> {
              List<String> expected =
                  cluster.rowsAt(cluster.nodes().get(0), "SELECT * FROM T ORDER BY CLIENT, N");
              for (NodeProcess node : cluster.nodes()) {
                if (!expected.equals(cluster.rowsAt(node, "SELECT * FROM T ORDER BY CLIENT, N"))) {
                  return false;
                }
              }
              return expected.size() == rows;
            });
  }

  private static void deleteAll(Path directory) throws Exception {
    try (var files = Files.walk(directory)) {
      for (Path file : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }

  private static long number(Statement statement, String sql) throws SQLException {
    try (ResultSet row = statement.executeQuery(sql)) {
      assertTrue(row.next(), sql);
      return row.getLong(1);
    }
  }
}
