package dev.tollgate.store;

import dev.tollgate.core.SqlContext;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.Payload;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.RowKey;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.Text;
import dev.tollgate.h2.Meter;
import dev.tollgate.store.fence.FencedTables;
import dev.tollgate.store.fence.KeyWatches;
import dev.tollgate.store.h2.ChangedRows;
import dev.tollgate.store.h2.Exhausted;
import dev.tollgate.store.h2.H2Database;
import dev.tollgate.store.h2.H2Definitions;
import dev.tollgate.store.h2.H2Rights;
import dev.tollgate.store.h2.H2Sessions;
import dev.tollgate.store.h2.H2Statements;
import dev.tollgate.store.h2.H2Transactions;
import dev.tollgate.store.h2.Pins;
import dev.tollgate.store.h2.ReplicaFailure;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.store.h2.TimeZones;
import dev.tollgate.store.limits.BatchWork;
import dev.tollgate.store.limits.StoreLimits;
import dev.tollgate.store.limits.WorkBudget;
import dev.tollgate.store.statement.LockAccess;
import dev.tollgate.store.statement.StoreCommand;
import dev.tollgate.value.RowSet;
import dev.tollgate.value.StatementResult;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.SqlState;
import dev.tollgate.wire.WireWriter;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import org.h2.api.ErrorCode;
import org.h2.command.Prepared;
import org.h2.command.query.ForUpdate;
import org.h2.command.query.Query;
import org.h2.engine.SessionLocal;
import org.h2.engine.User;
import org.h2.message.DbException;
import org.h2.result.ResultInterface;
import org.h2.result.ResultWithGeneratedKeys;
import org.h2.schema.Sequence;
import org.h2.table.Table;
import org.jspecify.annotations.Nullable;

/** One execution of a logged statement. Runs once. */
final class LoggedStatement {
  private static final String CUT = " ...";

  /** Bytes that H2 needs for a number, a boolean or a time, with a margin. */
  private static final long SHORT_VALUE_BYTES = 64;

  /** Maximum bytes of the result of a logged statement, which travels in one frame. */
  private static final int MAX_RESULT_BYTES = Protocol.MAX_FRAME_BYTES - (1 << 20);

  /** The parts that all statements of a database share. */
  record Means(
      H2Database database,
      FencedTables fencedTables,
      TransactionSessions transactions,
      KeyWatches keys,
      Definitions definitions,
      StoreLimits limits,
      FaultLog faults,
      ChangedRows changed,
      OwnerRights owners) {}

  private final Means means;
  private final Operation.ExecuteSql statement;
  private final int number;
  private final SqlContext context;
  private final BatchWork work;
  private final SessionLocal session;
  private final TransactionSessions.@Nullable OpenTransaction transaction;
  private Map<Table, FencedTables.Change> written = Map.of();
  private Set<Sequence> sequences = Set.of();
  private @Nullable ForUpdate rowLocks;
  private @Nullable StoreCommand running;

  LoggedStatement(
      Means means,
      Operation.ExecuteSql statement,
      int number,
      SqlContext context,
      BatchWork work,
      SessionLocal session,
      TransactionSessions.@Nullable OpenTransaction transaction) {
    this.means = means;
    this.statement = statement;
    this.number = number;
    this.context = context;
    this.work = work;
    this.session = session;
    this.transaction = transaction;
  }

  Outcome run() {
    if (work.isOver()) {
      return SqlErrors.failed(
          Exhausted.work(
                  "the set was not run, because one before it in the batch was too much work for"
                      + " what was left of it: send fewer sets in a batch")
              .getSQLException());
    }
    User before = H2Sessions.become(session, means.database().existingUser(context.user()));
    means.changed().begin();
    means
        .keys()
        .begin(
            transaction == null ? null : transaction.changes(),
            means.transactions().others(transaction));
    boolean kept = false;
    try {
      Outcome outcome = runAsUser();
      kept = outcome instanceof Outcome.Executed;
      return outcome;
    } finally {
      means.changed().end(kept);
      means.keys().end();
      if (!statement.definition()) {
        means.changed().used(sequences, written.keySet());
      }
      H2Sessions.become(session, before);
    }
  }

  private Outcome runAsUser() {
    try {
      TimeZones.enter(session, context.timeZone());
    } catch (DbException e) {
      // the environment has changed since the zone was set, and has no such zone
      return SqlErrors.failure(e);
    }
    try {
      return runInZone();
    } finally {
      TimeZones.leave(session);
    }
  }

