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
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three processes under load, of which one is restarted all the time, by SIGTERM or kill -9, while
 * snapshots are taken and the log is cut. -Dtollgate.seconds says for how long, -Dtollgate.pause
 * how many seconds lie between two restarts. TortureIT does more than this for each commit.
 */
@Tag("nightly")
class SoakIT {
  private static final long SECONDS = Long.getLong("tollgate.seconds", 15);
  private static final long PAUSE_SECONDS = Long.getLong("tollgate.pause", 6);
  private static final long SEED = Long.getLong("tollgate.seed", System.nanoTime());
  private static final int CLIENTS = 8;
  private static final int ACCOUNTS = 50;
  private static final int START = 1_000;

  @TempDir Path directory;

  private final AtomicBoolean stopped = new AtomicBoolean();
  private final Set<Long> tokens = new ConcurrentSkipListSet<>();
  private final Set<String> written = new ConcurrentSkipListSet<>();
  private final AtomicInteger transfers = new AtomicInteger();
  private final AtomicInteger rolledBack = new AtomicInteger();

  @Test
  void nothingIsLostWhileNodesRestart() throws Exception {
    System.out.println("SoakIT: -Dtollgate.seed=" + SEED);
    Random random = new Random(SEED);
    try (ClusterProcesses cluster =
        new ClusterProcesses("SoakIT", directory, 3, "--snapshot-log-mib=2")) {
      createTables(cluster);
      ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
      List<Future<?>> clients = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        int client = i;
        clients.add(threads.submit(() -> work(cluster, client)));
      }
      long end = System.nanoTime() + Duration.ofSeconds(SECONDS).toNanos();
      int restarts = 0;
      while (System.nanoTime() < end) {
        NodeProcess node = cluster.nodes().get(random.nextInt(3));
        if (random.nextBoolean()) {
          node.kill();
        } else {
          node.terminate();
        }
        node.startAndAwait();
        restarts++;
        letPass(clients);
      }
      stopped.set(true);
      for (Future<?> client : clients) {
        client.get(1, TimeUnit.MINUTES);
      }
      threads.shutdown();
      System.out.printf(
          "SoakIT: %d s, %d restarts, %d fenced writes, %d transfers, %d rolled back%n",
          SECONDS, restarts, written.size(), transfers.get(), rolledBack.get());
      check(cluster);
    }
  }

  private static void createTables(ClusterProcesses cluster) throws SQLException {
    try (Connection connection = cluster.connect("");
        Statement statement = connection.createStatement()) {
      statement.execute(
          "CREATE TABLE WORK(TOKEN BIGINT, LOCK_NAME VARCHAR(10), CLIENT INT, N INT,"
              + " U UUID DEFAULT RANDOM_UUID(), AT TIMESTAMP(9) DEFAULT CURRENT_TIMESTAMP,"
              + " PRIMARY KEY(CLIENT, N))");
      statement.execute("CREATE TABLE ACCOUNT(ID INT PRIMARY KEY, BALANCE INT)");
      for (int i = 0; i < ACCOUNTS; i++) {
        statement.execute("INSERT INTO ACCOUNT VALUES(" + i + ", " + START + ")");
      }
    }
  }

  /** Until the next restart, or until a client fails. */
  private static void letPass(List<Future<?>> clients) {
    long until = System.nanoTime() + Duration.ofSeconds(PAUSE_SECONDS).toNanos();
    await()
        .atMost(Duration.ofSeconds(2 * PAUSE_SECONDS))
        .until(() -> System.nanoTime() >= until || clients.stream().anyMatch(Future::isDone));
  }

  /** Every other time a fenced write under a lock, every other time a transfer. */
  private Object work(ClusterProcesses cluster, int client) throws SQLException {
    Random random = new Random(SEED + client);
    try (Connection connection = cluster.connect("failoverTimeout=30s");
        Statement statement = connection.createStatement();
        PreparedStatement write =
            connection.prepareStatement(
                "INSERT INTO WORK(TOKEN, LOCK_NAME, CLIENT, N) VALUES(?, ?, ?, ?) FENCED BY LOCK ?"
                    + " TOKEN ?")) {
      for (int n = 0; !stopped.get(); n++) {
        String lock = "job" + random.nextInt(3);
        long token = number(statement, "SELECT acquire_lock('" + lock + "')");
        assertTrue(tokens.add(token), "token " + token + " was given twice");
        write.setLong(1, token);
        write.setString(2, lock);
        write.setInt(3, client);
        write.setInt(4, n);
        write.setString(5, lock);
        write.setLong(6, token);
        assertEquals(1, write.executeUpdate());
        written.add(client + "|" + n + "|" + token + "|");
        assertEquals(
            1, number(statement, "SELECT CASE WHEN release_lock('" + lock + "') THEN 1 END"));
        transfer(connection, statement, random);
      }
      return client;
    }
  }

  private void transfer(Connection connection, Statement statement, Random random)
      throws SQLException {
    int from = random.nextInt(ACCOUNTS);
    int to = (from + 1 + random.nextInt(ACCOUNTS - 1)) % ACCOUNTS;
    connection.setAutoCommit(false);
    try {
      statement.executeUpdate("UPDATE ACCOUNT SET BALANCE = BALANCE - 1 WHERE ID = " + from);
      statement.executeUpdate("UPDATE ACCOUNT SET BALANCE = BALANCE + 1 WHERE ID = " + to);
      connection.commit();
      transfers.incrementAndGet();
    } catch (SQLException e) {
      if (!e.getSQLState().equals("40001") && !e.getSQLState().equals("HYT00")) {
        throw e;
      }
      connection.rollback();
      rolledBack.incrementAndGet();
    }
    connection.setAutoCommit(true);
  }

  /** What was acknowledged is there, and the replicas agree on all of it. */
  private void check(ClusterProcesses cluster) throws SQLException {
    String query = "SELECT CLIENT, N, TOKEN, U, AT FROM WORK ORDER BY CLIENT, N";
    List<String> rows = cluster.rowsAt(cluster.leader(), query);
    for (NodeProcess node : cluster.nodes()) {
      await()
          .atMost(ClusterProcesses.DEADLINE)
          .ignoreExceptions()
          .until(() -> cluster.rowsAt(node, query), rows::equals);
      assertEquals(
          List.of(ACCOUNTS * START + "|"),
          cluster.rowsAt(node, "SELECT SUM(BALANCE) FROM ACCOUNT"),
          node.id());
    }
    Set<String> kept =
        new TreeSet<>(cluster.rowsAt(cluster.leader(), "SELECT CLIENT, N, TOKEN FROM WORK"));
    assertEquals(written, kept);
    try (Connection connection = cluster.connect("");
        Statement statement = connection.createStatement();
        ResultSet nodes = statement.executeQuery("CALL verify_replicas()")) {
      int equal = 0;
      while (nodes.next()) {
        assertEquals("EQUAL", nodes.getString("VERDICT"), nodes.getString("NODE_ID"));
        equal++;
      }
      assertEquals(3, equal);
    }
  }

  private static long number(Statement statement, String query) throws SQLException {
    try (ResultSet row = statement.executeQuery(query)) {
      assertTrue(row.next(), query);
      return row.getLong(1);
    }
  }
}
