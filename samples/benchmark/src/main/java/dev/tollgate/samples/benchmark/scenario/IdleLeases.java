package dev.tollgate.samples.benchmark.scenario;

import dev.tollgate.samples.benchmark.measure.Crew;
import dev.tollgate.samples.benchmark.system.Ability;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** The cost of heartbeats to working clients: another process keeps leases alive. */
final class IdleLeases {
  private static final int[] LEASES = {0, 1_000, 10_000};
  private static final Duration LEASE = Duration.ofSeconds(15);

  private IdleLeases() {}

  static void run(Scenario scenario, Stage stage) throws Exception {
    List<ClientProcess> keepers = new ArrayList<>();
    try {
      int open = 0;
      for (int leases : LEASES) {
        for (Running one : stage.running()) {
          if (leases > open && one.lacks(Ability.KEEP_LEASES).isEmpty()) {
            stage.say("opening " + (leases - open) + " leases of " + one.kind().word());
            keepers.add(ClientProcess.keeping(one, leases - open, LEASE));
          }
        }
        open = leases;
        stage.burst(
            scenario,
            leases + " idle leases",
            Ability.KEEP_LEASES,
            one ->
                Crew.of(
                    1,
                    number ->
                        new LockCycles.Apart(one.system().connect(Stage.LEASE), scenario.word())));
      }
    } finally {
      for (ClientProcess keeper : keepers) {
        keeper.end();
      }
    }
  }
}
