package dev.tollgate.history;

import java.util.Optional;
import java.util.function.Function;

/**
 * Something that one client asked of one object, and when.
 *
 * @param name what was asked and answered, for messages
 * @param invokedNanos before it was sent
 * @param returnedNanos after it was answered, or {@link #NEVER}: then it may have taken effect at
 *     any time after it was sent, or not at all
 * @param effect from the state in which it finds the object to the state in which it leaves it;
 *     empty if it cannot have been answered as it was in that state
 */
record Operation<S>(
    String name, long invokedNanos, long returnedNanos, Function<S, Optional<S>> effect) {
  static final long NEVER = Long.MAX_VALUE;

  Operation {
    if (returnedNanos < invokedNanos) {
      throw new IllegalArgumentException(name + " returned before it was invoked");
    }
  }

  boolean isAnswered() {
    return returnedNanos != NEVER;
  }

  @Override
  public String toString() {
    return name;
  }
}
