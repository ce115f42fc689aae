package dev.tollgate.store.h2;

import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.wire.SqlState;
import java.sql.SQLException;
import java.util.Objects;
import java.util.stream.Stream;
import org.h2.api.ErrorCode;
import org.h2.engine.SessionLocal;
import org.h2.jdbc.JdbcException;
import org.h2.message.DbException;
import org.jspecify.annotations.Nullable;

/**
 * Translates database errors and core refusals for clients, and tells which errors stop the
 * replica.
 */
public final class SqlErrors {
  private SqlErrors() {}

  /** The SQLState of a refusal. */
  public static SqlState stateOf(RefusalCode code) {
    return switch (code) {
      case TOKEN_STALE -> SqlState.STALE_TOKEN;
      case TOKEN_MISSING -> SqlState.TOKEN_MISSING;
      case LEASE_GONE -> SqlState.LEASE_GONE;
      case LOCK_UPGRADE -> SqlState.LOCK_UPGRADE;
      case FENCE_STATE -> SqlState.FENCE_STATE;
      case LOCK_STATE -> SqlState.LOCK_STATE;
      case WAIT_CANCELLED -> SqlState.CANCELLED;
      case SESSION_GONE -> SqlState.SESSION_GONE;
      case SEQUENCE_PASSED -> SqlState.OUTCOME_UNKNOWN;
      case SEQUENCE_REUSED -> SqlState.PROTOCOL_VIOLATION;
      case LIMIT_REACHED -> SqlState.TOO_MANY;
      case TRANSACTION_LOST -> SqlState.CONFLICT;
      case RIGHT_MISSING -> SqlState.RIGHT_MISSING;
      case AUTHENTICATION_FAILED -> SqlState.LOGIN_REFUSED;
      case USER_STATE -> SqlState.USER_STATE;
      case SKIPPED -> SqlState.SKIPPED;
      case ENVIRONMENT_CHANGES -> SqlState.ENVIRONMENT_CHANGES;
    };
  }

  /** The error for a savepoint that does not exist. */
  public static SQLException noSavepoint(String name) {
    return DbException.get(ErrorCode.SAVEPOINT_IS_INVALID_1, name).getSQLException();
  }

  /** The error for more or fewer parameter values than the statement has question marks. */
  public static SQLException parameterCount(int expected, int given) {
    if (given < expected) {
      return DbException.get(ErrorCode.PARAMETER_NOT_SET_1, "#" + (given + 1)).getSQLException();
    }
    return new SQLException(
        "the statement has " + expected + " parameters, and " + given + " values were given",
        "07001",
        ErrorCode.INVALID_PARAMETER_COUNT_2);
  }

  /** The error for an argument of a lock function that cannot be right. */
  public static SQLException invalid(String message) {
    return exception(SqlState.INVALID_ARGUMENT, message);
  }

  /** The error for a definition after which another object could not be made again. */
  public static DbException unrestorable(String message) {
    int code = ErrorCode.CANNOT_DROP_2;
    return DbException.convert(new SQLException(message, ErrorCode.getState(code), code));
  }

  public static SQLException exception(SqlState state, String message) {
    return new SQLException(message, state.state(), state.vendorCode());
  }

  /**
   * The outcome of a statement that H2 refused while the log was applied.
   *
   * @throws ReplicaFailure if the error means that the database can no longer be trusted
   */
  public static Outcome.SqlFailed failure(DbException e) {
    SQLException error = e.getSQLException();
    if (isFatal(error.getErrorCode()) || isOfMachine(e)) {
      throw new ReplicaFailure("the database failed", e);
    }
    return failed(error);
  }

  /**
   * Treats a fault of H2 in a statement as a refusal of the statement. For example, {@code
   * COALESCE(5 - a, 4)} with an array causes a NullPointerException. The fault follows from the
   * statement and the data, so it is the same on every replica, and has to stop none of them. Only
   * for a statement that has been undone.
   *
   * <p>The class of the exception decides. Its message and stack do not, because they differ
   * between Java runtimes.
   */
  public static DbException ofStatement(RuntimeException e) {
    DbException exhausted = exhaustedInCheck(e);
    if (exhausted != null) {
      return exhausted;
    }
    Throwable fault = fault(e);
    if (isOfStatement(fault)) {
      return DbException.convert(
          exception(
              SqlState.NOT_SUPPORTED,
              "the database cannot carry out this statement, because of a fault in it ("
                  + fault.getClass().getSimpleName()
                  + "): write the statement in another way"));
    }
    if (e instanceof DbException known) {
      return known;
    }
    throw e;
  }

  /**
   * Applies {@link #ofStatement} to a statement that H2 did not prepare. H2 has a separate error
   * for a missing table in a database without tables, but here schema TOLLGATE always has tables.
   */
  public static DbException ofPreparation(SessionLocal session, RuntimeException e) {
    DbException refused = ofStatement(e);
    if (refused.getErrorCode() != ErrorCode.TABLE_OR_VIEW_NOT_FOUND_1
        || H2Database.hasTablesOfClients(session.getDatabase())) {
      return refused;
    }
    String message = message(refused.getSQLException());
    String table = message.substring(message.indexOf('"') + 1, message.lastIndexOf('"'));
    return DbException.get(
        ErrorCode.TABLE_OR_VIEW_NOT_FOUND_DATABASE_EMPTY_1, table.replace("\"\"", "\""));
  }

