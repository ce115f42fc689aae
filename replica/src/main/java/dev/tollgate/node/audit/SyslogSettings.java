package dev.tollgate.node.audit;

import static java.util.Objects.requireNonNull;

import javax.net.ssl.SSLSocketFactory;

/**
 * A syslog server that gets a copy of audit lines.
 *
 * @param host that its certificate has to name
 * @param sockets with the CAs that are trusted
 */
public record SyslogSettings(String host, int port, SSLSocketFactory sockets) {
  public SyslogSettings {
    requireNonNull(host, "host");
    requireNonNull(sockets, "sockets");
    if (port < 1 || port > 65_535) {
      throw new IllegalArgumentException("port: " + port);
    }
  }
}
