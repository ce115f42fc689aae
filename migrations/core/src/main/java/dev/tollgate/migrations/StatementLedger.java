package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Counts the statements of scripts and change sets on Tollgate, for tools that write their own
 * history only at the end of one. After a run that died, the next run learns which statements are
 * done (ADR 0058).
 *
 * <p>The ledger is a table with a row for each unit that has been begun and is not finished. The
 * row changes on the connection of the tool, in the transaction of each statement. The table is
 * fenced by the lock of the run, and so has to be the session of that connection ({@link
 * FencedSession#fence}).
 *
 * <p>Not thread-safe.
 */
public final class StatementLedger {
  private static final int KEY_CHARACTERS = 1_000;
  private static final String KEY = "unit";

  private static final String COLUMNS =
      """
      (unit VARCHAR(1000) PRIMARY KEY,
       host VARCHAR(200) NOT NULL,
       token BIGINT NOT NULL,
      """
          + StatementProgress.COLUMNS
          + ")";

  private final Connection connection;
  private final MigrationLock lock;
  private final SchemaTable table;

  private StatementLedger(Connection connection, MigrationLock lock, SchemaTable table) {
    this.connection = requireNonNull(connection, "connection");
    this.lock = requireNonNull(lock, "lock");
    this.table = requireNonNull(table, "table");
  }

  /**
   * The ledger in the schema that the connection has now.
   *
   * @param connection the connection on which the tool runs its statements
   * @param table its name; tools with different locks need different tables
   */
  public static StatementLedger of(Connection connection, MigrationLock lock, String table)
      throws SQLException, MigrationException {
    if (!Database.isTollgate(connection)) {
      throw new MigrationException(
          MigrationException.Reason.INPUT,
          "only Tollgate runs a definition and commits the count of statements at once: on another"
              + " database use a transaction and the row of the fence");
    }
    return new StatementLedger(
        connection, lock, SchemaTable.of(connection, MigrationSettings.requireTableName(table)));
  }

  /**
   * The units that were begun and are not finished, on any connection and without the lock.
   *
   * @param table the ledger, in the schema that the connection has now
   */
  public static List<String> underWay(Connection connection, String table) throws SQLException {
    SchemaTable ledger = SchemaTable.of(connection, table);
    List<String> units = new ArrayList<>();
    if (!ledger.exists(connection)) {
      return units;
    }
    try (Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT unit FROM " + ledger.qualified() + " WHERE attempted > 0 ORDER BY unit")) {
      while (row.next()) {
        units.add(row.getString(1));
      }
    }
    return units;
  }

  /** Makes the table unless it is there. Call it without an open transaction. */
  public void prepare() throws SQLException {
    table.create(connection, COLUMNS + MigrationLock.fenceClause(lock.name()));
  }

  /**
   * Begins a script or change set, or goes on with one that an earlier run has begun.
   *
   * @param key what tells the unit from all others, such as its path; the same also after the text
   *     behind the failed statement was corrected; at most 1,000 characters
   */
  public LedgerUnit begin(String key) throws SQLException, MigrationException {
    if (key.length() > KEY_CHARACTERS) {
      throw new MigrationException(
          MigrationException.Reason.INPUT,
          "the name of a script or change set has more than 1,000 characters: " + key);
    }
    return LedgerUnit.begin(this, key);
  }

  /**
   * Removes the row of a unit, if there is one. Call it in the transaction in which the tool
   * records that the unit is done, or after that transaction, but not before.
   */
  public void finished(String key) throws SQLException {
    try (PreparedStatement delete =
        connection.prepareStatement("DELETE FROM " + table.qualified() + " WHERE unit = ?")) {
      delete.setString(1, key);
      delete.executeUpdate();
    }
  }

  /**
   * Records what an operator has found out about the statement at which an earlier run ended.
   *
   * @return whether the ledger has such a statement of that unit
   */
  public boolean settle(String key, boolean tookEffect) throws SQLException {
    Optional<Row> row = row(key);
    if (row.isEmpty() || !row.get().progress().hasUnknownStatement()) {
      return false;
    }
    update(key, row.get().progress().settled(tookEffect)).execute(connection);
    return true;
  }

  /** What the ledger knows of a unit, and under which token of the lock that was written. */
  record Row(StatementProgress progress, long token, String host) {}

  Optional<Row> row(String key) throws SQLException {
    try (PreparedStatement query =
        connection.prepareStatement(
            "SELECT token, host, "
                + StatementProgress.NAMES
                + " FROM "
                + table.qualified()
                + " WHERE unit = ?")) {
      query.setString(1, key);
      try (ResultSet row = query.executeQuery()) {
        return row.next()
            ? Optional.of(
                new Row(StatementProgress.read(row), row.getLong("token"), row.getString("host")))
            : Optional.empty();
      }
    }
  }

  /** Writes into the row of a unit, and makes it if the tool has rolled it back. */
  void write(String key, StatementProgress progress) throws SQLException {
    if (update(key, progress).execute(connection) == 0) {
      insert(key);
      update(key, progress).execute(connection);
    }
  }

  /** What {@link #write} does to a row that is there, to be done together with a definition. */
  RowUpdate update(String key, StatementProgress progress) {
    return progress.update(table, KEY, key);
  }

  /** Makes the row of a unit unless it is there. */
  void begun(String key) throws SQLException {
    if (row(key).isEmpty()) {
      insert(key);
    }
  }

  private void insert(String key) throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement(
            "INSERT INTO "
                + table.qualified()
                + "(unit, host, token, done, done_checksum, attempted, attempted_checksum)"
                + " VALUES (?, ?, ?, 0, 0, 0, 0)")) {
      insert.setString(1, key);
      insert.setString(2, RunBy.of(connection).host());
      insert.setLong(3, lock.token());
      insert.executeUpdate();
    }
  }

  /** What an operator says so that the next run knows what became of a statement. */
  String advice(String key) {
    String where = " WHERE unit = '" + key.replace("'", "''") + "';\n";
    return "  SELECT acquire_lock('"
        + lock.name().replace("'", "''")
        + "');\n  UPDATE "
        + table.qualified()
        + " SET done = attempted, done_checksum = attempted_checksum"
        + where
        + "or, if it did not take effect,\n  UPDATE "
        + table.qualified()
        + " SET attempted = done, attempted_checksum = done_checksum"
        + where;
  }

  Connection connection() {
    return connection;
  }
}
