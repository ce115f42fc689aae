package dev.tollgate.jdbc;

import dev.tollgate.transport.TransportException;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.SqlState;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.Arrays;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.h2.jdbc.JdbcSQLDataException;
import org.h2.jdbc.JdbcSQLFeatureNotSupportedException;
import org.h2.jdbc.JdbcSQLIntegrityConstraintViolationException;
import org.h2.jdbc.JdbcSQLInvalidAuthorizationSpecException;
import org.h2.jdbc.JdbcSQLNonTransientConnectionException;
import org.h2.jdbc.JdbcSQLNonTransientException;
import org.h2.jdbc.JdbcSQLSyntaxErrorException;
import org.h2.jdbc.JdbcSQLTimeoutException;
import org.h2.jdbc.JdbcSQLTransactionRollbackException;
import org.h2.jdbc.JdbcSQLTransientException;
import org.h2.message.DbException;
import org.jspecify.annotations.Nullable;

/**
 * Converts failures into JDBC exceptions, whose classes pools and frameworks distinguish. An error
 * of the database becomes the exception that H2 would throw, with the SQL text.
 */
final class JdbcErrors {
  private static final Map<String, SqlState> TOLLGATE_STATES =
      Arrays.stream(SqlState.values())
          .collect(Collectors.toMap(SqlState::state, Function.identity()));

  private JdbcErrors() {}

  /** Wraps the JDBC exception in the exception that H2's classes pass on. */
  static DbException forH2(Reply.Failure failure, @Nullable String sql) {
    return DbException.convert(exception(failure, sql, null));
  }

  static DbException forH2(TransportException e, @Nullable String sql) {
    return DbException.convert(exception(e.failure(), sql, e));
  }

  static SQLException exception(TransportException e) {
    return exception(e.failure(), null, e);
  }

  static SQLException exception(SqlState state, String message) {
    return exception(new Reply.Failure(state, message), null, null);
  }

  static SQLException exception(
      Reply.Failure failure, @Nullable String statement, @Nullable Throwable cause) {
    String sql = ShownSql.of(statement);
    String message = failure.message();
    String state = failure.sqlState();
    int code = failure.vendorCode();
    SqlState own = TOLLGATE_STATES.get(state);
    if (own == null || own.vendorCode() != code) {
      return DbException.getJdbcSQLException(message, sql, state, code, cause, null);
    }
    return switch (own) {
      case STALE_TOKEN, TOKEN_MISSING ->
          new JdbcSQLIntegrityConstraintViolationException(message, sql, state, code, cause, null);
      case LEASE_GONE,
          LOCK_UPGRADE,
          FENCE_STATE,
          LOCK_STATE,
          ADMINISTRATION,
          USER_STATE,
          ACTIVE_TRANSACTION,
          NO_TRANSACTION,
          FAILED_TRANSACTION,
          TOO_LARGE,
          TOO_MUCH_WORK,
          NO_MEMORY,
          DISK,
          SKIPPED,
          INTERNAL ->
          new JdbcSQLNonTransientException(message, sql, state, code, cause, null);
      case LOGIN_REFUSED ->
          new JdbcSQLInvalidAuthorizationSpecException(message, sql, state, code, cause, null);
      case CONFLICT ->
          new JdbcSQLTransactionRollbackException(message, sql, state, code, cause, null);
      // class 42 is "syntax error or access rule violation"
      case RIGHT_MISSING, REFUSED_STATEMENT ->
          new JdbcSQLSyntaxErrorException(message, sql, state, code, cause, null);
      case NOT_SUPPORTED ->
          new JdbcSQLFeatureNotSupportedException(message, sql, state, code, cause, null);
      case INVALID_ARGUMENT, NOT_TEXT ->
          new JdbcSQLDataException(message, sql, state, code, cause, null);
      case TOO_MANY, BUSY, ENVIRONMENT_CHANGES ->
          new JdbcSQLTransientException(message, sql, state, code, cause, null);
      case CANCELLED -> new JdbcSQLTimeoutException(message, sql, state, code, cause, null);
      // H2 has no class for this state
      case NO_QUORUM -> new SQLTransientConnectionException(message, state, code, cause);
      case CONNECTION_REFUSED, PROTOCOL_VIOLATION, SESSION_GONE, OUTCOME_UNKNOWN ->
          new JdbcSQLNonTransientConnectionException(message, sql, state, code, cause, null);
    };
  }
}
