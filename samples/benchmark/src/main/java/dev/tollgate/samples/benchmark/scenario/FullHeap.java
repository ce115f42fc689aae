package dev.tollgate.samples.benchmark.scenario;

import dev.tollgate.lock.Lease;
import dev.tollgate.samples.benchmark.measure.Crew;
import dev.tollgate.samples.benchmark.measure.Entrant;
import dev.tollgate.samples.benchmark.measure.Metric;
import dev.tollgate.samples.benchmark.measure.Sample;
import dev.tollgate.samples.benchmark.measure.Team;
import dev.tollgate.samples.benchmark.measure.Timings;
import dev.tollgate.samples.benchmark.measure.Worker;
import dev.tollgate.samples.benchmark.system.LockClient;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.LongAccumulator;

/**
 * What the collections of a heap full of locks cost: leaderships, short leases, and the slowest
 * cycle of busy clients.
 */
final class FullHeap {
  private static final int HELD = 1_000_000;
  private static final int CLIENTS = 64;
  private static final int LEASES = 20;
  private static final Duration TTL = Duration.ofSeconds(1);

  private FullHeap() {}

  static void run(Scenario scenario, Stage stage) throws Exception {
    try (Connection connection = DriverManager.getConnection(stage.tollgateUrl());
        Statement statement = connection.createStatement()) {
      long lease = SqlWorker.number(statement, "SELECT create_lease(INTERVAL '1' DAY, 'held')");
      stage.say("taking " + HELD + " locks");
      HeldLocks.take(statement, lease, 0, HELD);
      stage.burst(
          scenario,
          CLIENTS + " clients, " + HELD + " locks are held, " + LEASES + " leases of 1 s",
          List.of(new Entrant("tollgate", () -> Watched.of(scenario, stage))));
      SqlWorker.number(statement, "SELECT revoke_lease(" + lease + ")");
    }
  }

  /** Clients at work, and leases that a client of the Java API keeps alive meanwhile. */
  private record Watched(Crew crew, LongAccumulator slowestNanos, String url) implements Team {
    static Watched of(Scenario scenario, Stage stage) throws Exception {
      LongAccumulator slowest = new LongAccumulator(Math::max, 0);
      Crew crew =
          Crew.of(
              CLIENTS,
              number ->
                  new Cycle(
                      stage.tollgate().connect(Stage.LEASE),
                      scenario.word() + "-" + number,
                      slowest));
      return new Watched(crew, slowest, stage.tollgateUrl());
    }

    @Override
    public Sample measure(double seconds) throws Exception {
      slowestNanos.reset();
      try (var client = dev.tollgate.lock.LockClient.connect(url)) {
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < LEASES; i++) {
          leases.add(client.newLease(TTL));
        }
        Sample sample = crew.measure(seconds);
        long lost = leases.stream().filter(lease -> !lease.isAlive()).count();
        return sample
            .with(Metric.SLOWEST, slowestNanos.get() / 1e3)
            .with(Metric.LEASES_LOST, (double) lost);
      }
    }

    @Override
    public void dismiss() throws Exception {
      crew.dismiss();
    }
  }

  private record Cycle(LockClient client, String lock, LongAccumulator slowestNanos)
      implements Worker {
    @Override
    public void operate(Timings timings) throws Exception {
      long begin = System.nanoTime();
      client.acquire(lock);
      client.release(lock);
      long nanos = System.nanoTime() - begin;
      timings.operation(nanos);
      slowestNanos.accumulate(nanos);
    }

    @Override
    public void dismiss() throws Exception {
      client.disconnect();
    }
  }
}
