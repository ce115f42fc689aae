package dev.tollgate.jdbc;

import dev.tollgate.value.StatementResult;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.TransactionMode;
import org.h2.engine.IsolationLevel;

/**
 * What the connection knows of its transaction. The cluster begins one with the first statement
 * that changes something; until then there is nothing to commit, and a transaction that only reads
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

  /** A transaction begins by a statement: autocommit comes back at its end. */
  synchronized void begin() {
    begun |= autoCommit;
    autoCommit = false;
  }

  /** The level in force: what was asked for, or the next stronger one that there is. */
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

  /** What the next statement says of itself. */
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

  /** A statement is about to run: without its answer, it may have begun a transaction. */
  synchronized boolean starts() {
    boolean before = mayBeOpen;
    mayBeOpen |= !autoCommit;
    return before;
  }

  /**
   * The answer to a statement is there.
   *
   * @param before what {@link #starts} gave
   */
  synchronized void answered(Reply reply, boolean before) {
    boolean query =
        reply instanceof Reply.Result result && StatementResult.isOfQuery(result.body());
    if (query && !serializable) {
      mayBeOpen = before;
    }
  }
}
