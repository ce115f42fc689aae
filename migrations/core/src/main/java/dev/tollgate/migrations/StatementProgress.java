package dev.tollgate.migrations;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;

/**
 * How far a script or change set has come, in what is committed (ADR 0058).
 *
 * @param done how many statements have taken effect
 * @param attempted how many statements were sent: the done ones or one more
 * @param attemptedChecksum of that many statements, as {@link StatementChecksum} has it
 */
record StatementProgress(int done, long doneChecksum, int attempted, long attemptedChecksum) {
  /** The columns, as CREATE TABLE has them. */
  static final String COLUMNS =
      """
       done INT NOT NULL,
       done_checksum BIGINT NOT NULL,
       attempted INT NOT NULL,
       attempted_checksum BIGINT NOT NULL""";

  /** The names of the columns. */
  static final String NAMES = "done, done_checksum, attempted, attempted_checksum";

  static final StatementProgress NONE = done(0, 0);

  StatementProgress {
    if (attempted != done && attempted != done + 1) {
      throw new IllegalArgumentException(done + " statements done, " + attempted + " attempted");
    }
  }

  /** Nothing is under way. */
  static StatementProgress done(int count, long checksum) {
    return new StatementProgress(count, checksum, count, checksum);
  }

  /** Of a row with columns {@link #NAMES}. */
  static StatementProgress read(ResultSet row) throws SQLException {
    return new StatementProgress(
        row.getInt("done"),
        row.getLong("done_checksum"),
        row.getInt("attempted"),
        row.getLong("attempted_checksum"));
  }

  /** Writes this into the row of a table, if the row is there. */
  RowUpdate update(SchemaTable table, String keyColumn, Object key) {
    return new RowUpdate(
        "UPDATE "
            + table.qualified()
            + " SET done = ?, done_checksum = ?, attempted = ?, attempted_checksum = ? WHERE "
            + keyColumn
            + " = ?",
        List.of(done, doneChecksum, attempted, attemptedChecksum, key));
  }

  boolean hasUnknownStatement() {
    return attempted > done;
  }

  /** After it has been found out what became of the last attempted statement. */
  StatementProgress settled(boolean tookEffect) {
    return tookEffect ? done(attempted, attemptedChecksum) : done(done, doneChecksum);
  }
}
