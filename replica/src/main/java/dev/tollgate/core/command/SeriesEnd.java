package dev.tollgate.core.command;

/** How a series of statements ends. The numbers are part of the log's contract. */
public enum SeriesEnd {
  /** All statements run, whether or not those before them fail. */
  RUN_ALL(0),
  /** The first statement that fails is the last that runs. */
  STOP_AT_FAILURE(1),
  /** As {@link #STOP_AT_FAILURE}, and if no statement fails, the transaction is committed. */
  COMMIT(2);

  private final int number;

  SeriesEnd(int number) {
    this.number = number;
  }

  /** Returns the ending in log entries. */
  public int number() {
    return number;
  }

  /** Returns the ending with this number. */
  public static SeriesEnd of(int number) {
    for (SeriesEnd end : values()) {
      if (end.number == number) {
        return end;
      }
    }
    throw new IllegalArgumentException("end " + number + " of a series");
  }
}
