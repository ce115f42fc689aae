package dev.tollgate.migrations;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * How far a script or change set has come, in what is committed (ADR 0058).
 *
 * @param done how many statements have taken effect
 * @param attempted how many statements were sent: the done ones or one more
 * @param attemptedChecksum of that many statements, as {@link StatementChecksum} has it
 * @param definitions the state of all definitions before the last attempted statement, if known
 */
record StatementProgress(
    int done,
    long doneChecksum,
    int attempted,
    long attemptedChecksum,
    @Nullable String definitions) {
  /** The columns, as CREATE TABLE has them. */
  static final String COLUMNS =
      """
       done INT NOT NULL,
       done_checksum BIGINT NOT NULL,
       attempted INT NOT NULL,
       attempted_checksum BIGINT NOT NULL,
       definitions VARCHAR(64)""";

  /** The names of the columns. */
  static final String NAMES = "done, done_checksum, attempted, attempted_checksum, definitions";

  static final StatementProgress NONE = done(0, 0);

  StatementProgress {
    if (attempted != done && attempted != done + 1) {
      throw new IllegalArgumentException(done + " statements done, " + attempted + " attempted");
    }
  }

  /** Nothing is under way. */
  static StatementProgress done(int count, long checksum) {
    return new StatementProgress(count, checksum, count, checksum, null);
  }

  /** Of a row with columns {@link #NAMES}. */
  static StatementProgress read(ResultSet row) throws SQLException {
    return new StatementProgress(
        row.getInt("done"),
        row.getLong("done_checksum"),
        row.getInt("attempted"),
        row.getLong("attempted_checksum"),
        row.getString("definitions"));
  }

  /** Writes this into the row of a table, if the row is there; returns how many rows that were. */
  int write(Connection connection, SchemaTable table, String keyColumn, Object key)
      throws SQLException {
    try (PreparedStatement update =
        connection.prepareStatement(
            "UPDATE "
                + table.qualified()
                + " SET done = ?, done_checksum = ?, attempted = ?, attempted_checksum = ?,"
                + " definitions = ? WHERE "
                + keyColumn
                + " = ?")) {
      update.setInt(1, done);
      update.setLong(2, doneChecksum);
      update.setInt(3, attempted);
      update.setLong(4, attemptedChecksum);
      update.setString(5, definitions);
      update.setObject(6, key);
      return update.executeUpdate();
    }
  }

  boolean hasUnknownStatement() {
    return attempted > done;
  }

  /** After it has been found out what became of the last attempted statement. */
  StatementProgress settled(boolean tookEffect) {
    return tookEffect ? done(attempted, attemptedChecksum) : done(done, doneChecksum);
  }
}