  private Outcome runInZone() {
    Pins pins =
        new Pins(
            context.randomSeed(),
            context.position(),
            context.timeMicros(),
            context.attempt(),
            number);
    means.database().pinning().begin(session, pins);
    means.transactions().expectConflicts(transaction);
    H2Transactions.failAtOnceOnConflict(session);
    SessionLocal.Savepoint before = session.setSavepoint();
    try {
      Outcome outcome =
          Meter.watched(work.beginSteps(), () -> runPinned(statement.parameterSets().get(number)));
      if (!(outcome instanceof Outcome.Executed)) {
        undo(before);
      }
      return outcome;
    } catch (RuntimeException e) {
      SqlErrors.requireFunctionOfLog(e);
      undo(before);
      Outcome refused = running == null ? null : running.refusal();
      Outcome instead = refused == null ? conflict(e) : refused;
      return instead == null ? failed(e) : instead;
    } finally {
      H2Transactions.forgetRollback(session);
      means.database().pinning().end(session);
    }
  }

  private Outcome failed(RuntimeException e) {
    Outcome.SqlFailed failure = SqlErrors.failure(e);
    if (!mayReadAll(written.keySet())) {
      failure = SqlErrors.withoutRow(failure);
    }
    if (failure.sqlState().equals(SqlState.INTERNAL.state())) {
      means.faults().add(e);
    }
    if (failure.sqlState().equals(SqlState.TOO_MUCH_WORK.state())) {
      work.end();
    }
    return statement.batch() ? shortened(failure) : failure;
  }

  private boolean mayReadAll(Set<Table> tables) {
    return tables.stream().allMatch(table -> H2Rights.maySelect(session.getUser(), table));
  }

  /** Shortens a message, because the replies to all sets of a batch travel in one frame. */
  private static Outcome.SqlFailed shortened(Outcome.SqlFailed failure) {
    String message = failure.message();
    return message.length() > Limits.BATCH_MESSAGE_CHARS
        ? new Outcome.SqlFailed(
            failure.sqlState(),
            failure.vendorCode(),
            Text.first(message, Limits.BATCH_MESSAGE_CHARS - CUT.length()) + CUT)
        : failure;
  }

  /**
   * Undoes what the statement has done so far. H2 undoes a change that fails, but not a query that
   * writes. A definition commits; {@link Definitions} undoes it.
   */
  private void undo(SessionLocal.Savepoint before) {
    try {
      if (transaction == null) {
        session.rollback();
      } else {
        session.rollbackTo(before);
        transaction.changes().undoTo(H2Transactions.changes(session));
      }
    } catch (RuntimeException e) {
      throw new ReplicaFailure("a statement could not be undone", e);
    }
  }

  /** The outcome of an error that open transactions may have caused; null if it is final. */
  private @Nullable Outcome conflict(RuntimeException thrown) {
    if (!(thrown instanceof DbException e)) {
      return null;
    }
    SessionId rival = means.keys().rival();
    if (rival != null) {
      return new Outcome.Conflict(rival);
    }
    SessionId holder =
        SqlErrors.isConflict(e) ? means.transactions().holder(transaction) : mayMend(e);
    if (holder == null) {
      return null;
    }
    RowKey row = H2Transactions.contestedRow(e);
    if (rowLocks == null) {
      return new Outcome.Conflict(holder, row, null);
    }
    return switch (rowLocks.getType()) {
      case DEFAULT -> new Outcome.Conflict(holder, row, null);
      case WAIT -> new Outcome.Conflict(holder, row, (long) rowLocks.getTimeoutMillis());
      case NOWAIT, SKIP_LOCKED ->
          SqlErrors.failed(
              DbException.get(ErrorCode.LOCK_TIMEOUT_1, "a row that is not free")
                  .getSQLException());
    };
  }

  /**
   * The owner of a transaction whose uncommitted changes may be why a constraint has failed, or
   * null.
   */
  private @Nullable SessionId mayMend(DbException e) {
    return switch (e.getErrorCode()) {
      case ErrorCode.DUPLICATE_KEY_1 ->
          means
              .transactions()
              .changerOf(H2Transactions.duplicatedRow(e), written.keySet(), transaction);
      case ErrorCode.REFERENTIAL_INTEGRITY_VIOLATED_CHILD_EXISTS_1 -> means.keys().releasing();
      default -> null;
    };
  }

