package dev.tollgate.node.audit;

import static java.util.Objects.requireNonNull;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Where a node writes its audit lines. What ordinary work brings about has files of its own, beside
 * the others: however much of it there is, it displaces no line about security.
 *
 * @param file the current file; older ones are beside it, as FILE.1, FILE.2 and so on
 * @param maxBytes size at which a new file begins
 * @param files how many files about security are kept, the current one included
 * @param activityFiles how many files about ordinary work are kept, FILE.activity included
 * @param syslog where the lines about security are sent too, or null
 */
public record AuditSettings(
    Path file, long maxBytes, int files, int activityFiles, @Nullable SyslogSettings syslog) {
  /** Size of a file by default. */
  public static final long MAX_BYTES = 64L << 20;

  /** How many files are kept by default, of each kind. */
  public static final int FILES = 10;

  /** A file must have room for its first line, and for lines after it. */
  public static final long LEAST_BYTES = 16 << 10;

  /** Starting a node reads the current file once. */
  public static final long MOST_BYTES = 1L << 30;

  /** Renaming the files is one step for each. */
  public static final int MOST_FILES = 1_000;

  /** What the name of a file about ordinary work has besides that of a file about security. */
  private static final String ACTIVITY = ".activity";

  public AuditSettings {
    requireNonNull(file, "file");
    if (maxBytes < LEAST_BYTES || maxBytes > MOST_BYTES) {
      throw new IllegalArgumentException("maxBytes: " + maxBytes);
    }
    requireFiles("files", files);
    requireFiles("activityFiles", activityFiles);
  }

  /** Settings without a syslog server. */
  public AuditSettings(Path file, long maxBytes, int files, int activityFiles) {
    this(file, maxBytes, files, activityFiles, null);
  }

  private static void requireFiles(String name, int count) {
    if (count < 2 || count > MOST_FILES) {
      throw new IllegalArgumentException(name + ": " + count);
    }
  }

  /** Returns the same of the files about ordinary work. */
  AuditSettings ofActivity() {
    return new AuditSettings(
        file.resolveSibling(file.getFileName() + ACTIVITY), maxBytes, activityFiles, activityFiles);
  }
}
