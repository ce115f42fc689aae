package dev.tollgate.samples.torture.cluster;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** Programs of the system that inject faults. */
final class Shell {
  private Shell() {}

  /**
   * Runs a program to its end.
   *
   * @return what it wrote
   * @throws IOException with what it wrote, if its exit status is not 0
   */
  static String run(String... command) throws IOException, InterruptedException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    int status = process.waitFor();
    if (status != 0) {
      throw new IOException(String.join(" ", command) + ": status " + status + ": " + output);
    }
    return output;
  }

  /** Where a program is installed. */
  static Optional<Path> find(String name) {
    return List.of(System.getenv().getOrDefault("PATH", "").split(":", -1)).stream()
        .map(directory -> Path.of(directory).resolve(name))
        .filter(Files::isExecutable)
        .findFirst();
  }

  /** Sends a signal to a process. */
  static void signal(String name, long pid) throws IOException, InterruptedException {
    run("kill", "-" + name, Long.toString(pid));
  }
}
