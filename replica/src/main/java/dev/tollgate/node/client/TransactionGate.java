package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;

/**
 * Holds new transactions back for as long as a snapshot waits for a moment without any (rule R5).
 * Those that are open go on, and everything outside of transactions does. Thread-safe.
 */
final class TransactionGate {
  private final Executor workers;
  private final List<Runnable> held = new ArrayList<>();
  private boolean closed;

  /**
   * @param workers run what was held
   */
  TransactionGate(Executor workers) {
    this.workers = requireNonNull(workers, "workers");
  }

  /** Begins a transaction, now or when the gate is open again. */
  void enter(Runnable beginning) {
    synchronized (held) {
      if (closed) {
        held.add(beginning);
        return;
      }
    }
    beginning.run();
  }

  void snapshotNeedsGap(boolean needed) {
    synchronized (held) {
      closed = needed;
    }
    if (!needed) {
      letIn();
    }
  }

  /** Those that are held find that this node does not lead, and go to the one that does. */
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
