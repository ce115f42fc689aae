package dev.tollgate.log;

/** Only the leader can do this, and this node does not lead. */
public final class NotLeadingException extends Exception {
  private static final long serialVersionUID = 1L;

  public NotLeadingException(Throwable cause) {
    super("this node does not lead", cause);
  }

  public NotLeadingException() {
    super("this node does not lead");
  }
}
