package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.LocalDateTime;
import org.jspecify.annotations.Nullable;

/**
 * What the history knows of one script, or of one run of a repeatable script.
 *
 * @param rank the place in the history, from 1
 * @param version null for a repeatable script
 * @param script the path of the file within its folder
 * @param checksum of the file; null if its file need no longer be there
 * @param startedAt as the database counts time
 * @param took null until the script has ended
 * @param success null while the script is at work, or after its runner died
 * @param error what the script failed with
 */
record HistoryRow(
    int rank,
    @Nullable Version version,
    String description,
    String script,
    @Nullable Integer checksum,
    String host,
    long token,
    LocalDateTime startedAt,
    @Nullable Duration took,
    @Nullable Boolean success,
    int statements,
    StatementProgress progress,
    @Nullable String error) {
  /** The columns that {@link #read} needs. */
  static final String COLUMNS =
      "installed_rank, version, description, script, checksum, host, token, started_at,"
          + " duration_ms, success, statements, error, "
          + StatementProgress.NAMES;

  HistoryRow {
    requireNonNull(description, "description");
    requireNonNull(script, "script");
    requireNonNull(host, "host");
    requireNonNull(startedAt, "startedAt");
    requireNonNull(progress, "progress");
  }

  static HistoryRow read(ResultSet row) throws SQLException, MigrationException {
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
        StatementProgress.read(row),
        row.getString("error"));
  }

  /** What tells the row's script from all others. */
  String key() {
    return Script.key(version, description);
  }

  boolean isApplied() {
    return Boolean.TRUE.equals(success);
  }

  /** True if nothing of the script can have taken effect. */
  boolean isUntouched() {
    return !isApplied() && progress.attempted() == 0;
  }

  boolean hasUnknownStatement() {
    return !isApplied() && progress.hasUnknownStatement();
  }
}
