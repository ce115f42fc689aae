package dev.tollgate.lock;

import dev.tollgate.wire.SqlState;
import java.sql.SQLIntegrityConstraintViolationException;

/**
 * A later holder of the lock has written to the database, so the token is stale. Has the SQLState
 * with which Tollgate refuses such a write itself: 23T01.
 */
public final class StaleTokenException extends SQLIntegrityConstraintViolationException {
  private static final long serialVersionUID = 1L;

  StaleTokenException(String lock, long token) {
    super(
        "a later holder of lock '"
            + lock
            + "' has written to this database, so token "
            + token
            + " is stale: roll back",
        SqlState.STALE_TOKEN.state(),
        SqlState.STALE_TOKEN.vendorCode());
  }
}
