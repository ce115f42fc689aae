package dev.tollgate.distribution.containers;

import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * The program of a client's pod. Until its input ends, each of its threads acquires a lock, counts
 * in a row that only the holder may write, reads it, and releases the lock. Half of the threads
 * connect anew for each round. The last line says how many statements there were, how many failed,
 * and how long the slowest took.
 */
final class Load {
  private static final int THREADS = 4;
  private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

  private final String url;
  private final AtomicBoolean stopping = new AtomicBoolean();
  private final AtomicInteger statements = new AtomicInteger();
  private final AtomicInteger failures = new AtomicInteger();
  private final AtomicLong slowestMillis = new AtomicLong();

  private Load(String url) {
    this.url = url;
  }

  public static void main(String[] arguments) throws Exception {
    new Load(arguments[0]).run();
  }

  private void run() throws Exception {
    prepare();
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < THREADS; i++) {
      int id = i;
      threads.add(new Thread(() -> count(id), "client-" + id));
    }
    threads.forEach(Thread::start);
    System.out.println("runs");
    awaitEndOfInput();
    stopping.set(true);
    for (Thread thread : threads) {
      thread.join();
    }
    System.out.printf(
        "statements=%d failures=%d slowest=%d%n",
        statements.get(), failures.get(), slowestMillis.get());
  }

  /** A row for each client, behind the fence, unless a former run has left them. */
  private void prepare() throws SQLException {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      try (ResultSet tables =
          connection.getMetaData().getTables(null, null, "COUNTS", new String[] {"BASE TABLE"})) {
        if (tables.next()) {
          return;
        }
      }
      statement.execute("CREATE TABLE counts(id INT PRIMARY KEY, n BIGINT)");
      statement.execute(
          "INSERT INTO counts SELECT x, 0 FROM SYSTEM_RANGE(0, " + (THREADS - 1) + ")");
      statement.execute("ALTER TABLE counts FENCED BY LOCK ('count-' || id)");
    }
  }

  private static void awaitEndOfInput() throws IOException {
    while (System.in.read() >= 0) {
      // what it says is no matter
    }
  }

  private void count(int id) {
    long token = 0;
    long counted = 0;
    boolean connectsAnew = id % 2 == 1;
    while (!stopping.get()) {
      try (Connection connection = connect()) {
        do {
          Round round = round(connection, id);
          if (round.token() <= token || (counted > 0 && round.count() != counted + 1)) {
            throw new IllegalStateException(
                "token " + token + " and count " + counted + ", and then " + round);
          }
          token = round.token();
          counted = round.count();
          LockSupport.parkNanos(PAUSE_NANOS);
        } while (!connectsAnew && !stopping.get());
      } catch (SQLException | RuntimeException e) {
        failures.incrementAndGet();
        System.out.println("client " + id + ": " + e);
        counted = 0;
      }
    }
  }

  private record Round(long token, long count) {}

  private Connection connect() throws SQLException {
    long start = System.nanoTime();
    Connection connection = DriverManager.getConnection(url);
    done(start);
    return connection;
  }

  private Round round(Connection connection, int id) throws SQLException {
    long token = number(connection, "SELECT acquire_lock('count-" + id + "')");
    update(connection, "UPDATE counts SET n = n + 1 WHERE id = " + id);
    long count = number(connection, "SELECT n FROM counts WHERE id = " + id);
    number(connection, "SELECT CAST(release_lock('count-" + id + "') AS INT)");
    return new Round(token, count);
  }

  private long number(Connection connection, String sql) throws SQLException {
    long start = System.nanoTime();
    try (PreparedStatement statement = connection.prepareStatement(sql);
        ResultSet row = statement.executeQuery()) {
      row.next();
      long number = row.getLong(1);
      done(start);
      return number;
    }
  }

  private void update(Connection connection, String sql) throws SQLException {
    long start = System.nanoTime();
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      statement.executeUpdate();
      done(start);
    }
  }

  private void done(long startNanos) {
    statements.incrementAndGet();
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
    slowestMillis.accumulateAndGet(millis, Math::max);
  }
}
