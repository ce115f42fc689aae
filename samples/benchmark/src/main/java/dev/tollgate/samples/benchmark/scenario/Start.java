package dev.tollgate.samples.benchmark.scenario;

import static java.util.Objects.requireNonNull;

import dev.tollgate.samples.benchmark.measure.Crew;
import dev.tollgate.samples.benchmark.measure.Entrant;
import dev.tollgate.samples.benchmark.measure.Metric;
import dev.tollgate.samples.benchmark.measure.Sample;
import dev.tollgate.samples.benchmark.measure.Team;
import dev.tollgate.samples.benchmark.system.Ensemble;
import dev.tollgate.samples.benchmark.system.Kind;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Nodes that have just started, and a leader that has just been elected, while this process is warm
 * from the nodes that it works with otherwise. Each round has nodes of its own.
 */
final class Start {
  private static final double FIRST_SECONDS = 5;
  private static final double THEN_SECONDS = 15;
  private static final double LATER_SECONDS = 40;

  private final Ensemble servers;
  private final int clients;
  private final String lock;
  private @Nullable Ensemble started;
  private @Nullable Crew crew;

  private Start(Ensemble servers, int clients, String lock) {
    this.servers = servers;
    this.clients = clients;
    this.lock = lock;
  }

  static void oneClient(Scenario scenario, Stage stage) throws Exception {
    run(scenario, stage, 1);
  }

  static void manyClients(Scenario scenario, Stage stage) throws Exception {
    run(scenario, stage, 64);
  }

  /** The first entrant starts the nodes and the last one stops them, in each round. */
  private static void run(Scenario scenario, Stage stage, int clients) throws Exception {
    Ensemble servers = stage.running(Kind.TOLLGATE).orElseThrow().servers();
    if (!servers.survivesItsLeader()) {
      stage.say("needs three nodes");
      return;
    }
    Start start = new Start(servers, clients, scenario.word());
    stage.once(
        scenario,
        clients == 1 ? "1 client" : clients + " clients",
        List.of(
            window("two empty commits, 0 to 5 s", start::beginWithEmptyCommits, start::stop),
            window("0 to 5 s", start::beginWithLocks, start::stop),
            window("5 to 20 s", () -> start.work(THEN_SECONDS), () -> {}),
            window("20 to 60 s", () -> start.work(LATER_SECONDS), () -> {}),
            window("new leader, 0 to 5 s", start::failOver, () -> {})));
  }

  private interface Window {
    Sample measure() throws Exception;
  }

  private interface Ending {
    void run() throws Exception;
  }

  private static Entrant window(String name, Window window, Ending ending) {
    return new Entrant(
        name,
        () ->
            new Team() {
              @Override
              public Sample measure(double seconds) throws Exception {
                return window.measure();
              }

              @Override
              public void dismiss() throws Exception {
                ending.run();
              }
            });
  }

  /** What the commits of a cycle cost nodes that have just started. */
  private Sample beginWithEmptyCommits() throws Exception {
    return begin(fresh -> number -> SqlWorker.of(fresh.endpoints(), LockCycles::twoCommits));
  }

  private Sample beginWithLocks() throws Exception {
    return begin(
        fresh ->
            number ->
                new LockCycles.Apart(
                    Kind.TOLLGATE.open(fresh.endpoints()).connect(Stage.LEASE),
                    lock + "-" + number));
  }

  private Sample begin(Function<Ensemble, Crew.Hiring> hiring) throws Exception {
    stop();
    long begin = System.nanoTime();
    Ensemble fresh = servers.another();
    started = fresh;
    double readyMicros = (System.nanoTime() - begin) / 1e3;
    crew = Crew.of(clients, hiring.apply(fresh));
    return work(FIRST_SECONDS).with(Metric.TAKES, readyMicros);
  }

  private Sample work(double seconds) throws Exception {
    return requireNonNull(crew, "the first window failed").measure(seconds);
  }

  private Sample failOver() throws Exception {
    Ensemble fresh = requireNonNull(started, "the first window failed");
    fresh.killLeader();
    fresh.term(); // is answered by the next leader
    Sample sample = work(FIRST_SECONDS);
    stop();
    return sample;
  }

  /** Ends the clients before their servers. */
  private void stop() throws Exception {
    Ensemble fresh = started;
    Crew working = crew;
    started = null;
    crew = null;
    try {
      if (working != null) {
        working.dismiss();
      }
    } finally {
      if (fresh != null) {
        fresh.stop();
      }
    }
  }
}
