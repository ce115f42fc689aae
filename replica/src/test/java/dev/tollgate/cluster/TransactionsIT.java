package dev.tollgate.cluster;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Transactions of many threads through a pool, while leaders are killed: money moves between
 * accounts, and every transfer leaves a line in a journal.
 */
class TransactionsIT {
  private static final int THREADS = 32;
  private static final int ACCOUNTS = 20;
  private static final int START_BALANCE = 1_000;
  private static final int KILLS = Integer.getInteger("tollgate.kills", 1);
  private static final int COMMITS_BETWEEN_KILLS = 150;

  @TempDir Path directory;

  private final AtomicBoolean stopped = new AtomicBoolean();
  private final AtomicLong numbers = new AtomicLong();
  private final AtomicLong rolledBack = new AtomicLong();
  private final ConcurrentLinkedQueue<Long> committed = new ConcurrentLinkedQueue<>();

  @Test
  void transfersSurviveTheDeathOfLeaders() throws Exception {
    try (ClusterProcesses cluster = new ClusterProcesses("TransactionsIT", directory, 3)) {
      createBank(cluster);
      HikariConfig config = new HikariConfig();
      config.setJdbcUrl(cluster.url("applicationName=bank"));
      config.setMaximumPoolSize(10);
      // a pool is not fair: on a slow machine the same ten threads may work all the time
      config.setConnectionTimeout(Duration.ofMinutes(10).toMillis());
      config.setAutoCommit(false);
      long sessions;
      try (HikariDataSource pool = new HikariDataSource(config)) {
        await()
            .atMost(ClusterProcesses.DEADLINE)
            .until(() -> pool.getHikariPoolMXBean().getTotalConnections() == 10);
        sessions = number(cluster, "SELECT MAX(SESSION_ID) FROM TOLLGATE.SESSIONS");
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        List<Future<?>> running = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
          Random random = new Random(i);
          running.add(threads.submit(() -> work(pool, random)));
        }
        for (int kill = 0; kill < KILLS; kill++) {
          ClusterProcesses.awaitProgress(committed::size, COMMITS_BETWEEN_KILLS, running);
          NodeProcess leader = cluster.leader();
          leader.kill();
          leader.startAndAwait();
        }
        ClusterProcesses.awaitProgress(committed::size, COMMITS_BETWEEN_KILLS, running);
        stopped.set(true);
        for (Future<?> one : running) {
          one.get(2, TimeUnit.MINUTES);
        }
        threads.shutdown();
        assertEquals(
            0,
            number(
                cluster,
                "SELECT COUNT(*) FROM TOLLGATE.SESSIONS WHERE APPLICATION = 'bank' AND SESSION_ID > "
                    + sessions),
            "no connection had to be replaced");
      }
      System.out.printf(
          "%d transfers committed, %d rolled back after a conflict, over %d kills%n",
          committed.size(), rolledBack.get(), KILLS);
      checkBooks(cluster);
    }
  }

  private static void createBank(ClusterProcesses cluster) throws SQLException {
    try (Connection connection = cluster.connect("");
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE ACCOUNT(ID INT PRIMARY KEY, BALANCE INT NOT NULL)");
      statement.execute(
          "CREATE TABLE JOURNAL(NUMBER BIGINT PRIMARY KEY, SOURCE INT REFERENCES ACCOUNT(ID),"
              + " TARGET INT REFERENCES ACCOUNT(ID), AMOUNT INT)");
      for (int i = 0; i < ACCOUNTS; i++) {
        statement.execute("INSERT INTO ACCOUNT VALUES(" + i + ", " + START_BALANCE + ")");
      }
    }
  }

  private Object work(HikariDataSource pool, Random random) throws SQLException {
    while (!stopped.get()) {
      long number = numbers.incrementAndGet();
      try (Connection connection = pool.getConnection()) {
        if (random.nextInt(10) == 0) {
          check(connection);
        } else {
          transfer(connection, random, number);
        }
      }
    }
    return pool;
  }

  private void transfer(Connection connection, Random random, long number) throws SQLException {
    int source = random.nextInt(ACCOUNTS);
    int target = (source + 1 + random.nextInt(ACCOUNTS - 1)) % ACCOUNTS;
    int amount = 1 + random.nextInt(50);
    try (PreparedStatement read =
            connection.prepareStatement("SELECT BALANCE FROM ACCOUNT WHERE ID = ? FOR UPDATE");
        PreparedStatement write =
            connection.prepareStatement("UPDATE ACCOUNT SET BALANCE = ? WHERE ID = ?");
        PreparedStatement journal =
            connection.prepareStatement("INSERT INTO JOURNAL VALUES(?, ?, ?, ?)")) {
      int sourceBalance = balance(read, source);
      int targetBalance = balance(read, target);
      set(write, source, sourceBalance - amount);
      set(write, target, targetBalance + amount);
      journal.setLong(1, number);
      journal.setInt(2, source);
      journal.setInt(3, target);
      journal.setInt(4, amount);
      assertEquals(1, journal.executeUpdate());
      if (random.nextInt(10) == 0) {
        connection.rollback();
        return;
      }
      connection.commit();
      committed.add(number);
    } catch (SQLException e) {
      if (!e.getSQLState().equals("40001") && !e.getSQLState().equals("HYT00")) {
        throw e;
      }
      rolledBack.incrementAndGet();
      connection.rollback();
    }
  }

  private static int balance(PreparedStatement read, int account) throws SQLException {
    read.setInt(1, account);
    try (ResultSet row = read.executeQuery()) {
      assertTrue(row.next());
      return row.getInt(1);
    }
  }

  private static void set(PreparedStatement write, int account, int balance) throws SQLException {
    write.setInt(1, balance);
    write.setInt(2, account);
    assertEquals(1, write.executeUpdate());
  }

  /** One query sees one state of the books. */
  private static void check(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT SUM(BALANCE) FROM ACCOUNT")) {
      assertTrue(row.next());
      assertEquals(ACCOUNTS * START_BALANCE, row.getInt(1));
    }
    connection.commit();
  }

  /** What was acknowledged is in the journal, nothing else is, and the balances follow from it. */
  private void checkBooks(ClusterProcesses cluster) throws Exception {
    Map<Integer, Integer> expected = new TreeMap<>();
    for (int i = 0; i < ACCOUNTS; i++) {
      expected.put(i, START_BALANCE);
    }
    List<Long> journal = new ArrayList<>();
    try (Connection connection = cluster.connect("");
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT * FROM JOURNAL ORDER BY NUMBER")) {
      while (rows.next()) {
        journal.add(rows.getLong(1));
        expected.merge(rows.getInt(2), -rows.getInt(4), Integer::sum);
        expected.merge(rows.getInt(3), rows.getInt(4), Integer::sum);
      }
    }
    assertEquals(committed.stream().sorted().toList(), journal);
    List<String> books =
        expected.entrySet().stream().map(e -> e.getKey() + "|" + e.getValue() + "|").toList();
    for (NodeProcess node : cluster.nodes()) {
      await()
          .atMost(ClusterProcesses.DEADLINE)
          .ignoreExceptions()
          .until(
              () -> cluster.rowsAt(node, "SELECT ID, BALANCE FROM ACCOUNT ORDER BY ID"),
              books::equals);
    }
  }

  private static long number(ClusterProcesses cluster, String sql) throws SQLException {
    try (Connection connection = cluster.connect("");
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      assertTrue(row.next());
      return row.getLong(1);
    }
  }
}
