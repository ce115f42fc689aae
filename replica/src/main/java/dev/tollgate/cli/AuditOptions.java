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
          "File to which the node appends a line of JSON for each act of administration, login,"
              + " failed login and refused access; grants and losses of locks and refused writes go"
              + " to FILE.activity. By default it writes none. [TOLLGATE_AUDIT_FILE]")
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

  @Option(
      names = "--audit-activity-files",
      paramLabel = "COUNT",
      defaultValue = "10",
      description =
          "Files FILE.activity that the node keeps, 2 to 1000; the oldest is deleted."
              + " [TOLLGATE_AUDIT_ACTIVITY_FILES]")
  private int activityFiles = AuditSettings.FILES;

  AuditOptions() {}

  /** Returns the settings, or null for a node that is not audited. */
  @Nullable AuditSettings settings(CommandLine command) {
    if (maxBytes < AuditSettings.LEAST_BYTES || maxBytes > AuditSettings.MOST_BYTES) {
      throw new ParameterException(
          command, "--audit-max-size is " + maxBytes + " bytes: it has to be from 16k to 1g");
    }
    requireFiles(command, "--audit-files", files);
    requireFiles(command, "--audit-activity-files", activityFiles);
    return file == null ? null : new AuditSettings(file, maxBytes, files, activityFiles);
  }

  private static void requireFiles(CommandLine command, String option, int count) {
    if (count < 2 || count > AuditSettings.MOST_FILES) {
      throw new ParameterException(
          command,
          option + " is " + count + ": it has to be from 2 to " + AuditSettings.MOST_FILES);
    }
  }
}
