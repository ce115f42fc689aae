package dev.tollgate.store.fence;

import dev.tollgate.core.command.LockName;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.wire.SqlState;
import java.util.Set;
import org.h2.message.DbException;
import org.h2.result.Row;
import org.h2.table.Column;
import org.h2.table.Table;

/**
 * The locks of the rows of a fenced table whose expression does not fit the table any more. Nobody
 * can prove to hold such a lock, so no row is written until the fence is removed.
 *
 * @param sql the expression
 */
record UnknownRowLocks(Table table, String sql) implements RowLocks {
  @Override
  public LockName of(Row values) {
    throw refusal();
  }

  @Override
  public Set<Column> columns() {
    return Set.of();
  }

  @Override
  public boolean areKnown() {
    return false;
  }

  @Override
  public void requireKnown() {
    throw refusal();
  }

  private DbException refusal() {
    String name = FencedTables.nameOf(table).toString();
    return DbException.convert(
        SqlErrors.exception(
            SqlState.FENCE_STATE,
            "the rows of table "
                + name
                + " cannot be written, because the table is fenced by the locks ("
                + sql
                + "), which cannot be computed any more: ALTER TABLE "
                + name
                + " NOT FENCED, and then fence the table anew"));
  }
}
