package dev.tollgate.log;

import static java.util.Objects.requireNonNull;

/** A requested snapshot could not be taken. */
public final class SnapshotUnavailableException extends Exception {
  private static final long serialVersionUID = 1L;

  /** Why there is no snapshot. */
  public enum Reason {
    /** The node keeps nothing, is about to stop, or has not opened its log yet. */
    NOT_HERE,
    /** There was no moment without an open transaction. */
    NO_GAP,
    /** The file could not be written. */
    DISK
  }

  private final Reason reason;

  public SnapshotUnavailableException(Reason reason, String message) {
    super(message);
    this.reason = requireNonNull(reason, "reason");
  }

  public SnapshotUnavailableException(Exception cause) {
    super("no snapshot could be written: " + cause, cause);
    this.reason = Reason.DISK;
  }

  public Reason reason() {
    return reason;
  }
}
