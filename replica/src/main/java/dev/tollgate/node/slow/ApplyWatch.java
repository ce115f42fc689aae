package dev.tollgate.node.slow;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Command;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Measures the entries of the log while they are applied. The apply thread alone uses it, but for
 * {@link #underWay} and {@link #late}. Entries that are older than the process are applied again
 * when it starts, and are not measured.
 */
public final class ApplyWatch {
  private final SlowLog log;
  private final LongSupplier nanoTime;
  private final long slowNanos;
  private final long fromMicros;

  private volatile @Nullable Entered entered;
  private volatile int commands;

  private long beginNanos;
  private long lastNanos;
  private int slowestOrdinal;
  private long slowestNanos;
  private @Nullable Command slowest;

  /**
   * An entry that is being applied.
   *
   * @param kind what kind of command is being applied, and who sent it
   * @param thread applies it
   */
  public record UnderWay(long logIndex, String kind, long millis, Thread thread) {
    public UnderWay {
      requireNonNull(kind, "kind");
      requireNonNull(thread, "thread");
    }

    /** Says in a line what is under way. */
    public String describe() {
      return "log entry " + logIndex + " has been under way for " + millis + " ms: " + kind;
    }
  }

  private record Entered(long logIndex, List<Command> commands, long sinceNanos, Thread thread) {}

  public ApplyWatch(SlowLog log, LongSupplier nanoTime) {
    this.log = requireNonNull(log, "log");
    this.nanoTime = requireNonNull(nanoTime, "nanoTime");
    this.slowNanos = log.applyNanos();
    this.fromMicros = log.nowMicros();
  }

  /** The apply thread has taken an entry from the log. */
  public void enters(long logIndex, List<Command> of) {
    commands = 0;
    entered = new Entered(logIndex, of, nanoTime.getAsLong(), Thread.currentThread());
  }

  /** The apply thread is done with the entry, or has failed. */
  public void leaves() {
    entered = null;
  }

  /** The entry that is being applied, or null. */
  public @Nullable UnderWay underWay() {
    Entered now = entered;
    if (now == null) {
      return null;
    }
    int ordinal = Math.min(commands, now.commands().size() - 1);
    return new UnderWay(
        now.logIndex(),
        ordinal < 0 ? "no command" : describe(now.commands().get(ordinal)),
        TimeUnit.NANOSECONDS.toMillis(nanoTime.getAsLong() - now.sinceNanos()),
        now.thread());
  }

  /** The entry that is being applied, if it has been under way for too long; else null. */
  public @Nullable UnderWay late() {
    UnderWay now = underWay();
    return now != null && now.millis() >= bounds().late().toMillis() ? now : null;
  }

  /** The entry that is being applied, if the node cannot be said to live; else null. */
  public @Nullable UnderWay stalled() {
    UnderWay now = underWay();
    return now != null && now.millis() >= bounds().stalled().toMillis() ? now : null;
  }

  private ApplyBounds bounds() {
    return log.settings().bounds();
  }

  private static String describe(Command command) {
    return command instanceof Command.Perform performed
        ? kindOf(command) + " of session " + performed.session()
        : kindOf(command);
  }

  private static String kindOf(Command command) {
    return (command instanceof Command.Perform performed ? performed.operation() : command)
        .getClass()
        .getSimpleName();
  }

  /** An entry is going to be applied. */
  public void begins() {
    beginNanos = nanoTime.getAsLong();
    lastNanos = beginNanos;
    commands = 0;
    slowestNanos = -1;
    slowest = null;
  }

  /** The next command of the entry was applied. */
  public void applied(Command command) {
    long now = nanoTime.getAsLong();
    if (now - lastNanos > slowestNanos) {
      slowestNanos = now - lastNanos;
      slowestOrdinal = commands;
      slowest = command;
    }
    lastNanos = now;
    int done = commands + 1;
    commands = done;
  }

  /** How long the commands of the entry have taken that were applied so far. */
  public long tookNanos() {
    return lastNanos - beginNanos;
  }

  /**
   * All commands of the entry were applied.
   *
   * @param stampMicros time of the entry in the log
   */
  public void ends(long logIndex, long stampMicros) {
    long took = tookNanos();
    Command command = slowest;
    if (took < slowNanos || command == null || stampMicros < fromMicros) {
      return;
    }
    Command.Perform perform = command instanceof Command.Perform performed ? performed : null;
    log.applied(
        new SlowApply(
            log.nowMicros(),
            logIndex,
            TimeUnit.NANOSECONDS.toMillis(took),
            commands,
            slowestOrdinal,
            kindOf(command),
            TimeUnit.NANOSECONDS.toMillis(slowestNanos),
            perform == null ? null : perform.session()));
  }
}
