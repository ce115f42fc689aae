package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The history table of a schema, on the connection that runs the scripts, so that what it says
 * commits together with what the scripts did.
 */
final class History {
  private static final String COLUMNS =
      """
      (installed_rank INT PRIMARY KEY,
       version VARCHAR(400),
       description VARCHAR(1000) NOT NULL,
       script VARCHAR(2000) NOT NULL,
       checksum INT,
       installed_by VARCHAR(200) NOT NULL,
       host VARCHAR(200) NOT NULL,
       token BIGINT NOT NULL,
       started_at TIMESTAMP NOT NULL,
       finished_at TIMESTAMP,
       duration_ms BIGINT,
       success BOOLEAN,
       statements INT NOT NULL,
      """
          + StatementProgress.COLUMNS
          + ",\n error VARCHAR(2000))";

  private static final int ERROR_CHARACTERS = 2_000;

  private final Connection connection;
  private final SchemaTable table;

  private History(Connection connection, SchemaTable table) {
    this.connection = requireNonNull(connection, "connection");
    this.table = requireNonNull(table, "table");
  }

  /** The history of the schema that the connection has now, also if a script sets another. */
  static History of(Connection connection, String table) throws SQLException {
    return new History(connection, SchemaTable.of(connection, table));
  }

  /** Schema and table, as the default name of the lock has them. */
  String path() {
    return table.path();
  }

  boolean exists() throws SQLException {
    return table.exists(connection);
  }

  /** Makes the table unless it is there; the clause binds it to the lock where there are fences. */
  void create(String clause) throws SQLException {
    table.create(connection, COLUMNS + clause);
  }

  /** All rows in order. */
  List<HistoryRow> rows() throws SQLException, MigrationException {
    return rows("");
  }

  /** A row that is there. */
  HistoryRow row(int rank) throws SQLException, MigrationException {
    List<HistoryRow> rows = rows(" WHERE installed_rank = " + rank);
    if (rows.isEmpty()) {
      throw new SQLException("row " + rank + " of " + table.qualified() + " is gone", "HY000");
    }
    return rows.get(0);
  }

  private List<HistoryRow> rows(String condition) throws SQLException, MigrationException {
    List<HistoryRow> rows = new ArrayList<>();
    try (Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT "
                    + HistoryRow.COLUMNS
                    + " FROM "
                    + table.qualified()
                    + condition
                    + " ORDER BY installed_rank")) {
      while (row.next()) {
        rows.add(HistoryRow.read(row));
      }
    }
    return rows;
  }

  /** Adds a row for a script of which nothing is done; returns its rank. */
  int begin(Script script, long token) throws SQLException {
    int rank = nextRank();
    RunBy by = RunBy.of(connection);
    update(
        "INSERT INTO "
            + table.qualified()
            + "(installed_rank, version, description, script, checksum, installed_by, host, token,"
            + " started_at, statements, done, done_checksum, attempted, attempted_checksum)"
            + " VALUES (?, ?, ?, ?, ?, ?, ?, ?, CURRENT_TIMESTAMP, ?, 0, 0, 0, 0)",
        rank,
        script.version().map(Version::toString).orElse(null),
        script.description(),
        script.path(),
        script.checksum(),
        by.user(),
        by.host(),
        token,
        script.statements().size());
    return rank;
  }

  /** Takes over the row of a script that an earlier run has begun. */
  void resume(int rank, Script script, StatementProgress done, long token) throws SQLException {
    mark(rank, done);
    RunBy by = RunBy.of(connection);
    update(
        "UPDATE "
            + table.qualified()
            + " SET script = ?, checksum = ?, statements = ?, installed_by = ?, host = ?,"
            + " token = ?, success = NULL, error = NULL, finished_at = NULL, duration_ms = NULL"
            + " WHERE installed_rank = ?",
        script.path(),
        script.checksum(),
        script.statements().size(),
        by.user(),
        by.host(),
        token,
        rank);
  }

  /** Records what an operator knows of the last statement that an earlier run has sent. */
  void settle(HistoryRow row, boolean tookEffect) throws SQLException {
    mark(row.rank(), row.progress().settled(tookEffect));
  }

  /** Records how far a script has come. */
  void mark(int rank, StatementProgress progress) throws SQLException {
    requireOne(progressUpdate(rank, progress).execute(connection));
  }

  /** What {@link #mark} does, to be done together with a definition. */
  RowUpdate progressUpdate(int rank, StatementProgress progress) {
    return progress.update(table, "installed_rank", rank);
  }

  /** Records that all statements are done. */
  void finish(int rank, StatementProgress all, Duration took) throws SQLException {
    mark(rank, all);
    end(rank, true, took, null);
  }

  /** Records that the statement after the done ones failed and has changed nothing. */
  void fail(int rank, StatementProgress done, Duration took, String error) throws SQLException {
    mark(rank, done);
    end(rank, false, took, error);
  }

  private void end(int rank, boolean success, Duration took, @Nullable String error)
      throws SQLException {
    update(
        "UPDATE "
            + table.qualified()
            + " SET success = ?, duration_ms = ?, error = ?, finished_at = CURRENT_TIMESTAMP"
            + " WHERE installed_rank = ?",
        success,
        took.toMillis(),
        error == null ? null : shortened(error),
        rank);
  }

  void setChecksum(int rank, @Nullable Integer checksum) throws SQLException {
    update(
        "UPDATE " + table.qualified() + " SET checksum = ? WHERE installed_rank = ?",
        checksum,
        rank);
  }

  void remove(int rank) throws SQLException {
    update("DELETE FROM " + table.qualified() + " WHERE installed_rank = ?", rank);
  }

  private int nextRank() throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT COALESCE(MAX(installed_rank), 0) + 1 FROM " + table.qualified())) {
      row.next();
      return row.getInt(1);
    }
  }

  private void update(String sql, @Nullable Object... values) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < values.length; i++) {
        statement.setObject(i + 1, values[i]);
      }
      requireOne(statement.executeUpdate());
    }
  }

  private void requireOne(int changed) throws SQLException {
    if (changed != 1) {
      throw new SQLException(
          "history table "
              + table.qualified()
              + " was changed by another program during the run: "
              + changed
              + " rows in the place of one",
          "HY000");
    }
  }

  private static String shortened(String error) {
    return error.length() <= ERROR_CHARACTERS ? error : error.substring(0, ERROR_CHARACTERS);
  }
}
