package dev.tollgate.node.slow;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.Hold;
import dev.tollgate.core.Lock;
import dev.tollgate.core.Waiter;
import dev.tollgate.core.command.Text;
import dev.tollgate.log.LineBudget;
import dev.tollgate.log.Supervision;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs and counts, while this node leads, that a lock has been held for long, or waited for: once
 * for each hold, and once for each lock until nobody has waited so long any more.
 *
 * <p>Holds and waits become long in the order in which they began. So it remembers only up to which
 * beginning it has logged, and knows after each look when the next one can find something. Not
 * thread-safe but for {@link #start}, {@link #close} and the counts: one timer looks.
 */
public final class StuckWatch implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(StuckWatch.class);

  /** How often the timer checks whether a look is due. */
  private static final Duration TICK = Duration.ofSeconds(1);

  /** A look at a million locks keeps the apply thread waiting: at most for this share of time. */
  private static final int SHARE = 1_000;

  private static final int LINES_AT_ONCE = 20;
  private static final long NEVER_MICROS = TimeUnit.DAYS.toMicros(365);

  private final String nodeId;
  private final SlowLog slow;
  private final BooleanSupplier leading;
  private final Supplier<List<Lock>> locks;
  private final Supervision supervision;
  private final LongSupplier nanoTime;
  private final LineBudget lines;
  private final ScheduledExecutorService timer;
  private final AtomicLong longHolds = new AtomicLong();
  private final AtomicLong longWaits = new AtomicLong();
  private @Nullable Future<?> looking;

  private long loggedHolds = Long.MIN_VALUE;
  private long loggedWaits = Long.MIN_VALUE;
  private long nextLookNanos;

  /**
   * @param leading whether this node leads, as far as it knows
   * @param locks copies all locks as they are now
   */
  public StuckWatch(
      String nodeId,
      SlowLog slow,
      BooleanSupplier leading,
      Supplier<List<Lock>> locks,
      Supervision supervision,
      LongSupplier nanoTime) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.slow = requireNonNull(slow, "slow");
    this.leading = requireNonNull(leading, "leading");
    this.locks = requireNonNull(locks, "locks");
    this.supervision = requireNonNull(supervision, "supervision");
    this.nanoTime = requireNonNull(nanoTime, "nanoTime");
    this.lines = new LineBudget(LINES_AT_ONCE, Duration.ofSeconds(1), nanoTime);
    this.nextLookNanos = nanoTime.getAsLong();
    this.timer =
        Executors.newSingleThreadScheduledExecutor(
            supervision.threads("tollgate-" + nodeId + "-stuck-timer"));
  }

  /** Starts the timer, unless nothing is to be logged. */
  public synchronized void start() {
    if (slow.settings().hold().isZero() && slow.settings().waiting().isZero()) {
      return;
    }
    looking =
        timer.scheduleWithFixedDelay(
            supervision.repeated("the look for stuck locks", this::tick),
            TICK.toMillis(),
            TICK.toMillis(),
            TimeUnit.MILLISECONDS);
  }

  /** How many holds have become too long; more than the log has lines, which are limited. */
  public long longHolds() {
    return longHolds.get();
  }

  /** How often the wait for a lock has become too long. */
  public long longWaits() {
    return longWaits.get();
  }

  /** Looks if that can find something new. A node that begins to lead looks at the next tick. */
  void tick() {
    long begin = nanoTime.getAsLong();
    if (!leading.getAsBoolean()) {
      nextLookNanos = begin;
    } else if (begin - nextLookNanos >= 0) {
      long micros = look(locks.get(), slow.nowMicros());
      long end = nanoTime.getAsLong();
      nextLookNanos = end + Math.max(TimeUnit.MICROSECONDS.toNanos(micros), (end - begin) * SHARE);
    }
  }

  /** Logs what has become too long; returns how long nothing else can. */
  private long look(List<Lock> all, long nowMicros) {
    Duration hold = slow.settings().hold();
    Duration waiting = slow.settings().waiting();
    long holdsBefore = StuckLocks.beginsBefore(hold, nowMicros);
    long waitsBefore = StuckLocks.beginsBefore(waiting, nowMicros);
    // what begins from now on
    long next = Math.min(micros(hold), micros(waiting));
    for (Lock lock : all) {
      for (Hold one : lock.holds()) {
        if (one.onlyKeeps()) {
          continue;
        }
        if (one.sinceMicros() > holdsBefore) {
          next = Math.min(next, left(one.sinceMicros(), hold, nowMicros));
        } else if (one.sinceMicros() > loggedHolds) {
          longHolds.incrementAndGet();
          logHold(lock, one, nowMicros);
        }
      }
      Iterator<Waiter> queue = lock.waiters().iterator();
      if (queue.hasNext()) {
        // nobody has waited longer than the first
        Waiter first = queue.next();
        if (first.sinceMicros() > waitsBefore) {
          next = Math.min(next, left(first.sinceMicros(), waiting, nowMicros));
        } else if (first.sinceMicros() > loggedWaits) {
          longWaits.incrementAndGet();
          logWait(lock, first, nowMicros);
        }
      }
    }
    loggedHolds = Math.max(loggedHolds, holdsBefore);
    loggedWaits = Math.max(loggedWaits, waitsBefore);
    return Math.max(next, 0);
  }

  private static long micros(Duration accepted) {
    return accepted.isZero() ? NEVER_MICROS : TimeUnit.NANOSECONDS.toMicros(accepted.toNanos());
  }

  private static long left(long sinceMicros, Duration accepted, long nowMicros) {
    return accepted.isZero() ? NEVER_MICROS : sinceMicros + micros(accepted) - nowMicros;
  }

  private void logHold(Lock lock, Hold hold, long nowMicros) {
    long others = lines.take();
    if (others >= 0) {
      LOG.warn(
          "{}: lock '{}' has been held for {} s by lease {} of session {} under token {}, longer"
              + " than --hold-warning, and {} requests wait for it; view TOLLGATE.STUCK_LOCKS names"
              + " the holder{}",
          nodeId,
          Text.printable(lock.name().value()),
          seconds(hold.sinceMicros(), nowMicros),
          hold.lease().id(),
          hold.session(),
          hold.token(),
          lock.waiters().size(),
          LineBudget.leftOut(others));
    }
  }

  private void logWait(Lock lock, Waiter first, long nowMicros) {
    long others = lines.take();
    if (others >= 0) {
      LOG.warn(
          "{}: session {} has waited for lock '{}' for {} s, longer than --wait-warning, with {}"
              + " other requests behind it; {}{}",
          nodeId,
          first.request().session(),
          Text.printable(lock.name().value()),
          seconds(first.sinceMicros(), nowMicros),
          lock.waiters().size() - 1,
          holder(lock),
          LineBudget.leftOut(others));
    }
  }

  private static String holder(Lock lock) {
    Hold hold = lock.oldestHold();
    if (hold == null) {
      return "nobody holds it: the request waits for other locks too";
    }
    return hold.onlyKeeps()
        ? "lease " + hold.lease().id() + " keeps it from others"
        : "session " + hold.session() + " holds it under token " + hold.token();
  }

  private static long seconds(long sinceMicros, long nowMicros) {
    return TimeUnit.MICROSECONDS.toSeconds(nowMicros - sinceMicros);
  }

  @Override
  public synchronized void close() {
    if (looking != null) {
      looking.cancel(/* mayInterruptIfRunning= */ false);
    }
    timer.shutdown();
  }
}
