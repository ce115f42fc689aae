package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

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
 * @param attempted how many statements were sent, in what is committed: the done ones or one more
 * @param attemptedChecksum of that many statements
 * @param definitions the state of all definitions before the last attempted statement, if known
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
    int done,
    long doneChecksum,
    int attempted,
    long attemptedChecksum,
    @Nullable String definitions,
    @Nullable String error) {
  HistoryRow {
    requireNonNull(description, "description");
    requireNonNull(script, "script");
    requireNonNull(host, "host");
    requireNonNull(startedAt, "startedAt");
    if (attempted != done && attempted != done + 1) {
      throw new IllegalArgumentException(
          "row " + rank + " of the history: " + done + " done, " + attempted + " attempted");
    }
  }

  /** As {@link Script#key}. */
  String key() {
    return version == null ? "R " + description : "V " + version;
  }

  boolean isApplied() {
    return Boolean.TRUE.equals(success);
  }

  /** True if nothing of the script can have taken effect. */
  boolean isUntouched() {
    return !isApplied() && attempted == 0;
  }

  boolean hasUnknownStatement() {
    return !isApplied() && attempted > done;
  }
}
