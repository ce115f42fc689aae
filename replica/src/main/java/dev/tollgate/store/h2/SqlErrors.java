package dev.tollgate.store.h2;

import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.wire.SqlState;
import java.sql.SQLException;
import org.h2.api.ErrorCode;
import org.h2.engine.SessionLocal;
import org.h2.jdbc.JdbcException;
import org.h2.message.DbException;
import org.jspecify.annotations.Nullable;

/**
 * What errors of the database and refusals of the core mean to a client, and which mean the end.
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
      case WAIT_CANCELLED -> SqlState.CANCELLED;
      case SESSION_GONE -> SqlState.SESSION_GONE;
      case SEQUENCE_PASSED -> SqlState.OUTCOME_UNKNOWN;
      case SEQUENCE_REUSED -> SqlState.PROTOCOL_VIOLATION;
      case LIMIT_REACHED -> SqlState.TOO_MANY;
      case TRANSACTION_LOST -> SqlState.CONFLICT;
      case SKIPPED -> SqlState.SKIPPED;
      case ENVIRONMENT_CHANGES -> SqlState.ENVIRONMENT_CHANGES;
    };
  }

  /** A savepoint that is not there. */
  public static SQLException noSavepoint(String name) {
    return DbException.get(ErrorCode.SAVEPOINT_IS_INVALID_1, name).getSQLException();
  }

  /** A statement with more or fewer parameters than it has question marks. */
  public static SQLException parameterCount(int expected, int given) {
    if (given < expected) {
      return DbException.get(ErrorCode.PARAMETER_NOT_SET_1, "#" + (given + 1)).getSQLException();
    }
    return new SQLException(
        "the statement has " + expected + " parameters, and " + given + " values were given",
        "07001",
        ErrorCode.INVALID_PARAMETER_COUNT_2);
  }

  /** An argument of a lock function that cannot be right. */
  public static SQLException invalid(String message) {
    return exception(SqlState.INVALID_ARGUMENT, message);
  }

  public static SQLException exception(SqlState state, String message) {
    return new SQLException(message, state.state(), state.vendorCode());
  }

  /**
   * The outcome of a statement that H2 refused while the log was applied.
   *
   * @throws ReplicaFailure if the error says that the database is not to be trusted any more
   */
  public static Outcome.SqlFailed failure(DbException e) {
    SQLException error = e.getSQLException();
    if (isFatal(error.getErrorCode()) || isOfMachine(e)) {
      throw new ReplicaFailure("the database failed", e);
    }
    return failed(error);
  }

  /**
   * Takes a fault of H2 in a statement for a refusal of the statement: {@code COALESCE(5 - a, 4)}
   * with an array is a NullPointerException. It follows from the statement and the data, so it is
   * the same on every replica, and has to stop none of them. For a statement that has been undone.
   *
   * <p>The class of the exception decides, and neither its message nor its stack, which differ
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
   * What {@link #ofStatement} says of a statement that H2 did not prepare. H2 has an error of its
   * own for a table that is missing where there is none at all, and here there is always schema
   * TOLLGATE.
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

  /** H2 hides what ended a CHECK behind the name of the constraint. */
  private static @Nullable DbException exhaustedInCheck(RuntimeException e) {
    if (!(e instanceof DbException known)
        || known.getErrorCode() != ErrorCode.CHECK_CONSTRAINT_INVALID) {
      return null;
    }
    for (Throwable cause = e.getCause(); cause != null; cause = cause.getCause()) {
      if (cause instanceof DbException inner
          && inner.getErrorCode() == SqlState.TOO_MUCH_WORK.vendorCode()) {
        return inner;
      }
    }
    return null;
  }

  /** True if H2 ran out of stack. */
  public static boolean isOverflow(DbException e) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof StackOverflowError) {
        return true;
      }
    }
    return false;
  }

  /** What H2 met and told as a general error: that is an exception in an exception in another. */
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
   * True if memory or stack ran out, whatever H2 made of it: a function in Java and a CHECK hide it
   * behind codes of their own, and the replica next door may have had enough.
   */
  private static boolean isOfMachine(DbException e) {
    for (Throwable cause = e; cause != null; cause = cause.getCause()) {
      if (cause instanceof VirtualMachineError) {
        return true;
      }
    }
    return false;
  }

  /** An error as it is told to the client. */
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

  /** True if another transaction was in the way. */
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
   * Errors that a well-formed statement cannot cause by itself. Those of row conflicts are answered
   * before: left over, they mean that there is a conflict and nobody to conflict with.
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
