package dev.tollgate.samples.benchmark.scenario;

import dev.tollgate.samples.benchmark.measure.Metric;
import dev.tollgate.samples.benchmark.measure.Sample;
import dev.tollgate.samples.benchmark.measure.Spread;
import dev.tollgate.samples.benchmark.measure.Team;
import dev.tollgate.samples.benchmark.system.Ability;
import dev.tollgate.samples.benchmark.system.Ensemble;
import dev.tollgate.samples.benchmark.system.LockClient;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** Clients that acquire and release locks of their own while the leader is killed, or stopped. */
final class Failover {
  private static final int CLIENTS = 8;
  private static final Duration LEASE = Duration.ofSeconds(10);
  private static final long BEFORE_MILLIS = 2_000;
  private static final long RETRY_MILLIS = 10;
  private static final long LONGEST_SECONDS = 60;
  private static final long ALIVE = Long.MIN_VALUE;

  private Failover() {}

  static void run(Scenario scenario, Stage stage) throws Exception {
    run(scenario, stage, Ensemble::killLeader);
  }

  /** The leader stops with its connections open, so clients have to find out by themselves. */
  static void silent(Scenario scenario, Stage stage) throws Exception {
    run(scenario, stage, Ensemble::silenceLeader);
  }

  private static void run(Scenario scenario, Stage stage, Blow blow) throws Exception {
    stage.once(
        scenario,
        CLIENTS + " clients",
        Ability.FAIL_OVER,
        one -> new Interrupted(one, scenario, blow));
  }

  /** What happens to the leader. */
  private interface Blow {
    void strike(Ensemble servers) throws Exception;
  }

  /** One round with clients of its own: all that they keep has to survive one failover. */
  private record Interrupted(Running system, Scenario scenario, Blow blow) implements Team {
    @Override
    public Sample measure(double seconds) throws Exception {
      Ensemble servers = system.servers();
      AtomicLong killedAtNanos = new AtomicLong(ALIVE);
      AtomicBoolean mayFail = new AtomicBoolean();
      AtomicBoolean over = new AtomicBoolean();
      ExecutorService threads = Executors.newCachedThreadPool();
      try {
        List<Future<Survivor>> running = new ArrayList<>();
        List<Passage> passages = new ArrayList<>();
        for (int i = 0; i < CLIENTS; i++) {
          Passage passage =
              new Passage(
                  system.system().connect(LEASE),
                  scenario.word() + "-" + i,
                  mayFail,
                  killedAtNanos,
                  over);
          passages.add(passage);
          running.add(threads.submit(passage::work));
        }
        TimeUnit.MILLISECONDS.sleep(BEFORE_MILLIS);
        mayFail.set(true);
        blow.strike(servers);
        killedAtNanos.set(System.nanoTime());
        awaitAll(passages, over);
        List<Survivor> survivors = new ArrayList<>();
        for (Future<Survivor> one : running) {
          survivors.add(one.get(LONGEST_SECONDS, TimeUnit.SECONDS));
        }
        Spread micros =
            Spread.of(survivors.stream().mapToDouble(s -> s.gapNanos() / 1e3).toArray());
        return Sample.empty()
            .with(Metric.P50, micros.median())
            .with(Metric.SLOWEST, micros.most())
            .with(Metric.LEASES_LOST, (double) survivors.stream().filter(Survivor::lost).count());
      } finally {
        over.set(true);
        threads.shutdownNow();
        servers.revive();
      }
    }

    private static void awaitAll(List<Passage> passages, AtomicBoolean over)
        throws InterruptedException, TimeoutException {
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(LONGEST_SECONDS);
      while (!passages.stream().allMatch(Passage::isThrough)) {
        if (System.nanoTime() > end) {
          throw new TimeoutException(
              "no success for some clients in " + LONGEST_SECONDS + " s without the leader");
        }
        TimeUnit.MILLISECONDS.sleep(RETRY_MILLIS);
      }
      over.set(true);
    }
  }

  /**
   * How one client came through the failover.
   *
   * @param gapNanos from the death of the leader to the first success of a call begun afterwards
   * @param lost whether the client lost the lock that it held all the time
   */
  private record Survivor(long gapNanos, boolean lost) {}

  private static final class Passage {
    private final LockClient client;
    private final String lock;
    private final AtomicBoolean mayFail;
    private final AtomicLong killedAtNanos;
    private final AtomicBoolean over;
    private volatile long gapNanos = -1;

    Passage(
        LockClient client,
        String lock,
        AtomicBoolean mayFail,
        AtomicLong killedAtNanos,
        AtomicBoolean over) {
      this.client = client;
      this.lock = lock;
      this.mayFail = mayFail;
      this.killedAtNanos = killedAtNanos;
      this.over = over;
    }

    boolean isThrough() {
      return gapNanos >= 0;
    }

    Survivor work() throws Exception {
      String kept = lock + "-kept";
      client.acquire(kept);
      while (!over.get()) {
        long begin = System.nanoTime();
        boolean afterDeath = killedAtNanos.get() != ALIVE;
        try {
          client.acquire(lock);
          long killed = killedAtNanos.get();
          if (gapNanos < 0 && afterDeath && begin - killed >= 0) {
            gapNanos = System.nanoTime() - killed;
          }
          client.release(lock);
        } catch (InterruptedException e) {
          throw e;
        } catch (Exception e) {
          // clients get errors while there is no leader; before the kill an error ends the round
          if (mayFail.get()) {
            TimeUnit.MILLISECONDS.sleep(RETRY_MILLIS);
          } else {
            throw e;
          }
        }
      }
      boolean lost = !client.holds(kept);
      client.disconnect();
      return new Survivor(gapNanos, lost);
    }
  }
}
