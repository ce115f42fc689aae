package dev.tollgate.samples.torture.cluster;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * One node: a process that is started again and again, and what can be done to it. Not thread-safe.
 */
public final class Node {
  /** Exit status of a node that stopped itself. */
  public static final int REPLICA_FAILED = 70;

  private static final long READY_SECONDS = 90;

  /** No file may grow beyond this: the log is longer from its first entries on. */
  private static final long FULL_BYTES = 4096;

  private final String name;
  private final int host;
  private final List<String> command;
  private final Map<String, String> environment;
  private final Path output;
  private final Path clock;
  private Process process;
  private CompletableFuture<Void> ready = new CompletableFuture<>();
  private boolean expectedToRun;
  private Snapshots snapshots = Snapshots.NONE;

  /**
   * @param environment besides that of this process
   * @param output all that it writes goes to the end of this file
   * @param clock where a faked clock reads its offset
   */
  Node(
      String name,
      int host,
      List<String> command,
      Map<String, String> environment,
      Path output,
      Path clock)
      throws IOException {
    this.name = name;
    this.host = host;
    this.command = command;
    this.environment = environment;
    this.output = output;
    this.clock = clock;
    offsetClock(Duration.ZERO);
    this.process = launch();
  }

  public String name() {
    return name;
  }

  /** Its place in the network. */
  public int host() {
    return host;
  }

  /** Starts it again after its end. */
  public void start() throws IOException {
    process = launch();
  }

  private Process launch() throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    builder.environment().putAll(environment);
    Process started = builder.start();
    CompletableFuture<Void> said = new CompletableFuture<>();
    Thread reader = new Thread(() -> copy(started, said), "output of " + name);
    reader.setDaemon(true);
    reader.start();
    ready = said;
    expectedToRun = true;
    return started;
  }

  /** A pipe, because a node that may write no file could not say so into one. */
  private void copy(Process from, CompletableFuture<Void> said) {
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(from.getInputStream(), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        Files.writeString(
            output, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        count(line);
        if (line.startsWith("tollgate " + name + " ready")) {
          said.complete(null);
        }
      }
      said.completeExceptionally(new IOException(name + " ended: see " + output));
    } catch (IOException e) {
      said.completeExceptionally(e);
      throw new UncheckedIOException(e);
    }
  }

  private synchronized void count(String line) {
    snapshots = snapshots.plus(Snapshots.told(line));
  }

  /** What it has said of them since its first start. */
  synchronized Snapshots snapshots() {
    return snapshots;
  }

  /** Waits until it says that it knows a leader. */
  public void awaitReady() throws IOException, InterruptedException {
    try {
      ready.get(READY_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw new IOException(name + " did not start", e.getCause());
    } catch (TimeoutException e) {
      throw new IOException(name + " was not ready in " + READY_SECONDS + " s: see " + output, e);
    }
  }

  public boolean isAlive() {
    return process.isAlive();
  }

  /** Whether it has ended though nothing was done to it that should end it. */
  public boolean endedByItself() {
    return expectedToRun && !process.isAlive();
  }

  /** What it said with its exit status; it has to have ended. */
  public int exitStatus() {
    return process.exitValue();
  }

  /** kill -9. */
  public void kill() {
    expectedToRun = false;
    process.destroyForcibly().onExit().join();
  }

  /** SIGSTOP. */
  public void pause() throws IOException, InterruptedException {
    Shell.signal("STOP", process.pid());
  }

  /** SIGCONT. */
  public void resume() throws IOException, InterruptedException {
    Shell.signal("CONT", process.pid());
  }

  /** From now on its files cannot grow, as on a disk that is full; its next start ends that. */
  public void fillDisk() throws IOException, InterruptedException {
    expectedToRun = false;
    Shell.run("prlimit", "--pid=" + process.pid(), "--fsize=" + FULL_BYTES + ":");
  }

  /** Waits until it has ended; false if it has not by then. */
  public boolean awaitEnd(Duration limit) throws InterruptedException {
    return process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Its wall clock is off by this from now on, within a second; its monotonic clock is not. */
  public void offsetClock(Duration offset) throws IOException {
    Path next = clock.resolveSibling(clock.getFileName() + ".next");
    Files.writeString(next, (offset.isNegative() ? "" : "+") + offset.toSeconds() + "\n");
    Files.move(next, clock, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }
}
