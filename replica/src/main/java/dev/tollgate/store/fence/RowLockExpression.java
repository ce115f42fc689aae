package dev.tollgate.store.fence;

import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Text;
import dev.tollgate.store.h2.H2Functions;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.wire.SqlState;
import java.util.HashSet;
import java.util.Set;
import org.h2.command.Parser;
import org.h2.engine.SessionLocal;
import org.h2.expression.Expression;
import org.h2.expression.ExpressionVisitor;
import org.h2.message.DbException;
import org.h2.result.Row;
import org.h2.schema.Domain;
import org.h2.table.Column;
import org.h2.table.Table;
import org.h2.table.TableFilter;
import org.h2.value.Value;

/**
 * The expression that names the lock of a row, compiled for one table object. The result depends on
 * the row alone: the expression is evaluated on a separate session, whose time is fixed and whose
 * schema has no constants.
 */
final class RowLockExpression implements RowLocks {
  private final Table table;
  private final String sql;
  private final SessionLocal evaluator;
  private final TableFilter row;
  private final Expression name;
  private final HashSet<Column> columns = new HashSet<>();

  /**
   * @param sql the expression, as the SQL front-end checked it
   * @throws DbException if the expression does not fit the table
   */
  RowLockExpression(SessionLocal evaluator, Table table, String sql) {
    this.table = table;
    this.sql = sql;
    this.evaluator = evaluator;
    row = new TableFilter(evaluator, table, null, true, null, 0, null);
    Expression parsed = new Parser(evaluator).parseExpression(sql);
    Domain domain = H2Functions.domainIn(parsed);
    if (domain != null) {
      throw invalid(
          "the lock of a row of table "
              + FencedTables.nameOf(table)
              + " cannot be computed by domain "
              + domain.getName()
              + ", because the domain can change while the fence stands: name the data type of the"
              + " domain in ("
              + sql
              + ")");
    }
    parsed.mapColumns(row, 0, Expression.MAP_INITIAL);
    name = parsed.optimize(evaluator);
    if (!name.isEverything(ExpressionVisitor.DETERMINISTIC_VISITOR)) {
      throw invalid("the lock of a row must depend on the row alone: " + sql);
    }
    name.isEverything(ExpressionVisitor.getColumnsVisitor(columns, table));
    for (Column column : columns) {
      if (column.isGenerated() || column.isRowId()) {
        throw invalid(
            "the lock of a row cannot be computed from column "
                + column.getName()
                + ", which the database computes itself: use the columns that it comes from");
      }
    }
  }

  @Override
  public Set<Column> columns() {
    return columns;
  }

  @Override
  public boolean areKnown() {
    return true;
  }

  @Override
  public void requireKnown() {}

  @Override
  public LockName of(Row values) {
    row.set(values);
    Value value = name.getValue(evaluator);
    if (value.getValueType() == Value.NULL) {
      throw unusable("NULL");
    }
    String text = value.getString();
    if (text.isEmpty() || text.length() > Limits.LOCK_NAME_CHARS) {
      throw unusable("a text of " + text.length() + " characters");
    }
    if (!Text.isWellFormed(text)) {
      throw DbException.convert(
          SqlErrors.exception(
              SqlState.NOT_TEXT,
              "a row of table "
                  + FencedTables.nameOf(table)
                  + " has no lock: ("
                  + sql
                  + ") gives a text with half of a character, an unpaired surrogate, for it"));
    }
    return new LockName(text);
  }

  private DbException unusable(String result) {
    return invalid(
        "a row of table "
            + FencedTables.nameOf(table)
            + " has no lock: ("
            + sql
            + ") gives "
            + result
            + " for it, and the name of a lock has 1 to "
            + Limits.LOCK_NAME_CHARS
            + " characters");
  }

  private static DbException invalid(String message) {
    return DbException.convert(SqlErrors.exception(SqlState.INVALID_ARGUMENT, message));
  }
}
