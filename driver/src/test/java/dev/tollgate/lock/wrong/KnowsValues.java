package dev.tollgate.lock.wrong;

import org.h2.value.Value;

/** Breaks the rule that the lock API has nothing of H2. */
public final class KnowsValues {
  private KnowsValues() {}

  static int type(Value value) {
    return value.getValueType();
  }
}
