package dev.tollgate.store.limits;

import dev.tollgate.store.h2.H2Database;
import dev.tollgate.store.h2.HiddenConstraint;
import dev.tollgate.store.h2.Nesting;
import dev.tollgate.store.statement.StatementMeter;
import dev.tollgate.store.statement.StoreCommand;
import java.util.List;
import org.h2.constraint.Constraint;
import org.h2.engine.SessionLocal;
import org.h2.index.Index;
import org.h2.result.Row;
import org.h2.schema.Schema;
import org.h2.table.Column;
import org.h2.table.Table;
import org.h2.table.TableType;
import org.jspecify.annotations.Nullable;

/**
 * Tells the meter of a statement the size of each row that the statement is about to write, and of
 * the values by which indexes find their place for a row. Every table has such a constraint. H2
 * checks it before it keeps the row, on all routes: FINAL TABLE and the actions of foreign keys
 * too.
 */
public final class RowBytes extends HiddenConstraint {
  private RowBytes(Schema hidden, int id, Table table) {
    super(hidden, "BYTES_" + id, table);
  }

  /** Adds counters for the rows of all tables of a database. */
  public static final class Counters {
    private final Schema hidden;
    private int made;

    public Counters(H2Database database) {
      hidden = hiddenSchema(database.h2(), "BYTES");
    }

    /** Adds counters to these tables, if they have none; no query may run meanwhile. */
    public void follow(List<Table> tables) {
      for (Table table : tables) {
        if (table.getTableType() == TableType.TABLE && !isCounted(table)) {
          made++;
          RowBytes counter = new RowBytes(hidden, made, table);
          hidden.add(counter);
          table.addConstraint(counter);
        }
      }
    }

    private static boolean isCounted(Table table) {
      for (Constraint constraint : table.getConstraints()) {
        if (constraint instanceof RowBytes) {
          return true;
        }
      }
      return false;
    }
  }

  @Override
  protected Place place() {
    return Place.BYTES;
  }

  @Override
  public boolean isBefore() {
    return true;
  }

  @Override
  public void checkRow(
      SessionLocal session, Table changed, @Nullable Row before, @Nullable Row after) {
    StatementMeter meter = StoreCommand.meterOf(session);
    if (meter == null) {
      return;
    }
    if (before != null) {
      compare(meter, changed, before, Nesting.requireBytes(before.getValueList()));
    }
    if (after != null) {
      long bytes = Nesting.requireBytes(after.getValueList());
      meter.wrote(bytes);
      compare(meter, changed, after, bytes);
    }
  }

  /** Each index looks for the place of the row by the values of its columns. */
  private static void compare(StatementMeter meter, Table table, Row row, long bytes) {
    // none of its values can be large
    if (bytes <= StatementMeter.SMALL_BYTES) {
      return;
    }
    for (Index index : table.getIndexes()) {
      Column[] columns = index.getIndexType().isScan() ? null : index.getColumns();
      for (int i = 0; columns != null && i < columns.length; i++) {
        meter.compared(Nesting.requireBytes(row.getValue(columns[i].getColumnId())));
      }
    }
  }
}
