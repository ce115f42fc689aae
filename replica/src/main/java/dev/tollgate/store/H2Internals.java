package dev.tollgate.store;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodHandles.Lookup;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.security.SecureRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.h2.command.dml.SetClauseList;
import org.h2.command.dml.Update;
import org.h2.engine.Constants;
import org.h2.engine.Database;
import org.h2.engine.SessionLocal;
import org.h2.engine.User;
import org.h2.mvstore.tx.Transaction;
import org.h2.table.Column;
import org.h2.util.MathUtils;
import org.h2.util.NetworkConnectionInfo;
import org.h2.value.ValueTimestampTimeZone;
import org.jspecify.annotations.Nullable;

/**
 * Everything of H2 that is not its public API, in one place. Built for and tested with H2 {@value
 * #BUILT_FOR}; {@link H2SelfCheck} makes sure at start-up that it still does what is meant here.
 *
 * <ul>
 *   <li>Row locks: a conflict fails at once instead of after a wait that nobody can end, because
 *       one thread applies everything.
 *   <li>H2's transactions keep a bit "has rolled back" after a failed statement; another
 *       transaction that meets such a row would spin for ever. The bit is cleared after every
 *       statement.
 *   <li>Who holds the row that a statement needs is read off the mark that a transaction gets when
 *       another one meets it.
 *   <li>Time and random numbers of a statement are pinned.
 * </ul>
 */
final class H2Internals {
  /** The version of H2 that this class was written against. */
  static final String BUILT_FOR = "2.5.250";

  /** Place of the bit "has rolled back": above the status (4 bits) and the log id (40 bits) + 1. */
  private static final long HAS_ROLLED_BACK = 1L << (4 + 41);

  private static final VarHandle LOCK_TIMEOUT_MILLIS;
  private static final VarHandle STATUS_AND_LOG_ID;
  private static final VarHandle CURRENT_TIMESTAMP;
  private static final VarHandle HAD_WAITER;
  private static final VarHandle SET_CLAUSES;
  private static final VarHandle SET_ACTIONS;
  private static final MethodHandle CREATE_SESSION;
  private static final PinnedRandom RANDOM;

  static {
    try {
      Lookup own = MethodHandles.lookup();
      Lookup transaction = MethodHandles.privateLookupIn(Transaction.class, own);
      LOCK_TIMEOUT_MILLIS =
          transaction.findVarHandle(Transaction.class, "timeoutMillis", int.class);
      HAD_WAITER =
          transaction.findVarHandle(Transaction.class, "notificationRequested", boolean.class);
      SET_CLAUSES =
          MethodHandles.privateLookupIn(Update.class, own)
              .findVarHandle(Update.class, "setClauseList", SetClauseList.class);
      Lookup clauses = MethodHandles.privateLookupIn(SetClauseList.class, own);
      Class<?> action =
          Class.forName(
              "org.h2.command.dml.SetClauseList$UpdateAction",
              /* initialize= */ false,
              SetClauseList.class.getClassLoader());
      SET_ACTIONS = clauses.findVarHandle(SetClauseList.class, "actions", action.arrayType());
      STATUS_AND_LOG_ID =
          transaction.findVarHandle(Transaction.class, "statusAndLogId", AtomicLong.class);
      CURRENT_TIMESTAMP =
          MethodHandles.privateLookupIn(SessionLocal.class, own)
              .findVarHandle(SessionLocal.class, "currentTimestamp", ValueTimestampTimeZone.class);
      CREATE_SESSION =
          MethodHandles.privateLookupIn(Database.class, own)
              .findVirtual(
                  Database.class,
                  "createSession",
                  MethodType.methodType(
                      SessionLocal.class, User.class, NetworkConnectionInfo.class));
      // makes H2 fill the field first, so that nothing replaces ours later
      MathUtils.secureRandomLong();
      VarHandle secureRandom =
          MethodHandles.privateLookupIn(MathUtils.class, own)
              .findStaticVarHandle(MathUtils.class, "secureRandom", SecureRandom.class);
      RANDOM = new PinnedRandom((SecureRandom) secureRandom.get());
      secureRandom.set(RANDOM);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException(
          "H2 " + Constants.FULL_VERSION + " is not the one Tollgate was built for, " + BUILT_FOR,
          e);
    }
  }

  private H2Internals() {}

  /** Opens a session that H2 counts among the users' sessions. */
  static SessionLocal openSession(Database database, User user) {
    try {
      return (SessionLocal)
          CREATE_SESSION.invokeExact(database, user, (NetworkConnectionInfo) null);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("createSession declares no checked exception", e);
    }
  }

  /** Makes the session's transaction fail at a locked row at once. */
  static void failAtOnceOnConflict(SessionLocal session) {
    Transaction transaction = session.getTransaction();
    if (transaction != null) {
      LOCK_TIMEOUT_MILLIS.set(transaction, 0);
    }
  }

  /** Lets others meet the rows of this session's transaction without spinning. */
  static void forgetRollback(SessionLocal session) {
    Transaction transaction = session.getTransaction();
    if (transaction != null) {
      AtomicLong state = (AtomicLong) STATUS_AND_LOG_ID.get(transaction);
      state.getAndUpdate(bits -> bits & ~HAS_ROLLED_BACK);
    }
  }

  /** Forgets that others met rows of this session's transaction. */
  static void forgetWaiters(SessionLocal session) {
    Transaction transaction = session.getTransaction();
    if (transaction != null) {
      HAD_WAITER.setVolatile(transaction, false);
    }
  }

  /** True if another transaction has met a row of this session's since {@link #forgetWaiters}. */
  static boolean hadWaiter(SessionLocal session) {
    Transaction transaction = session.getTransaction();
    return transaction != null && (boolean) HAD_WAITER.getVolatile(transaction);
  }

  /** True if an UPDATE gives this column of its table a value. */
  static boolean sets(Update update, Column column) {
    Object actions = SET_ACTIONS.get((SetClauseList) SET_CLAUSES.get(update));
    return ((Object[]) actions)[column.getColumnId()] != null;
  }

  /** True if the transaction carries the bit that {@link #forgetRollback} clears. */
  static boolean hasRolledBack(SessionLocal session) {
    Transaction transaction = session.getTransaction();
    return transaction != null
        && (((AtomicLong) STATUS_AND_LOG_ID.get(transaction)).get() & HAS_ROLLED_BACK) != 0;
  }

  /**
   * Pins the time and the random numbers of the statement that the session is about to run, on this
   * thread. H2 forgets the time at the end of the statement and at a commit, and a definition
   * commits before it begins: pin before the statement is prepared, and again when it starts.
   */
  static void pin(SessionLocal session, Pins pins) {
    CURRENT_TIMESTAMP.set(session, pins.now());
    session.getRandom().setSeed(pins.seed());
    RANDOM.pin(pins.seed());
  }

  /** Ends what {@link #pin} began. */
  static void unpin(SessionLocal session) {
    CURRENT_TIMESTAMP.set(session, (@Nullable ValueTimestampTimeZone) null);
    RANDOM.unpin();
  }
}
