package dev.tollgate.core;

/**
 * The database beside the lock state: the core decides whether and when a statement runs, the store
 * runs it. Called by the one thread that applies the log; equal calls on equal databases must leave
 * equal databases and give equal outcomes.
 */
public interface SqlStore {
  /**
   * Runs a statement, once per parameter set, each on its own: a set that fails does not undo the
   * sets before it.
   *
   * @return {@link Outcome.Executed}, {@link Outcome.SqlFailed} or {@link Outcome.Refused}; for a
   *     batch {@link Outcome.Batch} of those
   */
  Outcome execute(Operation.ExecuteSql statement, SqlContext context);

  /** Binds an existing table to a lock, under the fence that {@code context} makes for it. */
  Outcome fenceTable(Operation.FenceTable operation, SqlContext context);

  /** Ends the binding of a table. */
  Outcome unfenceTable(Operation.UnfenceTable operation, SqlContext context);

  /** True if a schema of this name exists. */
  boolean hasSchema(String name);
}
