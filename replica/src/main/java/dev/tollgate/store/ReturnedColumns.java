package dev.tollgate.store;

import dev.tollgate.core.command.Operation;
import dev.tollgate.store.h2.H2Parts;
import dev.tollgate.store.h2.H2Rights;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import org.h2.api.ErrorCode;
import org.h2.command.Prepared;
import org.h2.command.dml.DataChangeStatement;
import org.h2.engine.User;
import org.h2.expression.Expression;
import org.h2.index.Index;
import org.h2.message.DbException;
import org.h2.schema.SchemaObject;
import org.h2.table.Column;
import org.h2.table.Table;
import org.jspecify.annotations.Nullable;

/**
 * What a user may learn of the rows that a statement of its own writes. Reading them needs SELECT
 * on their table, as RETURNING does in PostgreSQL (ADR 0132). Keys are the exception: a user that
 * may insert a row may learn its primary key, and what the database has generated for it.
 */
final class ReturnedColumns {
  private ReturnedColumns() {}

  /**
   * Requires that the user may read the tables whose changes a query reads.
   *
   * @param changed the tables of FINAL TABLE, NEW TABLE and OLD TABLE
   * @throws DbException naming the first table that it may not read
   */
  static void requireSelect(User user, Collection<Table> changed) {
    changed.stream()
        .sorted(Comparator.comparingInt(SchemaObject::getId))
        .forEach(table -> requireSelect(user, table));
  }

  private static void requireSelect(User user, Table table) {
    if (!H2Rights.maySelect(user, table)) {
      throw missing(table, "");
    }
  }

  /**
   * Returns the columns that H2 is to return of each row that a statement writes, as H2 wants them
   * named; null for none.
   *
   * @throws DbException if the client wants a column that the user may not read, or that is missing
   */
  static @Nullable Object keys(User user, Prepared change, Operation.WantedKeys wanted) {
    if (!(change instanceof DataChangeStatement changing)
        || wanted instanceof Operation.WantedKeys.None) {
      return null;
    }
    Table table = changing.getTable();
    if (H2Rights.maySelect(user, table)) {
      return asRequested(wanted);
    }
    List<Column> columns = columnsOf(table, wanted);
    for (Column column : columns) {
      if (!isKey(column)) {
        throw missing(table, ", whose column " + column.getName() + " the statement is to return");
      }
    }
    return columns.stream().mapToInt(column -> column.getColumnId() + 1).toArray();
  }

  private static @Nullable Object asRequested(Operation.WantedKeys wanted) {
    if (wanted instanceof Operation.WantedKeys.Positions columns) {
      return columns.positions().stream().mapToInt(Integer::intValue).toArray();
    }
    if (wanted instanceof Operation.WantedKeys.Names columns) {
      return columns.names().toArray(new String[0]);
    }
    return true;
  }

  /** The columns that are wanted; positions go to H2 then, so it returns those that are checked. */
  private static List<Column> columnsOf(Table table, Operation.WantedKeys wanted) {
    List<Column> found = new ArrayList<>();
    if (wanted instanceof Operation.WantedKeys.Positions positions) {
      for (int position : positions.positions()) {
        if (position < 1 || position > table.getColumns().length) {
          throw DbException.get(ErrorCode.COLUMN_NOT_FOUND_1, "column: " + position);
        }
        found.add(table.getColumn(position - 1));
      }
    } else if (wanted instanceof Operation.WantedKeys.Names names) {
      names.names().forEach(name -> found.add(columnOf(table, name)));
    } else {
      for (Column column : table.getColumns()) {
        if (isKey(column)) {
          found.add(column);
        }
      }
    }
    return found;
  }

  private static Column columnOf(Table table, String name) {
    for (String spelling : List.of(name, name.toUpperCase(Locale.ROOT))) {
      Column column = table.findColumn(spelling);
      if (column != null) {
        return column;
      }
    }
    for (Column column : table.getColumns()) {
      if (column.getName().equalsIgnoreCase(name)) {
        return column;
      }
    }
    throw DbException.get(ErrorCode.COLUMN_NOT_FOUND_1, name);
  }

  /**
   * True for a column of the primary key and for one whose value the database makes for a new row,
   * unless it reads rows for that: these may be rows that the user may not read.
   */
  private static boolean isKey(Column column) {
    Expression made = column.getEffectiveDefaultExpression();
    if (made != null && H2Parts.hasQuery(made)) {
      return false;
    }
    Index primaryKey = column.getTable().findPrimaryKey();
    return column.isIdentity()
        || (made != null && !made.isConstant())
        || (primaryKey != null && primaryKey.getColumnIndex(column) >= 0);
  }

  private static DbException missing(Table table, String why) {
    return DbException.get(
        ErrorCode.NOT_ENOUGH_RIGHTS_FOR_1,
        table.getTraceSQL() + why + ": a statement that returns rows needs SELECT on their table");
  }
}
