package dev.tollgate.samples.benchmark.scenario;

import dev.tollgate.samples.benchmark.measure.Crew;
import dev.tollgate.samples.benchmark.measure.Entrant;
import dev.tollgate.samples.benchmark.measure.Timings;
import dev.tollgate.samples.benchmark.measure.Worker;
import dev.tollgate.samples.benchmark.system.Ability;
import dev.tollgate.samples.benchmark.system.LockClient;
import dev.tollgate.samples.benchmark.system.TollgateJava;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Locks that are acquired and released at once. */
final class LockCycles {
  private static final int[] CLIENTS = {1, 8, 64};
  private static final int CONTENDERS = 3;
  private static final long HOLD_MILLIS = 1;
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private LockCycles() {}

  static void latency(Scenario scenario, Stage stage) throws Exception {
    stage.burst(
        scenario,
        "1 client",
        Ability.TRY,
        one -> Crew.of(1, number -> new Apart(one.system().connect(Stage.LEASE), "latency")));
  }

  static void javaApi(Scenario scenario, Stage stage) throws Exception {
    String url = stage.tollgateUrl();
    stage.burst(
        scenario,
        "1 client",
        List.of(
            alone("statements", "statements", () -> stage.tollgate().connect(Stage.LEASE)),
            alone(
                "LockClient, no wait",
                "api",
                () -> new TollgateJava(url, Stage.LEASE, Duration.ZERO)),
            alone(
                "LockClient, waits",
                "api-waits",
                () -> new TollgateJava(url, Stage.LEASE, PATIENCE))));
  }

  private interface Connecting {
    LockClient connect() throws Exception;
  }

  private static Entrant alone(String name, String lock, Connecting connecting) {
    return new Entrant(name, () -> Crew.of(1, number -> new Apart(connecting.connect(), lock)));
  }

  static void throughput(Scenario scenario, Stage stage) throws Exception {
    for (int clients : CLIENTS) {
      ownLocks(scenario, stage, clients);
    }
  }

  static void sequential(Scenario scenario, Stage stage) throws Exception {
    ownLocks(scenario, stage, 1);
  }

  static void parallel(Scenario scenario, Stage stage) throws Exception {
    ownLocks(scenario, stage, Runtime.getRuntime().availableProcessors());
  }

  private static void ownLocks(Scenario scenario, Stage stage, int clients) throws Exception {
    stage.burst(scenario, label(clients), Ability.TRY, ownLocks(scenario, clients));
  }

  private static Stage.Casting ownLocks(Scenario scenario, int clients) {
    return one ->
        Crew.of(
            clients,
            number ->
                new Together(
                    one.system().connect(Stage.LEASE),
                    scenario.word() + "-" + clients + "-" + number));
  }

  private static String label(int clients) {
    return clients == 1 ? "1 client" : clients + " clients";
  }

  /** What acquire and release cost because they are committed, and not because of what they do. */
  static void floor(Scenario scenario, Stage stage) throws Exception {
    String url = stage.tollgateUrl();
    for (int clients : CLIENTS) {
      List<Entrant> entrants =
          new ArrayList<>(stage.entrants(Ability.TRY, ownLocks(scenario, clients)));
      entrants.add(
          new Entrant(
              "two empty commits",
              () -> Crew.of(clients, number -> SqlWorker.of(url, LockCycles::twoCommits))));
      stage.burst(scenario, label(clients), entrants);
    }
  }

  /** Two entries of the log that set a number of the session. */
  static SqlWorker.Operation twoCommits(Connection connection) throws SQLException {
    Statement statement = connection.createStatement();
    return () -> {
      statement.execute("SET LOCK_TIMEOUT 1000");
      statement.execute("SET LOCK_TIMEOUT 2000");
    };
  }

  static void contention(Scenario scenario, Stage stage) throws Exception {
    stage.burst(
        scenario,
        CONTENDERS + " clients, 1 lock",
        Ability.TRY,
        one ->
            Crew.of(
                CONTENDERS,
                number -> new Contending(one.system().connect(Stage.LEASE), scenario.word())));
  }

  /** Times the acquire and the release separately. */
  record Apart(LockClient client, String lock) implements Worker {
    @Override
    public void operate(Timings timings) throws Exception {
      long begin = System.nanoTime();
      client.acquire(lock);
      long acquired = System.nanoTime();
      client.release(lock);
      timings.operation(acquired - begin);
      timings.release(System.nanoTime() - acquired);
    }

    @Override
    public void dismiss() throws Exception {
      client.disconnect();
    }
  }

  /** Times the acquire and the release together. */
  private record Together(LockClient client, String lock) implements Worker {
    @Override
    public void operate(Timings timings) throws Exception {
      long begin = System.nanoTime();
      client.acquire(lock);
      client.release(lock);
      timings.operation(System.nanoTime() - begin);
    }

    @Override
    public void dismiss() throws Exception {
      client.disconnect();
    }
  }

  /** Does not wait: attempts that find the lock held are counted separately. */
  private record Contending(LockClient client, String lock) implements Worker {
    @Override
    public void operate(Timings timings) throws Exception {
      long begin = System.nanoTime();
      if (!client.tryAcquire(lock)) {
        timings.refused();
        return;
      }
      TimeUnit.MILLISECONDS.sleep(HOLD_MILLIS);
      client.release(lock);
      timings.operation(System.nanoTime() - begin);
    }

    @Override
    public void dismiss() throws Exception {
      client.disconnect();
    }
  }
}
