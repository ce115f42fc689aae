package dev.tollgate.node.audit;

import static java.util.Objects.requireNonNull;

import java.nio.file.Path;

/**
 * Where a node writes its audit lines.
 *
 * @param file the current file; older ones are beside it, as FILE.1, FILE.2 and so on
 * @param maxBytes size at which a new file begins
 * @param files how many files are kept, the current one included
 */
public record AuditSettings(Path file, long maxBytes, int files) {
  /** Size of a file by default. */
  public static final long MAX_BYTES = 64L << 20;

  /** How many files are kept by default. */
  public static final int FILES = 10;

  /** A file must have room for its first line, and for lines after it. */
  public static final long LEAST_BYTES = 16 << 10;

  /** Starting a node reads the current file once. */
  public static final long MOST_BYTES = 1L << 30;

  /** Renaming the files is one step for each. */
  public static final int MOST_FILES = 1_000;

  public AuditSettings {
    requireNonNull(file, "file");
    if (maxBytes < LEAST_BYTES || maxBytes > MOST_BYTES) {
      throw new IllegalArgumentException("maxBytes: " + maxBytes);
    }
    if (files < 2 || files > MOST_FILES) {
      throw new IllegalArgumentException("files: " + files);
    }
  }
}
