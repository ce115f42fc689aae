package dev.tollgate.core;

import org.jspecify.annotations.Nullable;

/**
 * What the core offers to a statement while it runs: its place in the log, its session, the fences,
 * and the lock functions of SQL. Valid only during the call that it was passed to.
 */
public interface SqlContext {
  LogPosition position();

  /** The schema in which the session's unqualified names are looked up. */
  String schema();

  /**
   * Begins one execution and checks the fence that its clause states.
   *
   * @return null if it may run, else why not
   */
  Outcome.@Nullable Refused begin(Operation.@Nullable StatementFence clause);

  /**
   * Asks whether the execution may write to the table behind this fence. Called at the first write
   * at the latest, as often as the store likes.
   *
   * @return null if it may, else why not
   */
  Outcome.@Nullable Refused write(FenceId fence);

  /**
   * Ends an execution that changed what it was to change.
   *
   * @return null if it stands; otherwise the store has to undo it
   */
  Outcome.@Nullable Refused complete();

  /** Makes the fence for a table that is being bound. */
  FenceId createFence(Operation.TableFence terms);

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
