package dev.tollgate.store.transfer;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.StateRecord;
import dev.tollgate.core.command.FenceReading;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.TableName;
import dev.tollgate.value.ValueCodec;
import dev.tollgate.wire.WireReader;
import java.io.IOException;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.h2.table.Column;
import org.h2.table.Table;
import org.h2.util.HasSQL;
import org.h2.util.StringUtils;
import org.h2.value.Value;

/**
 * Converts what a {@link DatabaseCopy} wrote into SQL statements that a client can send.
 * Definitions run in an empty database, which then gives their SQL. Rows are passed on as they
 * come, so memory holds no more than one record of rows.
 *
 * <p>First comes what rows need, then the rows of each table in their order, then what would only
 * be in the way of rows. Generated names are written out, so that a dump of the result is the same.
 */
public final class DatabaseDump implements AutoCloseable {
  /** Rows are collected in one statement up to this many characters. */
  private static final int STATEMENT_CHARS = 64 << 10;

  /** Maximum number of rows in one statement. */
  private static final int STATEMENT_ROWS = 500;

  private final DatabaseRestore restore = new DatabaseRestore();
  private final Appendable out;
  private final Predicate<String> fits;
  private String insert = "";

  /** The places of the columns of which rows have values. */
  private int[] written = {};

  private final StringBuilder rows = new StringBuilder();
  private int rowCount;

  /**
   * @param fits whether a client may send a statement, by its length; statements of up to 64 KiB
   *     fit
   */
  public DatabaseDump(Appendable out, Predicate<String> fits) {
    this.out = requireNonNull(out, "out");
    this.fits = requireNonNull(fits, "fits");
  }

  /**
   * Takes the next record of the database.
   *
   * @throws IOException if the target fails, or if a row fits into no statement
   */
  public void accept(int kind, WireReader in) throws IOException {
    if (kind == DatabaseCopy.ROWS) {
      writeRows(in);
      return;
    }
    flush();
    restore.accept(kind, in);
    if (kind == DatabaseCopy.OBJECT_IDS) {
      writeDefinitions();
    } else if (kind == DatabaseCopy.TABLE) {
      beginTable(restore.table());
    }
  }

  /** Writes what comes after the rows. */
  public void finish(List<StateRecord.FenceState> fences) throws IOException {
    flush();
    for (String sql : definitions().afterRows()) {
      statement(sql);
    }
    for (StateRecord.FenceState fence : fences) {
      statement(fenceSql(fence.table(), fence.terms()));
    }
  }

  private DumpedDefinitions definitions() {
    return new DumpedDefinitions(restore.database().h2(), restore.session());
  }

  private void writeDefinitions() throws IOException {
    out.append(UnicodeEscapes.resolve(definitions().brokenViews()));
    for (String sql : definitions().beforeRows()) {
      statement(sql);
    }
  }

  private void beginTable(Table table) {
    List<Column> columns = DumpedDefinitions.written(table);
    written = columns.stream().mapToInt(Column::getColumnId).toArray();
    insert = insertInto(table, columns);
  }

  private static String insertInto(Table table, List<Column> columns) {
    boolean always =
        columns.stream().anyMatch(column -> column.isIdentity() && column.isGeneratedAlways());
    return UnicodeEscapes.resolve(
        "INSERT INTO "
            + DumpedDefinitions.sql(table)
            + columns.stream()
                .map(column -> column.getSQL(HasSQL.DEFAULT_SQL_FLAGS))
                .collect(Collectors.joining(", ", "(", ")"))
            + (always ? " OVERRIDING SYSTEM VALUE" : "")
            + " VALUES\n");
  }

  private void writeRows(WireReader in) throws IOException {
    Table table = restore.table();
    Column[] columns = table.getColumns();
    Value[] values = new Value[columns.length];
    while (in.remaining() > 0) {
      in.i64();
      for (int i = 0; i < values.length; i++) {
        values[i] = ValueCodec.readStored(in, columns[i].getType(), restore.session());
      }
      StringBuilder row = new StringBuilder("(");
      for (int i = 0; i < written.length; i++) {
        values[written[i]].getSQL(i == 0 ? row : row.append(", "), HasSQL.NO_CASTS);
      }
      add(table, UnicodeEscapes.resolve(row.append(')').toString()));
    }
  }

  private void add(Table table, String row) throws IOException {
    if (insert.length() + row.length() > STATEMENT_CHARS && !fits.test(insert + row)) {
      throw new IOException(
          "a row of "
              + DumpedDefinitions.sql(table)
              + " takes "
              + row.length()
              + " characters as SQL, and more than fit into a statement, or more values: take a backup"
              + " instead, which has no such limit");
    }
    if (rowCount == STATEMENT_ROWS || rows.length() + row.length() > STATEMENT_CHARS) {
      flush();
    }
    rows.append(rowCount++ == 0 ? insert : ",\n").append(row);
  }

  private void flush() throws IOException {
    if (rowCount > 0) {
      out.append(rows).append(";\n");
      rows.setLength(0);
      rowCount = 0;
    }
  }

  private void statement(String sql) throws IOException {
    out.append(UnicodeEscapes.resolve(sql)).append(";\n");
  }

  /** The statement, without a semicolon, that fences a table under these terms. */
  public static String fenceSql(TableName name, Operation.FenceTerms terms) {
    StringBuilder sql = new StringBuilder("ALTER TABLE ");
    String schema = name.schema();
    if (schema != null) {
      sql.append(StringUtils.quoteIdentifier(schema)).append('.');
    }
    sql.append(StringUtils.quoteIdentifier(name.name())).append(" FENCED ");
    if (terms instanceof Operation.TableFence table) {
      sql.append(table.reading() == FenceReading.MONOTONIC ? "MONOTONIC " : "").append("BY LOCK ");
      StringUtils.quoteStringSQL(sql, table.lock().value());
    } else if (terms instanceof Operation.RowFence rows) {
      sql.append("BY LOCK (").append(rows.lockSql()).append(')');
    }
    return sql.toString();
  }

  @Override
  public void close() {
    restore.abandon();
  }
}
