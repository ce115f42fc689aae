package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

/** A run that did not do what it was asked for. The message says what happened and what to do. */
public final class MigrationException extends Exception {
  private static final long serialVersionUID = 1L;

  /** What a caller may want to tell apart. */
  public enum Reason {
    /** A script, a folder, a placeholder or a setting is wrong; nothing was run. */
    INPUT,
    /** The scripts and the history disagree; nothing was run. */
    MISMATCH,
    /** A statement failed. */
    STATEMENT,
    /** Another run has the lock. */
    LOCK_BUSY,
    /** The run has lost its lock, so its statements are refused. */
    LOCK_LOST,
    /** No database answered, or Tollgate has no quorum. */
    UNREACHABLE,
    /** A database rejected the user or the password. */
    CREDENTIALS,
    /** It cannot be known whether a statement of an earlier run took effect. */
    UNKNOWN_OUTCOME,
    /** A database failed in another way. */
    DATABASE
  }

  private final Reason reason;

  MigrationException(Reason reason, String message) {
    super(message);
    this.reason = requireNonNull(reason, "reason");
  }

  MigrationException(Reason reason, String message, Throwable cause) {
    super(message, cause);
    this.reason = requireNonNull(reason, "reason");
  }

  public Reason reason() {
    return reason;
  }
}
