package dev.tollgate.flyway;

import static java.util.Objects.requireNonNull;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Objects;
import org.flywaydb.core.api.MigrationInfo;

/**
 * Table tollgate_applied of another database: the migrations that are committed and that the
 * history may not have yet.
 */
final class AppliedMarks {
  private static final String TABLE = "tollgate_applied";
  private static final String COLUMNS =
      "(name VARCHAR(200) NOT NULL, script VARCHAR(1000) NOT NULL, checksum INT,"
          + " PRIMARY KEY (name, script))";

  private final String lock;
  private final HistoryPlace history;
  private final String table;

  AppliedMarks(String lock, HistoryPlace history) {
    this.lock = requireNonNull(lock, "lock");
    this.history = requireNonNull(history, "history");
    this.table = history.beside(TABLE);
  }

  /** Makes the table unless it is there, and forgets what the history has. */
  void prepare(Connection connection) throws SQLException {
    if (!isThere(connection)) {
      try (Statement statement = connection.createStatement()) {
        statement.execute("CREATE TABLE " + table + COLUMNS);
      }
    }
    forgetWhatIsWritten(connection);
  }

  private boolean isThere(Connection connection) throws SQLException {
    try (ResultSet tables =
        connection.getMetaData().getTables(connection.getCatalog(), history.schema(), "%", null)) {
      while (tables.next()) {
        if (tables.getString("TABLE_NAME").equalsIgnoreCase(TABLE)) {
          return true;
        }
      }
      return false;
    }
  }

  /** The last row of a script tells: a repeatable one may have had this checksum before. */
  private void forgetWhatIsWritten(Connection connection) throws SQLException {
    String script = history.quoted("script");
    String rank = history.quoted("installed_rank");
    update(
        connection,
        "DELETE FROM "
            + table
            + " WHERE name = ? AND EXISTS (SELECT 1 FROM "
            + history.qualified()
            + " h WHERE h."
            + script
            + " = "
            + table
            + ".script AND h."
            + history.quoted("success")
            + " AND (h."
            + history.quoted("checksum")
            + " = "
            + table
            + ".checksum OR (h."
            + history.quoted("checksum")
            + " IS NULL AND "
            + table
            + ".checksum IS NULL)) AND h."
            + rank
            + " = (SELECT MAX(l."
            + rank
            + ") FROM "
            + history.qualified()
            + " l WHERE l."
            + script
            + " = "
            + table
            + ".script))",
        lock);
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
    update(
        connection,
        "DELETE FROM " + table + " WHERE name = ? AND script = ?",
        lock,
        migration.getScript());
    update(
        connection,
        "INSERT INTO " + table + "(name, script, checksum) VALUES (?, ?, ?)",
        lock,
        migration.getScript(),
        migration.getChecksum());
  }

  private static void update(Connection connection, String sql, Object... values)
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
