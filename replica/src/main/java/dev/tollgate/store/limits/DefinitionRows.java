package dev.tollgate.store.limits;

import dev.tollgate.store.h2.Exhausted;
import dev.tollgate.store.h2.H2Definitions;
import dev.tollgate.store.h2.H2Parts;
import dev.tollgate.store.h2.SqlErrors;
import dev.tollgate.wire.SqlState;
import java.util.ArrayList;
import java.util.List;
import org.h2.command.Prepared;
import org.h2.command.ddl.AlterTableAddConstraint;
import org.h2.command.ddl.AlterTableAlterColumn;
import org.h2.engine.SessionLocal;
import org.h2.expression.Expression;
import org.h2.expression.ExpressionVisitor;
import org.h2.expression.ValueExpression;
import org.h2.message.DbException;
import org.h2.table.Column;
import org.h2.table.Table;
import org.h2.util.HasSQL;
import org.h2.util.ParserUtil;
import org.h2.value.TypeInfo;
import org.h2.value.Value;
import org.jspecify.annotations.Nullable;

/**
 * What a definition computes for existing rows, as a query. H2 computes these values in internal
 * statements, which no meter reaches. So the query runs first, with meters, and its result is
 * thrown away.
 */
public final class DefinitionRows {
  /**
   * Rows counted for each row of the table: a scan for each level of derived tables, and as many
   * rows again when H2 asks whether to go on.
   */
  private static final int LOOKS_PER_ROW = 6;

  private DefinitionRows() {}

  /** Returns how many rows the query may examine for free: a definition may read a large table. */
  public static long granted(SessionLocal session, Prepared definition) {
    Table table = H2Definitions.alteredTable(session, definition);
    return table == null ? 0 : LOOKS_PER_ROW * table.getRowCountApproximation(session);
  }

  /**
   * Returns the query of a definition that is about to run, or null if the definition computes
   * nothing.
   *
   * @throws org.h2.message.DbException with SQLState 54001 if the query cannot run before the
   *     definition
   */
  public static @Nullable String queryOf(SessionLocal session, Prepared definition) {
    for (Expression check : H2Definitions.checksOfDomain(definition)) {
      requireNoQuery(check);
      requireNoEffect(check);
    }
    Table table = H2Definitions.alteredTable(session, definition);
    if (table == null) {
      return null;
    }
    if (definition instanceof AlterTableAlterColumn columns) {
      Column changed = H2Definitions.changedColumn(columns);
      return changed == null ? added(table, columns) : changed(table, columns, changed);
    }
    Expression check =
        definition instanceof AlterTableAddConstraint constraint
            ? H2Definitions.checkOf(constraint)
            : null;
    return check == null ? null : "SELECT " + sql(check) + " FROM " + sql(table);
  }

  private static @Nullable String changed(
      Table table, AlterTableAlterColumn definition, Column changed) {
    Expression using = H2Definitions.usingOf(definition);
    HasSQL value = using == null && changed.isGenerated() ? valueOf(changed) : using;
    if (value == null && converts(definition, changed)) {
      value = H2Definitions.alteredColumn(definition);
    }
    return value == null ? null : "SELECT " + cast(value, changed) + " FROM " + sql(table);
  }

  /** Whether H2 converts the values of a column, or checks them by the rules of a domain. */
  private static boolean converts(AlterTableAlterColumn definition, Column changed) {
    Column before = H2Definitions.alteredColumn(definition);
    return before != null
        && (changed.getDomain() != null
            || (before.getType().getValueType() != changed.getType().getValueType()
                && changed.getType().getValueType() != Value.UNKNOWN));
  }

  /** Generated columns may refer to the other added columns, and checks to all added columns. */
  private static @Nullable String added(Table table, AlterTableAlterColumn definition) {
    List<String> defaults = new ArrayList<>();
    List<String> generated = new ArrayList<>();
    List<String> names = new ArrayList<>();
    boolean computes = false;
    for (Column column : H2Definitions.newColumns(definition)) {
      Expression value = valueOf(column);
      String name = quoted(column.getName());
      String item = value == null ? "NULL" : cast(value, column);
      computes |=
          value != null && (!(value instanceof ValueExpression) || column.getDomain() != null);
      names.add(name);
      (column.isGenerated() ? generated : defaults).add(item + " AS " + name);
    }
    List<String> checks =
        H2Definitions.checksOf(definition).stream().map(DefinitionRows::sql).toList();
    if (!computes && checks.isEmpty()) {
      return null;
    }
    String rows = sql(table);
    if (!generated.isEmpty() || !checks.isEmpty()) {
      rows = derived(table, defaults, rows);
      if (!generated.isEmpty()) {
        rows = derived(table, generated, rows);
      }
      names.addAll(checks);
    } else {
      names = defaults;
    }
    return "SELECT " + String.join(", ", names) + " FROM " + rows;
  }

  private static String derived(Table table, List<String> more, String rows) {
    String items = more.isEmpty() ? "*" : "*, " + String.join(", ", more);
    return "(SELECT " + items + " FROM " + rows + ") AS " + quoted(table.getName());
  }

  private static @Nullable Expression valueOf(Column column) {
    return column.isIdentity() ? null : column.getEffectiveDefaultExpression();
  }

  private static String cast(HasSQL value, Column column) {
    if (column.getDomain() != null) {
      return "CAST(" + sql(value) + " AS " + sql(column.getDomain()) + ")";
    }
    TypeInfo type = column.getType();
    return type == null || type.getValueType() == Value.UNKNOWN
        ? sql(value)
        : "CAST(" + sql(value) + " AS " + type.getSQL(HasSQL.DEFAULT_SQL_FLAGS) + ")";
  }

  private static String sql(HasSQL part) {
    return part.getSQL(HasSQL.DEFAULT_SQL_FLAGS);
  }

  private static String quoted(String name) {
    return ParserUtil.quoteIdentifier(new StringBuilder(), name, HasSQL.DEFAULT_SQL_FLAGS)
        .toString();
  }

  /**
   * Rejects a CHECK of a domain that changes something, as NEXT VALUE FOR does. H2 evaluates the
   * CHECK for each CAST to the domain, in queries and in preparations that no other replica makes,
   * and once when a replica is restored.
   */
  private static void requireNoEffect(Expression check) {
    if (!check.isEverything(ExpressionVisitor.READONLY_VISITOR)) {
      throw DbException.convert(
          SqlErrors.exception(
              SqlState.NOT_SUPPORTED,
              "the definition was refused and changed nothing, because the CHECK of a domain must"
                  + " not draw from a sequence or change a lock: queries check values too, and each"
                  + " node runs other queries. Add the CHECK to the tables"));
    }
  }

  /**
   * Rejects a subquery in the CHECK of a domain. H2 evaluates the CHECK for every value of every
   * column of the domain, in no query that could be metered.
   */
  private static void requireNoQuery(Expression check) {
    if (H2Parts.hasQuery(check)) {
      throw Exhausted.work(
          "the definition was refused and changed nothing, because the CHECK of a domain must not"
              + " have a subquery, which would run once for each value: add the CHECK to the"
              + " tables");
    }
  }
}
