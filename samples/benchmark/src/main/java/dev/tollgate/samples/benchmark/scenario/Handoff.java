package dev.tollgate.samples.benchmark.scenario;

import dev.tollgate.samples.benchmark.measure.Crew;
import dev.tollgate.samples.benchmark.measure.Sample;
import dev.tollgate.samples.benchmark.measure.Team;
import dev.tollgate.samples.benchmark.measure.Timings;
import dev.tollgate.samples.benchmark.measure.Worker;
import dev.tollgate.samples.benchmark.system.Ability;
import dev.tollgate.samples.benchmark.system.LockClient;
import dev.tollgate.samples.benchmark.system.LockSystem;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One lock that always has waiters: the time from the start of a release until the next acquire
 * returns.
 */
final class Handoff {
  private static final int CLIENTS = 4;

  private Handoff() {}

  static void run(Scenario scenario, Stage stage) throws Exception {
    stage.burst(
        scenario,
        CLIENTS + " clients, 1 lock",
        Ability.WAIT,
        one -> new Relay(one.system(), scenario.word()));
  }

  private static final class Relay implements Team {
    private static final long NOBODY = Long.MIN_VALUE;

    private final AtomicLong releasedAtNanos = new AtomicLong(NOBODY);
    private final Crew crew;

    Relay(LockSystem system, String lock) throws Exception {
      crew = Crew.of(CLIENTS, number -> new Runner(system.connect(Stage.LEASE), lock));
    }

    @Override
    public Sample measure(double seconds) throws Exception {
      releasedAtNanos.set(NOBODY);
      return crew.measure(seconds);
    }

    @Override
    public void dismiss() throws Exception {
      crew.dismiss();
    }

    private final class Runner implements Worker {
      private final LockClient client;
      private final String lock;

      Runner(LockClient client, String lock) {
        this.client = client;
        this.lock = lock;
      }

      @Override
      public void operate(Timings timings) throws Exception {
        client.acquire(lock);
        long now = System.nanoTime();
        long released = releasedAtNanos.get();
        if (released == NOBODY) {
          timings.untimed();
        } else {
          timings.operation(now - released);
        }
        releasedAtNanos.set(System.nanoTime());
        client.release(lock);
      }

      @Override
      public void dismiss() throws Exception {
        client.disconnect();
      }
    }
  }
}
