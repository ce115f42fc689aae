package dev.tollgate.store;

import dev.tollgate.core.StalledError;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.RowKey;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.store.fence.KeyChanges;
import dev.tollgate.store.fence.KeyWatches;
import dev.tollgate.store.h2.H2Database;
import dev.tollgate.store.h2.H2Transactions;
import dev.tollgate.store.statement.ReaderGate;
import dev.tollgate.store.statement.ThreadStack;
import java.util.Collection;
import java.util.NavigableMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.h2.engine.SessionLocal;
import org.h2.table.Table;
import org.jspecify.annotations.Nullable;

/**
 * The H2 sessions of open transactions. They belong to the apply thread. Besides it, one query of a
 * transaction's client at a time may use the session of that transaction.
 */
final class TransactionSessions {
  private static final long PATIENCE_MILLIS = 500;

  /** One open transaction. */
  static final class OpenTransaction {
    private final SessionId owner;
    private final SessionLocal session;
    private final long stopMillis;
    private final KeyChanges changes = new KeyChanges();
    private final ReentrantLock use = new ReentrantLock();
    private long writtenBytes;
    private volatile ReaderGate.@Nullable Query query;
    private volatile @Nullable Thread queryThread;

    private OpenTransaction(SessionId owner, SessionLocal session, long stopMillis) {
      this.owner = owner;
      this.session = session;
      this.stopMillis = stopMillis;
    }

    SessionId owner() {
      return owner;
    }

    SessionLocal session() {
      return session;
    }

    /** What its statements have done to keys so far. */
    KeyChanges changes() {
      return changes;
    }

    /** Adds the bytes that a statement has written, even if they are undone later. */
    void wrote(long bytes) {
      writtenBytes += bytes;
    }

    /** Bytes of the rows that its statements have written so far. */
    long writtenBytes() {
      return writtenBytes;
    }

    /** Begins a query of the client. */
    void enter(ReaderGate.Query reader) {
      use.lock();
      queryThread = Thread.currentThread();
      query = reader;
    }

    void leave() {
      query = null;
      queryThread = null;
      use.unlock();
    }

    /** Reserves the session for the log, which goes first: a query that delays it is canceled. */
    private void lockForLog() {
      boolean interrupted = false;
      boolean locked = false;
      long begun = System.nanoTime();
      while (!locked) {
        try {
          locked = use.tryLock(Math.min(PATIENCE_MILLIS, stopMillis), TimeUnit.MILLISECONDS);
          if (!locked) {
            makeWay(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun));
          }
        } catch (InterruptedException e) {
          interrupted = true;
        }
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }

    private void makeWay(long waitedMillis) {
      if (waitedMillis >= stopMillis) {
        throw new StalledError(
            "a query of session " + owner + ", which was canceled",
            waitedMillis,
            ThreadStack.of(queryThread));
      }
      ReaderGate.Query reader = query;
      if (reader != null) {
        reader.cancelForDefinition();
      }
    }
  }

  private final H2Database database;
  private final long stopMillis;

  /** By session id, so that all replicas go through the transactions in the same order. */
  private final NavigableMap<Long, OpenTransaction> open = new ConcurrentSkipListMap<>();

  TransactionSessions(H2Database database) {
    this(database, Limits.APPLY_WAIT_MILLIS);
  }

  /**
   * @param stopMillis after which a query that was canceled and does not end stops the replica
   */
  TransactionSessions(H2Database database, long stopMillis) {
    this.database = database;
    this.stopMillis = stopMillis;
  }

  void begin(SessionId owner) {
    SessionLocal session = database.openSession();
    session.setAutoCommit(false);
    if (open.put(owner.value(), new OpenTransaction(owner, session, stopMillis)) != null) {
      throw new IllegalStateException("session " + owner + " has a transaction");
    }
  }

  /** The transaction of a session, or null. */
  @Nullable OpenTransaction find(SessionId owner) {
    return open.get(owner.value());
  }

  /** Reserves the transaction of a session for the log until {@link #release}. */
  OpenTransaction take(SessionId owner) {
    OpenTransaction transaction = open.get(owner.value());
    if (transaction == null) {
      throw new IllegalStateException("session " + owner + " has no transaction");
    }
    transaction.lockForLog();
    return transaction;
  }

  static void release(OpenTransaction transaction) {
    transaction.use.unlock();
  }

  void end(SessionId owner, boolean commit) {
    OpenTransaction transaction = take(owner);
    try {
      open.remove(owner.value());
      if (commit) {
        transaction.session.commit(false);
      } else {
        transaction.session.rollback();
      }
      transaction.session.close();
    } finally {
      release(transaction);
    }
  }

  /** Forgets which transactions blocked earlier statements. */
  void expectConflicts(@Nullable OpenTransaction own) {
    for (OpenTransaction other : open.values()) {
      if (other != own) {
        H2Transactions.forgetWaiters(other.session);
      }
    }
  }

  /**
   * The owner of the transaction that blocked the statement that has just failed; null if no other
   * transaction is open.
   */
  @Nullable SessionId holder(@Nullable OpenTransaction own) {
    SessionId any = null;
    for (OpenTransaction other : open.values()) {
      if (other != own) {
        if (H2Transactions.hadWaiter(other.session)) {
          return other.owner;
        }
        any = any == null ? other.owner : any;
      }
    }
    return any;
  }

  /** The owner of the open transaction that has changed or locked a row, or null. */
  @Nullable SessionId holderOf(RowKey row) {
    int holder = H2Transactions.holderOf(database.h2(), row);
    if (holder != H2Transactions.NO_TRANSACTION) {
      for (OpenTransaction candidate : open.values()) {
        if (candidate.session.getTransaction().getId() == holder) {
          return candidate.owner;
        }
      }
    }
    return null;
  }

  /**
   * The owner of a transaction besides this one that has changed or deleted a row, or null.
   *
   * @param row null if it is not known; then any row counts
   * @param tables the tables that may have the row
   */
  @Nullable SessionId changerOf(
      @Nullable RowKey row, Collection<Table> tables, @Nullable OpenTransaction own) {
    SessionId holder = row == null ? null : holderOf(row);
    for (OpenTransaction other : open.values()) {
      if (other != own
          && (row == null || other.owner.equals(holder))
          && other.changes.concern(tables)) {
        return other.owner;
      }
    }
    return null;
  }

  /** The open transactions besides this one. */
  KeyWatches.Others others(@Nullable OpenTransaction own) {
    return condition -> {
      for (OpenTransaction other : open.values()) {
        if (other != own && condition.test(other.changes)) {
          return other.owner;
        }
      }
      return null;
    };
  }

  /**
   * The owner of a transaction that uses one of these tables, or any table in these schemas; null
   * if there is none. A transaction uses a table once it has read rows for update or changed rows.
   */
  @Nullable SessionId userOf(Collection<Table> tables, Collection<String> schemas) {
    for (OpenTransaction other : open.values()) {
      for (Table used : other.session.getLocks()) {
        if (tables.contains(used) || schemas.contains(used.getSchema().getName())) {
          return other.owner;
        }
      }
    }
    return null;
  }

  void close() {
    open.values().forEach(transaction -> transaction.session.close());
    open.clear();
  }
}
