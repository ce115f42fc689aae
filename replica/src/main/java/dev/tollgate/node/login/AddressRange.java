package dev.tollgate.node.login;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.regex.Pattern;

/** The addresses that begin with the same bits. Immutable. */
final class AddressRange {
  private static final Pattern IPV4 = Pattern.compile("\\d{1,3}(\\.\\d{1,3}){3}");
  private static final Pattern IPV6 = Pattern.compile("[0-9a-fA-F:.]*:[0-9a-fA-F:.]*");
  private static final Pattern LENGTH = Pattern.compile("0|[1-9]\\d{0,2}");

  private final byte[] network;
  private final int bits;

  /**
   * @param network the first address; not changed later
   * @param bits how many bits the addresses have in common
   */
  private AddressRange(byte[] network, int bits) {
    this.network = network;
    this.bits = bits;
  }

  /**
   * Reads an address, which stands for itself, or a range such as 10.0.0.0/8.
   *
   * @throws IllegalArgumentException if it is none; no name is looked up
   */
  static AddressRange parse(String text) {
    int slash = text.indexOf('/');
    String address = slash < 0 ? text : text.substring(0, slash);
    byte[] network = bytes(address, text);
    int most = network.length * Byte.SIZE;
    String length = slash < 0 ? String.valueOf(most) : text.substring(slash + 1);
    int bits = LENGTH.matcher(length).matches() ? Integer.parseInt(length) : -1;
    if (bits < 0 || bits > most) {
      throw new IllegalArgumentException(
          "'" + text + "' is no range of addresses: after the slash comes a number up to " + most);
    }
    AddressRange range = new AddressRange(network, bits);
    if (!Arrays.equals(range.masked(network), network)) {
      throw new IllegalArgumentException(
          "'" + text + "' has bits behind its first " + bits + ": write the first address of it");
    }
    return range;
  }

  private static byte[] bytes(String address, String text) {
    if (IPV4.matcher(address).matches() || IPV6.matcher(address).matches()) {
      try {
        return InetAddress.getByName(address).getAddress();
      } catch (UnknownHostException e) {
        // as below
      }
    }
    throw new IllegalArgumentException(
        "'" + text + "' is no address: write all, an IP address, or a range such as 10.0.0.0/8");
  }

  /** True if an address is one of these. IPv4 and IPv6 have no address in common. */
  boolean contains(InetAddress address) {
    byte[] bytes = address.getAddress();
    int whole = bits / Byte.SIZE;
    return bytes.length == network.length
        && Arrays.equals(bytes, 0, whole, network, 0, whole)
        && (bits % Byte.SIZE == 0 || (byte) (bytes[whole] & mask(whole)) == network[whole]);
  }

  /** The bits of one byte that count, signed as bytes are. */
  private int mask(int index) {
    int kept = Math.max(0, Math.min(Byte.SIZE, bits - index * Byte.SIZE));
    return (byte) (0xff << (Byte.SIZE - kept));
  }

  private byte[] masked(byte[] address) {
    byte[] masked = address.clone();
    for (int i = 0; i < masked.length; i++) {
      masked[i] &= (byte) mask(i);
    }
    return masked;
  }
}
