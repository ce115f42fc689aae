package dev.tollgate.core.command;

/** How a statement stands to transactions. The numbers are part of the log's contract. */
public enum TransactionScope {
  /** It is a transaction of its own. */
  AUTOCOMMIT(0),
  /** It belongs to the session's transaction, or begins one, which sees what others commit. */
  READ_COMMITTED(1),
  /** It belongs to the session's transaction, or begins one, beside which nobody else writes. */
  SERIALIZABLE(2);

  private final int number;

  TransactionScope(int number) {
    this.number = number;
  }

  /** The mode in log entries and snapshots. */
  public int number() {
    return number;
  }

  /** The mode with this number. */
  public static TransactionScope of(int number) {
    for (TransactionScope mode : values()) {
      if (mode.number == number) {
        return mode;
      }
    }
    throw new IllegalArgumentException("transaction mode " + number);
  }
}
