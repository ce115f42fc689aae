package dev.tollgate.cli;

import dev.tollgate.node.audit.AuditSettings;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The options of a node about its audit file. */
final class AuditOptions {
  @Option(
      names = "--audit-file",
      paramLabel = "FILE",
      description =
          "File to which the node appends a line of JSON for each grant of a lock, loss of a lock,"
              + " refused stale write, failed login and act of administration; by default it writes"
              + " none. [TOLLGATE_AUDIT_FILE]")
  private @Nullable Path file;

  @Option(
      names = "--audit-max-size",
      converter = ByteSize.class,
      paramLabel = "SIZE",
      defaultValue = "64m",
      description =
          "Size at which the node begins a new audit file, 16k to 1g; the file before it becomes"
              + " FILE.1. [TOLLGATE_AUDIT_MAX_SIZE]")
  private long maxBytes = AuditSettings.MAX_BYTES;

  @Option(
      names = "--audit-files",
      paramLabel = "COUNT",
      defaultValue = "10",
      description =
          "Audit files that the node keeps, 2 to 1000; the oldest is deleted."
              + " [TOLLGATE_AUDIT_FILES]")
  private int files = AuditSettings.FILES;

  AuditOptions() {}

  /** Returns the settings, or null for a node that is not audited. */
  @Nullable AuditSettings settings(CommandLine command) {
    if (maxBytes < AuditSettings.LEAST_BYTES || maxBytes > AuditSettings.MOST_BYTES) {
      throw new ParameterException(
          command, "--audit-max-size is " + maxBytes + " bytes: it has to be from 16k to 1g");
    }
    if (files < 2 || files > AuditSettings.MOST_FILES) {
      throw new ParameterException(
          command,
          "--audit-files is " + files + ": it has to be from 2 to " + AuditSettings.MOST_FILES);
    }
    return file == null ? null : new AuditSettings(file, maxBytes, files);
  }
}
