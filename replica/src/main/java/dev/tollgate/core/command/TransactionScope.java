package dev.tollgate.core.command;

/** How a statement relates to transactions. The numbers are part of the log's contract. */
public enum TransactionScope {
  /** The statement is a transaction of its own. */
  AUTOCOMMIT(0),
  /**
   * The statement belongs to the session's transaction, or begins one, which sees what others
   * commit.
   */
  READ_COMMITTED(1),
  /**
   * The statement belongs to the session's transaction, or begins one, which blocks other writers.
   */
  SERIALIZABLE(2);

  private final int number;

  TransactionScope(int number) {
    this.number = number;
  }

  /** Returns the mode in log entries and snapshots. */
  public int number() {
    return number;
  }

  /** Returns the mode with this number. */
  public static TransactionScope of(int number) {
    for (TransactionScope mode : values()) {
      if (mode.number == number) {
        return mode;
      }
    }
    throw new IllegalArgumentException("transaction mode " + number);
  }
}
