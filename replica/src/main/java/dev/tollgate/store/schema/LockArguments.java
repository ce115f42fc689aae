package dev.tollgate.store.schema;

import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.LockDefinition;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.Text;
import dev.tollgate.core.command.TransactionScope;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.store.h2.SqlValue;
import dev.tollgate.wire.SqlState;
import java.math.BigInteger;
import java.sql.SQLException;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.h2.message.DbException;
import org.h2.util.IntervalUtils;
import org.h2.value.Value;
import org.h2.value.ValueArray;
import org.h2.value.ValueInterval;
import org.h2.value.ValueNull;
import org.jspecify.annotations.Nullable;

/**
 * Checks the arguments of the lock functions as SQL gives them. A wrong argument is refused with
 * SQLState 22023 or 22021 and a sentence that names the argument, before it can become a command.
 */
public final class LockArguments {
  private LockArguments() {}

  public static Operation.CreateLease createLease(
      SqlValue ttl, @Nullable SqlValue owner, String self) throws SQLException {
    long ttlMillis = millis("ttl", ttl);
    if (ttlMillis < Limits.LEASE_TTL_MIN_MILLIS || ttlMillis > Limits.LEASE_TTL_MAX_MILLIS) {
      throw SqlErrors.invalid(
          "ttl is "
              + ttlMillis
              + " ms: a lease lives from "
              + Limits.LEASE_TTL_MIN_MILLIS
              + " ms to 24 hours");
    }
    String name = owner == null ? self : text("owner", owner);
    if (name.length() > Limits.DESCRIPTION_CHARS) {
      throw SqlErrors.invalid(
          "owner has "
              + name.length()
              + " characters: at most "
              + Limits.DESCRIPTION_CHARS
              + " are kept");
    }
    requireWellFormed("owner", name);
    return new Operation.CreateLease(ttlMillis, name);
  }

  /**
   * @param lease null if the call leaves it out
   * @param wait null if the call leaves it out
   * @param defaultWaitMillis how long the request waits if the call leaves the wait out
   */
  public static Operation.AcquireLock acquire(
      SqlValue lock,
      @Nullable SqlValue lease,
      @Nullable SqlValue wait,
      LockMode mode,
      long defaultWaitMillis)
      throws SQLException {
    long waitMillis = waitMillis(wait, defaultWaitMillis);
    return new Operation.AcquireLock(lockName(lock), leaseOrOwn(lease), mode, waitMillis);
  }

  /**
   * @param locks an array of names
   * @param lease null if the call leaves it out
   * @param wait null if the call leaves it out
   * @param defaultWaitMillis how long the request waits if the call leaves the wait out
   */
  public static Operation.AcquireLocks acquireAll(
      SqlValue locks, @Nullable SqlValue lease, @Nullable SqlValue wait, long defaultWaitMillis)
      throws SQLException {
    long waitMillis = waitMillis(wait, defaultWaitMillis);
    return new Operation.AcquireLocks(lockNames(locks), leaseOrOwn(lease), waitMillis);
  }

  /**
   * @param wait null if the call leaves it out
   * @param scope the transaction scope of the call
   * @throws SQLException also if the call belongs to no transaction
   */
  public static Operation.AcquireTransactionLock acquireForTransaction(
      SqlValue lock, @Nullable SqlValue wait, TransactionScope scope, long defaultWaitMillis)
      throws SQLException {
    if (scope == TransactionScope.AUTOCOMMIT) {
      throw SqlErrors.exception(
          SqlState.NO_TRANSACTION,
          "acquire_transaction_lock needs a transaction, with which the lock ends: begin one with"
              + " Connection.setAutoCommit(false) or BEGIN, or write LOCKED BY for one statement");
    }
    return new Operation.AcquireTransactionLock(
        lockName(lock), waitMillis(wait, defaultWaitMillis), scope);
  }

