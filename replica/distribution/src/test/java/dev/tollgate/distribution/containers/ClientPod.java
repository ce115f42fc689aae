package dev.tollgate.distribution.containers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** A container in the network of the pods, with a program that ends with its input. */
final class ClientPod implements AutoCloseable {
  private static final int DEADLINE_SECONDS = 90;

  private final Process process;
  private final BufferedReader out;

  ClientPod(List<String> command) throws IOException {
    process = new ProcessBuilder(command).redirectErrorStream(true).start();
    out =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
  }

  /** Gives it input, awaits its end with status 0, and returns all that it has printed. */
  String end(String input) throws Exception {
    CompletableFuture<String> printed = CompletableFuture.supplyAsync(this::rest);
    try (OutputStream in = process.getOutputStream()) {
      in.write(input.getBytes(StandardCharsets.UTF_8));
    }
    String all = printed.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
    assertTrue(process.waitFor(DEADLINE_SECONDS, TimeUnit.SECONDS), all);
    assertEquals(0, process.exitValue(), all);
    return all;
  }

  private String rest() {
    StringBuilder all = new StringBuilder();
    for (String line = line(); line != null; line = line()) {
      all.append(line).append('\n');
    }
    return all.toString();
  }

  private String line() {
    try {
      return out.readLine();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Waits until it prints this line. */
  void awaitLine(String expected) throws Exception {
    String line = CompletableFuture.supplyAsync(this::line).get(DEADLINE_SECONDS, TimeUnit.SECONDS);
    assertEquals(expected, line);
  }

  @Override
  public void close() {
    // the engine removes the container once its input has ended
    process.destroy();
  }
}
