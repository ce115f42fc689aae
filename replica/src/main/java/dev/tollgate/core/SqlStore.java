package dev.tollgate.core;

import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RowKey;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TableName;
import dev.tollgate.core.command.UserName;
import java.util.SortedSet;
import org.jspecify.annotations.Nullable;

/**
 * The database beside the lock state. The core decides whether and when a statement runs; the store
 * runs it. Called by the apply thread alone. Equal calls on equal databases must leave equal
 * databases and give equal outcomes.
 */
public interface SqlStore {
  /**
   * Runs a statement with one of its parameter sets, in the transaction that {@code context} names,
   * else on its own. A statement that does not succeed has changed only sequence positions.
   *
   * @param set number of the parameter set, from 0
   * @return {@link Outcome.Executed}, {@link Outcome.SqlFailed}, {@link Outcome.Refused}, or {@link
   *     Outcome.Conflict} if the statement has to wait for another transaction
   */
  Outcome execute(Operation.ExecuteSql statement, int set, SqlContext context);

  /**
   * Returns the session whose open transaction has changed or locked a row, or null if none has.
   */
  @Nullable SessionId holderOf(RowKey row);

  /** Opens a transaction for a session. */
  void begin(SessionId session);

  /** Commits the session's transaction: makes its changes visible to all. */
  void commit(SessionId session);

  /** Rolls the session's transaction back: undoes its changes. */
  void rollback(SessionId session);

  /**
   * Sets a savepoint in the session's transaction, or rolls back to one.
   *
   * @return {@link Outcome.Done}, or {@link Outcome.SqlFailed} if no savepoint has this name
   */
  Outcome savepoint(SessionId session, Operation.MarkSavepoint savepoint);

  /** Binds an existing table to a lock, under the fence that {@code context} creates for it. */
  Outcome fenceTable(Operation.FenceTable operation, SqlContext context);

  /** Ends the binding of a table. */
  Outcome unfenceTable(Operation.UnfenceTable operation, SqlContext context);

  /**
   * Creates a user who has no rights yet.
   *
   * @return null, or why not: a user or role has this name
   */
  Outcome.@Nullable SqlFailed createUser(UserName user);

  /** Gives a user all rights on the database, or takes them away; other rights stay. */
  void setAdministrator(UserName user, boolean administers);

  /**
   * Drops a user with its rights.
   *
   * @return null, or why not: the user owns a schema
   */
  Outcome.@Nullable SqlFailed dropUser(UserName user);

  /** The roles that a user or role has, directly or through other roles, and PUBLIC. */
  SortedSet<String> rolesOf(String grantee);

  /**
   * Returns true if the user may change rows of any table: through a grant to it, to a role of it
   * or to PUBLIC, or as the owner of a schema. Administrators have no such rights of their own.
   */
  boolean mayWrite(UserName user);

  /** Returns true if rights can be granted to this name: to a user, a role or PUBLIC. */
  boolean hasGrantee(String name);

  /** Returns true if this sequence exists. */
  boolean hasSequence(TableName sequence);

  /** Returns true if a schema with this name exists. */
  boolean hasSchema(String name);

  /**
   * Returns a digest of the rows, sequences and definitions that have changed since the last call;
   * 0 if nothing has.
   */
  long takeChanges();
}
