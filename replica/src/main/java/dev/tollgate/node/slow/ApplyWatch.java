package dev.tollgate.node.slow;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Command;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Measures the entries of the log while they are applied. The apply thread alone uses it. Entries
 * that are older than the process are applied again when it starts, and are not measured.
 */
public final class ApplyWatch {
  private final SlowLog log;
  private final LongSupplier nanoTime;
  private final long slowNanos;
  private final long fromMicros;

  private long beginNanos;
  private long lastNanos;
  private int commands;
  private int slowestOrdinal;
  private long slowestNanos;
  private @Nullable Command slowest;

  public ApplyWatch(SlowLog log, LongSupplier nanoTime) {
    this.log = requireNonNull(log, "log");
    this.nanoTime = requireNonNull(nanoTime, "nanoTime");
    this.slowNanos = log.applyNanos();
    this.fromMicros = log.nowMicros();
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
    commands++;
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
            (perform == null ? command : perform.operation()).getClass().getSimpleName(),
            TimeUnit.NANOSECONDS.toMillis(slowestNanos),
            perform == null ? null : perform.session()));
  }
}
