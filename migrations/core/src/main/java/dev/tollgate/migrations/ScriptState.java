package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

import java.time.Duration;
import java.time.LocalDateTime;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A script beside its history.
 *
 * @param version empty for a repeatable script
 * @param path of the file within its folder
 * @param done how many statements have taken effect
 * @param run who ran it; null if nobody has
 */
public record ScriptState(
    String version,
    String description,
    String path,
    Kind kind,
    int done,
    int statements,
    @Nullable Run run) {
  /** Where a script stands. */
  public enum Kind {
    APPLIED,
    PENDING,
    /** A run is at work, or has died. */
    UNFINISHED,
    FAILED,
    /** Applied, and its file has another checksum now. */
    CHANGED,
    /** Applied, and its file is not there. */
    MISSING,
    /** Pending, and beyond the last version that was asked for. */
    BEYOND_TARGET
  }

  /**
   * The run of a script.
   *
   * @param token the token of the lock under which it ran
   */
  public record Run(
      long token,
      String host,
      LocalDateTime startedAt,
      Optional<Duration> took,
      Optional<String> error) {}

  public ScriptState {
    requireNonNull(version, "version");
    requireNonNull(description, "description");
    requireNonNull(path, "path");
    requireNonNull(kind, "kind");
  }

  static ScriptState of(HistoryRow row, Kind kind) {
    return new ScriptState(
        row.version() == null ? "" : row.version().toString(),
        row.description(),
        row.script(),
        kind,
        row.progress().done(),
        row.statements(),
        new Run(
            row.token(),
            row.host(),
            row.startedAt(),
            Optional.ofNullable(row.took()),
            Optional.ofNullable(row.error())));
  }

  static ScriptState of(Script script, Kind kind) {
    return new ScriptState(
        script.version().map(Version::toString).orElse(""),
        script.description(),
        script.path(),
        kind,
        0,
        script.statements().size(),
        null);
  }
}
