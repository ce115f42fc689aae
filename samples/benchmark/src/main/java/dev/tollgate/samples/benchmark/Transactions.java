package dev.tollgate.samples.benchmark;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Measures transactions of three statements, SELECT FOR UPDATE and two UPDATEs, and a commit: each
 * client on rows of its own, and all on one hot row.
 */
@Command(
    name = "transactions",
    description = "Transactions of three statements.",
    mixinStandardHelpOptions = true,
    showDefaultValues = true)
final class Transactions implements Callable<Integer> {
  private static final int[] CLIENTS = {1, 16, 64};
  private static final long HIGHEST_MICROS = TimeUnit.SECONDS.toMicros(60);

  @Option(names = "--tollgate", required = true, description = "JDBC URL")
  private String url;

  @Option(names = "--seconds", defaultValue = "5", description = "Length of a burst")
  private double seconds;

  @Option(
      names = "--warm-up",
      defaultValue = "15",
      description = "Seconds with each number of clients before anything counts")
  private double warmUpSeconds;

  private Transactions() {}

  public static void main(String[] arguments) {
    System.exit(new CommandLine(new Transactions()).execute(arguments));
  }

  /** What one client did. */
  private record Counted(
      long transactions, double seconds, Histogram statementMicros, Histogram commitMicros) {}

  @Override
  public Integer call() throws Exception {
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE IF NOT EXISTS BENCH_ROW(ID INT PRIMARY KEY, V BIGINT)");
      statement.execute(
          "MERGE INTO BENCH_ROW(ID, V) KEY(ID) SELECT X, 0 FROM SYSTEM_RANGE(0, 199) ORDER BY X");
    }
    for (boolean hot : new boolean[] {false, true}) {
      System.out.printf("%n%s%n", hot ? "all clients on one row" : "rows of their own");
      for (int clients : CLIENTS) {
        run(clients, hot, warmUpSeconds);
        print(clients, run(clients, hot, seconds));
      }
    }
    return 0;
  }

  private static void print(int clients, List<Counted> results) {
    Histogram statements = new Histogram(HIGHEST_MICROS, 3);
    Histogram commits = new Histogram(HIGHEST_MICROS, 3);
    double perSecond = 0;
    for (Counted one : results) {
      statements.add(one.statementMicros());
      commits.add(one.commitMicros());
      perSecond += one.transactions() / one.seconds();
    }
    System.out.printf(
        "  %2d %-8s %8.0f transactions/s   statement p50 %6d us  p99 %7d us   commit p50 %6d us"
            + "  p99 %7d us%n",
        clients,
        clients == 1 ? "client" : "clients",
        perSecond,
        statements.getValueAtPercentile(50),
        statements.getValueAtPercentile(99),
        commits.getValueAtPercentile(50),
        commits.getValueAtPercentile(99));
  }

  private List<Counted> run(int clients, boolean hot, double length) throws Exception {
    ExecutorService threads = Executors.newFixedThreadPool(clients);
    try {
      CyclicBarrier start = new CyclicBarrier(clients);
      List<Future<Counted>> running = new ArrayList<>();
      for (int i = 0; i < clients; i++) {
        int row = hot ? 0 : 2 * i;
        running.add(threads.submit(() -> client(row, row + 1, start, length)));
      }
      List<Counted> results = new ArrayList<>();
      for (Future<Counted> one : running) {
        results.add(one.get());
      }
      return results;
    } finally {
      threads.shutdownNow();
    }
  }

  private Counted client(int first, int second, CyclicBarrier start, double length)
      throws Exception {
    Histogram statementMicros = new Histogram(HIGHEST_MICROS, 3);
    Histogram commitMicros = new Histogram(HIGHEST_MICROS, 3);
    try (Connection connection = DriverManager.getConnection(url + "?lockTimeout=1m");
        PreparedStatement read =
            connection.prepareStatement("SELECT V FROM BENCH_ROW WHERE ID = ? FOR UPDATE");
        PreparedStatement write =
            connection.prepareStatement("UPDATE BENCH_ROW SET V = ? WHERE ID = ?")) {
      connection.setAutoCommit(false);
      start.await();
      long begin = System.nanoTime();
      long end = begin + (long) (length * 1e9);
      long transactions = 0;
      while (System.nanoTime() < end) {
        read.setInt(1, first);
        long value = timed(statementMicros, () -> valueOf(read));
        update(write, first, value + 1, statementMicros);
        update(write, second, value + 1, statementMicros);
        timed(
            commitMicros,
            () -> {
              connection.commit();
              return 0;
            });
        transactions++;
      }
      return new Counted(
          transactions, (System.nanoTime() - begin) / 1e9, statementMicros, commitMicros);
    }
  }

  private static void update(PreparedStatement write, int row, long value, Histogram micros)
      throws Exception {
    write.setLong(1, value);
    write.setInt(2, row);
    timed(micros, write::executeUpdate);
  }

  private static long valueOf(PreparedStatement read) throws SQLException {
    try (ResultSet row = read.executeQuery()) {
      row.next();
      return row.getLong(1);
    }
  }

  private static <T> T timed(Histogram micros, Callable<T> work) throws Exception {
    long begin = System.nanoTime();
    T result = work.call();
    micros.recordValue(
        Math.min(HIGHEST_MICROS, TimeUnit.NANOSECONDS.toMicros(System.nanoTime() - begin)));
    return result;
  }
}
