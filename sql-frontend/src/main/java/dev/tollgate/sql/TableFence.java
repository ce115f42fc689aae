package dev.tollgate.sql;

import static java.util.Objects.requireNonNull;

/**
 * {@code FENCED BY LOCK} of a table: from now on every write to the table needs a token of the lock
 * that the clause names.
 */
public sealed interface TableFence {

  <R> R handledBy(Handler<R> handler);

  /** One method for each form of a fence. */
  interface Handler<R> {
    R oneLock(OneLock fence);

    R lockPerRow(LockPerRow fence);
  }

  /** Which tokens a table accepts. */
  enum Reading {
    /** Only the token under which the lock is held at this moment. */
    HELD,
    /** Every token that is not lower than the highest token that the table has accepted. */
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
   * @param expressionSql the expression for H2 that computes the name of a row's lock. It uses at
   *     least one column of the row, without the name of the table, and depends on nothing else. It
   *     has neither parameters nor subqueries. Code that knows the catalog checks that the columns
   *     exist. Code that evaluates the expression checks that the result is the name of a lock.
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
