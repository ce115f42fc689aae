package dev.tollgate.snapshot;

/** Thrown for an operation of a session that a later version has written. */
public final class UnknownOperationException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String what;

  /**
   * @param what names what is not known
   */
  UnknownOperationException(String what) {
    super(what);
    this.what = what;
  }

  /** Names what is not known. */
  public String what() {
    return what;
  }
}
