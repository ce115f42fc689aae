package dev.tollgate.node.slow;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.Hold;
import dev.tollgate.core.Lock;
import dev.tollgate.core.Waiter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** The holds and waits of a copy of the locks that last longer than a node is told to accept. */
public final class StuckLocks {
  /** Holds that are listed, the longest, and as many waits. */
  public static final int LISTED = 1_000;

  private static final Comparator<StuckLock> LATEST_FIRST =
      Comparator.comparingLong(StuckLock::sinceMicros).reversed();

  private final SlowSettings settings;
  private final long nowMicros;

  /**
   * @param nowMicros now, microseconds since 1970
   */
  public StuckLocks(SlowSettings settings, long nowMicros) {
    this.settings = requireNonNull(settings, "settings");
    this.nowMicros = nowMicros;
  }

  /** What began before that is too long; nothing is if the duration is zero. */
  static long beginsBefore(Duration accepted, long nowMicros) {
    return accepted.isZero()
        ? Long.MIN_VALUE
        : nowMicros - TimeUnit.NANOSECONDS.toMicros(accepted.toNanos());
  }

  /** The longest holds, the longest first; locks that are only kept have no holders. */
  public List<StuckLock> holds(List<Lock> locks, Predicate<Lock> shown) {
    long before = beginsBefore(settings.hold(), nowMicros);
    PriorityQueue<StuckLock> longest = new PriorityQueue<>(LATEST_FIRST);
    for (Lock lock : locks) {
      for (Hold hold : lock.holds()) {
        if (hold.sinceMicros() <= before && !hold.onlyKeeps() && shown.test(lock)) {
          keep(longest, StuckLock.of(lock, hold));
        }
      }
    }
    return longestFirst(longest);
  }

  /** The longest waits, the longest first. */
  public List<StuckLock> waits(List<Lock> locks, Predicate<Lock> shown) {
    long before = beginsBefore(settings.waiting(), nowMicros);
    PriorityQueue<StuckLock> longest = new PriorityQueue<>(LATEST_FIRST);
    for (Lock lock : locks) {
      for (Waiter waiter : lock.waiters()) {
        if (waiter.sinceMicros() <= before && shown.test(lock)) {
          keep(longest, StuckLock.of(lock, waiter));
        }
      }
    }
    return longestFirst(longest);
  }

  private static void keep(PriorityQueue<StuckLock> longest, StuckLock one) {
    longest.add(one);
    if (longest.size() > LISTED) {
      longest.remove();
    }
  }

  private static List<StuckLock> longestFirst(PriorityQueue<StuckLock> longest) {
    List<StuckLock> ordered = new ArrayList<>(longest);
    ordered.sort(LATEST_FIRST.reversed());
    return ordered;
  }
}
