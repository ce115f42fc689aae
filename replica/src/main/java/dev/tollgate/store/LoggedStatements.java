package dev.tollgate.store;

import dev.tollgate.core.SqlContext;
import dev.tollgate.core.SqlStore;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.Payload;
import dev.tollgate.store.fence.FencedTables;
import dev.tollgate.store.fence.KeyWatches;
import dev.tollgate.store.h2.ChangedRows;
import dev.tollgate.store.h2.H2Database;
import dev.tollgate.store.limits.BatchWork;
import dev.tollgate.store.limits.StoreLimits;
import dev.tollgate.store.statement.ReaderGate;
import dev.tollgate.value.StatementResult;
import dev.tollgate.wire.WireWriter;
import org.h2.engine.SessionLocal;
import org.jspecify.annotations.Nullable;

/** Runs logged statements, on the apply thread. */
final class LoggedStatements {
  private final LoggedStatement.Means means;
  private @Nullable BatchWork batch;

  LoggedStatements(
      H2Database database,
      ReaderGate gate,
      FencedTables fencedTables,
      TransactionSessions transactions,
      StoreLimits limits,
      OwnerRights owners) {
    ChangedRows changed = new ChangedRows(database);
    KeyWatches keys = new KeyWatches(database);
    Definitions definitions =
        new Definitions(database, gate, fencedTables, transactions, keys, changed, owners);
    means =
        new LoggedStatement.Means(
            database,
            fencedTables,
            transactions,
            keys,
            definitions,
            limits,
            new FaultLog(),
            changed,
            owners);
  }

  /**
   * Runs one execution of a statement.
   *
   * @param context the same object for sets of a batch that follow each other without a break
   * @param session the session to run on: that of the transaction, if there is a transaction
   */
  Outcome run(
      Operation.ExecuteSql statement,
      int set,
      SqlContext context,
      SessionLocal session,
      TransactionSessions.@Nullable OpenTransaction transaction) {
    BatchWork work = batch;
    if (work == null || !work.isOf(context)) {
      work = new BatchWork(context, means.limits());
      batch = work;
    }
    return new LoggedStatement(means, statement, set, context, work, session, transaction).run();
  }

  /** See {@link SqlStore#takeChanges}. */
  long takeChanges() {
    return means.changed().take();
  }

  /** The outcome of a statement that changed this many rows. */
  static Outcome updated(long count) {
    WireWriter out = new WireWriter(16);
    StatementResult.writeCount(out, count);
    return new Outcome.Executed(Payload.of(out.toByteArray()));
  }
}
