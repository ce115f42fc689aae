package dev.tollgate.store;

import dev.tollgate.core.LockMode;
import dev.tollgate.core.Operation;
import dev.tollgate.wire.SqlState;
import java.sql.Connection;
import java.sql.SQLException;
import org.h2.engine.SessionLocal;
import org.h2.jdbc.JdbcConnection;
import org.h2.value.Value;
import org.h2.value.ValueBigint;
import org.h2.value.ValueBoolean;
import org.h2.value.ValueNull;
import org.jspecify.annotations.Nullable;

/**
 * The functions of schema TOLLGATE as H2 calls them. H2 wants static methods; what they work on
 * comes from the statement that the session is running.
 */
public final class LockFunctions {
  private LockFunctions() {}

  public static Value holdsLock(Connection connection, Value lock, Value token)
      throws SQLException {
    return ValueBoolean.get(
        locks(connection)
            .holdsLock(
                LockArguments.lockName(SqlValue.of(lock)),
                LockArguments.token(SqlValue.of(token))));
  }

  public static Value lockToken(Connection connection, Value lock) throws SQLException {
    Long token = locks(connection).lockToken(LockArguments.lockName(SqlValue.of(lock)));
    return token == null ? ValueNull.INSTANCE : ValueBigint.get(token);
  }

  public static Value createLease(Connection connection, Value ttl) throws SQLException {
    return perform(connection, LockArguments.createLease(SqlValue.of(ttl), null, ""));
  }

  public static Value createLease(Connection connection, Value ttl, Value owner)
      throws SQLException {
    return perform(connection, LockArguments.createLease(SqlValue.of(ttl), SqlValue.of(owner), ""));
  }

  public static Value revokeLease(Connection connection, Value lease) throws SQLException {
    return perform(connection, LockArguments.revoke(SqlValue.of(lease)));
  }

  public static Value tryAcquireLock(Connection connection, Value lock) throws SQLException {
    return perform(
        connection, LockArguments.acquire(SqlValue.of(lock), null, null, LockMode.EXCLUSIVE, 0));
  }

  public static Value tryAcquireLock(Connection connection, Value lock, Value lease)
      throws SQLException {
    return perform(
        connection,
        LockArguments.acquire(SqlValue.of(lock), SqlValue.of(lease), null, LockMode.EXCLUSIVE, 0));
  }

  public static Value tryAcquireSharedLock(Connection connection, Value lock) throws SQLException {
    return perform(
        connection, LockArguments.acquire(SqlValue.of(lock), null, null, LockMode.SHARED, 0));
  }

  public static Value tryAcquireSharedLock(Connection connection, Value lock, Value lease)
      throws SQLException {
    return perform(
        connection,
        LockArguments.acquire(SqlValue.of(lock), SqlValue.of(lease), null, LockMode.SHARED, 0));
  }

  public static Value releaseLock(Connection connection, Value lock) throws SQLException {
    return perform(connection, LockArguments.release(SqlValue.of(lock), null));
  }

  public static Value releaseLock(Connection connection, Value lock, Value lease)
      throws SQLException {
    return perform(connection, LockArguments.release(SqlValue.of(lock), SqlValue.of(lease)));
  }

  public static Value forceReleaseLock(Connection connection, Value lock) throws SQLException {
    return perform(connection, LockArguments.forceRelease(SqlValue.of(lock)));
  }

  private static Value perform(Connection connection, Operation operation) throws SQLException {
    return LockAnswers.valueOf(locks(connection).perform(operation));
  }

  private static LockAccess locks(Connection connection) throws SQLException {
    LockAccess locks = locksOrNull(connection);
    if (locks == null) {
      throw SqlErrors.exception(SqlState.INTERNAL, "a lock function was called by no statement");
    }
    return locks;
  }

  /** What the session's statement works on; null while H2 only asks for the columns of a view. */
  static @Nullable LockAccess locksOrNull(Connection connection) {
    SessionLocal session = (SessionLocal) ((JdbcConnection) connection).getSession();
    return session.getCurrentCommand() instanceof StoreCommand command ? command.locks() : null;
  }
}
