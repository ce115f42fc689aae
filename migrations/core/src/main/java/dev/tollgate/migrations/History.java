package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
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
       done INT NOT NULL,
       done_checksum BIGINT NOT NULL,
       attempted INT NOT NULL,
       attempted_checksum BIGINT NOT NULL,
       definitions VARCHAR(64),
       error VARCHAR(2000))""";

  private static final int ERROR_CHARACTERS = 2_000;
  private static final int NAME_CHARACTERS = 200;

  private final Connection connection;
  private final @Nullable String schema;
  private final String table;
  private final String quote;
  private final String qualifiedTable;

  private History(Connection connection, @Nullable String schema, String table, String quote) {
    this.connection = connection;
    this.schema = schema;
    this.table = table;
    this.quote = quote;
    this.qualifiedTable = inSameSchema(table);
  }

  /** The history of the schema that the connection has now, also if a script sets another. */
  static History of(Connection connection, String table) throws SQLException {
    return new History(
        requireNonNull(connection, "connection"),
        connection.getSchema(),
        table,
        connection.getMetaData().getIdentifierQuoteString());
  }

  /** Schema and table, as the default name of the lock has them. */
  String path() {
    return schema == null ? table : schema + "." + table;
  }

  /** Another table, as statements name it. */
  String inSameSchema(String name) {
    return schema == null
        ? name
        : quote + schema.replace(quote, quote + quote) + quote + "." + name;
  }

  boolean exists() throws SQLException {
    DatabaseMetaData meta = connection.getMetaData();
    String stored =
        meta.storesUpperCaseIdentifiers()
            ? table.toUpperCase(Locale.ROOT)
            : meta.storesLowerCaseIdentifiers() ? table.toLowerCase(Locale.ROOT) : table;
    try (ResultSet tables =
        meta.getTables(
            connection.getCatalog(),
            schema == null ? null : escaped(meta, schema),
            escaped(meta, stored),
            null)) {
      return tables.next();
    }
  }

  private static String escaped(DatabaseMetaData meta, String name) throws SQLException {
    String escape = meta.getSearchStringEscape();
    return name.replace(escape, escape + escape)
        .replace("_", escape + "_")
        .replace("%", escape + "%");
  }

  /** Makes the table, which the clause binds to its lock where the database has such clauses. */
  void create(String clause) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE " + qualifiedTable + COLUMNS + clause);
    }
  }

  /** All rows in order. */
  List<HistoryRow> rows() throws SQLException, MigrationException {
    return rows("");
  }

  /** A row that is there. */
  HistoryRow row(int rank) throws SQLException, MigrationException {
    List<HistoryRow> rows = rows(" WHERE installed_rank = " + rank);
    if (rows.isEmpty()) {
      throw new SQLException("row " + rank + " of " + qualifiedTable + " is gone", "HY000");
    }
    return rows.get(0);
  }

  private List<HistoryRow> rows(String condition) throws SQLException, MigrationException {
    List<HistoryRow> rows = new ArrayList<>();
    try (Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT installed_rank, version, description, script, checksum, host, token,"
                    + " started_at, duration_ms, success, statements, done, done_checksum,"
                    + " attempted, attempted_checksum, definitions, error FROM "
                    + qualifiedTable
                    + condition
                    + " ORDER BY installed_rank")) {
      while (row.next()) {
        rows.add(read(row));
      }
    }
    return rows;
  }

  private static HistoryRow read(ResultSet row) throws SQLException, MigrationException {
    String version = row.getString("version");
    int checksum = row.getInt("checksum");
    boolean hasChecksum = !row.wasNull();
    long tookMillis = row.getLong("duration_ms");
    boolean ended = !row.wasNull();
    boolean success = row.getBoolean("success");
    boolean known = !row.wasNull();
    return new HistoryRow(
        row.getInt("installed_rank"),
        version == null ? null : Version.parse(version),
        row.getString("description"),
        row.getString("script"),
        hasChecksum ? checksum : null,
        row.getString("host"),
        row.getLong("token"),
        row.getTimestamp("started_at").toLocalDateTime(),
        ended ? Duration.ofMillis(tookMillis) : null,
        known ? success : null,
        row.getInt("statements"),
        row.getInt("done"),
        row.getLong("done_checksum"),
        row.getInt("attempted"),
        row.getLong("attempted_checksum"),
        row.getString("definitions"),
        row.getString("error"));
  }

  /** Adds a row for a script of which nothing is done; returns its rank. */
  int begin(Script script, long token) throws SQLException {
    int rank = nextRank();
    update(
        "INSERT INTO "
            + qualifiedTable
            + "(installed_rank, version, description, script, checksum, installed_by, host, token,"
            + " started_at, statements, done, done_checksum, attempted, attempted_checksum)"
            + " VALUES (?, ?, ?, ?, ?, ?, ?, ?, CURRENT_TIMESTAMP, ?, 0, 0, 0, 0)",
        rank,
        script.version().map(Version::toString).orElse(null),
        script.description(),
        script.path(),
        script.checksum(),
        shortened(user(), NAME_CHARACTERS),
        shortened(host(), NAME_CHARACTERS),
        token,
        script.statements().size());
    return rank;
  }

  /** Takes over the row of a script that an earlier run has begun. */
  void resume(int rank, Script script, int done, long token) throws SQLException {
    mark(rank, script, done, done, null);
    update(
        "UPDATE "
            + qualifiedTable
            + " SET script = ?, checksum = ?, statements = ?, installed_by = ?, host = ?,"
            + " token = ?, success = NULL, error = NULL, finished_at = NULL, duration_ms = NULL"
            + " WHERE installed_rank = ?",
        script.path(),
        script.checksum(),
        script.statements().size(),
        shortened(user(), NAME_CHARACTERS),
        shortened(host(), NAME_CHARACTERS),
        token,
        rank);
  }

  /** Records that statements are done, and that so many are sent before the next commit. */
  void mark(int rank, Script script, int done, int attempted, @Nullable String definitions)
      throws SQLException {
    mark(rank, done, script.checksumOf(done), attempted, script.checksumOf(attempted), definitions);
  }

  /** Records what an operator knows of the last statement that an earlier run has sent. */
  void settle(HistoryRow row, boolean tookEffect) throws SQLException {
    int done = tookEffect ? row.attempted() : row.done();
    long checksum = tookEffect ? row.attemptedChecksum() : row.doneChecksum();
    mark(row.rank(), done, checksum, done, checksum, null);
  }

  private void mark(
      int rank,
      int done,
      long doneChecksum,
      int attempted,
      long attemptedChecksum,
      @Nullable String definitions)
      throws SQLException {
    update(
        "UPDATE "
            + qualifiedTable
            + " SET done = ?, done_checksum = ?, attempted = ?, attempted_checksum = ?,"
            + " definitions = ? WHERE installed_rank = ?",
        done,
        doneChecksum,
        attempted,
        attemptedChecksum,
        definitions,
        rank);
  }

  /** Records that all statements are done. */
  void finish(int rank, Script script, Duration took) throws SQLException {
    int all = script.statements().size();
    mark(rank, script, all, all, null);
    end(rank, true, took, null);
  }

  /** Records that the statement after the done ones failed and has changed nothing. */
  void fail(int rank, Script script, int done, Duration took, String error) throws SQLException {
    mark(rank, script, done, done, null);
    end(rank, false, took, error);
  }

  private void end(int rank, boolean success, Duration took, @Nullable String error)
      throws SQLException {
    update(
        "UPDATE "
            + qualifiedTable
            + " SET success = ?, duration_ms = ?, error = ?, finished_at = CURRENT_TIMESTAMP"
            + " WHERE installed_rank = ?",
        success,
        took.toMillis(),
        error == null ? null : shortened(error, ERROR_CHARACTERS),
        rank);
  }

  void setChecksum(int rank, @Nullable Integer checksum) throws SQLException {
    update(
        "UPDATE " + qualifiedTable + " SET checksum = ? WHERE installed_rank = ?", checksum, rank);
  }

  void remove(int rank) throws SQLException {
    update("DELETE FROM " + qualifiedTable + " WHERE installed_rank = ?", rank);
  }

  private int nextRank() throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT COALESCE(MAX(installed_rank), 0) + 1 FROM " + qualifiedTable)) {
      row.next();
      return row.getInt(1);
    }
  }

  private void update(String sql, @Nullable Object... values) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < values.length; i++) {
        statement.setObject(i + 1, values[i]);
      }
      int changed = statement.executeUpdate();
      if (changed != 1) {
        throw new SQLException(
            "history table "
                + qualifiedTable
                + " was changed by another program during the run: "
                + changed
                + " rows in the place of one",
            "HY000");
      }
    }
  }

  private String user() throws SQLException {
    String user = connection.getMetaData().getUserName();
    return user == null || user.isBlank() ? System.getProperty("user.name", "") : user;
  }

  private static String host() {
    try {
      return InetAddress.getLocalHost().getHostName();
    } catch (UnknownHostException e) {
      return "unknown";
    }
  }

  private static String shortened(String text, int characters) {
    return text.length() <= characters ? text : text.substring(0, characters);
  }
}
