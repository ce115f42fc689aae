package dev.tollgate.node.replica;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.SqlContext;
import dev.tollgate.core.SqlStore;
import dev.tollgate.core.command.Computing;
import dev.tollgate.core.command.Environment;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RowKey;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TableName;
import dev.tollgate.core.command.UserName;
import dev.tollgate.wire.SqlState;
import java.util.SortedSet;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The database, which computes nothing that other replicas compute differently: the replica stops
 * before the first statement whose environment is not its own. Locks and leases do not depend on
 * that.
 */
final class GuardedStore implements SqlStore {
  private final SqlStore store;
  private final Supplier<Environment> own;
  private final Supplier<Computing> computing;

  /** The environment that was compared last, and is like the own one. */
  private @Nullable Environment known;

  private volatile boolean used;

  /** Belongs to the apply thread. */
  private boolean faulty;

  /**
   * @param own the environment in which this replica computes
   * @param computing what the replicated state says of that at the moment
   */
  GuardedStore(SqlStore store, Supplier<Environment> own, Supplier<Computing> computing) {
    this.store = requireNonNull(store, "store");
    this.own = requireNonNull(own, "own");
    this.computing = requireNonNull(computing, "computing");
  }

  /** True if statements were executed since {@link #copied}. */
  boolean isUsed() {
    return used;
  }

  /** Records that a copy contains what the statements did. */
  void copied() {
    used = false;
  }

  /** Returns whether a statement failed by a fault of the database since the last call. */
  boolean takeFault() {
    boolean found = faulty;
    faulty = false;
    return found;
  }

  private Outcome noted(Outcome outcome) {
    faulty |=
        outcome instanceof Outcome.SqlFailed failed
            && failed.sqlState().equals(SqlState.INTERNAL.state());
    return outcome;
  }

  private SqlStore computing() {
    used = true;
    Environment stated = computing.get().environment();
    if (stated != null && !stated.equals(known)) {
      if (!own.get().computesLike(stated)) {
        throw new EnvironmentDiffersException(own.get(), stated);
      }
      known = stated;
    }
    return store;
  }

  @Override
  public Outcome execute(Operation.ExecuteSql statement, int set, SqlContext context) {
    return noted(computing().execute(statement, set, context));
  }

  @Override
  public @Nullable SessionId holderOf(RowKey row) {
    return store.holderOf(row);
  }

  @Override
  public void begin(SessionId session) {
    store.begin(session);
  }

  @Override
  public void commit(SessionId session) {
    store.commit(session);
  }

  @Override
  public void rollback(SessionId session) {
    store.rollback(session);
  }

  @Override
  public Outcome savepoint(SessionId session, Operation.MarkSavepoint savepoint) {
    return store.savepoint(session, savepoint);
  }

  @Override
  public Outcome fenceTable(Operation.FenceTable operation, SqlContext context) {
    return noted(computing().fenceTable(operation, context));
  }

  @Override
  public Outcome unfenceTable(Operation.UnfenceTable operation, SqlContext context) {
    return noted(computing().unfenceTable(operation, context));
  }

  @Override
  public Outcome.@Nullable SqlFailed createUser(UserName user) {
    return computing().createUser(user);
  }

  @Override
  public void setAdministrator(UserName user, boolean administers) {
    computing().setAdministrator(user, administers);
  }

  @Override
  public Outcome.@Nullable SqlFailed dropUser(UserName user) {
    return computing().dropUser(user);
  }

  @Override
  public boolean mayWrite(UserName user) {
    return store.mayWrite(user);
  }

  @Override
  public SortedSet<String> rolesOf(String grantee) {
    return store.rolesOf(grantee);
  }

  @Override
  public boolean hasGrantee(String name) {
    return store.hasGrantee(name);
  }

  @Override
  public boolean hasSequence(TableName sequence) {
    return store.hasSequence(sequence);
  }

  @Override
  public boolean hasSchema(String name) {
    return store.hasSchema(name);
  }

  @Override
  public long takeChanges() {
    return store.takeChanges();
  }
}
