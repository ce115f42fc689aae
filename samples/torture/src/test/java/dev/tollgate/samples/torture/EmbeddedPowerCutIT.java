package dev.tollgate.samples.torture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.samples.torture.disk.RecordedDisk;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An application with a node in its JVM, whose power is cut: there is no other copy. */
class EmbeddedPowerCutIT {
  private static final long SEED = Long.getLong("tollgate.torture.power.seed", 8537);
  private static final int MOST_ROWS = 150;
  private static final Path HOME = Path.of(System.getProperty("tollgate.home"));

  @TempDir Path directory;

  private final List<String> told = new ArrayList<>();
  private long acknowledged = -1;
  private long granted;

  @BeforeEach
  void disksCanBeRecorded() {
    Optional<String> obstacle = RecordedDisk.obstacle();
    Assumptions.assumeTrue(obstacle.isEmpty(), () -> "no power is cut: " + obstacle);
  }

  @Test
  @Timeout(300)
  void whatWasAcknowledgedSurvivesPowerCuts() throws Exception {
    cut(4);
  }

  @Test
  @Tag("nightly")
  @Timeout(3_600)
  void whatWasAcknowledgedSurvivesManyPowerCuts() throws Exception {
    cut(200);
  }

  private void cut(int times) throws Exception {
    Random random = new Random(SEED);
    told.add("seed " + SEED);
    Path library =
        RecordedDisk.compile(HOME.resolve("samples/torture/src/main/c/recorded-disk.c"), directory);
    Path data = directory.resolve("data");
    RecordedDisk disk = new RecordedDisk(data, directory.resolve("embedded"), library);
    for (int i = 0; i < times; i++) {
      // often it is killed first, so that the next process reads what no sync covers
      for (int kills = random.nextInt(2); kills >= 0; kills--) {
        run(disk, data, random.nextInt(MOST_ROWS));
      }
      told.add("cut: " + disk.cut(random));
    }
    run(disk, data, 0);
  }

  /** Kills the application once it has written so many rows. */
  private void run(RecordedDisk disk, Path data, int rows) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-Duser.timezone=UTC",
                "-Dlogback.configurationFile=" + HOME.resolve("samples/benchmark/logback.xml"),
                "-cp",
                String.join(
                    ":",
                    HOME.resolve("replica/target/classes").toString(),
                    HOME.resolve("replica/target/lib") + "/*",
                    Path.of("target/test-classes").toAbsolutePath().toString()),
                EmbeddedWriter.class.getName(),
                data.toString())
            .redirectErrorStream(true);
    builder.environment().putAll(disk.environment());
    Process process = builder.start();
    List<String> said = new ArrayList<>();
    boolean written = false;
    try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        said.add(line);
        if (line.startsWith(EmbeddedWriter.FOUND)) {
          found(line.substring(EmbeddedWriter.FOUND.length()).split(" ", -1));
        } else if (line.startsWith(EmbeddedWriter.TOKEN)) {
          long token = Long.parseLong(line.substring(EmbeddedWriter.TOKEN.length()));
          assertTrue(token > granted, () -> "token " + token + " after " + granted + ": " + told);
          granted = token;
        } else if (line.startsWith(EmbeddedWriter.ROW)) {
          acknowledged = Long.parseLong(line.substring(EmbeddedWriter.ROW.length()));
          if (--rows < 0 && !written) {
            written = true;
            // not the process itself, which would close what it has said
            process.toHandle().destroyForcibly();
          }
        }
      }
    } finally {
      process.destroyForcibly().onExit().join();
    }
    assertTrue(written, () -> String.join("\n", told) + "\n" + String.join("\n", said));
  }

  private void found(String[] rowsAndLast) {
    long rows = Long.parseLong(rowsAndLast[0]);
    long last = Long.parseLong(rowsAndLast[1]);
    told.add("found " + rows + " rows, " + (acknowledged + 1) + " acknowledged");
    assertEquals(last + 1, rows, () -> "rows are missing: " + told);
    assertTrue(last >= acknowledged, () -> "acknowledged rows are missing: " + told);
  }
}
