package dev.tollgate.value;

import dev.tollgate.wire.WireFormatException;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.h2.engine.CastDataProvider;
import org.h2.result.ResultInterface;
import org.h2.value.Value;
import org.jspecify.annotations.Nullable;

/**
 * Columns and a page of rows.
 *
 * @param totalRows rows of the whole result
 * @param page the first rows
 */
public record RowSet(List<Column> columns, long totalRows, Page page) {
  public RowSet {
    columns = List.copyOf(columns);
  }

  /**
   * Rows, and the cursor for more.
   *
   * @param cursorId 0 if these are the last rows
   */
  public record Page(long cursorId, List<Value[]> rows) {
    public Page {
      rows = List.copyOf(rows);
    }

    /**
     * Appends rows of a result, from its next row on, until the page is full: cursor id i64, count
     * i32, values.
     *
     * @param maxRows most rows of the page, 0 for no limit
     * @param maxBytes the page ends with the row that reaches this size
     * @return true if rows are left, so that the page carries {@code cursorId}
     */
    public static boolean write(
        WireWriter out, ResultInterface result, int maxRows, int maxBytes, long cursorId) {
      int start = out.size();
      out.i64(0).i32(0);
      int columns = result.getVisibleColumnCount();
      int rows = 0;
      while (result.hasNext()
          && (maxRows == 0 || rows < maxRows)
          && out.size() - start < maxBytes
          && result.next()) {
        Value[] row = result.currentRow();
        for (int i = 0; i < columns; i++) {
          ValueCodec.write(out, row[i]);
        }
        rows++;
      }
      boolean more = result.hasNext();
      if (more) {
        out.i32At(start, (int) (cursorId >>> 32));
        out.i32At(start + 4, (int) cursorId);
      }
      out.i32At(start + 8, rows);
      return more;
    }

    /** Limit of rows without columns: a few bytes could announce any number. FROM DUAL has one. */
    private static final int MAX_EMPTY_ROWS = 100_000;

    private static final Value[] EMPTY_ROW = {};

    /** Reads what {@link #write} wrote. */
    static Page read(WireReader in, List<Column> columns, @Nullable CastDataProvider provider) {
      long cursorId = in.i64();
      int count = in.count(columns.size());
      if (columns.isEmpty()) {
        if (count > MAX_EMPTY_ROWS) {
          throw new WireFormatException(count + " rows without columns");
        }
        return new Page(cursorId, Collections.nCopies(count, EMPTY_ROW));
      }
      List<Value[]> rows = new ArrayList<>(count);
      for (int i = 0; i < count; i++) {
        Value[] row = new Value[columns.size()];
        for (int j = 0; j < row.length; j++) {
          row[j] = ValueCodec.read(in, columns.get(j).type(), provider);
        }
        rows.add(row);
      }
      return new Page(cursorId, rows);
    }
  }

  /**
   * Appends the columns of a result and its first page: count u16 and columns, total rows i64,
   * page.
   *
   * @return true if rows are left
   */
  public static boolean write(
      WireWriter out, ResultInterface result, int maxRows, int maxBytes, long cursorId) {
    writeColumns(out, result);
    out.i64(result.getRowCount());
    return Page.write(out, result, maxRows, maxBytes, cursorId);
  }

  /** Appends only the columns of a result. */
  public static void writeColumns(WireWriter out, ResultInterface result) {
    List<Column> columns = new ArrayList<>();
    for (int i = 0; i < result.getVisibleColumnCount(); i++) {
      columns.add(
          new Column(
              result.getAlias(i),
              result.getSchemaName(i),
              result.getTableName(i),
              result.getColumnName(i),
              result.getColumnType(i),
              result.isIdentity(i),
              result.getNullable(i)));
    }
    writeColumns(out, columns);
  }

  /** Appends columns. */
  public static void writeColumns(WireWriter out, List<Column> columns) {
    out.u16(columns.size());
    for (Column column : columns) {
      out.string(column.label()).nullableString(column.schema());
      out.nullableString(column.table()).nullableString(column.name());
      TypeCodec.write(out, column.type());
      out.flag(column.identity()).u8(column.nullable());
    }
  }

  /** Appends a row set that is not a result of H2: one column, one row. */
  public static void writeSingle(WireWriter out, Column column, Value value) {
    writeColumns(out, List.of(column));
    out.i64(1).i64(0).i32(1);
    ValueCodec.write(out, value);
  }

  /** Reads what {@link #writeColumns} wrote. */
  public static List<Column> readColumns(WireReader in) {
    List<Column> columns = new ArrayList<>();
    for (int i = in.u16(); i > 0; i--) {
      columns.add(
          new Column(
              in.string(),
              in.nullableString(),
              in.nullableString(),
              in.nullableString(),
              TypeCodec.read(in),
              in.flag(),
              in.u8()));
    }
    return columns;
  }

  /** Reads what {@link #write} wrote. */
  static RowSet read(WireReader in, @Nullable CastDataProvider provider) {
    List<Column> columns = readColumns(in);
    long totalRows = in.i64();
    return new RowSet(columns, totalRows, Page.read(in, columns, provider));
  }
}
