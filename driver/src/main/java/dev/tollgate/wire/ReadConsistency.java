package dev.tollgate.wire;

/** What a query may see. */
public enum ReadConsistency {
  /** Everything that was acknowledged before the query began; the leader proves its leadership. */
  LINEARIZABLE(0),
  /** What the node that believes itself to be the leader has applied. */
  LEADER(1),
  /** What the connected node has applied, which may be behind. */
  ANY(2);

  private final int code;

  ReadConsistency(int code) {
    this.code = code;
  }

  void write(WireWriter out) {
    out.u8(code);
  }

  static ReadConsistency read(WireReader in) {
    int code = in.u8();
    for (ReadConsistency consistency : values()) {
      if (consistency.code == code) {
        return consistency;
      }
    }
    throw new WireFormatException("read consistency " + code);
  }
}
