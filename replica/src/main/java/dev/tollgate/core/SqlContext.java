package dev.tollgate.core;

import dev.tollgate.core.command.FenceId;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.LogPosition;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RandomSeed;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TableName;
import dev.tollgate.core.command.TimeZoneName;
import dev.tollgate.core.command.UserName;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * What the core offers to a running statement: its place in the log, its session, the fences, and
 * the lock functions of SQL. Valid only during the call that received it.
 */
public interface SqlContext {
  LogPosition position();

  /**
   * The time that the statement sees, microseconds since 1970: that of the entry in which its
   * transaction began, or of its own entry if it runs on its own.
   */
  long timeMicros();

  /** What random numbers follow from besides the log position. */
  RandomSeed randomSeed();

  /**
   * The number of this attempt at the log position: one command may cause several waiting
   * statements to be tried again.
   */
  int attempt();

  /** The session in whose transaction the statement runs, or null if it runs on its own. */
  @Nullable SessionId transaction();

  /** The schema in which the session's unqualified names are looked up. */
  String schema();

  /** The time zone of the session, in which the statement runs. */
  TimeZoneName timeZone();

  /** The user whose rights the statement needs. */
  UserName user();

  /** How much the statement may do, in percent of the limits of a statement, 1 to 100. */
  int workLimit();

  /**
   * Returns true if a user or role was granted to draw numbers from a sequence, directly or through
   * roles.
   *
   * @param grantee the name of the user or role
   */
  boolean mayUse(String grantee, TableName sequence);

  /**
   * Decides whether one execution may run, before it runs. The fence of the session counts too. A
   * query that writes to no table is not asked about: it may lock rows, advance sequences and call
   * lock functions under any fence.
   *
   * @param clause the fence that the statement itself states, or null
   * @param fences the fences of all tables that the execution may write to
   * @return null if the execution may run, else why not
   */
  Outcome.@Nullable Refused admit(
      Operation.@Nullable StatementFence clause, Collection<FenceId> fences);

  /**
   * Decides whether the execution admitted last may write a row: insert it, delete it, or change
   * it. A change needs admission for both the old and the new row.
   *
   * @param fence the fence of the row's table, among those that were admitted
   * @param lock the lock of the row
   * @return null if the execution may write the row, else why not
   */
  Outcome.@Nullable Refused admitRow(FenceId fence, LockName lock);

  /**
   * Decides whether a definition that removes all rows of a table may remove one of them. It needs
   * no token for a lock that is free: no writer could have the tokens of all rows.
   *
   * @param lock the lock of the row
   * @return null if the definition may remove the row, else why not
   */
  Outcome.@Nullable Refused admitAllRows(FenceId fence, LockName lock);

  /** Reports that the execution admitted last has made its changes. */
  void completed();

  /**
   * Creates the fence for a table that is being bound.
   *
   * @param table with its schema
   */
  FenceId createFence(TableName table, Operation.FenceTerms terms);

  /** Records a fenced table's new name. */
  void renameFence(FenceId fence, TableName table);

  /** The table of a fence, with its schema. */
  TableName tableOf(FenceId fence);

  /** The terms of a fence. */
  Operation.FenceTerms termsOf(FenceId fence);

  /** Removes the fence of a table that was dropped or is no longer bound. */
  void dropFence(FenceId fence);

  /** Answers whether a lease holds the lock under this token, if the user may learn that. */
  Outcome holdsLock(LockName lock, long token);

  /** Answers with the token under which the lock is held exclusively, if the user may learn it. */
  Outcome lockToken(LockName lock);

  /**
   * Performs a lock operation at this log position on behalf of the session. It stands even if the
   * statement fails later.
   *
   * @param operation an operation that does not wait
   */
  Outcome perform(Operation operation);
}
