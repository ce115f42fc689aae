package dev.tollgate.core;

import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RowKey;
import dev.tollgate.core.command.SessionId;
import org.jspecify.annotations.Nullable;

/**
 * The database beside the lock state: the core decides whether and when a statement runs, the store
 * runs it. Called by the one thread that applies the log; equal calls on equal databases must leave
 * equal databases and give equal outcomes.
 */
public interface SqlStore {
  /**
   * Runs a statement with one of its parameter sets, in the transaction that {@code context} names,
   * else on its own. If it does not succeed, it has changed nothing but sequence positions.
   *
   * @param set number of the parameter set, from 0
   * @return {@link Outcome.Executed}, {@link Outcome.SqlFailed}, {@link Outcome.Refused}, or {@link
   *     Outcome.Conflict} if it has to wait for another transaction
   */
  Outcome execute(Operation.ExecuteSql statement, int set, SqlContext context);

  /** The session whose open transaction has changed or locked a row, or null if none has. */
  @Nullable SessionId holderOf(RowKey row);

  /** Opens a transaction for a session. */
  void begin(SessionId session);

  /** Makes what the session's transaction changed visible to all, and ends it. */
  void commit(SessionId session);

  /** Undoes what the session's transaction changed, and ends it. */
  void rollback(SessionId session);

  /**
   * Sets a savepoint in the session's transaction, or goes back to it.
   *
   * @return {@link Outcome.Done}, or {@link Outcome.SqlFailed} if there is none of this name
   */
  Outcome savepoint(SessionId session, Operation.MarkSavepoint savepoint);

  /** Binds an existing table to a lock, under the fence that {@code context} makes for it. */
  Outcome fenceTable(Operation.FenceTable operation, SqlContext context);

  /** Ends the binding of a table. */
  Outcome unfenceTable(Operation.UnfenceTable operation, SqlContext context);

  /** True if a schema of this name exists. */
  boolean hasSchema(String name);
}