  /** Finds the limit that ended a CHECK, which H2 hides behind the name of the constraint. */
  private static @Nullable DbException exhaustedInCheck(RuntimeException e) {
    if (!(e instanceof DbException known)
        || known.getErrorCode() != ErrorCode.CHECK_CONSTRAINT_INVALID) {
      return null;
    }
    return causes(e)
        .filter(DbException.class::isInstance)
        .map(DbException.class::cast)
        .filter(inner -> inner.getErrorCode() == SqlState.TOO_MUCH_WORK.vendorCode())
        .findFirst()
        .orElse(null);
  }

  /** An error and what caused it, from the outside in. */
  private static Stream<Throwable> causes(Throwable e) {
    return Stream.iterate(e, Objects::nonNull, Throwable::getCause);
  }

  /** True if H2 ran out of stack. */
  public static boolean isOverflow(DbException e) {
    return causes(e).anyMatch(StackOverflowError.class::isInstance);
  }

  /** The cause of H2's general error, which H2 wraps in one exception after another. */
  private static Throwable fault(RuntimeException e) {
    Throwable found = e;
    if (e instanceof DbException known && known.getErrorCode() == ErrorCode.GENERAL_ERROR_1) {
      while (found.getCause() != null
          && (found instanceof DbException || found instanceof SQLException)) {
        found = found.getCause();
      }
    }
    return found;
  }

  /** True for a fault of H2 that follows from a statement and its data. */
  public static boolean isOfStatement(DbException e) {
    return isOfStatement(fault(e));
  }

  private static boolean isOfStatement(Throwable fault) {
    return fault instanceof NullPointerException
        || fault instanceof ClassCastException
        || fault instanceof IndexOutOfBoundsException
        || fault instanceof IllegalArgumentException
        || fault instanceof ArithmeticException
        || fault instanceof NegativeArraySizeException
        || fault instanceof ArrayStoreException
        || fault instanceof UnsupportedOperationException;
  }

  /**
   * True if memory or stack ran out, whatever error H2 reports. A function in Java and a CHECK hide
   * it behind codes of their own. Another replica may have had enough memory and stack.
   */
  private static boolean isOfMachine(DbException e) {
    return causes(e).anyMatch(VirtualMachineError.class::isInstance);
  }

  /** An error as it is reported to the client. */
  public static Outcome.SqlFailed failed(SQLException error) {
    String state = error.getSQLState();
    return new Outcome.SqlFailed(
        state == null ? SqlState.INTERNAL.state() : state, error.getErrorCode(), message(error));
  }

  /** The message without the statement, which the driver adds, and without H2's version. */
  private static String message(SQLException error) {
    String message =
        error instanceof JdbcException jdbc ? jdbc.getOriginalMessage() : error.getMessage();
    return message == null ? error.getClass().getSimpleName() : message;
  }

  /** True if another transaction blocked the statement. */
  public static boolean isConflict(DbException e) {
    return switch (e.getErrorCode()) {
      case ErrorCode.LOCK_TIMEOUT_1,
          ErrorCode.CONCURRENT_UPDATE_1,
          ErrorCode.ROW_NOT_FOUND_WHEN_DELETING_1,
          ErrorCode.ROW_NOT_FOUND_IN_PRIMARY_INDEX,
          ErrorCode.DEADLOCK_1 ->
          true;
      default -> false;
    };
  }

  /** True if a constraint failed because of rows that another transaction may yet bring back. */
  public static boolean isDoubtful(DbException e) {
    return switch (e.getErrorCode()) {
      case ErrorCode.DUPLICATE_KEY_1, ErrorCode.REFERENTIAL_INTEGRITY_VIOLATED_CHILD_EXISTS_1 ->
          true;
      default -> false;
    };
  }

  /**
   * True for errors that a well-formed statement cannot cause by itself. Errors of row conflicts
   * are handled before. An error that is left over means a conflict without another transaction.
   */
  private static boolean isFatal(int code) {
    return switch (code) {
      case ErrorCode.GENERAL_ERROR_1,
          ErrorCode.OUT_OF_MEMORY,
          ErrorCode.IO_EXCEPTION_1,
          ErrorCode.IO_EXCEPTION_2,
          ErrorCode.FILE_CORRUPTED_1,
          ErrorCode.DATABASE_IS_CLOSED,
          ErrorCode.DATABASE_CALLED_AT_SHUTDOWN,
          ErrorCode.OBJECT_CLOSED,
          ErrorCode.STATEMENT_WAS_CANCELED,
          ErrorCode.LOCK_TIMEOUT_1,
          ErrorCode.CONCURRENT_UPDATE_1,
          ErrorCode.DEADLOCK_1 ->
          true;
      default -> false;
    };
  }
}
