package dev.tollgate.wire;

import static java.util.Objects.requireNonNull;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * The one message of the mechanism PLAIN (RFC 4616): a user, and the password itself. Immutable.
 *
 * @param user who logs in
 * @param password at most {@link #MOST_PASSWORD_BYTES} bytes in UTF-8, none of which is 0
 */
public record PlainMessage(String user, String password) {
  /** Most bytes of a password. */
  public static final int MOST_PASSWORD_BYTES = 1_024;

  /** Most bytes of a message; users have short names. */
  static final int MOST_BYTES = MOST_PASSWORD_BYTES + 2_048;

  private static final char SEPARATOR = 0;

  public PlainMessage {
    requireNonNull(user, "user");
    requireNonNull(password, "password");
    if (user.isEmpty() || user.indexOf(SEPARATOR) >= 0) {
      throw new IllegalArgumentException("a login with PLAIN needs the name of a user");
    }
    if (!isPassword(password)) {
      throw new IllegalArgumentException(
          "a password that is sent itself has 1 to "
              + MOST_PASSWORD_BYTES
              + " bytes, and none of them is 0");
    }
  }

  /** True if this can be a password: a directory takes an empty one for no login at all. */
  public static boolean isPassword(String password) {
    return !password.isEmpty()
        && password.indexOf(SEPARATOR) < 0
        && password.getBytes(StandardCharsets.UTF_8).length <= MOST_PASSWORD_BYTES;
  }

  /** The message, as a client sends it. */
  public byte[] toBytes() {
    return (SEPARATOR + user + SEPARATOR + password).getBytes(StandardCharsets.UTF_8);
  }

  /**
   * Reads a message.
   *
   * @throws IllegalArgumentException if it is none, or acts for another user than it logs in; the
   *     text of the exception has nothing of it
   */
  public static PlainMessage read(byte[] message) {
    if (message.length > MOST_BYTES) {
      throw new IllegalArgumentException("the message has more than " + MOST_BYTES + " bytes");
    }
    String text = text(message);
    int first = text.indexOf(SEPARATOR);
    int second = text.indexOf(SEPARATOR, first + 1);
    if (first < 0 || second < 0) {
      throw new IllegalArgumentException("the message of PLAIN is not whole");
    }
    String user = text.substring(first + 1, second);
    String other = text.substring(0, first);
    if (!other.isEmpty() && !other.equals(user)) {
      throw new IllegalArgumentException("the message of PLAIN is for another user");
    }
    return new PlainMessage(user, text.substring(second + 1));
  }

  private static String text(byte[] message) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(message)).toString();
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException("the message of PLAIN is no UTF-8", e);
    }
  }

  /** Without the password. */
  @Override
  public String toString() {
    return "PlainMessage[user=" + user + "]";
  }
}
