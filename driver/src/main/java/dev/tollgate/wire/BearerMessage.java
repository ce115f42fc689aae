package dev.tollgate.wire;

import static java.util.Objects.requireNonNull;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * The one message of the mechanism OAUTHBEARER (RFC 7628, section 3.1): a user, which may be empty,
 * and a token. Immutable.
 *
 * @param user as whom the client wants to log in; empty for the user for whom the token stands
 * @param token without the word Bearer
 */
public record BearerMessage(String user, String token) {
  /** Most characters of a token, which are bytes too. */
  public static final int MOST_TOKEN_CHARS = 12_288;

  /** Most bytes of a message; users have short names. */
  public static final int MOST_BYTES = MOST_TOKEN_CHARS + 2_048;

  private static final char SEPARATOR = 1;
  private static final String AUTH = "auth=";
  private static final String SCHEME = "bearer ";

  public BearerMessage {
    requireNonNull(user, "user");
    requireNonNull(token, "token");
    requireToken(token);
  }

  /** The bytes of b64token in RFC 6750, which are those of a JWT and some more. */
  private static void requireToken(String token) {
    boolean valid = !token.isEmpty() && token.length() <= MOST_TOKEN_CHARS;
    for (int i = 0; i < token.length() && valid; i++) {
      valid = isTokenChar(token.charAt(i));
    }
    if (!valid) {
      throw new IllegalArgumentException(
          "a token has 1 to "
              + MOST_TOKEN_CHARS
              + " letters, digits and -._~+/=, and this one has "
              + token.length()
              + " characters, or others");
    }
  }

  private static boolean isTokenChar(char c) {
    return (c >= 'a' && c <= 'z')
        || (c >= 'A' && c <= 'Z')
        || (c >= '0' && c <= '9')
        || "-._~+/=".indexOf(c) >= 0;
  }

  /** The message, as a client sends it. */
  public byte[] toBytes() {
    String name = user.isEmpty() ? "" : "a=" + user.replace("=", "=3D").replace(",", "=2C");
    String text = "n," + name + "," + SEPARATOR + AUTH + "Bearer " + token + SEPARATOR + SEPARATOR;
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /**
   * Reads a message.
   *
   * @throws IllegalArgumentException if it is none; the text of the exception has nothing of it
   */
  public static BearerMessage read(byte[] message) {
    if (message.length > MOST_BYTES) {
      throw new IllegalArgumentException("the message has more than " + MOST_BYTES + " bytes");
    }
    String text = text(message);
    int header = text.indexOf(SEPARATOR);
    if (header < 0 || !text.endsWith("" + SEPARATOR + SEPARATOR)) {
      throw new IllegalArgumentException("the message of OAUTHBEARER is not whole");
    }
    String user = user(text.substring(0, header));
    String pairs = text.substring(header + 1, text.length() - 1);
    String token = null;
    for (int at = 0; at < pairs.length(); ) {
      int end = pairs.indexOf(SEPARATOR, at);
      String pair = pairs.substring(at, end);
      if (pair.indexOf('=') <= 0) {
        throw new IllegalArgumentException("a part of the message of OAUTHBEARER has no name");
      }
      if (pair.startsWith(AUTH)) {
        if (token != null) {
          throw new IllegalArgumentException("the message of OAUTHBEARER has two tokens");
        }
        token = token(pair.substring(AUTH.length()));
      }
      at = end + 1;
    }
    if (token == null) {
      throw new IllegalArgumentException("the message of OAUTHBEARER has no token");
    }
    return new BearerMessage(user, token);
  }

  /**
   * The token of a header Authorization, or of its copy in a message.
   *
   * @throws IllegalArgumentException if it has none
   */
  public static String token(String authorization) {
    if (!isBearer(authorization)) {
      throw new IllegalArgumentException("the authorization is no bearer token");
    }
    String token = authorization.substring(SCHEME.length()).strip();
    requireToken(token);
    return token;
  }

  /** True if a header Authorization has a token, or should have one. */
  public static boolean isBearer(String authorization) {
    return authorization.regionMatches(/* ignoreCase= */ true, 0, SCHEME, 0, SCHEME.length());
  }

  private static String text(byte[] message) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(message)).toString();
    } catch (CharacterCodingException e) {
      throw new IllegalArgumentException("the message of OAUTHBEARER is no UTF-8", e);
    }
  }

  /** The name in the header of GS2 (RFC 5801), such as {@code n,a=jo,}. */
  private static String user(String header) {
    boolean known = header.startsWith("n,") || header.startsWith("y,");
    if (!known || header.length() < 3 || header.indexOf(',', 2) != header.length() - 1) {
      throw new IllegalArgumentException("the message of OAUTHBEARER begins with no GS2 header");
    }
    String name = header.substring(2, header.length() - 1);
    if (name.isEmpty()) {
      return "";
    }
    if (!name.startsWith("a=")) {
      throw new IllegalArgumentException("the GS2 header of OAUTHBEARER has something but a user");
    }
    return unescaped(name.substring(2));
  }

  private static String unescaped(String name) {
    String rest = name.replace("=2C", "").replace("=3D", "");
    if (name.isEmpty() || rest.indexOf('=') >= 0) {
      throw new IllegalArgumentException("the user in the GS2 header of OAUTHBEARER is no name");
    }
    // in this order: what "=3D" becomes is not read again
    return name.replace("=2C", ",").replace("=3D", "=");
  }

  /** Without the token. */
  @Override
  public String toString() {
    return "BearerMessage[user=" + user + "]";
  }
}
