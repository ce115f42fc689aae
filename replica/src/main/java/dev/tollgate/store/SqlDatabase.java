package dev.tollgate.store;

import dev.tollgate.core.SqlContext;
import dev.tollgate.core.SqlStore;
import dev.tollgate.core.StateRecord;
import dev.tollgate.core.command.FenceId;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.RowKey;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TableName;
import dev.tollgate.core.command.UserName;
import dev.tollgate.store.fence.FencedTables;
import dev.tollgate.store.h2.H2Database;
import dev.tollgate.store.h2.H2Transactions;
import dev.tollgate.store.h2.ReplicaFailure;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.store.limits.StoreLimits;
import dev.tollgate.store.schema.SystemSchema;
import dev.tollgate.store.statement.ReaderGate;
import dev.tollgate.store.transfer.DatabaseCopy;
import dev.tollgate.store.transfer.DatabaseRestore;
import java.util.Collection;
import java.util.List;
import java.util.SortedSet;
import java.util.function.Supplier;
import org.h2.api.ErrorCode;
import org.h2.engine.Right;
import org.h2.engine.SessionLocal;
import org.h2.engine.User;
import org.h2.message.DbException;
import org.h2.schema.Schema;
import org.h2.table.Table;
import org.jspecify.annotations.Nullable;

/**
 * The database of a replica.
 *
 * <p>The methods of {@link SqlStore} belong to the apply thread. Queries run on other threads
 * through {@link #reader}. A definition waits for queries that are under way. If they take long, it
 * cancels them: a query may be late, but the log may not.
 */
public final class SqlDatabase implements SqlStore, AutoCloseable {
  private final StoreLimits limits;
  private final Supplier<H2Database> empty;
  private final ReaderGate gate;
  private final MemoryWatch memory = new MemoryWatch();
  private final SqlReader reader;

  // belong to the apply thread; a restored snapshot replaces them all
  private H2Database database;
  private FencedTables fencedTables;
  private SessionLocal session;
  private TransactionSessions transactions;
  private LoggedStatements statements;
  private Users users;

  private @Nullable CoreCalls calls;

  /**
   * Opens an empty database.
   *
   * @throws IllegalStateException if H2 does not behave as the version that Tollgate was built for
   */
  public SqlDatabase() {
    this(StoreLimits.DEFAULT);
  }

  SqlDatabase(StoreLimits limits) {
    this(limits, SystemSchema::newDatabase);
  }

  /**
   * @param empty makes the empty databases that {@link #beginAnew} begins with
   */
  SqlDatabase(StoreLimits limits, Supplier<H2Database> empty) {
    this(limits, empty, new ReaderGate());
  }

  /**
   * @param gate keeps definitions and readers apart
   */
  SqlDatabase(StoreLimits limits, Supplier<H2Database> empty, ReaderGate gate) {
    this.gate = gate;
    this.limits = limits;
    this.empty = empty;
    H2SelfCheck.run();
    reader = new SqlReader(gate, memory);
    use(empty.get());
  }

  private void use(H2Database fresh) {
    database = fresh;
    fencedTables = new FencedTables(fresh);
    transactions = new TransactionSessions(fresh);
    session = fresh.openSession();
    session.setAutoCommit(false);
    OwnerRights owners = new OwnerRights();
    statements = new LoggedStatements(fresh, gate, fencedTables, transactions, limits, owners);
    users = new Users(fresh, gate);
    reader.use(fresh, transactions, owners);
  }

  /**
   * Begins a copy of the committed state, for a snapshot or a checksum.
   *
   * @param insistent true if definitions wait until the copy is closed, for a long time
   */
  public DatabaseCopy copy(boolean insistent) {
    return new DatabaseCopy(database, gate, insistent);
  }

  /** Begins to fill another database, which {@link #replaceWith} puts in the place of this one. */
  public DatabaseRestore beginRestore() {
    return new DatabaseRestore();
  }

  /** Begins to read what a copy wrote, without keeping its rows. */
  public static DatabaseRestore beginTrial() {
    return new DatabaseRestore(/* keepsRows= */ false);
  }

