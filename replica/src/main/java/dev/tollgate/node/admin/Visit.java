package dev.tollgate.node.admin;

import org.jspecify.annotations.Nullable;

/** One request, from its head to the end of its answer: leaves the gate that it has entered. */
final class Visit implements AutoCloseable {
  private Route.@Nullable Gate entered;
  private @Nullable Caller by;

  /** Enters a gate and returns null, or returns why it is closed. */
  @Nullable Answer enter(Route.Gate gate, Caller caller) {
    Answer refusal = gate.enter(caller);
    if (refusal == null) {
      entered = gate;
      by = caller;
    }
    return refusal;
  }

  @Override
  public void close() {
    if (entered != null && by != null) {
      entered.leave(by);
    }
  }
}
