package dev.tollgate.samples.metadata;

import java.io.PrintStream;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * Prints what a database tool shows in its tree: schemas, tables, columns, keys and indexes, all
 * from {@link DatabaseMetaData}.
 *
 * <p>Run it: {@code samples/tools/run.sh metadata.SchemaBrowser}.
 */
public final class SchemaBrowser {
  private final DatabaseMetaData meta;
  private final PrintStream out;

  public SchemaBrowser(DatabaseMetaData meta, PrintStream out) {
    this.meta = meta;
    this.out = out;
  }

  public void print() throws SQLException {
    out.println(meta.getDatabaseProductName() + " " + meta.getDatabaseProductVersion());
    out.println(meta.getDriverName() + " " + meta.getDriverVersion());
    for (String schema : names(meta.getSchemas(), "TABLE_SCHEM")) {
      if (!"INFORMATION_SCHEMA".equals(schema)) {
        out.println(schema);
        printTables(schema);
      }
    }
  }

  private void printTables(String schema) throws SQLException {
    for (String table : names(meta.getTables(null, schema, "%", null), "TABLE_NAME")) {
      out.println("  " + table);
      printColumns(schema, table);
      for (String column : names(meta.getPrimaryKeys(null, schema, table), "COLUMN_NAME")) {
        out.println("    primary key " + column);
      }
      try (ResultSet keys = meta.getImportedKeys(null, schema, table)) {
        while (keys.next()) {
          out.println(
              "    foreign key "
                  + keys.getString("FKCOLUMN_NAME")
                  + " -> "
                  + keys.getString("PKTABLE_NAME")
                  + "."
                  + keys.getString("PKCOLUMN_NAME"));
        }
      }
      try (ResultSet indexes = meta.getIndexInfo(null, schema, table, false, true)) {
        while (indexes.next()) {
          out.println(
              "    index "
                  + indexes.getString("INDEX_NAME")
                  + "."
                  + indexes.getString("COLUMN_NAME"));
        }
      }
    }
  }

  private void printColumns(String schema, String table) throws SQLException {
    try (ResultSet columns = meta.getColumns(null, schema, table, "%")) {
      while (columns.next()) {
        out.println(
            "    "
                + columns.getString("COLUMN_NAME")
                + " "
                + columns.getString("TYPE_NAME")
                + ("NO".equals(columns.getString("IS_NULLABLE")) ? " not null" : ""));
      }
    }
  }

  private static List<String> names(ResultSet rows, String column) throws SQLException {
    List<String> names = new ArrayList<>();
    try (rows) {
      while (rows.next()) {
        names.add(rows.getString(column));
      }
    }
    return names;
  }

  /**
   * @param arguments the JDBC URL
   */
  public static void main(String[] arguments) throws SQLException {
    try (Connection connection = DriverManager.getConnection(arguments[0])) {
      new SchemaBrowser(connection.getMetaData(), System.out).print();
    }
  }
}
