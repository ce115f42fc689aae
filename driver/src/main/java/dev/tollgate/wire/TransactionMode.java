package dev.tollgate.wire;

/** How a statement stands to transactions. */
public enum TransactionMode {
  /** It is a transaction of its own. */
  AUTOCOMMIT(0),
  /** It belongs to the session's transaction, or begins one. */
  READ_COMMITTED(1),
  /** The same, and nobody else writes while the transaction is open. */
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
