package dev.tollgate.samples.benchmark.scenario;

import dev.tollgate.samples.benchmark.measure.Entrant;
import dev.tollgate.samples.benchmark.measure.Result;
import dev.tollgate.samples.benchmark.measure.Sample;
import dev.tollgate.samples.benchmark.measure.Table;
import dev.tollgate.samples.benchmark.measure.Team;
import dev.tollgate.samples.benchmark.system.Ability;
import dev.tollgate.samples.benchmark.system.Kind;
import dev.tollgate.samples.benchmark.system.LockSystem;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Runs the rounds of the cases. All entrants are connected, and take turns, A B C A B C: the speed
 * of a machine drifts, and only what was measured side by side can be compared.
 */
public final class Stage {
  /** The lease that clients request, unless the lease is what is measured. */
  static final Duration LEASE = Duration.ofSeconds(30);

  /** Share of a burst for which all entrants work before the rounds of a case. */
  private static final double UNCOUNTED_SHARE = 0.5;

  private final List<Running> running;
  private final Path directory;
  private final int rounds;
  private final double seconds;
  private final PrintStream out;
  private final List<Result> results = new ArrayList<>();
  private boolean anyFailed;

  /**
   * @param seconds of one burst
   */
  public Stage(List<Running> running, Path directory, int rounds, double seconds, PrintStream out) {
    this.running = List.copyOf(running);
    this.directory = directory;
    this.rounds = rounds;
    this.seconds = seconds;
    this.out = out;
  }

  /** All systems, Tollgate first. */
  List<Running> running() {
    return running;
  }

  /** The system of this kind, if it was requested and is there. */
  Optional<Running> running(Kind kind) {
    return running.stream().filter(one -> one.kind() == kind).findFirst();
  }

  /** The URL of Tollgate, without properties. */
  String tollgateUrl() {
    return running(Kind.TOLLGATE).orElseThrow().servers().endpoints();
  }

  LockSystem tollgate() {
    return running(Kind.TOLLGATE).orElseThrow().system();
  }

  /** The directory for files that go with the run. */
  Path directory() {
    return directory;
  }

  void say(String line) {
    out.println(line);
  }

  /** Assembles a case for each system that is able. */
  interface Casting {
    Team assemble(Running system) throws Exception;
  }

  /** Runs a case for all able systems in bursts, after half a burst that does not count. */
  void burst(Scenario scenario, String label, Ability ability, Casting casting) throws Exception {
    run(scenario, label, entrants(ability, casting), lacking(ability), true);
  }

  /** Runs a case for all able systems that happens once a round, and is not warmed up. */
  void once(Scenario scenario, String label, Ability ability, Casting casting) throws Exception {
    run(scenario, label, entrants(ability, casting), lacking(ability), false);
  }

  /** Runs a case with entrants of its own, in bursts. */
  void burst(Scenario scenario, String label, List<Entrant> entrants) throws Exception {
    run(scenario, label, entrants, Map.of(), true);
  }

  /** Runs a case with entrants of its own that happens once a round. */
  void once(Scenario scenario, String label, List<Entrant> entrants) throws Exception {
    run(scenario, label, entrants, Map.of(), false);
  }

  /** An entrant for each able system. */
  List<Entrant> entrants(Ability ability, Casting casting) {
    return running.stream()
        .filter(one -> one.lacks(ability).isEmpty())
        .map(one -> new Entrant(one.system().name(), () -> casting.assemble(one)))
        .toList();
  }

  private Map<String, String> lacking(Ability ability) {
    Map<String, String> lacking = new LinkedHashMap<>();
    running.forEach(
        one -> one.lacks(ability).ifPresent(why -> lacking.put(one.system().name(), why)));
    return lacking;
  }

  private void run(
      Scenario scenario,
      String label,
      List<Entrant> entrants,
      Map<String, String> absent,
      boolean warmUp)
      throws Exception {
    out.printf("%n%s: %s: ", scenario.word(), label);
    out.flush();
    Map<String, String> missing = new LinkedHashMap<>(absent);
    Map<String, Team> teams = new LinkedHashMap<>();
    Map<String, List<Sample>> samples = new LinkedHashMap<>();
    for (Entrant entrant : entrants) {
      attempt(
          entrant.name(),
          missing,
          () -> {
            Team team = entrant.assembly().assemble();
            teams.put(entrant.name(), team);
            samples.put(entrant.name(), new ArrayList<>());
            if (warmUp) {
              team.measure(seconds * UNCOUNTED_SHARE);
            }
          });
    }
    long term = running(Kind.TOLLGATE).orElseThrow().servers().term();
    for (int round = 1; round <= rounds; round++) {
      out.printf("round %d ", round);
      for (Map.Entry<String, Team> entry : teams.entrySet()) {
        String name = entry.getKey();
        List<Sample> mine = samples.get(name);
        if (mine != null) {
          out.print('.');
          out.flush();
          if (!attempt(name, missing, () -> mine.add(entry.getValue().measure(seconds)))) {
            samples.remove(name);
          }
        }
      }
      out.print(' ');
    }
    out.println();
    long elections = running(Kind.TOLLGATE).orElseThrow().servers().term() - term;
    if (elections > 0) {
      out.printf("elections of Tollgate in these rounds: %d%n", elections);
    }
    for (Map.Entry<String, Team> entry : teams.entrySet()) {
      attempt(entry.getKey(), missing, entry.getValue()::dismiss);
    }
    samples.values().removeIf(List::isEmpty);
    Result result = new Result(scenario.word(), label, samples, missing);
    results.add(result);
    out.println(Table.of(result));
  }

  private interface Attempt {
    void run() throws Exception;
  }

  /** Reports the failure of one system, which does not end the run; the run fails in the end. */
  private boolean attempt(String name, Map<String, String> missing, Attempt attempt) {
    try {
      attempt.run();
      return true;
    } catch (Exception e) {
      anyFailed = true;
      missing.put(name, "FAILED: " + e);
      out.println();
      e.printStackTrace(out);
      return false;
    }
  }

  public List<Result> results() {
    return List.copyOf(results);
  }

  /** True if any entrant of any case failed. */
  public boolean anyFailed() {
    return anyFailed;
  }
}
