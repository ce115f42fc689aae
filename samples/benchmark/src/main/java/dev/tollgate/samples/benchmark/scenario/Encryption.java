package dev.tollgate.samples.benchmark.scenario;

import dev.tollgate.samples.benchmark.measure.Crew;
import dev.tollgate.samples.benchmark.measure.Entrant;
import dev.tollgate.samples.benchmark.system.Ensemble;
import dev.tollgate.samples.benchmark.system.Kind;
import dev.tollgate.samples.benchmark.system.LockSystem;
import java.util.List;

/** Locks of a cluster with TLS, beside the same without: both work in turns. */
final class Encryption {
  private static final int[] CLIENTS = {1, 8};

  /** What the encrypted nodes need to be as warm as the others; the others work as long. */
  private static final double WARM_UP_SECONDS = 60;

  private static final int WARM_UP_CLIENTS = 16;

  private Encryption() {}

  static void run(Scenario scenario, Stage stage) throws Exception {
    Ensemble servers = stage.running(Kind.TOLLGATE).orElseThrow().servers().encrypted();
    try {
      LockSystem encrypted = Kind.TOLLGATE.open(servers.endpoints());
      warmUp(stage, encrypted);
      warmUp(stage, stage.tollgate());
      for (int clients : CLIENTS) {
        stage.burst(
            scenario,
            clients == 1 ? "1 client" : clients + " clients",
            List.of(
                crew("with TLS", encrypted, clients), crew("without", stage.tollgate(), clients)));
      }
      encrypted.shutDown();
    } finally {
      servers.stop();
    }
  }

  private static void warmUp(Stage stage, LockSystem system) throws Exception {
    stage.say("warming up for " + WARM_UP_SECONDS + " s");
    Crew crew =
        Crew.of(
            WARM_UP_CLIENTS,
            number -> new LockCycles.Apart(system.connect(Stage.LEASE), "warm-" + number));
    var unused = crew.measure(WARM_UP_SECONDS);
    crew.dismiss();
  }

  private static Entrant crew(String name, LockSystem system, int clients) {
    return new Entrant(
        name,
        () ->
            Crew.of(
                clients,
                number -> new LockCycles.Apart(system.connect(Stage.LEASE), "tls-" + number)));
  }
}
