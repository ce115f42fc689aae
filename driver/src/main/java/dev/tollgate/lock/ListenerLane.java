package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import java.lang.System.Logger;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Calls a listener of the application, one call after the other. A call that does not return holds
 * up the later calls of its lane and no other lane. Thread-safe.
 */
final class ListenerLane implements Executor {
  private static final Logger LOG = LockLog.LOG;

  private final ListenerLanes lanes;
  private final String whose;
  private final CallerLoader loader = new CallerLoader();
  private final Deque<Runnable> calls = new ArrayDeque<>();
  private boolean running;
  private boolean ended;
  private boolean gone;

  /**
   * Calls run with the context class loader of the thread that makes the lane.
   *
   * @param whose for messages, as in "a listener for the loss of lease 7"
   */
  ListenerLane(ListenerLanes lanes, String whose) {
    this.lanes = requireNonNull(lanes, "lanes");
    this.whose = requireNonNull(whose, "whose");
  }

  /** Does not wait, and does not throw: the thread that has news serves other locks too. */
  @Override
  public void execute(Runnable call) {
    synchronized (this) {
      if (calls.size() >= LockLimits.LISTENER_CALLS) {
        LOG.log(
            Logger.Level.WARNING,
            "{0} is not told: {1} calls wait for an earlier one that does not return"
                + " (LockLimits.LISTENER_CALLS)",
            whose,
            LockLimits.LISTENER_CALLS);
        return;
      }
      calls.add(call);
      if (running) {
        return;
      }
      running = true;
    }
    lanes.run(() -> loader.run(this::runCalls));
  }

  private void runCalls() {
    Runnable call;
    while ((call = next()) != null) {
      try {
        call.run();
      } catch (Throwable e) {
        LOG.log(Logger.Level.WARNING, whose + " has thrown", e);
      }
    }
  }

  private @Nullable Runnable next() {
    Runnable call;
    synchronized (this) {
      call = calls.poll();
      running = call != null;
    }
    if (call == null) {
      leaveIfDone();
    }
    return call;
  }

  /** Nothing more is told on this lane; what was told before is, and then its place is free. */
  void end() {
    synchronized (this) {
      ended = true;
    }
    leaveIfDone();
  }

  private void leaveIfDone() {
    synchronized (this) {
      if (!ended || running || gone) {
        return;
      }
      gone = true;
    }
    lanes.leave();
  }
}
