package dev.tollgate.transport;

import static java.util.Objects.requireNonNull;

import dev.tollgate.wire.Protocol;

/** Host and port of a node; as text, an IPv6 address stands in brackets. */
public record NodeAddress(String host, int port) {
  private static final int MAX_PORT = 65_535;

  public NodeAddress {
    requireNonNull(host, "host");
    if (host.isEmpty()) {
      throw new IllegalArgumentException("a node without a host name");
    }
    if (port < 1 || port > MAX_PORT) {
      throw new IllegalArgumentException("port " + port + " of " + host + ": 1 to " + MAX_PORT);
    }
  }

  /**
   * Reads {@code host}, {@code host:port}, {@code [address]} or {@code [address]:port}.
   *
   * @throws IllegalArgumentException if it is none of these
   */
  public static NodeAddress parse(String text) {
    int hostEnd;
    String host;
    if (text.startsWith("[")) {
      int bracket = text.indexOf(']');
      if (bracket < 0) {
        throw new IllegalArgumentException("'" + text + "': the bracket is not closed");
      }
      host = text.substring(1, bracket);
      hostEnd = bracket + 1;
    } else {
      int colon = text.indexOf(':');
      if (colon != text.lastIndexOf(':')) {
        throw new IllegalArgumentException(
            "'" + text + "': write an IPv6 address in brackets, as in [::1]:7400");
      }
      hostEnd = colon < 0 ? text.length() : colon;
      host = text.substring(0, hostEnd);
    }
    String rest = text.substring(hostEnd);
    if (rest.isEmpty()) {
      return new NodeAddress(host, Protocol.DEFAULT_PORT);
    }
    if (!rest.matches(":\\d{1,5}")) {
      throw new IllegalArgumentException("'" + text + "': after the host comes a colon and a port");
    }
    return new NodeAddress(host, Integer.parseInt(rest.substring(1)));
  }

  @Override
  public String toString() {
    return (host.indexOf(':') >= 0 ? "[" + host + "]" : host) + ":" + port;
  }
}
