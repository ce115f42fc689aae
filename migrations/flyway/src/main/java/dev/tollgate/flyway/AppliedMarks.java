package dev.tollgate.flyway;

import static java.util.Objects.requireNonNull;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.flywaydb.core.api.MigrationInfo;
import org.jspecify.annotations.Nullable;

/**
 * Table tollgate_applied of another database: the migrations that are committed and that the
 * history may not have yet. A mark stands for the missing row of one run alone: it counts until the
 * history has that row, or any other row that no mark of this run explains.
 */
final class AppliedMarks {
  private static final String TABLE = "tollgate_applied";

  /** The last row of the history when the migration was committed. */
  private static final String RANK = "history_rank";

  private static final String COLUMNS =
      "(name VARCHAR(200) NOT NULL, script VARCHAR(1000) NOT NULL, checksum INT, "
          + RANK
          + " INT, PRIMARY KEY (name, script))";

  private final String lock;
  private final HistoryPlace history;
  private final String table;

  AppliedMarks(String lock, HistoryPlace history) {
    this.lock = requireNonNull(lock, "lock");
    this.history = requireNonNull(history, "history");
    this.table = history.beside(TABLE);
  }

  /** Makes the table unless it is there, and forgets what stands for no missing row. */
  void prepare(Connection connection) throws SQLException {
    List<String> columns = columns(connection);
    if (columns.isEmpty()) {
      execute(connection, "CREATE TABLE " + table + COLUMNS);
    } else if (!columns.contains(RANK)) {
      execute(connection, "ALTER TABLE " + table + " ADD COLUMN " + RANK + " INT");
    }
    forget(connection);
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** In lower case; empty if there is no table. */
  private List<String> columns(Connection connection) throws SQLException {
    List<String> columns = new ArrayList<>();
    try (ResultSet column =
        connection.getMetaData().getColumns(connection.getCatalog(), history.schema(), "%", null)) {
      while (column.next()) {
        if (column.getString("TABLE_NAME").equalsIgnoreCase(TABLE)) {
          columns.add(column.getString("COLUMN_NAME").toLowerCase(Locale.ROOT));
        }
      }
    }
    return columns;
  }

  /**
   * @param rank null for a mark of an earlier version of this class
   */
  private record Mark(String script, @Nullable Integer checksum, @Nullable Integer rank) {}

  private record Row(int rank, String script, @Nullable Integer checksum, boolean success) {
    boolean isOf(Mark mark) {
      return success
          && script.equals(mark.script())
          && Objects.equals(checksum, mark.checksum())
          && (mark.rank() == null || rank > mark.rank());
    }
  }

  /** Forgets the marks whose row the history has, and those that the history does not follow. */
  void forget(Connection connection) throws SQLException {
    List<Mark> marks = marks(connection);
    if (marks.isEmpty()) {
      return;
    }
    List<Row> rows = rows(connection);
    int last = rows.isEmpty() ? 0 : rows.get(rows.size() - 1).rank();
    Set<Integer> explained = new TreeSet<>();
    Set<Mark> written = new HashSet<>();
    for (Mark mark : marks) {
      lastOf(mark, rows)
          .filter(row -> row.isOf(mark))
          .ifPresent(
              row -> {
                explained.add(row.rank());
                written.add(mark);
              });
    }
    for (Mark mark : marks) {
      boolean stale =
          mark.rank() != null
              && (last < mark.rank()
                  || rows.stream()
                      .anyMatch(
                          row -> row.rank() > mark.rank() && !explained.contains(row.rank())));
      if (written.contains(mark) || stale) {
        forget(connection, mark.script());
      }
    }
    update(connection, "UPDATE " + table + " SET " + RANK + " = ? WHERE name = ?", last, lock);
  }

  /** A repeatable script may have had the checksum of the mark before. */
  private static Optional<Row> lastOf(Mark mark, List<Row> rows) {
    return rows.stream()
        .filter(row -> row.script().equals(mark.script()))
        .reduce((earlier, later) -> later);
  }

  private List<Mark> marks(Connection connection) throws SQLException {
    List<Mark> marks = new ArrayList<>();
    try (PreparedStatement query =
        connection.prepareStatement(
            "SELECT script, checksum, " + RANK + " FROM " + table + " WHERE name = ?")) {
      query.setString(1, lock);
      try (ResultSet row = query.executeQuery()) {
        while (row.next()) {
          marks.add(
              new Mark(
                  row.getString(1),
                  row.getObject(2, Integer.class),
                  row.getObject(3, Integer.class)));
        }
      }
    }
    return marks;
  }

  /** In their order. */
  private List<Row> rows(Connection connection) throws SQLException {
    List<Row> rows = new ArrayList<>();
    try (Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT "
                    + Stream.of("installed_rank", "script", "checksum", "success")
                        .map(history::quoted)
                        .collect(Collectors.joining(", "))
                    + " FROM "
                    + history.qualified()
                    + " ORDER BY "
                    + history.quoted("installed_rank"))) {
      while (row.next()) {
        rows.add(
            new Row(
                row.getInt(1),
                row.getString(2),
                row.getObject(3, Integer.class),
                row.getBoolean(4)));
      }
    }
    return rows;
  }

  private void forget(Connection connection, String script) throws SQLException {
    update(connection, "DELETE FROM " + table + " WHERE name = ? AND script = ?", lock, script);
  }

  /** Forgets all, when the history has all. */
  void forgetAll(Connection connection) throws SQLException {
    update(connection, "DELETE FROM " + table + " WHERE name = ?", lock);
  }

  boolean has(Connection connection, MigrationInfo migration) throws SQLException {
    try (PreparedStatement query =
        connection.prepareStatement(
            "SELECT checksum FROM " + table + " WHERE name = ? AND script = ?")) {
      query.setString(1, lock);
      query.setString(2, migration.getScript());
      try (ResultSet row = query.executeQuery()) {
        return row.next()
            && Objects.equals(row.getObject(1, Integer.class), migration.getChecksum());
      }
    }
  }

  void set(Connection connection, MigrationInfo migration) throws SQLException {
    List<Row> rows = rows(connection);
    forget(connection, migration.getScript());
    update(
        connection,
        "INSERT INTO " + table + "(name, script, checksum, " + RANK + ") VALUES (?, ?, ?, ?)",
        lock,
        migration.getScript(),
        migration.getChecksum(),
        rows.isEmpty() ? 0 : rows.get(rows.size() - 1).rank());
  }

  private static void update(Connection connection, String sql, @Nullable Object... values)
      throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < values.length; i++) {
        statement.setObject(i + 1, values[i]);
      }
      statement.executeUpdate();
    }
  }

  /** Flyway cannot be told to skip a migration that is no script. */
  String advice(MigrationInfo migration) {
    return "an earlier run has applied "
        + migration.getScript()
        + ", and died before Flyway's history had it: insert its row into "
        + history.qualified()
        + ", or, to apply it again, delete its row from "
        + table;
  }
}
