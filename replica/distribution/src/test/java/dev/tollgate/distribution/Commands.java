package dev.tollgate.distribution;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Commands of the system, run to their ends. */
final class Commands {
  private static final int DEADLINE_SECONDS = 60;

  private Commands() {}

  /** What a command printed, and how it ended. */
  record Ended(int status, String out, String err) {}

  static Ended run(Path directory, Map<String, String> environment, String... command)
      throws IOException, InterruptedException {
    Path out = Files.createTempFile(directory, "command", ".out");
    Path err = Files.createTempFile(directory, "command", ".err");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(directory.toFile())
            .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
            .redirectOutput(out.toFile())
            .redirectError(err.toFile());
    builder.environment().putAll(environment);
    Process process = builder.start();
    try {
      assertTrue(
          process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS), () -> command[0] + " does not end");
      return new Ended(process.exitValue(), Files.readString(out), Files.readString(err));
    } finally {
      process.destroyForcibly();
    }
  }

  /** True if a program is in the PATH of this process. */
  static boolean exists(String program) {
    String path = System.getenv("PATH");
    for (String place : path == null ? new String[0] : path.split(File.pathSeparator, -1)) {
      if (Files.isExecutable(Path.of(place, program))) {
        return true;
      }
    }
    return false;
  }
}