  /**
   * Checks what is left to check when all records of a trial are read.
   *
   * @return the number of rows
   * @throws RuntimeException if a table is missing, or its fence cannot be made again
   */
  public static long endTrial(DatabaseRestore trial, Collection<StateRecord.FenceState> fences) {
    long rows = trial.rows();
    H2Database database = trial.finish();
    SessionLocal session = database.openSession();
    restoreFences(new FencedTables(database), session, fences);
    return rows;
  }

  private static void restoreFences(
      FencedTables fenced, SessionLocal session, Collection<StateRecord.FenceState> fences) {
    for (StateRecord.FenceState fence : fences) {
      Table table = FencedTables.find(session, fence.table());
      if (table == null) {
        throw new IllegalStateException("the snapshot has no table " + fence.table());
      }
      try {
        fenced.restore(fence.id(), table, fence.terms());
      } catch (DbException e) {
        throw new IllegalStateException(
            "the snapshot cannot be restored: the fence of table "
                + fence.table()
                + " cannot be made again, because "
                + e.getMessage(),
            e);
      }
    }
  }

  /**
   * Replaces this database with a restored one.
   *
   * @param fences the fences of its tables
   */
  public void replaceWith(DatabaseRestore restored, Collection<StateRecord.FenceState> fences) {
    replaceWith(restored.finish(), fences);
  }

  private void replaceWith(H2Database fresh, Collection<StateRecord.FenceState> fences) {
    gate.closeForDefinition();
    try {
      transactions.close();
      reader.close();
      database.close();
      use(fresh);
      restoreFences(fencedTables, session, fences);
    } finally {
      gate.open();
    }
  }

  /** Replaces this database with an empty one. */
  public void beginAnew() {
    replaceWith(empty.get(), List.of());
  }

  /** The watch that tells whether there is memory for more. */
  public MemoryWatch memory() {
    return memory;
  }

  /** The reader, which runs queries outside the log. */
  public SqlReader reader() {
    return reader;
  }

  @Override
  public Outcome execute(Operation.ExecuteSql statement, int set, SqlContext context) {
    SqlContext core = callsTo(context);
    SessionId owner = core.transaction();
    if (owner == null) {
      return statements.run(statement, set, core, session, null);
    }
    TransactionSessions.OpenTransaction transaction = transactions.take(owner);
    try {
      return statements.run(statement, set, core, transaction.session(), transaction);
    } finally {
      TransactionSessions.release(transaction);
    }
  }

  /** Returns the same object for the same context, by which statements recognize their batch. */
  private CoreCalls callsTo(SqlContext context) {
    CoreCalls known = calls;
    if (known == null || !known.isOf(context)) {
      known = new CoreCalls(context);
      calls = known;
    }
    return known;
  }

  @Override
  public @Nullable SessionId holderOf(RowKey row) {
    return transactions.holderOf(row);
  }

  @Override
  public void begin(SessionId owner) {
    transactions.begin(owner);
  }

  @Override
  public void commit(SessionId owner) {
    transactions.end(owner, /* commit= */ true);
  }

  @Override
  public void rollback(SessionId owner) {
    transactions.end(owner, /* commit= */ false);
  }

  @Override
  public Outcome savepoint(SessionId owner, Operation.MarkSavepoint savepoint) {
    TransactionSessions.OpenTransaction transaction = transactions.take(owner);
    try {
      if (savepoint.rollback()) {
        transaction.session().rollbackToSavepoint(savepoint.name());
        transaction.changes().undoTo(H2Transactions.changes(transaction.session()));
      } else {
        transaction.session().addSavepoint(savepoint.name());
      }
      return new Outcome.Done();
    } catch (RuntimeException e) {
      if (e instanceof DbException known
          && known.getErrorCode() == ErrorCode.SAVEPOINT_IS_INVALID_1) {
        return SqlErrors.failure(e);
      }
      throw new ReplicaFailure("savepoint " + savepoint.name() + " failed", e);
    } finally {
      H2Transactions.forgetRollback(transaction.session());
      TransactionSessions.release(transaction);
    }
  }

  @Override
  public Outcome fenceTable(Operation.FenceTable operation, SqlContext context) {
    SqlContext core = callsTo(context);
    User user = database.existingUser(core.user());
    return refusing(() -> fenceTable(operation, core, user));
  }

  @Override
  public Outcome unfenceTable(Operation.UnfenceTable operation, SqlContext context) {
    SqlContext core = callsTo(context);
    User user = database.existingUser(core.user());
    return refusing(() -> unfenceTable(operation, core, user));
  }

