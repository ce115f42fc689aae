package dev.tollgate.lock;

import java.sql.Connection;
import java.sql.SQLException;

/**
 * Work that is done under a lock, in one transaction on Tollgate.
 *
 * @param <E> what the work throws beside {@link SQLException}
 */
@FunctionalInterface
public interface FencedWork<R, E extends Exception> {
  /**
   * @param connection in a transaction, which the caller commits; closed after the work
   */
  R on(Connection connection) throws SQLException, E;
}
