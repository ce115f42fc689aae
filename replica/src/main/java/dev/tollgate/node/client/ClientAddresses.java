package dev.tollgate.node.client;

import java.net.InetAddress;
import java.util.HexFormat;

/** The addresses by which failed logins are counted. */
final class ClientAddresses {
  private static final int IPV4_BYTES = 4;
  private static final int IPV6_NETWORK_BYTES = 8;

  private ClientAddresses() {}

  /** Returns the address; of IPv6 the half that a provider gives to one customer. */
  static String of(InetAddress address) {
    byte[] bytes = address.getAddress();
    return bytes.length == IPV4_BYTES
        ? address.getHostAddress()
        : HexFormat.of().formatHex(bytes, 0, IPV6_NETWORK_BYTES) + "/64";
  }
}
