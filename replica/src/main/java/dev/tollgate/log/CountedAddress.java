package dev.tollgate.log;

import java.net.InetAddress;
import java.util.HexFormat;

/** By what name an address is counted where each address has a share of something. */
public final class CountedAddress {
  private static final int IPV4_BYTES = 4;
  private static final int IPV6_NETWORK_BYTES = 8;

  private CountedAddress() {}

  /** Returns the address; of IPv6 the half that a provider gives to one customer, the /64. */
  public static String of(InetAddress address) {
    byte[] bytes = address.getAddress();
    return bytes.length == IPV4_BYTES
        ? address.getHostAddress()
        : HexFormat.of().formatHex(bytes, 0, IPV6_NETWORK_BYTES) + "/64";
  }
}
