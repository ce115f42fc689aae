package dev.tollgate.cluster;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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

  /** Between two pieces of work of a client; without a pause the clients take all processors. */
  private static final long THINK_MILLIS = Long.getLong("rolling.think.millis", 0);

  private static final int SHOWN_FAILURES = 20;

  private static final String ACQUIRE = "SELECT acquire_lock(?)";
  private static final String RELEASE = "SELECT release_lock(?)";
  private static final String COUNT = "UPDATE DONE SET N = N + 1 WHERE CLIENT = ?";

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
        statement.execute("SELECT acquire_lock('restart-" + client + "')");
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
      try (Connection connection = DriverManager.getConnection(url(client))) {
        Work work = work(client, new Texts(connection, client));
        while (!over.get()) {
          work.run();
          cycles.incrementAndGet(client);
          if (THINK_MILLIS > 0) {
            Thread.sleep(THINK_MILLIS);
          }
        }
      } catch (SQLException e) {
        fail(client, e);
      } catch (RuntimeException | InterruptedException e) {
        fail(client, new SQLException(e));
        return;
      }
    }
  }

  /** The statements of a client, prepared once. */
  private static final class Texts {
    final Connection connection;
    private final int client;
    private final Map<String, PreparedStatement> prepared = new HashMap<>();

    Texts(Connection connection, int client) {
      this.connection = connection;
      this.client = client;
    }

    private PreparedStatement of(String sql, Object argument) throws SQLException {
      PreparedStatement statement = prepared.get(sql);
      if (statement == null) {
        statement = connection.prepareStatement(sql);
        prepared.put(sql, statement);
      }
      statement.setObject(1, argument);
      return statement;
    }

    /** A call that returns true, or a number that is not 0. */
    void call(String sql, String lock) throws SQLException {
      try (ResultSet row = of(sql, lock).executeQuery()) {
        if (!row.next() || row.getObject(1) == null || row.getObject(1).equals(false)) {
          throw new SQLException(sql + " of " + lock + " gave nothing");
        }
      }
    }

    void update(String sql, int id) throws SQLException {
      if (of(sql, id).executeUpdate() != 1) {
        throw new SQLException("no row of client " + client + ": " + sql);
      }
    }

    long number(String sql, int id) throws SQLException {
      try (ResultSet row = of(sql, id).executeQuery()) {
        if (!row.next()) {
          throw new SQLException("no row of client " + client + ": " + sql);
        }
        return row.getLong(1);
      }
    }

    ResultSet pages() throws SQLException {
      return of("SELECT * FROM PAGES WHERE ID > ? ORDER BY ID", 0).executeQuery();
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
    return "jdbc:tollgate://" + String.join(",", addresses) + "/?readConsistency=any&" + properties;
  }

  private static boolean isWaiting(int client) {
    return client % (2 * KINDS) == 2 * KINDS - 1;
  }

  private static boolean isWritingMeanwhile(int client) {
    return client % (4 * KINDS) == 3 * KINDS - 1;
  }

  private Work work(int client, Texts texts) throws SQLException {
    return switch (client % KINDS) {
      case 0 -> () -> writeFenced(client, texts);
      case 1 -> {
        texts.connection.setAutoCommit(false);
        yield () -> moveAmount(client, texts);
      }
      case 2 -> () -> writeAndRead(client, texts);
      default -> {
        if (isWaiting(client)) {
          yield () -> takeTurns(client, texts);
        }
        yield isWritingMeanwhile(client)
            ? () -> readPages(client, texts, () -> texts.update(COUNT, client))
            : () -> readPages(client, texts, () -> {});
      }
    };
  }

  private void writeFenced(int client, Texts texts) throws SQLException {
    String lock = "restart-" + client;
    timed(client, () -> texts.call(ACQUIRE, lock));
    timed(client, () -> texts.update("UPDATE LEDGER SET N = N + 1 WHERE CLIENT = ?", client));
    done.incrementAndGet(client);
    timed(client, () -> texts.call(RELEASE, lock));
  }

  private void moveAmount(int client, Texts texts) throws SQLException {
    int from = 2 * client;
    timed(client, () -> texts.update("UPDATE AMOUNTS SET N = N - 1 WHERE ID = ?", from));
    timed(client, () -> texts.update("UPDATE AMOUNTS SET N = N + 1 WHERE ID = ?", from + 1));
    timed(client, () -> texts.number("SELECT N FROM AMOUNTS WHERE ID = ?", from));
    timed(client, texts.connection::commit);
    done.incrementAndGet(client);
  }

  private void writeAndRead(int client, Texts texts) throws SQLException {
    timed(client, () -> texts.update(COUNT, client));
    long expected = done.incrementAndGet(client);
    timed(
        client,
        () -> {
          long read = texts.number("SELECT N FROM DONE WHERE CLIENT = ?", client);
          if (read != expected) {
            throw new SQLException("read " + read + " after write number " + expected);
          }
        });
  }

  private void readPages(int client, Texts texts, Work meanwhile) throws SQLException {
    ResultSet[] opened = new ResultSet[1];
    timed(client, () -> opened[0] = texts.pages());
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
  private void takeTurns(int client, Texts texts) throws SQLException {
    statements.addAndGet(2);
    texts.call("SELECT acquire_lock(?, 0, INTERVAL '60' SECOND)", "turns");
    done.incrementAndGet(client);
    texts.call(RELEASE, "turns");
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

  private static long number(Statement statement, String sql) throws SQLException {
    try (ResultSet row = statement.executeQuery(sql)) {
      if (!row.next()) {
        throw new SQLException(sql + " gave nothing");
      }
      return row.getLong(1);
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
