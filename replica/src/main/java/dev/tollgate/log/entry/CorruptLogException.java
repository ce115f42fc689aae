package dev.tollgate.log.entry;

/** This version cannot have written this log entry: the replica has to stop. */
public class CorruptLogException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public CorruptLogException(String message) {
    super(message);
  }

  public CorruptLogException(String message, Throwable cause) {
    super(message, cause);
  }
}
