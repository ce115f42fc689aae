package dev.tollgate.lock;

import static java.util.Objects.requireNonNull;

import dev.tollgate.wire.SqlState;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The lock functions that are answered at once, each on a connection of its own for as long as it
 * takes. A thread that was interrupted may call them: a release must not fail because of that.
 */
final class LockCalls {
  /** How often a request is tried on a connection whose session has ended while it was idle. */
  private static final int TRIES = 3;

  private final Connections connections;

  LockCalls(Connections connections) {
    this.connections = requireNonNull(connections, "connections");
  }

  /** What is done with a connection. */
  interface Call<R> {
    R on(Connection connection) throws SQLException;
  }

  /** Runs a call on a connection for short requests. */
  <R> R call(Call<R> call) throws SQLException {
    boolean interrupted = Thread.interrupted();
    try {
      for (int attempt = 1; ; attempt++) {
        Connection connection = connections.forShortRequest();
        boolean whole = false;
        long sentNanos = System.nanoTime();
        try {
          R result = ForeignCode.call(() -> call.on(connection));
          whole = true;
          return result;
        } catch (SQLException e) {
          whole = e.getSQLState() != null && !isConnectionLost(e);
          connections.failed(sentNanos, e);
          if (attempt == TRIES || !SqlState.SESSION_GONE.state().equals(e.getSQLState())) {
            throw e;
          }
        } finally {
          if (whole) {
            connections.giveBack(connection);
          } else {
            connections.discard(connection);
          }
        }
      }
    } finally {
      ThreadInterrupt.restore(interrupted);
    }
  }

  static boolean isConnectionLost(SQLException e) {
    return e.getSQLState() != null && e.getSQLState().startsWith("08");
  }

  /** Returns true if the statement may have taken effect, or may still do so. */
  static boolean isUnknown(SQLException e) {
    String state = e.getSQLState();
    return state == null || state.equals(SqlState.OUTCOME_UNKNOWN.state());
  }

  boolean release(String name, long lease) throws SQLException {
    return call(c -> truth(c, "SELECT release_lock(?, ?)", name, lease));
  }

  /** Releases a lock that nobody is granted before this time is over. */
  boolean release(String name, long lease, Duration keep) throws SQLException {
    return call(c -> truth(c, "SELECT release_lock(?, ?, ?)", name, lease, keep.toMillis()));
  }

  /** Gives a lease its full ttl again; fails with 55T01 if it has ended. */
  void renew(long lease) throws SQLException {
    call(c -> number(c, "SELECT renew_lease(?)", lease));
  }

  boolean revoke(long lease) throws SQLException {
    return call(c -> truth(c, "SELECT revoke_lease(?)", lease));
  }

  boolean holds(String name, long token) throws SQLException {
    return call(c -> holds(c, name, token));
  }

  static boolean holds(Connection connection, String name, long token) throws SQLException {
    return truth(connection, "SELECT holds_lock(?, ?)", name, token);
  }

  /** Returns the new token; empty if the lease does not hold the lock. */
  Optional<Long> transfer(String name, long from, long to) throws SQLException {
    return call(c -> number(c, "SELECT transfer_lock(?, ?, ?)", name, from, to));
  }

  /** Who holds a lock exclusively; empty if no lease does, or the user may not see its token. */
  Optional<Leader> holder(String name) throws SQLException {
    return call(
        c -> {
          try (PreparedStatement statement =
              c.prepareStatement(
                  "SELECT OWNER, TOKEN FROM TOLLGATE.LOCKS WHERE LOCK_NAME = ?"
                      + " AND LOCK_MODE = 'EXCLUSIVE' AND TOKEN IS NOT NULL ORDER BY TOKEN")) {
            statement.setString(1, name);
            try (ResultSet row = statement.executeQuery()) {
              return row.next()
                  ? Optional.of(new Leader(row.getString(1), row.getLong(2)))
                  : Optional.empty();
            }
          }
        });
  }

  /** The first of those that wait for a lock, as far as the user may see them. */
  List<Waiter> waiters(String name) throws SQLException {
    return call(
        c -> {
          try (PreparedStatement statement =
              c.prepareStatement(
                  "SELECT QUEUE_POSITION, OWNER, LOCK_MODE FROM TOLLGATE.LOCK_WAITERS"
                      + " WHERE LOCK_NAME = ? ORDER BY QUEUE_POSITION FETCH FIRST "
                      + LockLimits.WAITERS_SHOWN
                      + " ROWS ONLY")) {
            statement.setString(1, name);
            List<Waiter> waiters = new ArrayList<>();
            try (ResultSet row = statement.executeQuery()) {
              while (row.next()) {
                waiters.add(
                    new Waiter(
                        row.getLong(1), row.getString(2), row.getString(3).equals("SHARED")));
              }
            }
            return waiters;
          }
        });
  }

  long countWaiters(String name) throws SQLException {
    return call(c ->
            number(c, "SELECT COUNT(*) FROM TOLLGATE.LOCK_WAITERS WHERE LOCK_NAME = ?", name))
        .orElseThrow();
  }

  private static boolean truth(Connection connection, String sql, Object... arguments)
      throws SQLException {
    try (PreparedStatement statement = prepare(connection, sql, arguments);
        ResultSet row = statement.executeQuery()) {
      row.next();
      return row.getBoolean(1);
    }
  }

  static Optional<Long> number(Connection connection, String sql, Object... arguments)
      throws SQLException {
    try (PreparedStatement statement = prepare(connection, sql, arguments);
        ResultSet row = statement.executeQuery()) {
      return number(row);
    }
  }

  private static Optional<Long> number(ResultSet row) throws SQLException {
    row.next();
    long number = row.getLong(1);
    return row.wasNull() ? Optional.empty() : Optional.of(number);
  }

  private static PreparedStatement prepare(Connection connection, String sql, Object... arguments)
      throws SQLException {
    PreparedStatement statement = connection.prepareStatement(sql);
    for (int i = 0; i < arguments.length; i++) {
      statement.setObject(i + 1, arguments[i]);
    }
    return statement;
  }

  /** The statement that requests locks, one or several at once. */
  static PreparedStatement acquire(
      Connection connection, List<String> names, LockOptions options, long lease, Duration wait)
      throws SQLException {
    boolean one = names.size() == 1;
    String function =
        one ? options.isShared() ? "acquire_shared_lock" : "acquire_lock" : "acquire_locks";
    Object name = one ? names.get(0) : names.toArray();
    return prepare(connection, "SELECT " + function + "(?, ?, ?)", name, lease, wait.toMillis());
  }

  /** Runs such a statement. Returns the tokens in the order of the names; empty if not granted. */
  static Optional<List<Long>> tokens(PreparedStatement acquire, int names) throws SQLException {
    try (ResultSet row = acquire.executeQuery()) {
      if (names == 1) {
        return number(row).map(List::of);
      }
      row.next();
      Array array = row.getArray(1);
      if (array == null) {
        return Optional.empty();
      }
      List<Long> tokens = new ArrayList<>();
      for (Object token : (Object[]) array.getArray()) {
        tokens.add(((Number) token).longValue());
      }
      return Optional.of(tokens);
    }
  }
}
