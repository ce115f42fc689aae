package dev.tollgate.lock;

import java.sql.SQLException;

/**
 * Calls of what the application has given: its data source, and the connections and statements of
 * it, which are often proxies. They may throw anything, and what follows a failed call must follow
 * whatever it has thrown.
 */
final class ForeignCode {
  private ForeignCode() {}

  /** A call that gives something. */
  @FunctionalInterface
  interface Call<R> {
    R call() throws SQLException;
  }

  /** A call that gives nothing. */
  @FunctionalInterface
  interface Action {
    void run() throws SQLException;
  }

  /**
   * Makes a call. An Error passes: the JVM may be in need, and callers clean up in finally.
   *
   * @throws SQLException in the place of any exception
   */
  static <R> R call(Call<R> call) throws SQLException {
    try {
      return call.call();
    } catch (RuntimeException e) {
      throw new SQLException("the data source has thrown " + e, e);
    }
  }

  /** As {@link #call}. */
  static void run(Action action) throws SQLException {
    try {
      action.run();
    } catch (RuntimeException e) {
      throw new SQLException("the data source has thrown " + e, e);
    }
  }
}
