package dev.tollgate.jdbc;

import dev.tollgate.value.StatementResult;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.TransactionMode;
import org.h2.engine.IsolationLevel;

/**
 * The connection's view of its transaction. The cluster begins a READ COMMITTED transaction with
 * the first statement that changes something or asks for the time, and a SERIALIZABLE transaction
 * also with any other query. Until then there is nothing to commit, and the end of the transaction
 * costs no round trip. Thread-safe.
 */
final class TransactionState {
  private boolean autoCommit = true;
  private boolean serializable;
  private boolean mayBeOpen;
  private boolean begun;

  synchronized boolean isAutoCommit() {
    return autoCommit;
  }

  synchronized void setAutoCommit(boolean on) {
    autoCommit = on;
    begun = false;
  }

  /** Begins a transaction by a statement; the end of the transaction restores autocommit. */
  synchronized void begin() {
    begun |= autoCommit;
    autoCommit = false;
  }

  /** The isolation level in force: the requested level, or the next stronger one that exists. */
  synchronized IsolationLevel isolation() {
    return serializable ? IsolationLevel.SERIALIZABLE : IsolationLevel.READ_COMMITTED;
  }

  synchronized void setIsolation(IsolationLevel level) {
    serializable =
        switch (level) {
          case READ_UNCOMMITTED, READ_COMMITTED -> false;
          case REPEATABLE_READ, SNAPSHOT, SERIALIZABLE -> true;
        };
  }

  /** The mode of the next statement. */
  synchronized TransactionMode mode() {
    if (autoCommit) {
      return TransactionMode.AUTOCOMMIT;
    }
    return serializable ? TransactionMode.SERIALIZABLE : TransactionMode.READ_COMMITTED;
  }

  /** False if there is certainly nothing to commit. */
  synchronized boolean mayBeOpen() {
    return mayBeOpen;
  }

  synchronized void ended() {
    mayBeOpen = false;
    autoCommit |= begun;
    begun = false;
  }

  /** Records that a statement is about to run: until its reply, it may have begun a transaction. */
  synchronized boolean starts() {
    boolean before = mayBeOpen;
    mayBeOpen |= !autoCommit;
    return before;
  }

  /**
   * Records the reply to a statement.
   *
   * @param before what {@link #starts} returned
   */
  synchronized void answered(Reply reply, boolean before) {
    boolean query =
        reply instanceof Reply.Result result && StatementResult.isOfQuery(result.body());
    if (query && !serializable) {
      mayBeOpen = before;
    }
  }
}
