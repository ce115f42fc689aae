package dev.tollgate.cluster;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The program in a process of its own, run from the class path of the tests, as long as it goes on.
 */
final class RunningProgram implements AutoCloseable {
  private final Process process;
  private final Path out;
  private final Path err;

  RunningProgram(Path directory, String... arguments) throws IOException {
    out = Files.createTempFile(directory, "program", ".out");
    err = Files.createTempFile(directory, "program", ".err");
    List<String> command = new ArrayList<>(NodeProcess.JVM);
    command.add("-DTOLLGATE_LOG_LEVEL=WARN");
    command.addAll(ClassArchive.options());
    command.add("dev.tollgate.cli.Main");
    command.addAll(List.of(arguments));
    process =
        new ProcessBuilder(command)
            .redirectInput(ProcessBuilder.Redirect.from(new File("/dev/null")))
            .redirectOutput(out.toFile())
            .redirectError(err.toFile())
            .start();
  }

  /** Waits until it has ended; its exit status. */
  int status() throws InterruptedException, IOException {
    assertTrue(
        process.waitFor(ClusterProcesses.DEADLINE.toSeconds(), TimeUnit.SECONDS),
        () -> "it does not end: " + read(err));
    return process.exitValue();
  }

  String out() {
    return read(out);
  }

  String err() {
    return read(err);
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Waits until the command has written a line; all that it has written. */
  String awaitLine() {
    return await().atMost(ClusterProcesses.DEADLINE).until(this::out, text -> text.endsWith("\n"));
  }

  /** By SIGTERM. */
  void terminate() {
    process.destroy();
  }

  /** By SIGKILL. */
  void kill() {
    process.destroyForcibly();
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
