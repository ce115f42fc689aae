package dev.tollgate.cluster;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
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
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLongArray;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Leadership goes round while clients take locks and write: an operator moves it, or stops the
 * leader. The figures can be raised: {@code -Dtransfer.count=100 -Dtransfer.clients=64
 * -Dtransfer.stops=10}.
 */
class LeadershipTransferIT {
  private static final int TRANSFERS = Integer.getInteger("transfer.count", 3);
  private static final int STOPS = Integer.getInteger("transfer.stops", 1);
  private static final int CLIENTS = Integer.getInteger("transfer.clients", 8);

  @TempDir Path directory;

  private final AtomicBoolean stopped = new AtomicBoolean();
  private final AtomicLongArray cycles = new AtomicLongArray(CLIENTS);

  /** Of each client, the longest cycle since it was last asked. */
  private final AtomicLongArray longestNanos = new AtomicLongArray(CLIENTS);

  /** What a hook calls before a node is stopped, whether the node is the leader or not. */
  @Test
  void nodeThatIsToStopGivesLeadershipAwayIfItHasIt() throws Exception {
    try (ClusterProcesses cluster =
        new ClusterProcesses("LeadershipTransferIT-hook", directory, 3)) {
      String leader = cluster.leader().id();
      String follower =
          cluster.nodes().stream()
              .map(NodeProcess::id)
              .filter(id -> !id.equals(leader))
              .findFirst()
              .orElseThrow();
      Program nothing = Program.run("nodes", "lead", "-u", cluster.url(""), "--from=" + follower);
      assertEquals(0, nothing.status(), nothing.err());
      assertEquals(follower + " is not the leader\n", nothing.out());
      assertEquals(leader, cluster.leader().id());

      Program moved = Program.run("nodes", "lead", "-u", cluster.url(""), "--from=" + leader);
      assertEquals(0, moved.status(), moved.err());
      assertFalse(cluster.leader().id().equals(leader), moved.out());
    }
    // a hook that could not ask must not look as if there was nothing to do
    Program unknown =
        Program.run("nodes", "lead", "-u", "jdbc:tollgate://127.0.0.1:1/", "--from=n1");
    assertEquals(1, unknown.status(), unknown.out());
    assertTrue(
        unknown.err().startsWith("no node says whether n1 is the leader: 127.0.0.1:1: "),
        unknown.err());
  }

