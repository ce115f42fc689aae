package dev.tollgate.samples.torture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.samples.torture.disk.RecordedDisk;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Nodes whose power is cut. */
class PowerCutIT {
  private static final String SECONDS = System.getProperty("tollgate.torture.power.seconds", "45");

  /** The power of all nodes is cut twice, first after they were killed and started again. */
  private static final String SEED = System.getProperty("tollgate.torture.power.seed", "8537");

  @BeforeEach
  void disksCanBeRecorded() {
    Optional<String> obstacle = RecordedDisk.obstacle();
    Assumptions.assumeTrue(obstacle.isEmpty(), () -> "no power is cut: " + obstacle);
  }

  private static void run(String... options) {
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    String[] all = new String[options.length + 3];
    all[0] = "--home=" + System.getProperty("tollgate.home");
    all[1] = "--power-cuts";
    all[2] = "--lease=3";
    System.arraycopy(options, 0, all, 3, options.length);
    int status;
    try (PrintStream out = new PrintStream(said, true, StandardCharsets.UTF_8)) {
      status = Torture.run(out, all);
    }
    String text = said.toString(StandardCharsets.UTF_8);
    System.out.println(text);
    assertEquals(0, status, text);
    assertTrue(text.contains("fault power") && text.contains("writes accepted"), text);
  }

  @Test
  @Timeout(300)
  void whatWasAcknowledgedSurvivesPowerCuts() {
    run("--seconds=" + SECONDS, "--seed=" + SEED, "--clients=4");
  }

  @Test
  @Tag("nightly")
  @Timeout(4_500)
  void whatWasAcknowledgedSurvivesAnHourOfPowerCuts() {
    run("--seconds=3600");
  }
}
