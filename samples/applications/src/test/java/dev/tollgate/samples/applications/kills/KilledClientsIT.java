package dev.tollgate.samples.applications.kills;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Each framework on three nodes, while clients and the leader are killed in turn: every job has its
 * effect, once, and others go on soon. {@code -Dkills.seed} repeats a schedule, {@code
 * -Dkills.count} makes it longer.
 */
class KilledClientsIT {
  /** What a killed client or leader may cost others, besides what the framework waits by itself. */
  private static final Duration MOST = Duration.ofSeconds(15);

  @TempDir private Path directory;

  private void run(Class<? extends Framework> type, int kills) throws Exception {
    long seed = Long.getLong("kills.seed", new Random().nextInt(1_000_000));
    System.out.println(type.getSimpleName() + ": -Dkills.seed=" + seed);
    try (Run run = new Run(type, directory)) {
      Result result =
          run.of(Schedule.of(seed, Integer.getInteger("kills.count", kills), Run.CLIENTS));
      System.out.println(type.getSimpleName() + ": seed " + seed + ": " + result.summary());
      assertEquals(List.of(), result.violations(MOST, run.detection()));
    }
  }

  @Test
  @Timeout(180)
  void workOfAKilledSchedulerGoesOn() throws Exception {
    run(DbSchedulerJobs.class, 2);
  }

  @ParameterizedTest(name = "{0}")
  @Tag("nightly")
  @Timeout(900)
  @ValueSource(
      classes = {
        QuartzJobs.class,
        DbSchedulerJobs.class,
        FlowableJobs.class,
        ModulithJobs.class,
        CamelJobs.class,
        AxonJobs.class,
        IcebergJobs.class
      })
  void nothingIsLostOrDoubled(Class<? extends Framework> type) throws Exception {
    run(type, 12);
  }
}