  @Tag("nightly")
  @Test
  void noTransferFailsUnderLoad() throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
    try (ClusterProcesses cluster = new ClusterProcesses("LeadershipTransferIT", directory, 3)) {
      call(cluster, "CREATE TABLE T(CLIENT INT PRIMARY KEY, N BIGINT NOT NULL)");
      List<Future<?>> clients = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        int client = i;
        String url = cluster.url("failoverTimeout=30s");
        clients.add(threads.submit(() -> cycle(client, url)));
      }
      List<Long> transferMillis = new ArrayList<>();
      List<Long> stallMillis = new ArrayList<>();
      List<String> failures = new ArrayList<>();
      for (int i = 0; i < TRANSFERS; i++) {
        awaitProgress(clients);
        forgetLongest();
        String from = cluster.leader().id();
        String to = "n" + (1 + Integer.parseInt(from.substring(1)) % 3);
        long start = System.nanoTime();
        try {
          call(cluster, "CALL transfer_leadership('" + to + "')");
          transferMillis.add(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));
          assertEquals(to, cluster.leader().id());
        } catch (SQLException e) {
          failures.add(from + " to " + to + ": " + e.getSQLState() + " " + e.getMessage());
        }
        awaitProgress(clients);
        stallMillis.add(TimeUnit.NANOSECONDS.toMillis(forgetLongest()));
      }
      List<Long> stopMillis = new ArrayList<>();
      for (int i = 0; i < STOPS; i++) {
        stopMillis.add(stallWhileTheLeaderStops(cluster, clients));
      }
      stopped.set(true);
      for (Future<?> client : clients) {
        client.get(1, TimeUnit.MINUTES);
      }
      System.out.println(
          "LeadershipTransferIT: "
              + TRANSFERS
              + " transfers under "
              + CLIENTS
              + " clients, "
              + failures.size()
              + " failed; "
              + described("the call", transferMillis)
              + "; "
              + described("the longest cycle of a client", stallMillis)
              + "; "
              + described("and when the leader was stopped", stopMillis));
      assertEquals(List.of(), failures);
      assertNothingLost(cluster);
    } finally {
      stopped.set(true);
      threads.shutdownNow();
    }
  }

  /** It hands leadership over before it stops, so nobody waits for an election. */
  private long stallWhileTheLeaderStops(ClusterProcesses cluster, List<Future<?>> clients)
      throws Exception {
    awaitProgress(clients);
    NodeProcess leader = cluster.leader();
    forgetLongest();
    assertEquals(143, leader.terminate());
    String successor = cluster.leader().id();
    awaitProgress(clients);
    final long stallMillis = TimeUnit.NANOSECONDS.toMillis(forgetLongest());
    String log = Files.readString(leader.log());
    String ending = log.substring(log.lastIndexOf(leader.id() + ": stops"));
    assertTrue(ending.contains("hands leadership over to " + successor + ","), ending);
    assertFalse(ending.contains("stops before another node leads"), ending);
    leader.startAndAwait();
    return stallMillis;
  }

  private Void cycle(int client, String url) throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      statement.executeUpdate("INSERT INTO T VALUES(" + client + ", 0)");
      while (!stopped.get()) {
        long start = System.nanoTime();
        assertTrue(number(statement, "SELECT acquire_lock('job" + client + "')") > 0);
        assertEquals(1, statement.executeUpdate("UPDATE T SET N = N + 1 WHERE CLIENT = " + client));
        assertEquals(
            1,
            number(
                statement, "SELECT CASE WHEN release_lock('job" + client + "') THEN 1 ELSE 0 END"));
        long nanos = System.nanoTime() - start;
        longestNanos.accumulateAndGet(client, nanos, Math::max);
        cycles.incrementAndGet(client);
      }
    }
    return null;
  }

  /** Every client has ended two more cycles, so that one of them began from now on. */
  private void awaitProgress(List<Future<?>> clients) throws Exception {
    long[] until = new long[CLIENTS];
    for (int client = 0; client < CLIENTS; client++) {
      until[client] = cycles.get(client) + 2;
    }
    for (int client = 0; client < CLIENTS; client++) {
      int index = client;
      await()
          .pollDelay(Duration.ZERO)
          .pollInterval(Duration.ofMillis(10))
          .atMost(ClusterProcesses.DEADLINE)
          .until(() -> cycles.get(index) >= until[index] || clients.get(index).isDone());
      if (clients.get(index).isDone()) {
        clients.get(index).get();
      }
    }
  }

  private long forgetLongest() {
    long longest = 0;
    for (int client = 0; client < CLIENTS; client++) {
      longest = Math.max(longest, longestNanos.getAndSet(client, 0));
    }
    return longest;
  }

  /** Each cycle that a client knows of has counted once. */
  private void assertNothingLost(ClusterProcesses cluster) throws SQLException {
    try (Connection connection = cluster.connect("failoverTimeout=30s");
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT CLIENT, N FROM T ORDER BY CLIENT")) {
      for (int client = 0; client < CLIENTS; client++) {
        assertTrue(rows.next());
        assertEquals(cycles.get(client), rows.getLong(2), "client " + client);
      }
    }
  }

  private static String described(String what, List<Long> millis) {
    if (millis.isEmpty()) {
      return what + ": none";
    }
    List<Long> sorted = millis.stream().sorted().toList();
    return what
        + ": median "
        + sorted.get(sorted.size() / 2)
        + " ms, longest "
        + sorted.get(sorted.size() - 1)
        + " ms";
  }

  private static void call(ClusterProcesses cluster, String sql) throws SQLException {
    try (Connection connection = cluster.connect("failoverTimeout=30s");
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static long number(Statement statement, String sql) throws SQLException {
    try (ResultSet row = statement.executeQuery(sql)) {
      assertTrue(row.next(), sql);
      return row.getLong(1);
    }
  }
}
