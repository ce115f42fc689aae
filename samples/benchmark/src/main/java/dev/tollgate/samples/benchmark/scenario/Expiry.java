package dev.tollgate.samples.benchmark.scenario;

import dev.tollgate.samples.benchmark.measure.Entrant;
import dev.tollgate.samples.benchmark.measure.Metric;
import dev.tollgate.samples.benchmark.measure.Sample;
import dev.tollgate.samples.benchmark.measure.Team;
import dev.tollgate.samples.benchmark.measure.Timings;
import dev.tollgate.samples.benchmark.system.LockClient;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/** Many leases that no client renews, and one client that works while they expire. */
final class Expiry {
  private static final int LEASES = 50_000;
  private static final int BATCH = 5_000;
  private static final Duration LEASE = Duration.ofSeconds(10);

  /** Two calls for each, and a statement has a thousand. */
  private static final int LEASES_AT_A_TIME = 500;

  private static final long EARLY_MILLIS = 200;

  private Expiry() {}

  static void run(Scenario scenario, Stage stage) throws Exception {
    SqlWorker.execute(
        stage.tollgateUrl(), "CREATE TABLE IF NOT EXISTS bench_lease(id INT PRIMARY KEY)");
    try (Connection connection = DriverManager.getConnection(stage.tollgateUrl());
        Statement statement = connection.createStatement()) {
      for (int first = 1; first <= LEASES; first += BATCH) {
        statement.execute(
            "MERGE INTO bench_lease(id) KEY(id) SELECT x FROM SYSTEM_RANGE("
                + first
                + ", "
                + (first + BATCH - 1)
                + ")");
      }
    }
    stage.once(
        scenario,
        LEASES + " leases and their locks",
        List.of(new Entrant("tollgate", () -> new Ending(stage, scenario))));
  }

  /**
   * One round. A lease that is made later gets less time, so that all expire at one moment. The
   * time runs from that moment, as the client knows it, until the last of their locks is free.
   */
  private record Ending(Stage stage, Scenario scenario) implements Team {
    @Override
    public Sample measure(double seconds) throws Exception {
      ExecutorService thread = Executors.newSingleThreadExecutor();
      AtomicBoolean counts = new AtomicBoolean();
      AtomicBoolean over = new AtomicBoolean();
      LockClient client = stage.tollgate().connect(Stage.LEASE);
      try (Connection connection = DriverManager.getConnection(stage.tollgateUrl());
          Statement statement = connection.createStatement()) {
        long due = System.nanoTime() + LEASE.toNanos();
        long made = 0;
        for (int first = 1; first <= LEASES; first += LEASES_AT_A_TIME) {
          made +=
              SqlWorker.number(
                  statement,
                  "SELECT COUNT(try_acquire_lock('expiry-' || id, create_lease("
                      + TimeUnit.NANOSECONDS.toMillis(due - System.nanoTime())
                      + ", 'expiry'))) FROM bench_lease WHERE id BETWEEN "
                      + first
                      + " AND "
                      + (first + LEASES_AT_A_TIME - 1));
        }
        if (made != LEASES) {
          throw new SQLException("made " + made + " leases of " + LEASES);
        }
        Future<Timings> probe = thread.submit(() -> probe(client, counts, over));
        TimeUnit.NANOSECONDS.sleep(
            due - System.nanoTime() - TimeUnit.MILLISECONDS.toNanos(EARLY_MILLIS));
        counts.set(true);
        long begin = System.nanoTime();
        while (isHeld(statement, 1) || isHeld(statement, LEASES)) {
          TimeUnit.MILLISECONDS.sleep(10);
        }
        long end = System.nanoTime();
        over.set(true);
        return probe
            .get()
            .sample((end - begin) / 1e9)
            .with(Metric.TAKES, Math.max(0, end - due) / 1e3);
      } finally {
        over.set(true);
        thread.shutdownNow();
        client.disconnect();
      }
    }

    private Timings probe(LockClient client, AtomicBoolean counts, AtomicBoolean over)
        throws Exception {
      Timings timings = new Timings();
      while (!over.get()) {
        long begin = System.nanoTime();
        client.acquire(scenario.word());
        if (counts.get()) {
          timings.operation(System.nanoTime() - begin);
        }
        client.release(scenario.word());
      }
      return timings;
    }

    private static boolean isHeld(Statement statement, int number) throws SQLException {
      return SqlWorker.number(
              statement,
              "SELECT CASE WHEN lock_token('expiry-" + number + "') IS NULL THEN 0 ELSE 1 END")
          != 0;
    }
  }
}
