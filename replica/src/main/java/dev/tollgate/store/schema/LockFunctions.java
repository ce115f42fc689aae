package dev.tollgate.store.schema;

import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.store.h2.SqlValue;
import dev.tollgate.store.statement.LockAccess;
import dev.tollgate.store.statement.StoreCommand;
import dev.tollgate.wire.SqlState;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Arrays;
import org.h2.engine.SessionLocal;
import org.h2.jdbc.JdbcConnection;
import org.h2.value.Value;
import org.h2.value.ValueArray;
import org.jspecify.annotations.Nullable;

/**
 * The functions of schema TOLLGATE as H2 calls them. H2 requires static methods, which get the lock
 * state from the statement that the session is running. Their Java return types tell H2 their SQL
 * types.
 */
public final class LockFunctions {
  private LockFunctions() {}

  public static boolean holdsLock(Connection connection, Value lock, Value token)
      throws SQLException {
    LockName name = LockArguments.lockName(SqlValue.of(lock));
    long presented = LockArguments.token(SqlValue.of(token));
    return LockAnswers.valueOf(locks(connection).holdsLock(name, presented)).getBoolean();
  }

  public static @Nullable Long lockToken(Connection connection, Value lock) throws SQLException {
    LockName name = LockArguments.lockName(SqlValue.of(lock));
    return number(locks(connection).lockToken(name));
  }

  public static @Nullable Long createLease(Connection connection, Value ttl) throws SQLException {
    return number(connection, LockArguments.createLease(SqlValue.of(ttl), null, ""));
  }

  public static @Nullable Long createLease(Connection connection, Value ttl, Value owner)
      throws SQLException {
    return number(connection, LockArguments.createLease(SqlValue.of(ttl), SqlValue.of(owner), ""));
  }

  public static boolean revokeLease(Connection connection, Value lease) throws SQLException {
    return answer(connection, LockArguments.revoke(SqlValue.of(lease)));
  }

  public static @Nullable Long tryAcquireLock(Connection connection, Value lock)
      throws SQLException {
    return number(
        connection, LockArguments.acquire(SqlValue.of(lock), null, null, LockMode.EXCLUSIVE, 0));
  }

  public static @Nullable Long tryAcquireLock(Connection connection, Value lock, Value lease)
      throws SQLException {
    return number(
        connection,
        LockArguments.acquire(SqlValue.of(lock), SqlValue.of(lease), null, LockMode.EXCLUSIVE, 0));
  }

  public static @Nullable Long tryAcquireSharedLock(Connection connection, Value lock)
      throws SQLException {
    return number(
        connection, LockArguments.acquire(SqlValue.of(lock), null, null, LockMode.SHARED, 0));
  }

  public static @Nullable Long tryAcquireSharedLock(Connection connection, Value lock, Value lease)
      throws SQLException {
    return number(
        connection,
        LockArguments.acquire(SqlValue.of(lock), SqlValue.of(lease), null, LockMode.SHARED, 0));
  }

  public static boolean releaseLock(Connection connection, Value lock) throws SQLException {
    return answer(connection, LockArguments.release(SqlValue.of(lock), null));
  }

  public static boolean releaseLock(Connection connection, Value lock, Value lease)
      throws SQLException {
    return answer(connection, LockArguments.release(SqlValue.of(lock), SqlValue.of(lease)));
  }

  public static boolean releaseLock(Connection connection, Value lock, Value lease, Value keep)
      throws SQLException {
    return answer(
        connection,
        LockArguments.releaseAndKeep(SqlValue.of(lock), SqlValue.of(lease), SqlValue.of(keep)));
  }

  public static @Nullable Long transferLock(Connection connection, Value lock, Value from, Value to)
      throws SQLException {
    return number(
        connection, LockArguments.transfer(SqlValue.of(lock), SqlValue.of(from), SqlValue.of(to)));
  }

  public static Long @Nullable [] tryAcquireLocks(Connection connection, Value locks)
      throws SQLException {
    return numbers(connection, LockArguments.acquireAll(SqlValue.of(locks), null, null, 0));
  }

  public static Long @Nullable [] tryAcquireLocks(Connection connection, Value locks, Value lease)
      throws SQLException {
    return numbers(
        connection, LockArguments.acquireAll(SqlValue.of(locks), SqlValue.of(lease), null, 0));
  }

  public static boolean forceReleaseLock(Connection connection, Value lock) throws SQLException {
    return answer(connection, LockArguments.forceRelease(SqlValue.of(lock)));
  }

  private static @Nullable Long number(Connection connection, Operation operation)
      throws SQLException {
    return number(locks(connection).perform(operation));
  }

  private static @Nullable Long number(Outcome outcome) throws SQLException {
    Value value = LockAnswers.valueOf(outcome);
    return value.getValueType() == Value.NULL ? null : (Long) value.getLong();
  }

  private static boolean answer(Connection connection, Operation operation) throws SQLException {
    return LockAnswers.valueOf(locks(connection).perform(operation)).getBoolean();
  }

  private static Long @Nullable [] numbers(Connection connection, Operation operation)
      throws SQLException {
    Value value = LockAnswers.valueOf(locks(connection).perform(operation));
    return value instanceof ValueArray array
        ? Arrays.stream(array.getList()).map(Value::getLong).toArray(Long[]::new)
        : null;
  }

  private static LockAccess locks(Connection connection) throws SQLException {
    StoreCommand statement = statementOrNull(connection);
    if (statement == null) {
      throw SqlErrors.exception(SqlState.INTERNAL, "a lock function was called by no statement");
    }
    return statement.locks();
  }

  /** The session's statement; null while H2 only asks for the columns of a view. */
  static @Nullable StoreCommand statementOrNull(Connection connection) {
    SessionLocal session = (SessionLocal) ((JdbcConnection) connection).getSession();
    return session.getCurrentCommand() instanceof StoreCommand statement ? statement : null;
  }
}
