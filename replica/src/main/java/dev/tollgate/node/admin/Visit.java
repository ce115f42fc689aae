package dev.tollgate.node.admin;

import org.jspecify.annotations.Nullable;

/**
 * One request, from its head to the end of its answer: leaves the gate that it has entered, and no
 * longer watches the login of its caller.
 */
final class Visit implements AutoCloseable {
  private Route.@Nullable Gate entered;
  private @Nullable Caller by;
  private Runnable unwatch = () -> {};

  /** Enters a gate and returns null, or returns why it is closed. */
  @Nullable Answer enter(Route.Gate gate, Caller caller) {
    Answer refusal = gate.enter(caller);
    if (refusal == null) {
      entered = gate;
      by = caller;
    }
    return refusal;
  }

  /**
   * Has something done at the end.
   *
   * @param end ends the watch of a login
   */
  void watch(Runnable end) {
    unwatch = end;
  }

  @Override
  public void close() {
    unwatch.run();
    if (entered != null && by != null) {
      entered.leave(by);
    }
  }
}
