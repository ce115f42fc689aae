package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.UserName;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Requests whose writes the leader tries, on threads that are few. One client cannot keep the
 * others out: a connection has one request tried at a time, a user has half of the threads and half
 * of the places for waiting, and the user with the fewest threads is next. In a cluster without
 * users each connection stands for itself. A request that has waited too long is refused.
 * Thread-safe.
 */
final class RehearsalTurns {
  /**
   * A request. One of the methods is called, once, unless the request is withdrawn before; it must
   * not wait.
   */
  interface Turn {
    /**
     * @param ended to be run once, when the writes were tried
     */
    void begin(Runnable ended);

    void refuse(String why);
  }

  /** Runs a check later, on a thread that holds no monitor. */
  interface Timer {
    void after(long nanos, Runnable check);
  }

  private record Request(OpenResults connection, UserName user, long since, Turn turn) {
    boolean isOfUser(Request other) {
      return !user.equals(UserName.ANONYMOUS) && user.equals(other.user);
    }
  }

  private final Workers.Kind kind;
  private final ClientLimits limits;
  private final LongSupplier nanos;
  private final Timer timer;
  private final List<Request> running = new ArrayList<>();
  private final Deque<Request> waiting = new ArrayDeque<>();
  private boolean watched;

  /**
   * @param nanos a clock that never goes back
   */
  RehearsalTurns(Workers.Kind kind, ClientLimits limits, LongSupplier nanos, Timer timer) {
    this.kind = requireNonNull(kind, "kind");
    this.limits = requireNonNull(limits, "limits");
    this.nanos = requireNonNull(nanos, "nanos");
    this.timer = requireNonNull(timer, "timer");
  }

  /** Begins a request, now or when it is next. */
  void take(OpenResults connection, UserName user, Turn turn) {
    Request taken = new Request(connection, user, nanos.getAsLong(), turn);
    boolean begins;
    boolean waits;
    synchronized (this) {
      begins = mayBegin(taken);
      waits = !begins && mayWait(taken);
      if (begins) {
        running.add(taken);
      } else if (waits) {
        waiting.add(taken);
        watch();
      }
    }
    if (begins) {
      begin(taken);
    } else if (!waits) {
      turn.refuse(
          limits.queuedRehearsals()
              + " "
              + kind.what()
              + ", as many as may, or half as many of user "
              + user
              + ": nothing was done; try again later");
    }
  }

  /**
   * Takes out a request that waits; false if there is none, because it has begun or was refused.
   */
  synchronized boolean withdraw(Turn turn) {
    return waiting.removeIf(request -> request.turn == turn);
  }

  /** How many requests wait. */
  synchronized int waiting() {
    return waiting.size();
  }

  private boolean mayBegin(Request request) {
    return running.size() < kind.threads()
        && running.stream().noneMatch(other -> other.connection == request.connection)
        && ofUser(running, request) < Math.max(1, kind.threads() / 2);
  }

  private boolean mayWait(Request request) {
    int most = limits.queuedRehearsals();
    return waiting.size() < most && ofUser(waiting, request) < Math.max(1, most / 2);
  }

  private static long ofUser(Iterable<Request> requests, Request request) {
    long count = 0;
    for (Request other : requests) {
      count += other.isOfUser(request) ? 1 : 0;
    }
    return count;
  }

  private void begin(Request request) {
    request.turn.begin(() -> ended(request));
  }

  private void ended(Request request) {
    Request next;
    synchronized (this) {
      running.remove(request);
      next = next();
      if (next != null) {
        waiting.remove(next);
        running.add(next);
      }
    }
    if (next != null) {
      begin(next);
    }
  }

  /** Of those whose users have the fewest threads, the one that has waited longest. */
  private @Nullable Request next() {
    Request next = null;
    for (Request request : waiting) {
      if (mayBegin(request) && (next == null || ofUser(running, request) < ofUser(running, next))) {
        next = request;
      }
    }
    return next;
  }

  /** Has one check under way while requests wait: when the first of them has waited too long. */
  private void watch() {
    if (!watched && !waiting.isEmpty()) {
      watched = true;
      timer.after(waiting.getFirst().since + mostNanos() - nanos.getAsLong(), this::refuseLate);
    }
  }

  private void refuseLate() {
    List<Request> late = new ArrayList<>();
    synchronized (this) {
      watched = false;
      while (!waiting.isEmpty() && nanos.getAsLong() - waiting.getFirst().since >= mostNanos()) {
        late.add(waiting.removeFirst());
      }
      watch();
    }
    late.forEach(
        request ->
            request.turn.refuse(
                "the statement changed nothing, because it waited for "
                    + limits.rehearsalWaitMillis()
                    + " ms, as long as it may, until the leader could try what it reads: the"
                    + " statements before it read much; send it again later"));
  }

  private long mostNanos() {
    return TimeUnit.MILLISECONDS.toNanos(limits.rehearsalWaitMillis());
  }
}
