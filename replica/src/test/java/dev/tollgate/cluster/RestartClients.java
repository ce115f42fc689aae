package dev.tollgate.cluster;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Clients that work while nodes are restarted. They count the statements that fail, and know how
 * long the slowest statement of each client took. A client goes on after a failure.
 *
 * <p>One client in four acquires a lock of its own, writes to its fenced row, and releases the
 * lock. One moves an amount within a transaction. One writes and reads what it has written. The
 * fourth waits for a lock that many want, reads a result page by page at whichever node it is
 * connected to, or reads one at the leader and writes between its pages.
 */
final class RestartClients implements AutoCloseable {
  private static final int KINDS = 4;
  private static final int ROWS = 60;
  private static final int PAGE = 20;
  private static final int SHOWN_FAILURES = 20;

  /** A piece of work of several statements. */
  private interface Work {
    void run() throws SQLException;
  }

  private final int count;
  private final ClusterProcesses cluster;
  private final AtomicBoolean over = new AtomicBoolean();
  private final AtomicInteger failed = new AtomicInteger();
  private final AtomicInteger statements = new AtomicInteger();
  private final Queue<String> failures = new ConcurrentLinkedQueue<>();

  /** What each client knows to have been done. */
  private final AtomicLongArray done;

  /** Of each client, its work in all, done or not. */
  private final AtomicLongArray cycles;

  private final AtomicLongArray slowestNanos;
  private final List<Thread> threads = new ArrayList<>();

  RestartClients(ClusterProcesses cluster, int count) {
    this.cluster = cluster;
    this.count = count;
    done = new AtomicLongArray(count);
    cycles = new AtomicLongArray(count);
    slowestNanos = new AtomicLongArray(count);
  }

  /** Makes the tables, and starts to work. */
  void start() throws SQLException {
    try (Connection connection = cluster.connect("failoverTimeout=30s");
        Statement statement = connection.createStatement()) {
      statement.execute(
          "CREATE TABLE LEDGER(CLIENT INT PRIMARY KEY, N BIGINT NOT NULL)"
              + " FENCED BY LOCK ('restart-' || CLIENT)");
      statement.execute("CREATE TABLE AMOUNTS(ID INT PRIMARY KEY, N BIGINT NOT NULL)");
      statement.execute("CREATE TABLE DONE(CLIENT INT PRIMARY KEY, N BIGINT NOT NULL)");
      statement.execute("CREATE TABLE PAGES(ID INT PRIMARY KEY, TEXT VARCHAR(100))");
      statement.execute(
          "INSERT INTO PAGES SELECT X, 'row ' || X FROM SYSTEM_RANGE(1, " + ROWS + ")");
      for (int client = 0; client < count; client++) {
        number(statement, "SELECT acquire_lock('restart-" + client + "')");
        statement.execute("INSERT INTO LEDGER VALUES(" + client + ", 0)");
        statement.execute(
            "INSERT INTO AMOUNTS VALUES(" + 2 * client + ", 0), (" + (2 * client + 1) + ", 0)");
        statement.execute("INSERT INTO DONE VALUES(" + client + ", 0)");
        statement.execute("SELECT release_lock('restart-" + client + "')");
      }
    }
    for (int i = 0; i < count; i++) {
      int client = i;
      Thread thread = new Thread(() -> run(client), "client-" + client);
      thread.start();
      threads.add(thread);
    }
  }

  private void run(int client) {
    while (!over.get()) {
      try (Connection connection = DriverManager.getConnection(url(client));
          Statement statement = connection.createStatement()) {
        Work work = work(client, connection, statement);
        while (!over.get()) {
          work.run();
          cycles.incrementAndGet(client);
        }
      } catch (SQLException e) {
        fail(client, e);
      } catch (RuntimeException e) {
        fail(client, new SQLException(e));
        return;
      }
    }
  }

