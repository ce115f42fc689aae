package dev.tollgate.cli;

import dev.tollgate.core.command.Text;
import java.io.PrintStream;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Rows as text in columns, with numbers aligned to the right. A line has no control characters, and
 * is one row.
 */
final class TextTable {
  private final List<String> headers = new ArrayList<>();
  private final List<Boolean> numeric = new ArrayList<>();
  private final List<List<String>> rows = new ArrayList<>();

  private TextTable() {}

  /** A table of texts without rows; {@link #row} adds them. */
  static TextTable withColumns(String... labels) {
    TextTable table = new TextTable();
    for (String label : labels) {
      table.headers.add(label);
      table.numeric.add(false);
    }
    return table;
  }

  void row(@Nullable Object... cells) {
    List<String> row = new ArrayList<>(cells.length);
    for (Object cell : cells) {
      row.add(cell == null ? "" : cell.toString());
    }
    rows.add(row);
  }

  /** A table with all rows of a result. */
  static TextTable of(ResultSet result) throws SQLException {
    return of(result, text -> text == null ? "NULL" : text);
  }

  /**
   * A table with all rows of a result.
   *
   * @param cell makes the text of a cell from a value, which may be null
   */
  static TextTable of(ResultSet result, Function<@Nullable String, String> cell)
      throws SQLException {
    TextTable table = new TextTable();
    ResultSetMetaData meta = result.getMetaData();
    int columns = meta.getColumnCount();
    for (int i = 1; i <= columns; i++) {
      table.headers.add(meta.getColumnLabel(i));
      table.numeric.add(isNumber(meta.getColumnType(i)));
    }
    while (result.next()) {
      List<String> row = new ArrayList<>(columns);
      for (int i = 1; i <= columns; i++) {
        row.add(cell.apply(result.getString(i)));
      }
      table.rows.add(row);
    }
    return table;
  }

  private static boolean isNumber(int type) {
    return switch (type) {
      case java.sql.Types.TINYINT,
          java.sql.Types.SMALLINT,
          java.sql.Types.INTEGER,
          java.sql.Types.BIGINT,
          java.sql.Types.NUMERIC,
          java.sql.Types.DECIMAL,
          java.sql.Types.REAL,
          java.sql.Types.FLOAT,
          java.sql.Types.DOUBLE ->
          true;
      default -> false;
    };
  }

  void print(PrintStream out) {
    lines().forEach(out::println);
    out.println(rows.size() == 1 ? "1 row" : rows.size() + " rows");
  }

  /** The headers, a rule, and a line for each row. */
  List<String> lines() {
    int[] widths = new int[headers.size()];
    for (int i = 0; i < widths.length; i++) {
      widths[i] = headers.get(i).length();
      for (List<String> row : rows) {
        widths[i] = Math.max(widths[i], row.get(i).length());
      }
    }
    List<String> lines = new ArrayList<>();
    lines.add(line(headers, widths));
    List<String> rule = new ArrayList<>();
    for (int width : widths) {
      rule.add("-".repeat(width));
    }
    lines.add(line(rule, widths));
    rows.forEach(row -> lines.add(line(row, widths)));
    return lines;
  }

  private String line(List<String> cells, int[] widths) {
    StringBuilder line = new StringBuilder();
    for (int i = 0; i < widths.length; i++) {
      String pad = " ".repeat(widths[i] - cells.get(i).length());
      line.append(i == 0 ? "" : "  ");
      line.append(numeric.get(i) ? pad + cells.get(i) : cells.get(i) + pad);
    }
    return Text.printable(line.toString()).stripTrailing();
  }
}
