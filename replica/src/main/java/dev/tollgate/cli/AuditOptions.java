package dev.tollgate.cli;

import dev.tollgate.node.audit.AuditSettings;
import dev.tollgate.node.audit.SyslogSettings;
import dev.tollgate.tls.Pem;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The options of a node about its audit file. */
final class AuditOptions {
  private static final Pattern HOST_AND_PORT = Pattern.compile("(.+):(\\d{1,5})");

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

  @Option(
      names = "--audit-syslog",
      paramLabel = "HOST:PORT",
      description =
          "Syslog server that gets each line of the audit file too, over TLS (RFC 5424, RFC 5425)."
              + " [TOLLGATE_AUDIT_SYSLOG]")
  private @Nullable String syslog;

  @Option(
      names = "--audit-syslog-trust",
      paramLabel = "FILE",
      description =
          "File with the certificates of the CAs of the syslog server; PEM. By default those that"
              + " Java trusts. [TOLLGATE_AUDIT_SYSLOG_TRUST]")
  private @Nullable Path syslogTrust;

  AuditOptions() {}

  /**
   * Returns the settings, or null for a node that is not audited.
   *
   * @throws IOException if the file of --audit-syslog-trust cannot be read
   */
  @Nullable AuditSettings settings(CommandLine command) throws IOException {
    if (maxBytes < AuditSettings.LEAST_BYTES || maxBytes > AuditSettings.MOST_BYTES) {
      throw new ParameterException(
          command, "--audit-max-size is " + maxBytes + " bytes: it has to be from 16k to 1g");
    }
    requireFiles(command, "--audit-files", files);
    requireFiles(command, "--audit-activity-files", activityFiles);
    if (file == null && syslog != null) {
      throw new ParameterException(
          command, "--audit-syslog sends the lines of a file: set --audit-file too");
    }
    return file == null
        ? null
        : new AuditSettings(file, maxBytes, files, activityFiles, server(command));
  }

  private @Nullable SyslogSettings server(CommandLine command) throws IOException {
    if (syslog == null) {
      return null;
    }
    Matcher address = HOST_AND_PORT.matcher(syslog);
    int port = address.matches() ? Integer.parseInt(address.group(2)) : 0;
    if (port < 1 || port > 65_535) {
      throw new ParameterException(
          command, "--audit-syslog is '" + syslog + "': write host:port, such as log.example:6514");
    }
    String host = address.group(1).replaceAll("^\\[|]$", "");
    try {
      return new SyslogSettings(host, port, context());
    } catch (GeneralSecurityException e) {
      throw new IOException("--audit-syslog-trust cannot be used: " + e.getMessage(), e);
    }
  }

  private SSLContext context() throws IOException, GeneralSecurityException {
    if (syslogTrust == null) {
      return SSLContext.getDefault();
    }
    TrustManagerFactory trust =
        TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
    trust.init(Pem.trusted(syslogTrust));
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, trust.getTrustManagers(), null);
    return context;
  }

  private static void requireFiles(CommandLine command, String option, int count) {
    if (count < 2 || count > AuditSettings.MOST_FILES) {
      throw new ParameterException(
          command,
          option + " is " + count + ": it has to be from 2 to " + AuditSettings.MOST_FILES);
    }
  }
}
