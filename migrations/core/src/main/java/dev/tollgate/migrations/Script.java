package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A file of SQL that runs once, or again whenever it has changed.
 *
 * @param givenVersion the version; null for a repeatable script, which runs after all others
 * @param description the words of the name
 * @param path where the file is within its folder, with slashes
 * @param checksum CRC32 of the lines, as Flyway computes it
 * @param inTransaction whether statements share a transaction with each other and with the history
 * @param inNewSession whether what is left after a run that died needs nothing of its session
 */
public record Script(
    @Nullable Version givenVersion,
    String description,
    String path,
    int checksum,
    boolean inTransaction,
    boolean inNewSession,
    List<SqlStatement> statements) {
  public Script {
    requireNonNull(description, "description");
    requireNonNull(path, "path");
    statements = List.copyOf(statements);
  }

  public boolean isRepeatable() {
    return givenVersion == null;
  }

  /** The version, or empty for a repeatable script. */
  public Optional<Version> version() {
    return Optional.ofNullable(givenVersion);
  }

  /** What tells this script from all others of its folder. */
  String key() {
    return key(givenVersion, description);
  }

  static String key(@Nullable Version version, String description) {
    return version == null ? "R " + description : "V " + version;
  }
}
