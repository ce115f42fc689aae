package dev.tollgate.liquibase;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Processes that run Liquibase with the change log of a folder. */
final class RunnerProcesses implements AutoCloseable {
  static final Duration DEADLINE = Duration.ofMinutes(2);

  private final Path directory;
  private final String url;
  private final List<String> settings;
  private final List<Process> started = new ArrayList<>();

  /**
   * @param directory of the change log, and of what the processes print
   * @param settings system properties of the processes, as {@code -Dname=value}
   */
  RunnerProcesses(Path directory, String url, String... settings) {
    this.directory = directory;
    this.url = url;
    this.settings = List.of(settings);
  }

  /** A process and what it prints. */
  record Run(Process process, Path out) {
    void assertEnds(int status) throws Exception {
      assertTrue(process.waitFor(DEADLINE.toSeconds(), TimeUnit.SECONDS), "it does not end");
      assertEquals(status, process.exitValue(), this::printed);
    }

    String printed() {
      try {
        return Files.readString(out);
      } catch (IOException e) {
        return e.toString();
      }
    }

    void kill() throws InterruptedException {
      process.destroyForcibly().waitFor();
    }

    void signal(String signal) throws Exception {
      Process kill = new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).start();
      assertEquals(0, kill.waitFor());
    }
  }

  Run start() throws IOException {
    Path out = directory.resolve(started.size() + ".out");
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"));
    command.addAll(List.of("-Dliquibase.analytics.enabled=false", "-Duser.timezone=UTC"));
    command.addAll(settings);
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.addAll(List.of(Runner.class.getName(), url, directory.toString()));
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(out.toFile()).start();
    started.add(process);
    return new Run(process, out);
  }

  @Override
  public void close() {
    started.forEach(Process::destroyForcibly);
  }
}
