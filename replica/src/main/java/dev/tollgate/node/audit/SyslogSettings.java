package dev.tollgate.node.audit;

import static java.util.Objects.requireNonNull;

import javax.net.ssl.SSLContext;

/**
 * A syslog server that gets a copy of audit lines.
 *
 * @param host that its certificate has to name
 * @param context with the CAs that are trusted
 */
public record SyslogSettings(String host, int port, SSLContext context) {
  public SyslogSettings {
    requireNonNull(host, "host");
    requireNonNull(context, "context");
    if (port < 1 || port > 65_535) {
      throw new IllegalArgumentException("port: " + port);
    }
  }
}
