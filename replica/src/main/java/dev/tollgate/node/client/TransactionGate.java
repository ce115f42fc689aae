package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/**
 * Holds new transactions back while a snapshot waits for a moment without transactions (rule R5).
 * Open transactions go on, and so does everything outside of transactions. Thread-safe.
 */
final class TransactionGate {
  private final int most;
  private final Executor workers;
  private final BooleanSupplier leading;
  private final List<Runnable> held = new ArrayList<>();
  private boolean closed;

  /**
   * @param most transactions that may be held
   * @param workers runs the held transactions
   * @param leading whether this node leads, as far as it knows
   */
  TransactionGate(int most, Executor workers, BooleanSupplier leading) {
    this.most = most;
    this.workers = requireNonNull(workers, "workers");
    this.leading = requireNonNull(leading, "leading");
  }

  /**
   * Begins a transaction, now or when the gate is open again.
   *
   * @param refused is told if no more transactions may be held: this one never begins
   */
  void begin(Runnable beginning, Consumer<String> refused) {
    if (!enter(beginning)) {
      refused.accept(
          most
              + " transactions wait to begin until a snapshot has, as many as may: nothing was"
              + " done; try again later");
    }
    // if leadership was lost meanwhile, nothing else would let the transaction in
    if (!leading.getAsBoolean()) {
      stoppedLeading();
    }
  }

  /** Takes out a transaction that is held; false if there is none, because it was let in. */
  boolean withdraw(Runnable beginning) {
    synchronized (held) {
      return held.remove(beginning);
    }
  }

  private boolean enter(Runnable beginning) {
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

  /** How many transactions wait to begin. */
  int held() {
    synchronized (held) {
      return held.size();
    }
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
