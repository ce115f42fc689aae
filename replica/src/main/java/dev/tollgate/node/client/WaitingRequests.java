package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Notice;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RequestId;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;

/**
 * Requests that are in the log and wait for their outcome, such as a lock request in a queue. Knows
 * who at this node is told of the end of each wait. Thread-safe.
 */
final class WaitingRequests {
  /** Is told when a wait ends. */
  interface Waiter {
    void completed(Outcome outcome);

    /** This node no longer leads; the wait goes on at the next leader. */
    void abandoned();
  }

  private final BooleanSupplier leading;
  private final Map<RequestId, Waiter> waiters = new ConcurrentHashMap<>();

  /**
   * @param leading whether this node leads, as far as it knows
   */
  WaitingRequests(BooleanSupplier leading) {
    this.leading = requireNonNull(leading, "leading");
  }

  /** Registers who is told of the end of a wait, in place of any earlier waiter. */
  void await(RequestId request, Waiter waiter) {
    waiters.put(request, waiter);
    // if leadership was lost meanwhile, nothing else would tell the waiter
    if (!leading.getAsBoolean() && waiters.remove(request, waiter)) {
      waiter.abandoned();
    }
  }

  int size() {
    return waiters.size();
  }

  void completed(Notice.Completed completed) {
    Waiter waiter = waiters.remove(new RequestId(completed.session(), completed.sequence()));
    if (waiter != null) {
      waiter.completed(completed.outcome());
    }
  }

  void stoppedLeading() {
    for (RequestId request : List.copyOf(waiters.keySet())) {
      Waiter waiter = waiters.remove(request);
      if (waiter != null) {
        waiter.abandoned();
      }
    }
  }
}
