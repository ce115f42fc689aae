package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.UserName;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Shares threads among those who want work done, such as users, or the addresses of strangers. One
 * of them has a part of the threads at most, and half of the places for waiting work. Of those
 * whose work waits, the one with the fewest threads is next, and of several the one that has waited
 * longest for a turn. Thread-safe.
 *
 * @param <K> tells them apart
 */
final class FairTurns<K> {
  /** What one of them has there, as long as any of it runs or waits. */
  private static final class Share {
    int running;
    final Deque<Runnable> waiting = new ArrayDeque<>();

    boolean isIdle() {
      return running == 0 && waiting.isEmpty();
    }
  }

  private final Executor threads;
  private final int most;
  private final int mostOfOne;
  private final int mostWaiting;
  private final Predicate<K> isUnlimited;

  /** The one that had a turn last comes last. */
  private final Map<K, Share> shares = new LinkedHashMap<>();

  private int running;
  private int waiting;

  /**
   * @param threads run what they are given, as many at a time as there may be, without waiting
   * @param most how many of them there are
   * @param mostOfOne how many of these work for one of them at a time
   * @param mostWaiting places for work that waits
   * @param isUnlimited who has all threads and places, because it stands for everybody
   */
  FairTurns(Executor threads, int most, int mostOfOne, int mostWaiting, Predicate<K> isUnlimited) {
    this.threads = requireNonNull(threads, "threads");
    this.most = most;
    this.mostOfOne = mostOfOne;
    this.mostWaiting = mostWaiting;
    this.isUnlimited = requireNonNull(isUnlimited, "isUnlimited");
  }

  /** Threads that users share: one user has three quarters of them. */
  static FairTurns<UserName> ofUsers(Executor threads, int most, int mostWaiting) {
    return new FairTurns<>(
        threads, most, Math.max(1, most * 3 / 4), mostWaiting, UserName.ANONYMOUS::equals);
  }

  /**
   * Runs work now or at its turn.
   *
   * @param of whose work it is
   * @return false if there is no place for it to wait
   * @throws java.util.concurrent.RejectedExecutionException if the threads have ended
   */
  boolean run(K of, Runnable work) {
    synchronized (this) {
      Share share = shares.computeIfAbsent(of, any -> new Share());
      if (!mayRun(of, share)) {
        if (!mayWait(of, share)) {
          if (share.isIdle()) {
            shares.remove(of);
          }
          return false;
        }
        share.waiting.addLast(work);
        waiting++;
        return true;
      }
      begin(of, share);
    }
    start(of, work);
    return true;
  }

  private boolean mayRun(K of, Share share) {
    return running < most && (isUnlimited.test(of) || share.running < mostOfOne);
  }

  private boolean mayWait(K of, Share share) {
    return waiting < mostWaiting
        && (isUnlimited.test(of) || share.waiting.size() < Math.max(1, mostWaiting / 2));
  }

  private void begin(K of, Share share) {
    running++;
    share.running++;
    putLast(of, share);
  }

  private void putLast(K of, Share share) {
    shares.remove(of);
    if (!share.isIdle()) {
      shares.put(of, share);
    }
  }

  private void start(K of, Runnable work) {
    boolean begun = false;
    try {
      threads.execute(
          () -> {
            try {
              work.run();
            } finally {
              ended(of);
            }
          });
      begun = true;
    } finally {
      if (!begun) {
        ended(of);
      }
    }
  }

  private void ended(K of) {
    K next;
    Runnable work;
    synchronized (this) {
      Share share = requireNonNull(shares.get(of), "share");
      running--;
      share.running--;
      putLast(of, share);
      next = next();
      if (next == null) {
        return;
      }
      Share its = requireNonNull(shares.get(next), "share");
      work = its.waiting.removeFirst();
      waiting--;
      begin(next, its);
    }
    start(next, work);
  }

  private @Nullable K next() {
    K next = null;
    int fewest = Integer.MAX_VALUE;
    for (Map.Entry<K, Share> entry : shares.entrySet()) {
      Share share = entry.getValue();
      if (!share.waiting.isEmpty() && share.running < fewest && mayRun(entry.getKey(), share)) {
        next = entry.getKey();
        fewest = share.running;
      }
    }
    return next;
  }

  /** Takes out work that waits; false if there is none, because it has begun. */
  synchronized boolean withdraw(Runnable work) {
    for (Iterator<Map.Entry<K, Share>> each = shares.entrySet().iterator(); each.hasNext(); ) {
      Share share = each.next().getValue();
      if (share.waiting.remove(work)) {
        waiting--;
        if (share.isIdle()) {
          each.remove();
        }
        return true;
      }
    }
    return false;
  }

  /** How much work waits. */
  synchronized int waiting() {
    return waiting;
  }
}
