package dev.tollgate.store.fence;

import dev.tollgate.core.command.LockName;
import java.util.Set;
import java.util.stream.Collectors;
import org.h2.result.Row;
import org.h2.table.Column;

/** The locks of the rows of a table. */
interface RowLocks {
  /**
   * The lock of a row.
   *
   * @throws org.h2.message.DbException if the row has none
   */
  LockName of(Row values);

  /** The columns from which the locks are computed. */
  Set<Column> columns();

  /** False if no lock can be computed. */
  boolean areKnown();

  /**
   * @throws org.h2.message.DbException if no lock can be computed
   */
  void requireKnown();

  /** The names of the columns from which the locks are computed. */
  default Set<String> columnNames() {
    return columns().stream().map(Column::getName).collect(Collectors.toSet());
  }
}