  /** Of those that read anywhere, every node has some. */
  private String url(int client) {
    String properties = "failoverTimeout=30s&fetchSize=" + PAGE;
    if (client % KINDS != KINDS - 1 || isWaiting(client) || isWritingMeanwhile(client)) {
      return cluster.url(properties);
    }
    List<NodeProcess> nodes = cluster.nodes();
    List<String> addresses = new ArrayList<>();
    for (int i = 0; i < nodes.size(); i++) {
      NodeProcess node = nodes.get((client / KINDS + i) % nodes.size());
      addresses.add("127.0.0.1:" + cluster.clientPort(node));
    }
    return "jdbc:tollgate://"
        + String.join(",", addresses)
        + "/?readConsistency=any&"
        + properties;
  }

  private static boolean isWaiting(int client) {
    return client % (2 * KINDS) == 2 * KINDS - 1;
  }

  private static boolean isWritingMeanwhile(int client) {
    return client % (4 * KINDS) == 3 * KINDS - 1;
  }

  private Work work(int client, Connection connection, Statement statement) throws SQLException {
    return switch (client % KINDS) {
      case 0 -> () -> writeFenced(client, statement);
      case 1 -> {
        connection.setAutoCommit(false);
        yield () -> moveAmount(client, connection, statement);
      }
      case 2 -> {
        PreparedStatement update =
            connection.prepareStatement("UPDATE DONE SET N = N + 1 WHERE CLIENT = ?");
        yield () -> writeAndRead(client, update, statement);
      }
      default -> {
        if (isWaiting(client)) {
          yield () -> takeTurns(client, statement);
        }
        statement.setFetchSize(PAGE);
        if (isWritingMeanwhile(client)) {
          PreparedStatement update =
              connection.prepareStatement("UPDATE DONE SET N = N + 1 WHERE CLIENT = ?");
          update.setInt(1, client);
          yield () -> readPages(client, statement, update::executeUpdate);
        }
        yield () -> readPages(client, statement, () -> {});
      }
    };
  }

  private void writeFenced(int client, Statement statement) throws SQLException {
    timed(client, () -> number(statement, "SELECT acquire_lock('restart-" + client + "')"));
    timed(
        client,
        () -> update(statement, "UPDATE LEDGER SET N = N + 1 WHERE CLIENT = " + client));
    done.incrementAndGet(client);
    timed(client, () -> number(statement, "SELECT release_lock('restart-" + client + "')"));
  }

  private void moveAmount(int client, Connection connection, Statement statement)
      throws SQLException {
    int from = 2 * client;
    timed(client, () -> update(statement, "UPDATE AMOUNTS SET N = N - 1 WHERE ID = " + from));
    timed(client, () -> update(statement, "UPDATE AMOUNTS SET N = N + 1 WHERE ID = " + (from + 1)));
    timed(
        client,
        () -> number(statement, "SELECT N FROM AMOUNTS WHERE ID = " + from));
    timed(client, connection::commit);
    done.incrementAndGet(client);
  }

  private void writeAndRead(int client, PreparedStatement update, Statement statement)
      throws SQLException {
    update.setInt(1, client);
    timed(
        client,
        () -> {
          if (update.executeUpdate() != 1) {
            throw new SQLException("no row of client " + client);
          }
        });
    long expected = done.incrementAndGet(client);
    timed(
        client,
        () -> {
          long read = number(statement, "SELECT N FROM DONE WHERE CLIENT = " + client);
          if (read != expected) {
            throw new SQLException("read " + read + " after write number " + expected);
          }
        });
  }

  private void readPages(int client, Statement statement, Work meanwhile) throws SQLException {
    ResultSet[] opened = new ResultSet[1];
    timed(client, () -> opened[0] = statement.executeQuery("SELECT * FROM PAGES ORDER BY ID"));
    try (ResultSet rows = opened[0]) {
      int read = 0;
      boolean[] more = {true};
      while (more[0]) {
        timed(client, () -> more[0] = rows.next());
        read += more[0] ? 1 : 0;
        if (read % PAGE == PAGE / 2) {
          timed(client, meanwhile);
        }
      }
      if (read != ROWS) {
        throw new SQLException("read " + read + " rows of " + ROWS);
      }
    }
    done.incrementAndGet(client);
  }

