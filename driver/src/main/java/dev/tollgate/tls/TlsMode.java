package dev.tollgate.tls;

import java.util.Arrays;

/** Whether a client speaks TLS, and what it checks of the node's certificate. */
public enum TlsMode {
  /** No TLS. */
  DISABLE("disable"),
  /**
   * As {@link #REQUIRE} to other hosts, and no TLS to this one. A node without TLS on another host
   * gets no user and no password.
   */
  PREFER("prefer"),
  /** TLS without any check: nobody reads along, but anybody may pretend to be the node. */
  REQUIRE("require"),
  /** The certificate has to be issued by a trusted CA. */
  VERIFY_CA("verify-ca"),
  /** As before, and the certificate has to be for the host to which the client connects. */
  VERIFY_FULL("verify-full");

  private final String text;

  TlsMode(String text) {
    this.text = text;
  }

  /** The mode with this name; upper and lower case are the same. */
  public static TlsMode parse(String text) {
    return Arrays.stream(values())
        .filter(mode -> mode.text.equalsIgnoreCase(text))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("'" + text + "' is no TLS mode"));
  }

  @Override
  public String toString() {
    return text;
  }
}
