package dev.tollgate.lock;

import dev.tollgate.wire.SqlState;
import java.sql.SQLException;

/**
 * A request for a lock that failed: no node answered, the cluster refused the request, or a limit
 * is reached. What the request may have been granted meanwhile is released, or expires with its
 * lease.
 */
public final class LockException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String sqlState;

  LockException(String sqlState, String message) {
    super(message);
    this.sqlState = sqlState;
  }

  private LockException(String what, SQLException cause) {
    super(what + ": " + cause.getMessage(), cause);
    this.sqlState = cause.getSQLState() == null ? "" : cause.getSQLState();
  }

  /** What an application gets for a failure: a wrong argument is no failure of a lock. */
  static RuntimeException of(String what, SQLException cause) {
    String state = cause.getSQLState();
    return SqlState.INVALID_ARGUMENT.state().equals(state)
            || SqlState.NOT_TEXT.state().equals(state)
        ? new IllegalArgumentException(cause.getMessage(), cause)
        : new LockException(what, cause);
  }

  /** The SQLState of the failure, as docs/protocol.md lists them; empty if there is none. */
  public String sqlState() {
    return sqlState;
  }
}
