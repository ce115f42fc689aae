package dev.tollgate.history;

/** What came back for a {@link CellRequest}. */
sealed interface Answer {
  /** A number: a token, a value, a count; booleans are 0 and 1. */
  record Value(long number) implements Answer {
    @Override
    public String toString() {
      return Long.toString(number);
    }
  }

  /** NULL: no token. */
  record Nothing() implements Answer {
    @Override
    public String toString() {
      return "NULL";
    }
  }

  /** An error that changed nothing. */
  record Refused(String sqlState) implements Answer {
    @Override
    public String toString() {
      return sqlState;
    }
  }

  /** None: it may take effect at any time, or never. */
  record Unknown() implements Answer {
    @Override
    public String toString() {
      return "no answer";
    }
  }

  static Answer of(long number) {
    return new Value(number);
  }

  static Answer of(boolean flag) {
    return new Value(flag ? 1 : 0);
  }
}
