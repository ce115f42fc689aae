package dev.tollgate.store.fence;

import dev.tollgate.core.command.FenceId;
import dev.tollgate.store.h2.HiddenConstraint;
import dev.tollgate.store.statement.StoreCommand;
import java.util.HashSet;
import org.h2.engine.SessionLocal;
import org.h2.message.DbException;
import org.h2.result.Row;
import org.h2.schema.Schema;
import org.h2.table.Column;
import org.h2.table.Table;
import org.jspecify.annotations.Nullable;

/**
 * Guards a table whose rows have locks of their own. H2 takes it for a CHECK of the table, and asks
 * it about every row that a statement is about to insert, change or delete, on every route, those
 * of referential actions included. When H2 rebuilds the table, {@link FencedTables} puts a new one
 * there.
 */
public final class RowGuard extends HiddenConstraint {
  private final FenceId fence;
  private final RowLockExpression lock;

  RowGuard(Schema hidden, Table table, FenceId fence, RowLockExpression lock) {
    super(hidden, "FENCE_" + fence, table);
    this.fence = fence;
    this.lock = lock;
  }

  RowLockExpression lock() {
    return lock;
  }

  /** Makes H2 ask it, after all other checks of the table, whichever came first. */
  void standLast() {
    Table guarded = getTable();
    guarded.removeConstraint(this);
    guarded.addConstraint(this);
  }

  /** Ends the guard, unless H2 has done so with its table. */
  void leave() {
    if (isValid()) {
      getTable().removeConstraint(this);
      getSchema().remove(this);
    }
  }

  @Override
  public void checkRow(
      SessionLocal session, Table guarded, @Nullable Row before, @Nullable Row after) {
    if (!(session.getCurrentCommand() instanceof StoreCommand statement)) {
      throw DbException.getInternalError("a guarded row was written outside of a statement");
    }
    if (before != null) {
      statement.admitRow(fence, lock.of(before));
    }
    if (after != null) {
      statement.admitRow(fence, lock.of(after));
    }
  }

  /** With those that the lock is computed from, which H2 then refuses to drop. */
  @Override
  @SuppressWarnings("NonApiType") // H2 wants it so
  public HashSet<Column> getReferencedColumns(Table guarded) {
    HashSet<Column> columns = super.getReferencedColumns(guarded);
    columns.addAll(lock.columns());
    return columns;
  }
}
