package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;

/**
 * Holds new transactions back while a snapshot waits for a moment without transactions (rule R5).
 * Open transactions go on, and so does everything outside of transactions. Thread-safe.
 */
final class TransactionGate {
  private final int most;
  private final Executor workers;
  private final List<Runnable> held = new ArrayList<>();
  private boolean closed;

  /**
   * @param most transactions that may be held
   * @param workers runs the held transactions
   */
  TransactionGate(int most, Executor workers) {
    this.most = most;
    this.workers = requireNonNull(workers, "workers");
  }

  /**
   * Begins a transaction, now or when the gate is open again.
   *
   * @return false if no more transactions may be held: this one never begins
   */
  boolean enter(Runnable beginning) {
    synchronized (held) {
      if (closed) {
        return held.size() < most && held.add(beginning);
      }
    }
    beginning.run();
    return true;
  }

  void snapshotNeedsGap(boolean needed) {
    synchronized (held) {
      closed = needed;
    }
    if (!needed) {
      letIn();
    }
  }

  /** Lets held transactions in: they find that this node does not lead, and go to the leader. */
  void stoppedLeading() {
    letIn();
  }

  private void letIn() {
    List<Runnable> next;
    synchronized (held) {
      next = List.copyOf(held);
      held.clear();
    }
    next.forEach(workers::execute);
  }
}
