package dev.tollgate.core;

import dev.tollgate.core.command.FenceId;
import dev.tollgate.core.command.FencingToken;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.LogPosition;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RandomSeed;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TableName;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * What the core offers to a statement while it runs: its place in the log, its session, the fences,
 * and the lock functions of SQL. Valid only during the call that it was passed to.
 */
public interface SqlContext {
  LogPosition position();

  /** What random numbers follow from besides the position. */
  RandomSeed randomSeed();

  /**
   * Tells attempts at one log position apart: a command may bring about that several statements,
   * which waited, are tried again.
   */
  int attempt();

  /** The session in whose transaction the statement runs, or null if it runs on its own. */
  @Nullable SessionId transaction();

  /** The schema in which the session's unqualified names are looked up. */
  String schema();

  /**
   * Asks whether one execution may run, before it does.
   *
   * @param clause the fence that the statement itself states, or null
   * @param fences of all tables that it may write to
   * @return null if it may, else why not
   */
  Outcome.@Nullable Refused admit(
      Operation.@Nullable StatementFence clause, Collection<FenceId> fences);

  /**
   * Asks whether the execution that was admitted last may write a row: insert it, delete it, or
   * change it from or to what it is.
   *
   * @param fence that of the row's table, among those that were admitted
   * @param lock that of the row
   * @return null if it may, else why not
   */
  Outcome.@Nullable Refused admitRow(FenceId fence, LockName lock);

  /**
   * Asks whether a definition that does away with all rows of a table may do so with one of them.
   * It needs no token of a lock that nobody holds: nobody could have the tokens of all.
   *
   * @param lock that of the row
   * @return null if it may, else why not
   */
  Outcome.@Nullable Refused admitAllRows(FenceId fence, LockName lock);

  /** Tells that the execution that was admitted last has changed what it was to change. */
  void completed();

  /**
   * Makes the fence for a table that is being bound.
   *
   * @param table with its schema
   */
  FenceId createFence(TableName table, Operation.FenceTerms terms);

  /** A fenced table has a new name. */
  void renameFence(FenceId fence, TableName table);

  /** The table of a fence, with its schema. */
  TableName tableOf(FenceId fence);

  /** The terms of a fence. */
  Operation.FenceTerms termsOf(FenceId fence);

  /** Forgets the fence of a table that was dropped or is not bound any more. */
  void dropFence(FenceId fence);

  /** True if somebody holds the lock under this token. */
  boolean holdsLock(LockName lock, long token);

  /** The token under which the lock is held exclusively, or null. */
  @Nullable FencingToken lockToken(LockName lock);

  /**
   * Performs a lock operation at this log position on behalf of the session; it stands even if the
   * statement fails later.
   *
   * @param operation one that does not wait
   */
  Outcome perform(Operation operation);
}
