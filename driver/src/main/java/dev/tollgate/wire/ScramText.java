package dev.tollgate.wire;

import java.security.SecureRandom;
import java.util.Base64;

/** The texts of which messages of SCRAM consist (RFC 5802, section 7). */
final class ScramText {
  /** More characters than any message of the exchange needs. */
  private static final int MAX_MESSAGE = 2_048;

  private static final int NONCE_BYTES = 18;
  private static final int MIN_NONCE = 8;
  private static final int MAX_NONCE = 256;
  private static final SecureRandom RANDOM = new SecureRandom();

  private ScramText() {}

  static String newNonce() {
    byte[] bytes = new byte[NONCE_BYTES];
    RANDOM.nextBytes(bytes);
    return Base64.getEncoder().encodeToString(bytes);
  }

  static byte[] bytes(String message) {
    return StrictUtf8.encode(message);
  }

  static String message(byte[] bytes) throws ScramException {
    if (bytes.length > MAX_MESSAGE) {
      throw new ScramException("a message of " + bytes.length + " bytes");
    }
    try {
      return StrictUtf8.decode(bytes, 0, bytes.length);
    } catch (WireFormatException e) {
      throw new ScramException("a message that is not UTF-8");
    }
  }

  /** Reads {@code name=value}; the message of the exception does not quote the value. */
  static String value(String name, String attribute) throws ScramException {
    if (!attribute.startsWith(name + "=")) {
      throw new ScramException("no attribute " + name + " where it belongs");
    }
    return attribute.substring(name.length() + 1);
  }

  static String nonce(String attribute) throws ScramException {
    String nonce = value("r", attribute);
    boolean printable = nonce.chars().allMatch(c -> c > ' ' && c < 0x7f && c != ',');
    if (!printable || nonce.length() < MIN_NONCE || nonce.length() > MAX_NONCE) {
      throw new ScramException(
          "a nonce has " + MIN_NONCE + " to " + MAX_NONCE + " printable characters");
    }
    return nonce;
  }

  static byte[] base64(String name, String attribute) throws ScramException {
    String text = value(name, attribute);
    try {
      byte[] bytes = Base64.getDecoder().decode(text);
      if (Base64.getEncoder().encodeToString(bytes).equals(text)) {
        return bytes;
      }
    } catch (IllegalArgumentException e) {
      // as below
    }
    throw new ScramException("attribute " + name + " is not Base64 with padding");
  }

  static String escaped(String name) {
    return name.replace("=", "=3D").replace(",", "=2C");
  }

  static String unescaped(String name) throws ScramException {
    String rest = name.replace("=2C", "").replace("=3D", "");
    if (rest.indexOf('=') >= 0 || name.isEmpty()) {
      throw new ScramException("a user name has = and , as =3D and =2C only, and is not empty");
    }
    return name.replace("=2C", ",").replace("=3D", "=");
  }
}
