package dev.tollgate.distribution.containers;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** The container engine, by its command line. */
final class Docker {
  private static final Duration DEADLINE = Duration.ofMinutes(5);
  private static final File NOTHING = new File("/dev/null");

  private Docker() {}

  /**
   * How a command of the engine ended.
   *
   * @param status empty if the command did not end in time
   */
  record Ended(Optional<Integer> status, String out) {}

  /** Runs a command of the engine, and returns what it printed. */
  static String run(List<String> arguments) {
    Ended ended = run(DEADLINE, arguments);
    if (!ended.status().equals(Optional.of(0))) {
      throw new IllegalStateException(
          "docker " + String.join(" ", arguments) + ": " + ended.status() + "\n" + ended.out());
    }
    return ended.out().strip();
  }

  static String run(String... arguments) {
    return run(List.of(arguments));
  }

  static Ended run(Duration deadline, List<String> arguments) {
    List<String> command = new ArrayList<>(List.of("docker"));
    command.addAll(arguments);
    try {
      Path out = Files.createTempFile("docker", ".out");
      Process process =
          new ProcessBuilder(command)
              .redirectInput(NOTHING)
              .redirectOutput(out.toFile())
              .redirectErrorStream(true)
              .start();
      try {
        boolean ended = process.waitFor(deadline.toMillis(), TimeUnit.MILLISECONDS);
        return new Ended(
            ended ? Optional.of(process.exitValue()) : Optional.empty(), Files.readString(out));
      } finally {
        process.destroyForcibly();
        Files.delete(out);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted in docker " + arguments, e);
    }
  }

  /** Why there can be no containers of an image here; empty if there can. */
  static Optional<String> missing(String image) {
    if (System.getenv("DOCKER_HOST") == null && !Files.exists(Path.of("/var/run/docker.sock"))) {
      return Optional.of("no Docker engine runs: .ci/containers start");
    }
    Ended found = run(DEADLINE, List.of("image", "inspect", image));
    return found.status().equals(Optional.of(0))
        ? Optional.empty()
        : Optional.of("there is no image " + image + ": .ci/image");
  }
}
