package dev.tollgate.samples.torture.cluster;

import static java.util.Objects.requireNonNull;

import dev.tollgate.samples.torture.disk.RecordedDisk;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * One node: a process that can be started again and again, and the faults that it can suffer. Not
 * thread-safe.
 */
public final class Node {
  /** Exit status of a node that stopped itself. */
  public static final int REPLICA_FAILED = 70;

  private static final long READY_SECONDS = 90;

  /** Largest file on a full disk, in bytes: the log is longer from its first entries on. */
  private static final long FULL_BYTES = 4096;

  /** What a node says of a damaged snapshot, whose name it gets only once it is synced. */
  private static final String DAMAGED = " is set aside as ";

  /** How many threads change files at once, and may be killed before they have recorded it. */
  private static final int CHANGES_AT_ONCE = 3;

  private final String name;
  private final int host;
  private final List<String> command;
  private final Map<String, String> environment;
  private final Path output;
  private final Path clock;
  private final @Nullable RecordedDisk disk;
  private Process process;
  private CompletableFuture<Void> ready = new CompletableFuture<>();
  private boolean expectedToRun;
  private Snapshots snapshots = Snapshots.NONE;
  private final List<String> damages = new ArrayList<>();

  /**
   * @param environment variables besides the environment of this process
   * @param output the file to which everything that the node writes is appended
   * @param clock the file from which a faked clock reads its offset
   * @param disk of the node, or null if it is not recorded
   */
  Node(
      String name,
      int host,
      List<String> command,
      Map<String, String> environment,
      Path output,
      Path clock,
      @Nullable RecordedDisk disk)
      throws IOException {
    this.name = name;
    this.host = host;
    this.command = command;
    this.environment = environment;
    this.output = output;
    this.clock = clock;
    this.disk = disk;
    offsetClock(Duration.ZERO);
    this.process = launch();
  }

  public String name() {
    return name;
  }

  /** The number of its host in the network. */
  public int host() {
    return host;
  }

  /** Starts the node again after it has ended. */
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

  /** Copies output from a pipe: a node that may write no file could not report that into a file. */
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
    if (line.contains(DAMAGED)) {
      damages.add(line);
    }
  }

  /** What the node has said of damaged files since this was called last. */
  public synchronized List<String> takeDamages() {
    List<String> taken = List.copyOf(damages);
    damages.clear();
    return taken;
  }

  /** What the node has reported of snapshots since its first start. */
  synchronized Snapshots snapshots() {
    return snapshots;
  }

  /** Waits until the node reports that it knows a leader. */
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

  /** Whether the node has ended although nothing was done that should end it. */
  public boolean endedByItself() {
    return expectedToRun && !process.isAlive();
  }

  /** The exit status of the node, which must have ended. */
  public int exitStatus() {
    return process.exitValue();
  }

  /** Kills the node with SIGKILL. */
  public void kill() {
    expectedToRun = false;
    process.destroyForcibly().onExit().join();
  }

  /**
   * Leaves on the disk of the node, which has been killed, what it may hold after a power cut.
   *
   * @return what was left, for a reader
   */
  public String cutPower(Random random) throws IOException {
    Set<String> unseen = recorded().differences();
    if (unseen.size() > CHANGES_AT_ONCE) {
      throw new IOException(name + " has files that were changed behind the journal: " + unseen);
    }
    return recorded().cut(random);
  }

  /** Lets the next sync of the node fail; the node has to stop by itself. */
  public void failNextSync() throws IOException {
    expectedToRun = false;
    recorded().failOnce();
  }

  /** Lets each sync of the node wait until {@link #healDisk}. */
  public void hangSyncs() throws IOException {
    recorded().hang();
  }

  /** Makes each sync of the node last longer from now on by this time. */
  public void slowDisk(long millis) throws IOException {
    recorded().slow(millis);
  }

  /** Ends what {@link #hangSyncs} and {@link #failNextSync} have begun. */
  public void healDisk() throws IOException {
    recorded().heal();
  }

  private RecordedDisk recorded() {
    return requireNonNull(disk, "the disk is not recorded");
  }

  /** Stops the node with SIGSTOP. */
  public void pause() throws IOException, InterruptedException {
    Shell.signal("STOP", process.pid());
  }

  /** Resumes the node with SIGCONT. */
  public void resume() throws IOException, InterruptedException {
    Shell.signal("CONT", process.pid());
  }

  /** Keeps the files of the node from growing, as on a full disk, until its next start. */
  public void fillDisk() throws IOException, InterruptedException {
    expectedToRun = false;
    Shell.run("prlimit", "--pid=" + process.pid(), "--fsize=" + FULL_BYTES + ":");
  }

  /** Waits until the node has ended; returns false if it has not ended within the limit. */
  public boolean awaitEnd(Duration limit) throws InterruptedException {
    return process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
  }

  /** Puts the node's wall clock off by this within a second; its monotonic clock stays right. */
  public void offsetClock(Duration offset) throws IOException {
    Path next = clock.resolveSibling(clock.getFileName() + ".next");
    Files.writeString(next, (offset.isNegative() ? "" : "+") + offset.toSeconds() + "\n");
    Files.move(next, clock, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
  }
}
