package dev.tollgate.store.limits;

import dev.tollgate.store.h2.H2Database;
import dev.tollgate.store.h2.HiddenConstraint;
import dev.tollgate.store.h2.Nesting;
import dev.tollgate.store.statement.StatementMeter;
import dev.tollgate.store.statement.StoreCommand;
import org.h2.constraint.Constraint;
import org.h2.engine.Database;
import org.h2.engine.SessionLocal;
import org.h2.result.Row;
import org.h2.schema.Schema;
import org.h2.table.Table;
import org.h2.table.TableType;
import org.jspecify.annotations.Nullable;

/**
 * Tells the meter of a statement what each row takes that it is about to write. Every table has one
 * of these among its constraints: H2 asks them on all routes, FINAL TABLE and the actions of
 * foreign keys too, and before it keeps the row.
 */
public final class RowBytes extends HiddenConstraint {
  private RowBytes(Schema hidden, int id, Table table) {
    super(hidden, "BYTES_" + id, table);
  }

  /** Has the rows of all tables of a database counted. */
  public static final class Counters {
    private final Database database;
    private final Schema hidden;
    private int made;

    public Counters(H2Database database) {
      this.database = database.h2();
      hidden = hiddenSchema(this.database, "BYTES");
    }

    /** Counts those too of tables that a definition has just made; while nobody reads. */
    public void follow() {
      for (Schema schema : database.getAllSchemasNoMeta()) {
        for (Table table : schema.getAllTablesAndViews(null)) {
          if (table.getTableType() == TableType.TABLE && !isCounted(table)) {
            made++;
            RowBytes counter = new RowBytes(hidden, made, table);
            hidden.add(counter);
            table.addConstraint(counter);
          }
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
  public boolean isBefore() {
    return true;
  }

  @Override
  public void checkRow(
      SessionLocal session, Table changed, @Nullable Row before, @Nullable Row after) {
    StatementMeter meter = StoreCommand.meterOf(session);
    if (meter != null && after != null) {
      meter.wrote(Nesting.requireBytes(after.getValueList()));
    }
  }
}
