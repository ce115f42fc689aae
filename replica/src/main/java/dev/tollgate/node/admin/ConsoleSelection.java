package dev.tollgate.node.admin;

import dev.tollgate.core.Hold;
import dev.tollgate.core.Lock;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;

/**
 * Keeps the locks that an operator wants to see first: those with the most waiting requests, and
 * then those that are held for the longest time. Not thread-safe.
 */
final class ConsoleSelection {
  private static final Comparator<Lock> ORDER =
      Comparator.comparingInt((Lock lock) -> -lock.waiters().size())
          .thenComparingLong(ConsoleSelection::since)
          .thenComparing(Lock::name);

  private final int most;
  private final PriorityQueue<Lock> kept = new PriorityQueue<>(ORDER.reversed());
  private long added;

  ConsoleSelection(int most) {
    this.most = most;
  }

  private static long since(Lock lock) {
    Hold oldest = lock.oldestHold();
    return oldest == null ? Long.MAX_VALUE : oldest.sinceMicros();
  }

  void add(Lock lock) {
    added++;
    if (kept.size() < most) {
      kept.add(lock);
    } else if (ORDER.compare(lock, kept.peek()) < 0) {
      kept.poll();
      kept.add(lock);
    }
  }

  /** How many locks were added. */
  long added() {
    return added;
  }

  /** The locks that were kept, in order. */
  List<Lock> best() {
    List<Lock> best = new ArrayList<>(kept);
    best.sort(ORDER);
    return best;
  }
}
