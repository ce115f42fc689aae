package dev.tollgate.wire;

/** How a series of statements ends. */
public enum SeriesEnding {
  /** All statements run, whether or not those before them fail. */
  RUN_ALL,
  /** The first statement that fails is the last that runs. */
  STOP_AT_FAILURE,
  /** As {@link #STOP_AT_FAILURE}, and if no statement fails, the transaction is committed. */
  COMMIT;

  static SeriesEnding read(WireReader in) {
    int code = in.u8();
    return switch (code) {
      case 0 -> RUN_ALL;
      case 1 -> STOP_AT_FAILURE;
      case 2 -> COMMIT;
      default -> throw new WireFormatException("ending " + code + " of a series");
    };
  }

  /** Appends the ending. */
  public void write(WireWriter out) {
    out.u8(
        switch (this) {
          case RUN_ALL -> 0;
          case STOP_AT_FAILURE -> 1;
          case COMMIT -> 2;
        });
  }
}
