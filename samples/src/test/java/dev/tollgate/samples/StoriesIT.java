package dev.tollgate.samples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The samples with several processes, as a reader runs them, on one node. Each checks what it shows
 * and ends with another status if that is not so.
 */
class StoriesIT {
  /** Below those that tests of other modules use, which may run now. */
  private static final String FIRST_PORT = "19401";

  private static final Duration DEADLINE = Duration.ofMinutes(2);

  @TempDir private Path directory;

  @Test
  void leadersChangeAndEveryJobIsDoneOnce() throws Exception {
    Path out = directory.resolve("out");
    ProcessBuilder builder =
        new ProcessBuilder(
                Path.of("with-node.sh").toAbsolutePath().toString(),
                "sh",
                "-c",
                Path.of("election.sh").toAbsolutePath()
                    + " & election=$!; "
                    + Path.of("jobs.sh").toAbsolutePath()
                    + " && wait $election")
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(out.toFile());
    builder.environment().keySet().removeIf(name -> name.startsWith("TOLLGATE_"));
    builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
    builder.environment().put("TOLLGATE_HEAP", "200m");
    builder.environment().put("TOLLGATE_PORT", FIRST_PORT);
    Process stories = builder.start();
    try {
      assertTrue(
          stories.waitFor(DEADLINE.toSeconds(), TimeUnit.SECONDS), () -> "no end, see " + out);
    } finally {
      stories.destroy();
    }
    String told = Files.readString(out);
    assertEquals(0, stories.exitValue(), told);
    assertEquals(8, told.split("\u2713", -1).length - 1, told);
    assertTrue(told.matches("(?s).*leads under token \\d+, higher than \\d+.*"), told);
    assertTrue(told.contains("each of 20 jobs has one result"), told);
  }
}
