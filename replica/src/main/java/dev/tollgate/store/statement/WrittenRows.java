package dev.tollgate.store.statement;

import dev.tollgate.store.h2.Nesting;
import java.util.ArrayList;
import java.util.List;
import org.h2.api.ErrorCode;
import org.h2.engine.SessionLocal;
import org.h2.expression.Expression;
import org.h2.expression.ExpressionColumn;
import org.h2.index.Index;
import org.h2.message.DbException;
import org.h2.result.LocalResult;
import org.h2.result.ResultTarget;
import org.h2.table.Column;
import org.h2.table.Table;
import org.h2.util.StringUtils;
import org.h2.value.Value;
import org.jspecify.annotations.Nullable;

/**
 * Sees every row that a statement writes: tells its size to the meter, and keeps the generated keys
 * that were asked for. The choice of columns is H2's own ({@code CommandContainer}), which has no
 * place for a meter.
 */
final class WrittenRows implements ResultTarget {
  private final StatementMeter meter;
  private final List<Column> columns;
  private final @Nullable LocalResult keys;

  /**
   * @param request as for {@link org.h2.command.CommandInterface#executeUpdate}
   */
  WrittenRows(SessionLocal session, Table table, @Nullable Object request, StatementMeter meter) {
    this.meter = meter;
    columns = columnsOf(session, table, request);
    keys = request == null ? null : resultOf(session, columns);
  }

  /** Sees the rows of a query. */
  WrittenRows(StatementMeter meter) {
    this.meter = meter;
    columns = List.of();
    keys = null;
  }

  /** The keys; null if none were asked for. */
  @Nullable LocalResult keys() {
    return keys;
  }

  @Override
  public void addRow(Value... values) {
    long bytes = 0;
    for (Value value : values) {
      if (value != null) {
        bytes += Nesting.requireBytes(value);
      }
    }
    meter.wrote(bytes);
    if (keys != null && !columns.isEmpty()) {
      Value[] row = new Value[columns.size()];
      for (int i = 0; i < row.length; i++) {
        row[i] = values[columns.get(i).getColumnId()];
      }
      keys.addRow(row);
    }
  }

  @Override
  public long getRowCount() {
    return 0;
  }

  @Override
  public void limitsWereApplied() {}

  private static LocalResult resultOf(SessionLocal session, List<Column> columns) {
    if (columns.isEmpty()) {
      return new LocalResult();
    }
    Expression[] expressions =
        columns.stream()
            .map(column -> new ExpressionColumn(session.getDatabase(), column))
            .toArray(Expression[]::new);
    return new LocalResult(session, expressions, columns.size(), columns.size());
  }

  private static List<Column> columnsOf(
      SessionLocal session, Table table, @Nullable Object request) {
    List<Column> columns = new ArrayList<>();
    if (request instanceof int[] positions) {
      for (int position : positions) {
        if (position < 1 || position > table.getColumns().length) {
          throw DbException.get(ErrorCode.COLUMN_NOT_FOUND_1, "Index: " + position);
        }
        columns.add(table.getColumn(position - 1));
      }
    } else if (request instanceof String[] names) {
      for (String name : names) {
        columns.add(columnOf(session, table, name));
      }
    } else if (request != null) {
      Index primaryKey = table.findPrimaryKey();
      for (Column column : table.getColumns()) {
        Expression value = column.getEffectiveDefaultExpression();
        if (column.isIdentity()
            || (value != null && !value.isConstant())
            || (primaryKey != null && primaryKey.getColumnIndex(column) >= 0)) {
          columns.add(column);
        }
      }
    }
    return columns;
  }

  private static Column columnOf(SessionLocal session, Table table, String name) {
    Column column = table.findColumn(name);
    if (column == null && session.getDatabase().getSettings().databaseToUpper) {
      column = table.findColumn(StringUtils.toUpperEnglish(name));
    }
    if (column == null) {
      for (Column candidate : table.getColumns()) {
        if (candidate.getName().equalsIgnoreCase(name)) {
          return candidate;
        }
      }
      throw DbException.get(ErrorCode.COLUMN_NOT_FOUND_1, name);
    }
    return column;
  }
}
