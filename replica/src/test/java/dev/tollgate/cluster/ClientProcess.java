package dev.tollgate.cluster;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** {@link RotationClients} in a process of their own, with the driver of any version. */
final class ClientProcess implements AutoCloseable {
  private final Process process;
  private final Path out;

  /**
   * @param classPath has the driver
   * @param first number of the first client
   */
  ClientProcess(String classPath, Path directory, String url, int first, int count)
      throws IOException {
    out = directory.resolve("clients" + first + ".out");
    String program =
        Path.of(RotationClients.class.getProtectionDomain().getCodeSource().getLocation().getPath())
            .toString();
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx128m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            classPath + File.pathSeparator + program,
            RotationClients.class.getName(),
            url,
            Integer.toString(first),
            Integer.toString(count));
    process =
        new ProcessBuilder(command)
            .redirectOutput(out.toFile())
            .redirectError(directory.resolve("clients" + first + ".err").toFile())
            .start();
  }

  /** How many cycles were done. Fails if a statement has failed. */
  private long cycles() throws IOException {
    long last = 0;
    for (String line : Files.readAllLines(out)) {
      assertTrue(!line.startsWith(RotationClients.FAILED), line);
      String[] words = line.split(" ", -1);
      last = words.length == 4 ? Long.parseLong(words[1]) : last;
    }
    return last;
  }

  /** Waits until some more cycles are done, all without a failure. */
  void awaitWork() throws IOException {
    long enough = cycles() + 50;
    await().atMost(ClusterProcesses.DEADLINE).until(() -> cycles() >= enough || !process.isAlive());
    assertTrue(process.isAlive(), "the clients have ended");
  }

  /** Ends the clients; returns how many cycles they have done. */
  long end() throws Exception {
    process.getOutputStream().close();
    assertTrue(
        process.waitFor(ClusterProcesses.DEADLINE.toSeconds(), TimeUnit.SECONDS),
        "clients do not end");
    List<String> lines = new ArrayList<>(Files.readAllLines(out));
    String last = lines.get(lines.size() - 1);
    assertTrue(last.startsWith("ended "), last);
    assertEquals(0, process.exitValue());
    return cycles();
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
