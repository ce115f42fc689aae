package dev.tollgate.lock;

import java.sql.Connection;
import java.sql.SQLException;

/** Work that is done under a lock, in one transaction on Tollgate. */
@FunctionalInterface
public interface FencedWork<R> {
  /**
   * @param connection in a transaction, which the caller commits; not to be closed or kept
   */
  R on(Connection connection) throws SQLException;
}