  private static long waitMillis(@Nullable SqlValue wait, long defaultWaitMillis)
      throws SQLException {
    long waitMillis = wait == null ? defaultWaitMillis : millis("wait", wait);
    if (waitMillis < 0 || waitMillis > Limits.LOCK_WAIT_MAX_MILLIS) {
      throw SqlErrors.invalid(
          "wait is " + waitMillis + " ms: a request waits from 0 ms to one hour");
    }
    return waitMillis;
  }

  public static Operation.ReleaseLock release(SqlValue lock, @Nullable SqlValue lease)
      throws SQLException {
    return new Operation.ReleaseLock(lockName(lock), leaseOrOwn(lease), 0);
  }

  /**
   * @param lease NULL for the connection's own, which cannot be left out here
   */
  public static Operation.ReleaseLock releaseAndKeep(SqlValue lock, SqlValue lease, SqlValue keep)
      throws SQLException {
    long keepMillis = millis("keep", keep);
    if (keepMillis < 0 || keepMillis > Limits.LOCK_KEEP_MAX_MILLIS) {
      throw SqlErrors.invalid(
          "keep is " + keepMillis + " ms: a released lock is kept from 0 ms to 24 hours");
    }
    return new Operation.ReleaseLock(lockName(lock), leaseOrNull(lease), keepMillis);
  }

  /**
   * @param from NULL for the connection's own lease
   * @param to NULL for the connection's own lease
   */
  public static Operation.TransferLock transfer(SqlValue lock, SqlValue from, SqlValue to)
      throws SQLException {
    return new Operation.TransferLock(lockName(lock), leaseOrNull(from), leaseOrNull(to));
  }

  public static LockDefinition definition(SqlValue lock, SqlValue permits) throws SQLException {
    long count = number("the number of permits", permits);
    if (count < 1 || count > Limits.LOCK_PERMITS) {
      throw SqlErrors.invalid(
          "the number of permits is " + count + ": a lock has 1 to " + Limits.LOCK_PERMITS);
    }
    return new LockDefinition(lockName(lock), (int) count);
  }

  public static Operation.ForceReleaseLock forceRelease(SqlValue lock) throws SQLException {
    return new Operation.ForceReleaseLock(lockName(lock));
  }

  public static Operation.RevokeLease revoke(SqlValue lease) throws SQLException {
    return new Operation.RevokeLease(leaseId(lease));
  }

  /** A lock's name. */
  public static LockName lockName(SqlValue value) throws SQLException {
    String name = text("lock name", value);
    if (name.isEmpty()) {
      throw SqlErrors.invalid("the lock name is empty");
    }
    if (name.length() > Limits.LOCK_NAME_CHARS) {
      throw SqlErrors.invalid(
          "the lock name has "
              + name.length()
              + " characters: at most "
              + Limits.LOCK_NAME_CHARS
              + " are allowed");
    }
    requireWellFormed("the lock name", name);
    return new LockName(name);
  }

  private static List<LockName> lockNames(SqlValue value) throws SQLException {
    requireNotNull("the array of lock names", value);
    if (!(value.h2() instanceof ValueArray array)) {
      throw wrongType("the list of lock names", value, "an array of character strings");
    }
    Value[] elements = array.getList();
    if (elements.length == 0 || elements.length > Limits.LOCKS_AT_ONCE) {
      throw SqlErrors.invalid(
          "the array has "
              + elements.length
              + " lock names: a call names 1 to "
              + Limits.LOCKS_AT_ONCE
              + " locks");
    }
    Set<LockName> names = new LinkedHashSet<>();
    for (int i = 0; i < elements.length; i++) {
      SqlValue element = SqlValue.of(elements[i]);
      requireNotNull("lock name " + (i + 1) + " of the array", element);
      LockName name = lockName(element);
      if (!names.add(name)) {
        throw SqlErrors.invalid("lock '" + name + "' stands in the array twice: name it once");
      }
    }
    return List.copyOf(names);
  }