  /** Answers a change of fences; if the change throws something, it has changed nothing. */
  private static Outcome refusing(Supplier<Outcome> change) {
    try {
      return change.get();
    } catch (RuntimeException e) {
      return SqlErrors.failure(e);
    }
  }

  private Outcome fenceTable(Operation.FenceTable operation, SqlContext context, User user) {
    H2Database.enterSchema(session, context.schema());
    Table table = FencedTables.find(session, operation.table());
    if (table == null || table.isView()) {
      return unknownTable(operation.table());
    }
    requireOwner(table, user);
    SessionId writer = transactions.userOf(List.of(table), List.of());
    if (writer != null) {
      return new Outcome.Conflict(writer);
    }
    FenceId existing = fencedTables.fenceOf(table);
    Outcome.Refused refused =
        existing == null
            ? context.admit(operation.proof(), List.of())
            : admitUnfencing(existing, table, operation.proof(), context);
    if (refused != null) {
      return refused;
    }
    fencedTables.bind(table, operation.fence(), context);
    if (existing != null) {
      fencedTables.unbind(existing, context);
    }
    return LoggedStatements.updated(0);
  }

  private Outcome unfenceTable(Operation.UnfenceTable operation, SqlContext context, User user) {
    H2Database.enterSchema(session, context.schema());
    Table table = FencedTables.find(session, operation.table());
    if (table == null) {
      return unknownTable(operation.table());
    }
    requireOwner(table, user);
    FenceId existing = fencedTables.fenceOf(table);
    if (existing == null) {
      return new Outcome.Refused(
          RefusalCode.FENCE_STATE, "table " + FencedTables.nameOf(table) + " is not fenced");
    }
    SessionId writer =
        fencedTables.hasLockPerRow(existing)
            ? transactions.userOf(List.of(table), List.of())
            : null;
    if (writer != null) {
      return new Outcome.Conflict(writer);
    }
    Outcome.Refused refused = admitUnfencing(existing, table, operation.proof(), context);
    if (refused != null) {
      return refused;
    }
    fencedTables.unbind(existing, context);
    return LoggedStatements.updated(0);
  }

  /**
   * A fence is a definition: only the owner of the schema and administrators may change it.
   *
   * @throws DbException if the user is neither
   */
  private static void requireOwner(Table table, User user) {
    user.checkTableRight(table, Right.SCHEMA_OWNER);
  }

  private Outcome.@Nullable Refused admitUnfencing(
      FenceId fence, Table table, Operation.@Nullable StatementFence proof, SqlContext context) {
    Outcome.Refused refused = context.admit(proof, List.of(fence));
    return refused == null ? fencedTables.admitAllRows(fence, table, context) : refused;
  }

  @Override
  public Outcome.@Nullable SqlFailed createUser(UserName user) {
    return users.create(user);
  }

  @Override
  public void setAdministrator(UserName user, boolean administers) {
    users.setAdministrator(user, administers);
  }

  @Override
  public Outcome.@Nullable SqlFailed dropUser(UserName user) {
    return users.drop(user);
  }

  @Override
  public boolean mayWrite(UserName user) {
    return users.mayWrite(user);
  }

  @Override
  public SortedSet<String> rolesOf(String grantee) {
    return users.rolesOf(grantee);
  }

  @Override
  public boolean hasGrantee(String name) {
    return users.hasGrantee(name);
  }

  @Override
  public boolean hasSequence(TableName sequence) {
    return users.hasSequence(sequence);
  }

  @Override
  public boolean hasSchema(String name) {
    Schema schema = database.h2().findSchema(name);
    return schema != null;
  }

  @Override
  public long takeChanges() {
    return statements.takeChanges();
  }

  /** A session with all rights, which no rule of the store guards. */
  SessionLocal openAdministration() {
    return database.openAdministration();
  }

  /** The whole database as SQL, including what every replica creates at the start. */
  List<String> script() {
    return database.script();
  }

  @Override
  public void close() {
    reader.close();
    transactions.close();
    database.close();
  }

  private static Outcome unknownTable(TableName name) {
    return SqlErrors.failure(DbException.get(ErrorCode.TABLE_OR_VIEW_NOT_FOUND_1, name.name()));
  }
}
