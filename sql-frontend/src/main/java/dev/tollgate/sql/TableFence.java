package dev.tollgate.sql;

import static java.util.Objects.requireNonNull;

/**
 * {@code FENCED BY LOCK} of a table: from now on every write to the table needs a token of the lock
 * that it names.
 */
public sealed interface TableFence {

  <R> R handledBy(Handler<R> handler);

  /** One case for every form of a fence. */
  interface Handler<R> {
    R oneLock(OneLock fence);

    R lockPerRow(LockPerRow fence);
  }

  /** Which tokens a table takes. */
  enum Reading {
    /** Only the token under which the lock is held at this moment. */
    HELD,
    /** Every token that is not lower than the highest one the table has taken. */
    MONOTONIC
  }

  /**
   * {@code FENCED [MONOTONIC] BY LOCK 'name'}: one lock for the table.
   *
   * @param lockName 1 to {@link SqlLimits#LOCK_NAME_LENGTH} characters
   */
  record OneLock(String lockName, Reading reading) implements TableFence {
    public OneLock {
      requireNonNull(lockName, "lockName");
      requireNonNull(reading, "reading");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.oneLock(this);
    }
  }

  /**
   * {@code FENCED BY LOCK (expression)}: a lock for each row, in the reading {@link Reading#HELD}.
   *
   * @param expressionSql for H2: the name of a row's lock, computed from its columns, which it
   *     names without their table, at least one of them. It depends on nothing else, and has
   *     neither parameters nor subqueries. Whether the columns exist is for those who know the
   *     catalog to say, and whether the result is the name of a lock for those who evaluate it.
   */
  record LockPerRow(String expressionSql) implements TableFence {
    public LockPerRow {
      requireNonNull(expressionSql, "expressionSql");
    }

    @Override
    public <R> R handledBy(Handler<R> handler) {
      return handler.lockPerRow(this);
    }
  }
}