  private Outcome runPinned(Operation.ParameterSet set) {
    Outcome.Refused full = transaction == null ? null : full(transaction);
    if (full != null) {
      return full;
    }
    H2Database.enterSchema(session, context.schema());
    LogStatements.Ready ready = LogStatements.prepare(session, statement.sql());
    Prepared parsed = ready.prepared();
    OwnerRights.requireUsage(session.getUser(), ready.found().sequences(), context);
    means.owners().requireViews(ready.found().views());
    ReturnedColumns.requireSelect(session.getUser(), ready.found().returned());
    rowLocks = takeRowLocks(parsed);
    if (statement.definition() && H2Definitions.changesNothing(session, parsed)) {
      return means.definitions().confirm(statement, set.fence(), context, session);
    }
    written = means.fencedTables().written(session, parsed, statement);
    means.owners().requireRules(tablesWithNewRows(), context);
    sequences = ready.found().sequences();
    boolean writes = !statement.returnsRows() || !written.isEmpty();
    Outcome.Refused refused =
        writes ? context.admit(set.fence(), means.fencedTables().fencesOf(written)) : null;
    if (refused != null) {
      return refused;
    }
    SessionId rival =
        statement.definition()
            ? KeyWatches.rivalOfDefinition(
                means.transactions().others(transaction), written.keySet())
            : null;
    if (rival != null) {
      return new Outcome.Conflict(rival);
    }
    long data = H2Statements.rowsIn(parsed) + rowsOf(ready.found().tables(), written.keySet());
    WorkBudget budget = work.begin(data, H2Transactions.changes(session));
    budget.keeps(ready.found().keptBytes());
    StoreCommand command =
        new StoreCommand(session, statement.sql(), parsed, LockAccess.of(context), budget);
    running = command;
    command.setParameters(set.values().bytes());
    if (statement.definition()) {
      work.requireSmall(H2Definitions.rowsGoneThrough(session, parsed));
      budget.grant(ready.granted(), ready.granted() * SHORT_VALUE_BYTES);
      command.runBefore(ready.computed());
      return means.definitions().run(statement, command, written.keySet(), context, session);
    }
    Object keys = ReturnedColumns.keys(session.getUser(), parsed, statement.keys());
    Outcome outcome = change(command, keys);
    if (transaction != null) {
      transaction.changes().addTables(written, H2Transactions.changes(session));
      transaction.wrote(budget.bytes());
    }
    return outcome;
  }

  /** The tables whose rules are evaluated for the rows that the statement makes or changes. */
  private Set<Table> tablesWithNewRows() {
    Set<Table> tables = new LinkedHashSet<>();
    if (!statement.definition()) {
      written.forEach(
          (table, change) -> {
            if (change != FencedTables.Change.DELETE) {
              tables.add(table);
            }
          });
    }
    return tables;
  }

  /**
   * The number of rows of these tables, including rows that open transactions insert or delete.
   * Every replica has these transactions too.
   */
  private long rowsOf(Set<Table> read, Set<Table> changed) {
    long rows = 0;
    for (Table table : read) {
      rows += table.getRowCountApproximation(session);
    }
    for (Table table : changed) {
      rows += read.contains(table) ? 0 : table.getRowCountApproximation(session);
    }
    return rows;
  }

  /**
   * Returns why a transaction may run no more statements, or null. Replicas keep all changes that
   * it may undo.
   */
  private Outcome.@Nullable Refused full(TransactionSessions.OpenTransaction transaction) {
    StoreLimits limits = work.limits();
    boolean changes = H2Transactions.changes(session) >= limits.transactionChanges();
    return changes || transaction.writtenBytes() >= limits.transactionBytes()
        ? new Outcome.Refused(
            RefusalCode.LIMIT_REACHED,
            "the transaction has "
                + (changes
                    ? limits.transactionChanges() + " changes of rows and indexes"
                    : "written " + limits.transactionBytes() + " bytes")
                + " or more, and every replica keeps them until it ends: commit or roll back, and"
                + " do the work in smaller transactions"
                + work.whyLess())
        : null;
  }

  /**
   * Returns the clause of a query that locks rows, or null. Removes its wait from the query: H2
   * must not wait.
   */
  private static @Nullable ForUpdate takeRowLocks(Prepared parsed) {
    ForUpdate clause = parsed instanceof Query query ? query.getForUpdate() : null;
    if (clause != null && clause.getType() == ForUpdate.Type.WAIT) {
      ((Query) parsed).setForUpdate(ForUpdate.DEFAULT);
    }
    return clause;
  }

  private Outcome change(StoreCommand command, @Nullable Object wantedKeys) {
    WireWriter out = new WireWriter();
    if (command.isQuery()) {
      try (ResultInterface rows = command.executeQuery(statement.maxRows(), 0, false)) {
        RowSet.write(StatementResult.beginChangedRows(out), rows, 0, maxResultBytes(), 0);
      }
    } else {
      ResultWithGeneratedKeys result = command.executeUpdate(wantedKeys);
      ResultInterface keys = result.getGeneratedKeys();
      if (keys == null) {
        StatementResult.writeCount(out, result.getUpdateCount());
      } else {
        StatementResult.writeCountAndKeys(out, result.getUpdateCount(), keys);
      }
    }
    if (out.size() >= maxResultBytes()) {
      return new Outcome.SqlFailed(
          SqlState.TOO_LARGE.state(),
          SqlState.TOO_LARGE.vendorCode(),
          "the statement changed nothing, because its result has more than "
              + maxResultBytes()
              + " bytes: let it return fewer rows");
    }
    if (transaction == null) {
      commit();
    }
    context.completed();
    return new Outcome.Executed(Payload.of(out.toByteArray()));
  }

  private void commit() {
    try {
      session.commit(false);
    } catch (RuntimeException e) {
      throw new ReplicaFailure("a statement could not be committed", e);
    }
  }

  private int maxResultBytes() {
    return statement.batch() ? Limits.BATCH_RESULT_BYTES : MAX_RESULT_BYTES;
  }
}