  /** The wait is no stall. */
  private void takeTurns(int client, Statement statement) throws SQLException {
    statements.addAndGet(2);
    number(statement, "SELECT acquire_lock('turns', INTERVAL '60' SECOND)");
    done.incrementAndGet(client);
    number(statement, "SELECT release_lock('turns')");
  }

  private void timed(int client, Work statement) throws SQLException {
    long begun = System.nanoTime();
    try {
      statement.run();
    } finally {
      statements.incrementAndGet();
      slowestNanos.accumulateAndGet(client, System.nanoTime() - begun, Math::max);
    }
  }

  private void fail(int client, SQLException e) {
    failed.incrementAndGet();
    if (failures.size() < SHOWN_FAILURES) {
      failures.add("client " + client + ": " + e.getSQLState() + " " + e.getMessage());
    }
  }

  private static void update(Statement statement, String sql) throws SQLException {
    if (statement.executeUpdate(sql) != 1) {
      throw new SQLException("no row: " + sql);
    }
  }

  /** A number that is not 0, or true. */
  private static long number(Statement statement, String sql) throws SQLException {
    try (ResultSet row = statement.executeQuery(sql)) {
      if (!row.next() || row.getObject(1) == null || row.getObject(1).equals(false)) {
        throw new SQLException(sql + " gave nothing");
      }
      return row.getObject(1) instanceof Boolean ? 1 : row.getLong(1);
    }
  }

  int failed() {
    return failed.get();
  }

  List<String> failures() {
    return List.copyOf(failures);
  }

  int statements() {
    return statements.get();
  }

  /** Of each client, its slowest statement since this was last called, in milliseconds. */
  List<Long> takeSlowest() {
    List<Long> slowest = new ArrayList<>();
    for (int client = 0; client < count; client++) {
      slowest.add(TimeUnit.NANOSECONDS.toMillis(slowestNanos.getAndSet(client, 0)));
    }
    return slowest;
  }

  /** How far each client is. */
  long[] progress() {
    long[] all = new long[count];
    for (int client = 0; client < count; client++) {
      all[client] = cycles.get(client);
    }
    return all;
  }

  /** True if each client has ended two more pieces of work, one of which began since then. */
  boolean haveWorkedSince(long[] before) {
    for (int client = 0; client < count; client++) {
      if (cycles.get(client) < before[client] + 2) {
        return false;
      }
    }
    return true;
  }

  /** Ends the clients, and compares what they know with what the cluster has. */
  List<String> endAndCompare() throws SQLException, InterruptedException {
    close();
    for (Thread thread : threads) {
      thread.join(ClusterProcesses.DEADLINE.toMillis());
    }
    List<String> differences = new ArrayList<>();
    try (Connection connection = cluster.connect("failoverTimeout=30s");
        Statement statement = connection.createStatement()) {
      for (int client = 0; client < count; client++) {
        String query =
            switch (client % KINDS) {
              case 0 -> "SELECT N FROM LEDGER WHERE CLIENT = " + client;
              case 1 -> "SELECT N FROM AMOUNTS WHERE ID = " + (2 * client + 1);
              case 2 -> "SELECT N FROM DONE WHERE CLIENT = " + client;
              default -> "VALUES " + done.get(client);
            };
        long there = number(statement, query);
        if (there != done.get(client)) {
          differences.add("client " + client + " did " + done.get(client) + ", not " + there);
        }
      }
      long sum = number(statement, "SELECT SUM(N) FROM AMOUNTS");
      if (sum != 0) {
        differences.add("amounts of " + sum);
      }
    }
    return differences;
  }

  @Override
  public void close() {
    over.set(true);
  }
}
