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
 * Guards a table whose rows have their own locks. H2 treats the guard as a CHECK of the table. H2
 * calls it for every row that a statement is about to insert, change or delete, on every route,
 * including referential actions. When H2 rebuilds the table, {@link FencedTables} installs a new
 * guard.
 */
public final class RowGuard extends HiddenConstraint {
  private final FenceId fence;
  private final RowLocks locks;

  RowGuard(Schema hidden, Table table, FenceId fence, RowLocks locks) {
    super(hidden, "FENCE_" + fence, table);
    this.fence = fence;
    this.locks = locks;
  }

  RowLocks locks() {
    return locks;
  }

  @Override
  protected Place place() {
    return Place.LAST;
  }

  /** Removes the guard, unless H2 has already removed it with its table. */
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
      statement.admitRow(fence, locks.of(before));
    }
    if (after != null) {
      statement.admitRow(fence, locks.of(after));
    }
  }

  /** Adds the columns that the lock is computed from, so that H2 refuses to drop them. */
  @Override
  @SuppressWarnings("NonApiType") // H2 declares a HashSet
  public HashSet<Column> getReferencedColumns(Table guarded) {
    HashSet<Column> columns = super.getReferencedColumns(guarded);
    columns.addAll(locks.columns());
    return columns;
  }
}
