package dev.tollgate.cluster;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three nodes in processes of their own, and what becomes of clients when some of them die. */
class ClusterIT {
  private static final int CYCLES = Integer.getInteger("tollgate.cycles", 600);
  private static final int CLIENTS = 16;
  private static final int LOCKS = 4;

  @TempDir static Path directory;
  private static ClusterProcesses cluster;

  @BeforeAll
  static void startCluster() throws Exception {
    cluster = new ClusterProcesses("ClusterIT", directory, 3);
  }

  @AfterAll
  static void stopCluster() {
    cluster.close();
  }

  /** Those that the test before has killed. */
  @BeforeEach
  void startNodes() throws Exception {
    cluster.startAll();
  }

  /** One hold of one lock as its client saw it. */
  private record Held(String lock, long token, long fromNanos, long untilNanos) {}

  @Test
  void lockCyclesSurviveThreeKillsOfTheLeader() throws Exception {
    try (Connection connection = cluster.connect("");
        Statement statement = connection.createStatement()) {
      statement.execute(
          "CREATE TABLE HISTORY(TOKEN BIGINT PRIMARY KEY, LOCK_NAME VARCHAR(20), CLIENT INT, N INT,"
              + " AT TIMESTAMP(9) DEFAULT CURRENT_TIMESTAMP, U UUID DEFAULT RANDOM_UUID(),"
              + " R DOUBLE DEFAULT RAND(), ID BIGINT GENERATED ALWAYS AS IDENTITY)");
    }
    ConcurrentLinkedQueue<Held> held = new ConcurrentLinkedQueue<>();
    AtomicInteger started = new AtomicInteger();
    AtomicInteger finished = new AtomicInteger();
    ExecutorService clients = Executors.newFixedThreadPool(CLIENTS);
    List<Future<?>> running = new ArrayList<>();
    for (int client = 0; client < CLIENTS; client++) {
      int number = client;
      running.add(clients.submit(() -> cycle(number, started, finished, held)));
    }
    for (int kill = 1; kill <= 3; kill++) {
      int until = CYCLES * kill / 4;
      await()
          .atMost(Duration.ofMinutes(5))
          .until(() -> finished.get() >= until || running.stream().anyMatch(Future::isDone));
      NodeProcess leader = cluster.leader();
      leader.kill();
      leader.startAndAwait();
    }
    for (Future<?> client : running) {
      client.get(10, TimeUnit.MINUTES);
    }
    clients.shutdown();
    assertEquals(CYCLES, held.size());
    checkTokens(held);
    checkReplicas(held);
  }

  private Object cycle(
      int client, AtomicInteger started, AtomicInteger finished, ConcurrentLinkedQueue<Held> held)
      throws SQLException {
    try (Connection connection = cluster.connect("applicationName=client" + client);
        PreparedStatement acquire = connection.prepareStatement("SELECT acquire_lock(?)");
        PreparedStatement write =
            connection.prepareStatement(
                "INSERT INTO HISTORY(TOKEN, LOCK_NAME, CLIENT, N) VALUES(?, ?, ?, ?)"
                    + " FENCED BY LOCK ? TOKEN ?");
        PreparedStatement release = connection.prepareStatement("SELECT release_lock(?)")) {
      for (int n = started.getAndIncrement(); n < CYCLES; n = started.getAndIncrement()) {
        String lock = "lock" + n % LOCKS;
        acquire.setString(1, lock);
        long token = single(acquire).getLong(1);
        long from = System.nanoTime();
        write.setLong(1, token);
        write.setString(2, lock);
        write.setInt(3, client);
        write.setInt(4, n);
        write.setString(5, lock);
        write.setLong(6, token);
        assertEquals(1, write.executeUpdate());
        long until = System.nanoTime();
        release.setString(1, lock);
        assertTrue(single(release).getBoolean(1), "the lock was lost");
        held.add(new Held(lock, token, from, until));
        finished.incrementAndGet();
      }
      return client;
    }
  }

  private static ResultSet single(PreparedStatement statement) throws SQLException {
    ResultSet row = statement.executeQuery();
    assertTrue(row.next());
    return row;
  }

  /** No token twice, and per lock the order of tokens is the order of time (I1, I2). */
  private static void checkTokens(Iterable<Held> held) {
    Map<Long, Held> byToken = new TreeMap<>();
    for (Held one : held) {
      assertEquals(null, byToken.put(one.token(), one), "token twice: " + one);
    }
    Map<String, Held> last = new TreeMap<>();
    for (Held one : byToken.values()) {
      Held before = last.put(one.lock(), one);
      assertTrue(
          before == null || before.untilNanos() <= one.fromNanos(),
          () -> "held at the same time, or out of order: " + before + " and " + one);
    }
  }

  /** Every acknowledged write is on every replica, and the replicas are equal in all columns. */
  private void checkReplicas(Iterable<Held> held) throws Exception {
    List<String> expected = new ArrayList<>();
    List<Held> sorted = new ArrayList<>();
    held.forEach(sorted::add);
    sorted.sort(Comparator.comparingLong(Held::token));
    sorted.forEach(one -> expected.add(one.token() + "|" + one.lock() + "|"));
    List<String> whole = null;
    for (NodeProcess node : cluster.nodes()) {
      await()
          .atMost(ClusterProcesses.DEADLINE)
          .ignoreExceptions()
          .until(
              () -> cluster.rowsAt(node, "SELECT COUNT(*) FROM HISTORY"),
              List.of(CYCLES + "|")::equals);
      assertEquals(
          expected, cluster.rowsAt(node, "SELECT TOKEN, LOCK_NAME FROM HISTORY ORDER BY TOKEN"));
      List<String> rows = cluster.rowsAt(node, "SELECT * FROM HISTORY ORDER BY TOKEN");
      if (whole != null) {
        assertEquals(whole, rows, node.id());
      }
      whole = rows;
    }
  }

