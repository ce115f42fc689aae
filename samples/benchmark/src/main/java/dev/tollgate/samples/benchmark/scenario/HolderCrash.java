package dev.tollgate.samples.benchmark.scenario;

import dev.tollgate.samples.benchmark.measure.Metric;
import dev.tollgate.samples.benchmark.measure.Sample;
import dev.tollgate.samples.benchmark.measure.Team;
import dev.tollgate.samples.benchmark.system.Ability;
import dev.tollgate.samples.benchmark.system.LockClient;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** The time from the death of a holder until the next holder has the lock. */
final class HolderCrash {
  private static final Duration LEASE = Duration.ofSeconds(3);

  /** The death falls on another moment between two heartbeats in each round. */
  private static final long FIRST_MILLIS = 500;

  private static final int STEPS = 7;

  private HolderCrash() {}

  static void run(Scenario scenario, Stage stage) throws Exception {
    stage.once(
        scenario,
        "lease of " + LEASE.toSeconds() + " s",
        Ability.OUTLIVE_HOLDERS,
        one -> new Succession(one, scenario.word()));
  }

  private static final class Succession implements Team {
    private final Running system;
    private final String lock;
    private int round;

    Succession(Running system, String lock) {
      this.system = system;
      this.lock = lock;
    }

    @Override
    public Sample measure(double seconds) throws Exception {
      String name = lock + "-" + round;
      LockClient waiter = system.system().connect(LEASE);
      ClientProcess holder = ClientProcess.holding(system, name, LEASE);
      ExecutorService thread = Executors.newSingleThreadExecutor();
      try {
        Future<Long> acquired =
            thread.submit(
                () -> {
                  waiter.acquire(name);
                  long now = System.nanoTime();
                  waiter.release(name);
                  return now;
                });
        TimeUnit.MILLISECONDS.sleep(FIRST_MILLIS + round * LEASE.toMillis() / STEPS);
        round++;
        if (acquired.isDone()) {
          throw new IllegalStateException("the lock was granted while its holder lived");
        }
        long killed = System.nanoTime();
        holder.kill();
        long nanos = acquired.get(60, TimeUnit.SECONDS) - killed;
        return Sample.empty().with(Metric.TAKES, nanos / 1e3);
      } finally {
        holder.kill();
        waiter.disconnect();
        thread.shutdownNow();
      }
    }
  }
}
