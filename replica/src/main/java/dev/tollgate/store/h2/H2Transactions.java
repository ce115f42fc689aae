package dev.tollgate.store.h2;

import dev.tollgate.core.command.RowKey;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.h2.engine.Database;
import org.h2.engine.SessionLocal;
import org.h2.index.Index;
import org.h2.message.DbException;
import org.h2.mvstore.DataUtils;
import org.h2.mvstore.MVStore;
import org.h2.mvstore.MVStoreException;
import org.h2.mvstore.tx.Transaction;
import org.h2.value.VersionedValue;
import org.jspecify.annotations.Nullable;

/**
 * Accesses H2's transactions.
 *
 * <ul>
 *   <li>A conflict fails at once. One thread applies everything, so no other thread could end a
 *       wait.
 *   <li>A transaction keeps a bit "has rolled back" after a failed statement. Another transaction
 *       that meets one of its rows would spin forever, so the bit is cleared after every statement.
 *   <li>The holder of a row that a statement needs is found by a mark. A transaction gets this mark
 *       when another transaction meets one of its rows.
 *   <li>The row itself is read from the message of the conflict, and its current holder from the
 *       entry of its table.
 * </ul>
 */
public final class H2Transactions {
  /** What {@link #holderOf} returns for a row that no open transaction has changed or locked. */
  public static final int NO_TRANSACTION = 0;

  /** Bits of the log id; the status is above these bits. */
  private static final int LOG_ID_BITS = 41;

  /** Bits of an operation's number within its transaction, below the number of the transaction. */
  private static final int OPERATION_BITS = 40;

  /** Place of the bit "has rolled back": above the status (4 bits). */
  private static final long HAS_ROLLED_BACK = 1L << (4 + LOG_ID_BITS);

  /** H2's message for a locked entry of a table, whose map is named after the table's number. */
  private static final Pattern LOCKED_ROW =
      Pattern.compile("Map entry <table\\.([0-9]{1,9})> with key <(-?[0-9]{1,18})>");

  /** H2's message for a duplicate shows the number of the row, and then its values. */
  private static final Pattern DUPLICATED_ROW =
      Pattern.compile("\\( /\\* (?:key:)?(-?[0-9]{1,18}) \\*/ ");

  private static final VarHandle LOCK_TIMEOUT_MILLIS =
      H2Fields.field(Transaction.class, "timeoutMillis", int.class);
  private static final VarHandle STATUS_AND_LOG_ID =
      H2Fields.field(Transaction.class, "statusAndLogId", AtomicLong.class);
  private static final VarHandle HAD_WAITER =
      H2Fields.field(Transaction.class, "notificationRequested", boolean.class);

  private H2Transactions() {}

  /** Makes the session's transaction fail at once at a locked row. */
  public static void failAtOnceOnConflict(SessionLocal session) {
    Transaction transaction = session.getTransaction();
    if (transaction != null) {
      LOCK_TIMEOUT_MILLIS.set(transaction, 0);
    }
  }

  /** Lets other transactions meet the rows of this session's transaction without spinning. */
  public static void forgetRollback(SessionLocal session) {
    Transaction transaction = session.getTransaction();
    if (transaction != null) {
      AtomicLong state = (AtomicLong) STATUS_AND_LOG_ID.get(transaction);
      state.getAndUpdate(bits -> bits & ~HAS_ROLLED_BACK);
    }
  }

  /** True if the transaction carries the bit that {@link #forgetRollback} clears. */
  public static boolean hasRolledBack(SessionLocal session) {
    Transaction transaction = session.getTransaction();
    return transaction != null
        && (((AtomicLong) STATUS_AND_LOG_ID.get(transaction)).get() & HAS_ROLLED_BACK) != 0;
  }

  /** How many changes the session's transaction would have to undo, one for each index of a row. */
  public static long changes(SessionLocal session) {
    Transaction transaction = session.getTransaction();
    return ((AtomicLong) STATUS_AND_LOG_ID.get(transaction)).get() & ((1L << LOG_ID_BITS) - 1);
  }

  /** Forgets that other transactions met rows of this session's transaction. */
  public static void forgetWaiters(SessionLocal session) {
    Transaction transaction = session.getTransaction();
    if (transaction != null) {
      HAD_WAITER.setVolatile(transaction, false);
    }
  }

  /** True if another transaction has met a row of this session's since {@link #forgetWaiters}. */
  public static boolean hadWaiter(SessionLocal session) {
    Transaction transaction = session.getTransaction();
    return transaction != null && (boolean) HAD_WAITER.getVolatile(transaction);
  }

  /** The row of a table that a conflict was about, or null if it was about something else. */
  public static @Nullable RowKey contestedRow(DbException conflict) {
    for (Throwable cause = conflict; cause != null; cause = cause.getCause()) {
      if (cause instanceof MVStoreException locked
          && locked.getErrorCode() == DataUtils.ERROR_TRANSACTION_LOCKED) {
        Matcher entry = LOCKED_ROW.matcher(String.valueOf(locked.getMessage()));
        return entry.lookingAt()
            ? new RowKey(Integer.parseInt(entry.group(1)), Long.parseLong(entry.group(2)))
            : null;
      }
    }
    return null;
  }

  /** The row that has the key of a duplicate, or null if H2 does not name it. */
  public static @Nullable RowKey duplicatedRow(DbException duplicate) {
    Matcher row = DUPLICATED_ROW.matcher(String.valueOf(duplicate.getMessage()));
    return duplicate.getSource() instanceof Index index && row.find()
        ? new RowKey(index.getTable().getId(), Long.parseLong(row.group(1)))
        : null;
  }

  /** The number of the transaction that has changed or locked a row, or {@link #NO_TRANSACTION}. */
  public static int holderOf(Database database, RowKey row) {
    MVStore store = database.getStore().getMvStore();
    String map = "table." + row.table();
    if (!store.hasMap(map)) {
      return NO_TRANSACTION;
    }
    VersionedValue<?> value = store.<Long, VersionedValue<?>>openMap(map).get(row.row());
    return value == null ? NO_TRANSACTION : (int) (value.getOperationId() >>> OPERATION_BITS);
  }
}
