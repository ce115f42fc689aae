package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.UserName;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Shares the threads for one kind of work among users: one user has three quarters of them at most,
 * and half of the places for waiting work. Of the users whose work waits, the one with the fewest
 * threads is next, and of several such users the one that has waited longest for a turn. In a
 * cluster without users there are no shares. Thread-safe.
 */
final class UserTurns {
  /** What a user has there, as long as any of it runs or waits. */
  private static final class Share {
    int running;
    final Deque<Runnable> waiting = new ArrayDeque<>();

    boolean isIdle() {
      return running == 0 && waiting.isEmpty();
    }
  }

  private final Executor threads;
  private final int most;
  private final int mostWaiting;

  /** The user that had a turn last comes last. */
  private final Map<UserName, Share> shares = new LinkedHashMap<>();

  private int running;
  private int waiting;

  /**
   * @param threads run what they are given, as many at a time as there may be, without waiting
   * @param most how many of them there are
   * @param mostWaiting places for work that waits
   */
  UserTurns(Executor threads, int most, int mostWaiting) {
    this.threads = requireNonNull(threads, "threads");
    this.most = most;
    this.mostWaiting = mostWaiting;
  }

  /**
   * Runs work now or at the user's turn.
   *
   * @return false if there is no place for it to wait
   * @throws java.util.concurrent.RejectedExecutionException if the threads have ended
   */
  boolean run(UserName user, Runnable work) {
    synchronized (this) {
      Share share = shares.computeIfAbsent(user, any -> new Share());
      if (!mayRun(user, share)) {
        if (!mayWait(user, share)) {
          if (share.isIdle()) {
            shares.remove(user);
          }
          return false;
        }
        share.waiting.addLast(work);
        waiting++;
        return true;
      }
      begin(user, share);
    }
    start(user, work);
    return true;
  }

  private boolean mayRun(UserName user, Share share) {
    return running < most
        && (user.equals(UserName.ANONYMOUS) || share.running < Math.max(1, most * 3 / 4));
  }

  private boolean mayWait(UserName user, Share share) {
    return waiting < mostWaiting
        && (user.equals(UserName.ANONYMOUS) || share.waiting.size() < Math.max(1, mostWaiting / 2));
  }

  private void begin(UserName user, Share share) {
    running++;
    share.running++;
    putLast(user, share);
  }

  private void putLast(UserName user, Share share) {
    shares.remove(user);
    if (!share.isIdle()) {
      shares.put(user, share);
    }
  }

  private void start(UserName user, Runnable work) {
    boolean begun = false;
    try {
      threads.execute(
          () -> {
            try {
              work.run();
            } finally {
              ended(user);
            }
          });
      begun = true;
    } finally {
      if (!begun) {
        ended(user);
      }
    }
  }

  private void ended(UserName user) {
    UserName next;
    Runnable work;
    synchronized (this) {
      Share share = requireNonNull(shares.get(user), "share");
      running--;
      share.running--;
      putLast(user, share);
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

  private @Nullable UserName next() {
    UserName next = null;
    int fewest = Integer.MAX_VALUE;
    for (Map.Entry<UserName, Share> entry : shares.entrySet()) {
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
    for (Iterator<Map.Entry<UserName, Share>> each = shares.entrySet().iterator();
        each.hasNext(); ) {
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
