package dev.tollgate.store.h2;

import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.util.Arrays;
import org.h2.engine.SessionLocal;
import org.h2.mvstore.db.MVPrimaryIndex;
import org.h2.result.Row;
import org.h2.result.SearchRow;
import org.h2.table.Table;
import org.h2.value.Value;
import org.h2.value.ValueNull;

/**
 * How H2 numbers the rows of a table. H2 reads rows in the order of their numbers, so replicas need
 * the same numbers.
 *
 * <p>If the primary key is one integer column, and existed before the first row, the number of a
 * row is its key. A primary key that is added to a table with rows has its own index, also when H2
 * copies the table to alter it. Rows then keep their numbers, and new rows come last.
 *
 * @param keyed true if the number of a row is its primary key
 * @param last the highest number so far, of a row that may be deleted
 */
public record RowNumbers(boolean keyed, long last) {
  /** The number that H2 takes for no number. */
  private static final long NONE = 0;

  public static RowNumbers of(Table table, SessionLocal session) {
    MVPrimaryIndex rows = rowsOf(table, session);
    return new RowNumbers(
        rows.getMainIndexColumn() != SearchRow.ROWID_INDEX, H2Numbers.lastNumber(rows).get());
  }

  public void writeTo(WireWriter out) {
    out.flag(keyed).i64(last);
  }

  public static RowNumbers read(WireReader in) {
    return new RowNumbers(in.flag(), in.i64());
  }

  /**
   * Puts a row into a table that has no indexes yet, so that H2 creates them apart from the rows.
   *
   * @return the row, to be removed when the table has its indexes
   */
  public static Row occupy(Table table, SessionLocal session) {
    Value[] values = new Value[table.getColumns().length];
    Arrays.fill(values, ValueNull.INSTANCE);
    Row row = table.createRow(values, Row.MEMORY_CALCULATE);
    table.getScanIndex(session).add(session, row);
    return row;
  }

  /** Adds a row under its own number, even under 0, for which H2 would choose another number. */
  public static void add(Table table, Row row, SessionLocal session) {
    if (row.getKey() == NONE) {
      H2Numbers.lastNumber(rowsOf(table, session)).set(NONE - 1);
    }
    table.addRow(session, row);
  }

  /** Makes H2 continue with the next number. */
  public void goOn(Table table, SessionLocal session) {
    H2Numbers.lastNumber(rowsOf(table, session)).set(last);
  }

  private static MVPrimaryIndex rowsOf(Table table, SessionLocal session) {
    return (MVPrimaryIndex) table.getScanIndex(session);
  }
}