  @Test
  void leaseOlderThanItsTtlSurvivesAFailoverAndTokensGoOnRising() throws Exception {
    try (Connection connection = cluster.connect("lease=2s");
        Statement statement = connection.createStatement()) {
      long first = number(statement, "SELECT acquire_lock('x')");
      long lease = number(statement, "SELECT LEASE_ID FROM TOLLGATE.LOCKS WHERE LOCK_NAME = 'x'");
      await().pollDelay(Duration.ofMillis(4_500)).until(() -> true);
      cluster.leader().kill();
      long second = number(statement, "SELECT acquire_lock('y')");
      assertTrue(second > first, first + " then " + second);
      assertEquals(first, number(statement, "SELECT lock_token('x')"));
      assertEquals(
          lease,
          number(statement, "SELECT LEASE_ID FROM TOLLGATE.LOCKS WHERE LOCK_NAME = 'y'"),
          "it is still the same lease");
      await().pollDelay(Duration.ofMillis(4_500)).until(() -> true);
      assertEquals(first, number(statement, "SELECT lock_token('x')"), "and it is still renewed");
    }
  }

  @Test
  void waitingAcquireSurvivesTheDeathOfTheLeader() throws Exception {
    try (Connection holder = cluster.connect("");
        Connection waiter = cluster.connect("lockWait=2m");
        Statement statement = holder.createStatement()) {
      long first = number(statement, "SELECT acquire_lock('x')");
      CompletableFuture<Long> granted =
          CompletableFuture.supplyAsync(
              () -> {
                try (Statement waiting = waiter.createStatement()) {
                  return number(waiting, "SELECT acquire_lock('x')");
                } catch (SQLException e) {
                  throw new IllegalStateException(e);
                }
              });
      awaitNumber(statement, "SELECT COUNT(*) FROM TOLLGATE.LOCK_WAITERS", 1);
      cluster.leader().kill();
      assertEquals(1, number(statement, "SELECT COUNT(*) FROM TOLLGATE.LOCK_WAITERS"));
      number(statement, "SELECT CASE WHEN release_lock('x') THEN 1 ELSE 0 END");
      assertEquals(first + 1, granted.get(60, TimeUnit.SECONDS));
    }
  }

  @Test
  void stoppedLeaderIsReplacedAndServesNoStaleReadWhenItGoesOn() throws Exception {
    try (Connection connection = cluster.connect("failoverTimeout=30s");
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE PAUSED(V INT)");
      statement.execute("INSERT INTO PAUSED VALUES(1)");
      NodeProcess leader = cluster.leader();
      leader.pause();
      assertEquals(1, statement.executeUpdate("UPDATE PAUSED SET V = 2"));
      leader.resume();
      for (int i = 0; i < 20; i++) {
        assertEquals(2, number(statement, "SELECT V FROM PAUSED"));
      }
      await()
          .atMost(ClusterProcesses.DEADLINE)
          .ignoreExceptions()
          .until(() -> cluster.rowsAt(leader, "SELECT V FROM PAUSED"), List.of("2|")::equals);
    }
  }

  @Test
  void restartOfAllNodesKeepsTablesLocksAndSessions() throws Exception {
    try (Connection connection = cluster.connect("failoverTimeout=2m");
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE RESTARTED(V INT) FENCED BY LOCK 'job'");
      long token = number(statement, "SELECT acquire_lock('job')");
      statement.execute("INSERT INTO RESTARTED VALUES(1)");
      for (NodeProcess node : cluster.nodes()) {
        node.kill();
      }
      cluster.startAll();
      assertEquals(token, number(statement, "SELECT lock_token('job')"));
      assertEquals(
          1, statement.executeUpdate("UPDATE RESTARTED SET V = 2"), "the session still holds it");
    }
  }

  @Test
  void everyNodeKnowsWhereClientsReachTheOthers() {
    List<String> expected =
        cluster.nodes().stream()
            .map(node -> node.id() + "|127.0.0.1:" + cluster.clientPort(node) + "|")
            .toList();
    for (NodeProcess node : cluster.nodes()) {
      await()
          .atMost(ClusterProcesses.DEADLINE)
          .until(
              () ->
                  cluster.rowsAt(
                      node, "SELECT NODE_ID, CLIENT_ADDRESS FROM TOLLGATE.NODES ORDER BY NODE_ID"),
              expected::equals);
    }
  }

  @Test
  void nodeStopsCleanlyOnSigterm() throws Exception {
    assertEquals(128 + 15, cluster.node("n1").terminate());
    try (Connection connection = cluster.connect("");
        Statement statement = connection.createStatement()) {
      assertEquals(2, number(statement, "SELECT 1 + 1"), "two of three go on");
    }
  }

  private static void awaitNumber(Statement statement, String query, long expected) {
    await().atMost(ClusterProcesses.DEADLINE).until(() -> number(statement, query) == expected);
  }

  private static long number(Statement statement, String query) throws SQLException {
    try (ResultSet row = statement.executeQuery(query)) {
      assertTrue(row.next(), query);
      return row.getLong(1);
    }
  }
}
