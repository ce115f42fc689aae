package dev.tollgate.cli.lock;

import static java.util.Objects.requireNonNull;

import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.LockException;
import dev.tollgate.lock.LockLostException;
import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * A command that runs while a lock is held, and that is ended before another holder can have the
 * lock. Used once, by one thread.
 *
 * <p>The lease of the lock is proven until some moment, which heartbeats move. When less than
 * {@link #grace} is left of the proof, the command gets SIGTERM. When less than {@link #reserve} is
 * left, or when the cluster says that the lock is gone, it gets SIGKILL.
 */
public final class GuardedCommand {
  private static final Duration MOST_RESERVE = Duration.ofMillis(500);
  private static final Duration LEAST_CONFIRMATION = Duration.ofMillis(100);
  private static final Duration MOST_CONFIRMATION = Duration.ofSeconds(2);

  /** How often it is looked whether processes that were asked to end have ended. */
  private static final Duration LOOK = Duration.ofMillis(20);

  /** After that a process that SIGKILL does not end is given up: the kernel keeps it. */
  private static final Duration PATIENCE = Duration.ofSeconds(5);

  private final HeldLock lock;
  private final List<String> command;
  private final Duration grace;
  private final Duration reserve;
  private final PrintStream err;
  private final String run = UUID.randomUUID().toString();
  private final Semaphore news = new Semaphore(0);
  private final CountDownLatch ended = new CountDownLatch(1);

  /** How a command ended. */
  public enum End {
    /** By itself. */
    BY_ITSELF,
    /** Because the lock was lost, or could have been lost before the command ended. */
    LOCK_LOST,
    /** Because this thread was interrupted. */
    INTERRUPTED
  }

  /**
   * What became of a command.
   *
   * @param status as the shell shows it: 128 and the number of the signal that ended it
   */
  public record Result(End end, int status) {
    public Result {
      requireNonNull(end, "end");
    }
  }

  /**
   * @param grace how long before the end of the lease the command gets SIGTERM, and how long it may
   *     take then; at most half of the ttl
   * @param err gets a line for what the user has to know
   */
  public GuardedCommand(HeldLock lock, List<String> command, Duration grace, PrintStream err) {
    this.lock = requireNonNull(lock, "lock");
    this.command = List.copyOf(command);
    this.grace = requireNonNull(grace, "grace");
    this.err = requireNonNull(err, "err");
    Duration tenth = lock.lease().ttl().dividedBy(10);
    this.reserve = tenth.compareTo(MOST_RESERVE) < 0 ? tenth : MOST_RESERVE;
  }

  /**
   * Runs the command to its end. Nothing that it has started is left then, and the lock is still
   * held unless it was lost.
   *
   * @throws IOException if the command could not be started
   */
  public Result run() throws IOException {
    try (Watchdog watchdog = Watchdog.start(run, grace)) {
      Process process = start();
      CommandProcesses processes = new CommandProcesses(process, run);
      try {
        watchdog.watch(process);
        var unused = process.onExit().thenRun(news::release);
        lock.lease().onLost(lost -> news.release());
        confirmInBackground();
        End end = watch(process);
        endAll(processes, end);
        return new Result(end, process.isAlive() ? -1 : process.exitValue());
      } finally {
        ended.countDown();
        // also after a failure of this program nothing is left
        processes.alive().forEach(ProcessHandle::destroyForcibly);
      }
    }
  }

  private Process start() throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command).inheritIO();
    builder.environment().put("TOLLGATE_LOCK", lock.name());
    builder.environment().put("TOLLGATE_TOKEN", Long.toString(lock.token()));
    builder.environment().put(CommandProcesses.MARK, run);
    return builder.start();
  }

  private End watch(Process process) {
    try {
      while (process.isAlive()) {
        Duration left = left(grace);
        if (left.isZero()) {
          return End.LOCK_LOST;
        }
        boolean told = news.tryAcquire(left.toMillis() + 1, TimeUnit.MILLISECONDS);
        if (told) {
          news.drainPermits();
        }
      }
      return End.BY_ITSELF;
    } catch (InterruptedException e) {
      return End.INTERRUPTED;
    }
  }

  /** How long the lock is proven beyond a margin before its end; zero if it is not. */
  private Duration left(Duration margin) {
    Duration left = lock.isHeld() ? lock.lease().remaining().minus(margin) : Duration.ZERO;
    return left.isNegative() ? Duration.ZERO : left;
  }

  /** Ends what is left of the command, as gently as the lock allows. */
  private void endAll(CommandProcesses processes, End end) {
    if (end == End.LOCK_LOST) {
      err.println("tollgate lock: " + loss() + ", and its command is ended");
    }
    long start = System.nanoTime();
    Long forcedAtNanos = null;
    // many programs take a second SIGTERM for impatience, and end at once
    Set<ProcessHandle> asked = new HashSet<>();
    List<ProcessHandle> left = processes.alive();
    if (end == End.BY_ITSELF && !left.isEmpty()) {
      err.println(
          "tollgate lock: the command has left behind process "
              + CommandProcesses.describe(left)
              + ", which is ended with lock '"
              + lock.name()
              + "'");
    }
    while (!left.isEmpty()) {
      long now = System.nanoTime();
      if (forcedAtNanos == null && (now - start >= grace.toNanos() || left(reserve).isZero())) {
        forcedAtNanos = now;
      }
      if (forcedAtNanos == null) {
        left.stream().filter(asked::add).forEach(ProcessHandle::destroy);
      } else if (now - forcedAtNanos < PATIENCE.toNanos()) {
        left.forEach(ProcessHandle::destroyForcibly);
      } else {
        err.println(
            "tollgate lock: process "
                + CommandProcesses.describe(left)
                + " of the command of lock '"
                + lock.name()
                + "' does not end: end it by hand");
        return;
      }
      pause();
      left = processes.alive();
    }
  }

  private String loss() {
    return lock + (lock.isHeld() ? " may soon be lost: no node renews its lease" : " is lost");
  }

  private static void pause() {
    boolean interrupted = Thread.interrupted();
    try {
      TimeUnit.NANOSECONDS.sleep(LOOK.toNanos());
    } catch (InterruptedException e) {
      interrupted = true;
    }
    if (interrupted) {
      // whoever interrupts wants what is done already; the caller learns of it
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Asks the cluster from time to time whether the lock is held: an operator can take it away while
   * its lease lives.
   */
  private void confirmInBackground() {
    Duration tenth = lock.lease().ttl().dividedBy(10);
    Duration pause =
        tenth.compareTo(LEAST_CONFIRMATION) < 0
            ? LEAST_CONFIRMATION
            : tenth.compareTo(MOST_CONFIRMATION) > 0 ? MOST_CONFIRMATION : tenth;
    Thread thread = new Thread(() -> confirm(pause), "tollgate-lock-confirms");
    thread.setDaemon(true);
    thread.start();
  }

  private void confirm(Duration pause) {
    try {
      while (!ended.await(pause.toMillis(), TimeUnit.MILLISECONDS)) {
        try {
          lock.confirm();
        } catch (LockException e) {
          // nobody answers: how long the lease is proven decides
        }
      }
    } catch (LockLostException e) {
      news.release();
    } catch (IllegalStateException | InterruptedException e) {
      // the lock was released
    }
  }
}
