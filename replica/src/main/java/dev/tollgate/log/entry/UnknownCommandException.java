package dev.tollgate.log.entry;

/**
 * A later version has written this log entry, which is intact. The replica has to stop, and goes on
 * from there once that version runs here.
 */
public final class UnknownCommandException extends CorruptLogException {
  private static final long serialVersionUID = 1L;

  /**
   * @param what names what is not known
   */
  public UnknownCommandException(String what) {
    super(message(what));
  }

  UnknownCommandException(String what, Throwable cause) {
    super(message(what), cause);
  }

  private static String message(String what) {
    return "the log has "
        + what
        + ", which this node does not know"
        + version()
        + ": a node of a later version led when it was written. Run that version here too, and the"
        + " node goes on where it stopped; its data are as they should be";
  }

  private static String version() {
    String version = UnknownCommandException.class.getPackage().getImplementationVersion();
    return version == null ? "" : " (it runs Tollgate " + version + ")";
  }
}
