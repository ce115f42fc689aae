package dev.tollgate.node.slow;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.LineBudget;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The statements and the entries of the log that were slow at this node, the latest of each. They
 * are gone when the node stops. An overloaded node finds everything slow, so it records a limited
 * number in a second, and logs fewer. Thread-safe.
 */
public final class SlowLog {
  private static final Logger LOG = LoggerFactory.getLogger(SlowLog.class);

  /** Statements that are kept, and as many entries. */
  public static final int KEPT = 200;

  /** Statements that are recorded at once; after that there is one in {@link #RECORD_PERIOD}. */
  static final int RECORDS_AT_ONCE = 50;

  static final Duration RECORD_PERIOD = Duration.ofMillis(50);

  /** Log lines at once; after that there is one in a second. */
  static final int LINES_AT_ONCE = 20;

  private static final Duration LINE_PERIOD = Duration.ofSeconds(1);

  private final String nodeId;
  private final SlowSettings settings;
  private final Clock clock;
  private final LineBudget records;
  private final LineBudget statementLines;
  private final LineBudget applyLines;

  /** Statements that were neither recorded nor counted in a line yet. */
  private final AtomicLong unreported = new AtomicLong();

  private final Deque<SlowStatement> statements = new ArrayDeque<>();
  private final Deque<SlowApply> applies = new ArrayDeque<>();

  public SlowLog(String nodeId, SlowSettings settings, Clock clock, LongSupplier nanoTime) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.settings = requireNonNull(settings, "settings");
    this.clock = requireNonNull(clock, "clock");
    records = new LineBudget(RECORDS_AT_ONCE, RECORD_PERIOD, nanoTime);
    statementLines = new LineBudget(LINES_AT_ONCE, LINE_PERIOD, nanoTime);
    applyLines = new LineBudget(LINES_AT_ONCE, LINE_PERIOD, nanoTime);
  }

  /** Returns one that records nothing. */
  public static SlowLog off() {
    return new SlowLog("", SlowSettings.OFF, Clock.systemUTC(), System::nanoTime);
  }

  public SlowSettings settings() {
    return settings;
  }

  /** From how many nanoseconds on a statement is slow. */
  public long statementNanos() {
    return SlowSettings.nanos(settings.statement());
  }

  /** From how many nanoseconds on an entry is slow. */
  public long applyNanos() {
    return SlowSettings.nanos(settings.apply());
  }

  /** The clock of this node, microseconds since 1970. */
  public long nowMicros() {
    return ChronoUnit.MICROS.between(Instant.EPOCH, clock.instant());
  }

  /** Records a statement, if there is room for one more in this second. */
  public void statement(Supplier<SlowStatement> slow) {
    long unrecorded = records.take();
    if (unrecorded < 0) {
      return;
    }
    SlowStatement statement = slow.get();
    synchronized (this) {
      keep(statements, statement);
    }
    long unlogged = statementLines.take();
    if (unlogged < 0) {
      unreported.addAndGet(unrecorded);
    } else {
      LOG.warn(
          "{}: a statement of session {} took {} ms, {} ms of them waiting, and ended with {}; view"
              + " TOLLGATE.SLOW_STATEMENTS of this node has it as form {}{}",
          nodeId,
          statement.session(),
          statement.tookMillis(),
          statement.waitedMillis(),
          statement.outcome(),
          statement.formId(),
          LineBudget.leftOut(unlogged + unrecorded + unreported.getAndSet(0)));
    }
  }

  /** Records an entry. */
  public void applied(SlowApply entry) {
    synchronized (this) {
      keep(applies, entry);
    }
    long unlogged = applyLines.take();
    if (unlogged >= 0) {
      LOG.warn(
          "{}: applying log entry {} with {} commands took {} ms, {} ms of them its command {},"
              + " {}{}{}",
          nodeId,
          entry.logIndex(),
          entry.commands(),
          entry.tookMillis(),
          entry.slowestMillis(),
          entry.slowestOrdinal(),
          entry.slowestCommand(),
          entry.session() == null ? "" : " of session " + entry.session(),
          LineBudget.leftOut(unlogged));
    }
  }

  private static <T> void keep(Deque<T> latest, T one) {
    if (latest.size() == KEPT) {
      latest.removeFirst();
    }
    latest.addLast(one);
  }

  /** The statements, the latest last. */
  public synchronized List<SlowStatement> statements() {
    return List.copyOf(statements);
  }

  /** The entries, the latest last. */
  public synchronized List<SlowApply> applies() {
    return List.copyOf(applies);
  }
}
