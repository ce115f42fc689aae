package dev.tollgate.wire;

/** Whether and how a statement belongs to a transaction of several statements. */
public enum TransactionMode {
  /** The statement is a transaction of its own. */
  AUTOCOMMIT(0),
  /** The statement belongs to the session's transaction, or begins one. */
  READ_COMMITTED(1),
  /** As {@link #READ_COMMITTED}, and no other session writes while the transaction is open. */
  SERIALIZABLE(2);

  private final int code;

  TransactionMode(int code) {
    this.code = code;
  }

  /** Appends this mode. */
  public void write(WireWriter out) {
    out.u8(code);
  }

  static TransactionMode read(WireReader in) {
    int code = in.u8();
    for (TransactionMode mode : values()) {
      if (mode.code == code) {
        return mode;
      }
    }
    throw new WireFormatException("transaction mode " + code);
  }
}
