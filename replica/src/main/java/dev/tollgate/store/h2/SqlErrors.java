package dev.tollgate.store.h2;

import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.wire.SqlState;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.SQLException;
import java.time.DateTimeException;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.Deque;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.h2.api.ErrorCode;
import org.h2.engine.SessionLocal;
import org.h2.jdbc.JdbcException;
import org.h2.message.DbException;
import org.h2.mvstore.DataUtils;
import org.h2.mvstore.MVStoreException;
import org.jspecify.annotations.Nullable;

/**
 * Translates database errors and core refusals for clients, and tells which errors stop the
 * replica.
 */
public final class SqlErrors {
  /** Where H2 begins to show a row, behind the name of an index and its columns. */
  private static final Pattern ROW_IN_MESSAGE = Pattern.compile("( VALUES)? \\( /\\* key:");

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
   * The outcome of a statement of the log that has been undone, whatever it threw. Equal statements
   * throw equally on equal replicas, so every exception is a refusal. The exceptions to that are
   * what {@link #requireFunctionOfLog} finds, and conflicts with a transaction that the log does
   * not have.
   *
   * @throws ReplicaFailure if another replica need not have the same outcome
   */
  public static Outcome.SqlFailed failure(RuntimeException e) {
    requireFunctionOfLog(e);
    DbException refused = ofStatement(e);
    return isLeftOver(refused.getErrorCode())
        ? failed(
            exception(
                SqlState.INTERNAL,
                "the statement failed and changed nothing, because it met a row that it has changed"
                    + " itself: let it reach each row once"))
        : failed(refused.getSQLException());
  }

  /**
   * Stops the replica if an exception does not follow from the log alone.
   *
   * @throws ReplicaFailure if memory, stack, classes, input or output, H2's store or the core
   *     failed anywhere behind the exception
   */
  public static void requireFunctionOfLog(RuntimeException e) {
    Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    Deque<Throwable> open = new ArrayDeque<>(List.of(e));
    while (!open.isEmpty()) {
      Throwable found = open.pop();
      if (!seen.add(found)) {
        continue;
      }
      if (found instanceof ReplicaFailure failure) {
        throw failure;
      }
      // H2 adds what fails while it undoes a statement to the exception of the statement
      open.addAll(List.of(found.getSuppressed()));
      if (isOfMachine(found)) {
        throw new ReplicaFailure("the database failed", e);
      }
      if (found.getCause() != null) {
        open.push(found.getCause());
      }
      if (found instanceof SQLException chained && chained.getNextException() != null) {
        open.push(chained.getNextException());
      }
    }
  }

  /** True for a failure of this process, which another replica need not have. */
  private static boolean isOfMachine(Throwable found) {
    if (found instanceof MVStoreException store) {
      // pages, versions and free places of the store depend on restarts
      return store.getErrorCode() != DataUtils.ERROR_TRANSACTION_LOCKED;
    }
    int code =
        found instanceof DbException error
            ? error.getErrorCode()
            : found instanceof SQLException error ? error.getErrorCode() : 0;
    return found instanceof Error
        || found instanceof IOException
        || found instanceof UncheckedIOException
        || isOfMachine(code);
  }

  /** True for H2's errors of memory, files, a closed database and a canceled statement. */
  private static boolean isOfMachine(int code) {
    return switch (code) {
      case ErrorCode.OUT_OF_MEMORY,
          ErrorCode.IO_EXCEPTION_1,
          ErrorCode.IO_EXCEPTION_2,
          ErrorCode.FILE_CORRUPTED_1,
          ErrorCode.DATABASE_IS_CLOSED,
          ErrorCode.DATABASE_CALLED_AT_SHUTDOWN,
          ErrorCode.OBJECT_CLOSED,
          ErrorCode.STATEMENT_WAS_CANCELED ->
          true;
      default -> false;
    };
  }

  /** True for a conflict. Without another transaction, it is one of the statement with itself. */
  private static boolean isLeftOver(int code) {
    return switch (code) {
      case ErrorCode.LOCK_TIMEOUT_1, ErrorCode.CONCURRENT_UPDATE_1, ErrorCode.DEADLOCK_1 -> true;
      default -> false;
    };
  }

  /**
   * The error that a client gets for what a statement threw: H2's own, 22023 for a value that a
   * class of the runtime or of H2 refuses, or XX000 for a fault. For example, {@code COALESCE(5 -
   * a, 4)} with an array causes a NullPointerException in H2, and the day after the last one that a
   * DATE can be an IllegalArgumentException. Errors of the machine stay what they are.
   *
   * <p>The message of a fault names its class. It repeats no message or stack, because they differ
   * between Java runtimes.
   */
  public static DbException ofStatement(RuntimeException e) {
    DbException exhausted = exhaustedInCheck(e);
    if (exhausted != null) {
      return exhausted;
    }
    Throwable fault = fault(e);
    if (isOfValue(fault)) {
      return undone(
          SqlState.INVALID_ARGUMENT,
          "a value in it is outside the range of its type or not of the kind that a function takes ("
              + fault.getClass().getSimpleName()
              + ")",
          e);
    }
    if (fault instanceof RuntimeException && !(fault instanceof DbException)) {
      return undone(
          SqlState.INTERNAL,
          "of a fault in the database ("
              + fault.getClass().getSimpleName()
              + "): write the statement in another way, and report the statement as a bug",
          e);
    }
    return e instanceof DbException known ? known : DbException.convert(e);
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

  private static DbException undone(SqlState state, String why, RuntimeException e) {
    return DbException.convert(
        new SQLException(
            "the statement failed and changed nothing, because " + why,
            state.state(),
            state.vendorCode(),
            e));
  }

  private static boolean isOfValue(Throwable fault) {
    return fault instanceof IllegalArgumentException
        || fault instanceof ArithmeticException
        || fault instanceof DateTimeException;
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

  /**
   * What H2 wrapped in an error whose message repeats another message; otherwise the exception
   * itself.
   */
  private static Throwable fault(RuntimeException e) {
    Throwable found = e;
    boolean wraps =
        e instanceof DbException known
            && (known.getErrorCode() == ErrorCode.GENERAL_ERROR_1
                || known.getErrorCode() == ErrorCode.EXCEPTION_IN_FUNCTION_1);
    while (wraps
        && found.getCause() != null
        && (found instanceof DbException || found instanceof SQLException)) {
      found = found.getCause();
    }
    return found;
  }

  /** An error as it is reported to the client. */
  public static Outcome.SqlFailed failed(SQLException error) {
    String state = error.getSQLState();
    return new Outcome.SqlFailed(
        state == null ? SqlState.INTERNAL.state() : state, error.getErrorCode(), message(error));
  }

  /**
   * A failure for a user who may not read the table. In the message of a duplicate key, H2 shows
   * the row that is there.
   */
  public static Outcome.SqlFailed withoutRow(Outcome.SqlFailed failure) {
    if (failure.vendorCode() != ErrorCode.DUPLICATE_KEY_1) {
      return failure;
    }
    Matcher row = ROW_IN_MESSAGE.matcher(failure.message());
    String message =
        row.find()
            ? failure.message().substring(0, row.start()) + '"'
            : "Unique index or primary key violation";
    return new Outcome.SqlFailed(failure.sqlState(), failure.vendorCode(), message);
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
}
