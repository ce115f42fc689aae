package dev.tollgate.log.entry;

/** A log entry that this version cannot have written: the replica has to stop. */
public class CorruptLogException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public CorruptLogException(String message) {
    super(message);
  }

  public CorruptLogException(String message, Throwable cause) {
    super(message, cause);
  }
}
