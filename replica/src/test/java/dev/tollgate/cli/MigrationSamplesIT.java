package dev.tollgate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tollgate.cluster.Ports;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The samples with migrations, as a reader runs them: each with one command. */
class MigrationSamplesIT {
  private static final Duration DEADLINE = Duration.ofMinutes(3);

  /** How a sample says that something is not installed. */
  private static final int SKIPPED = 77;

  @TempDir private Path directory;

  private record Ended(int status, String out) {}

  private Ended run(String sample, Map<String, String> environment) throws Exception {
    Path out = directory.resolve("out");
    ProcessBuilder builder =
        new ProcessBuilder(
                Path.of("..", "samples", sample, "run.sh").toAbsolutePath().normalize().toString())
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(out.toFile());
    builder.environment().keySet().removeIf(name -> name.matches("(TOLLGATE|POSTGRES)_.*"));
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("TOLLGATE_HEAP", "200m");
    builder.environment().put("TOLLGATE_PORT", Integer.toString(Ports.free()));
    builder.environment().putAll(environment);
    Process process = builder.start();
    try {
      assertTrue(
          process.waitFor(DEADLINE.toSeconds(), TimeUnit.SECONDS), () -> "no end: " + read(out));
    } finally {
      process.destroy();
    }
    return new Ended(process.exitValue(), read(out));
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      return e.toString();
    }
  }

  private static void assertRanOnce(Ended ended) {
    assertEquals(0, ended.status(), ended.out());
    assertTrue(ended.out().contains("\n3 scripts would be run\n"), ended.out());
    assertTrue(ended.out().contains("\n3 scripts run\n"), ended.out());
    assertTrue(ended.out().contains("\n0 scripts run\n"), ended.out());
    assertEquals(3, ended.out().split(" +applied +", -1).length - 1, ended.out());
  }

  @Test
  void plainSampleRunsItsScriptsOnce() throws Exception {
    Ended ended = run("migrations-plain", Map.of());
    assertRanOnce(ended);
    assertTrue(ended.out().matches("(?s).*Lima.*10092000.*Oslo.*"), ended.out());
  }

  @Test
  void sampleForPostgresRunsItsScriptsOnce() throws Exception {
    Path driver =
        Path.of(
            Class.forName("org.postgresql.Driver")
                .getProtectionDomain()
                .getCodeSource()
                .getLocation()
                .toURI());
    Ended ended =
        run(
            "migrations-postgres",
            Map.of(
                "POSTGRES_DRIVER",
                driver.toString(),
                "POSTGRES_PORT",
                Integer.toString(Ports.free())));
    assumeTrue(ended.status() != SKIPPED, ended.out());
    assertRanOnce(ended);
    assertTrue(ended.out().contains("migrations:public.tollgate_schema_history"), ended.out());
    assertTrue(ended.out().matches("(?s).*Lima.*10.1.*Oslo.*"), ended.out());
  }
}