  /** The id of a lease that a client created. */
  public static LeaseId leaseId(SqlValue value) throws SQLException {
    long id = number("lease", value);
    if (id <= 0) {
      throw SqlErrors.invalid("lease is " + id + ": create_lease gives ids from 1");
    }
    return new LeaseId(id);
  }

  /** The id of a session, as view TOLLGATE.SESSIONS shows it. */
  public static SessionId sessionId(SqlValue value) throws SQLException {
    long id = number("session", value);
    if (id <= 0) {
      throw SqlErrors.invalid("session is " + id + ": TOLLGATE.SESSIONS shows ids from 1");
    }
    return new SessionId(id);
  }

  /** A fencing token. Any number is accepted: a wrong token is refused where it is presented. */
  public static long token(SqlValue value) throws SQLException {
    return number("token", value);
  }

  private static @Nullable LeaseId leaseOrOwn(@Nullable SqlValue value) throws SQLException {
    if (value == null) {
      return null;
    }
    if (isNull(value)) {
      throw SqlErrors.invalid(
          "lease is NULL: leave the argument out, or write 0, for the connection's own lease");
    }
    return number("lease", value) == 0 ? null : leaseId(value);
  }

  private static @Nullable LeaseId leaseOrNull(SqlValue value) throws SQLException {
    return isNull(value) ? null : leaseOrOwn(value);
  }

  private static String text(String what, SqlValue value) throws SQLException {
    requireNotNull(what, value);
    return switch (value.h2().getValueType()) {
      case Value.CHAR, Value.VARCHAR, Value.VARCHAR_IGNORECASE, Value.CLOB ->
          value.h2().getString();
      default -> throw wrongType(what, value, "a character string");
    };
  }

  private static long number(String what, SqlValue value) throws SQLException {
    requireNotNull(what, value);
    try {
      return switch (value.h2().getValueType()) {
        case Value.TINYINT, Value.SMALLINT, Value.INTEGER, Value.BIGINT -> value.h2().getLong();
        case Value.NUMERIC, Value.DECFLOAT -> value.h2().getBigDecimal().longValueExact();
        default -> throw wrongType(what, value, "a whole number");
      };
    } catch (ArithmeticException | DbException e) {
      throw wrongType(what, value, "a whole number");
    }
  }

  /**
   * An INTERVAL of days to seconds, or a whole number of milliseconds.
   *
   * @throws SQLException naming the argument if it is something else
   */
  public static long millis(String what, SqlValue value) throws SQLException {
    requireNotNull(what, value);
    if (value.h2() instanceof ValueInterval interval) {
      if (interval.getQualifier().isYearMonth()) {
        throw SqlErrors.invalid(
            what + " is an interval of months, which have no fixed length: write days or less");
      }
      return IntervalUtils.intervalToAbsolute(interval)
          .divide(BigInteger.valueOf(1_000_000))
          .longValue();
    }
    return number(what + " in milliseconds", value);
  }

  private static void requireWellFormed(String what, String text) throws SQLException {
    if (!Text.isWellFormed(text)) {
      throw SqlErrors.exception(
          SqlState.NOT_TEXT,
          what
              + " has half of a character, an unpaired surrogate: take whole characters, SUBSTRING"
              + " counts those beyond U+FFFF as two");
    }
  }

  private static void requireNotNull(String what, SqlValue value) throws SQLException {
    if (isNull(value)) {
      throw SqlErrors.invalid(what + " is NULL");
    }
  }

  private static boolean isNull(SqlValue value) {
    return ValueNull.INSTANCE.equals(value.h2());
  }

  private static SQLException wrongType(String what, SqlValue value, String expected) {
    return SqlErrors.invalid(
        what
            + " is of type "
            + Value.getTypeName(value.h2().getValueType())
            + ": "
            + expected
            + " is expected");
  }
}
