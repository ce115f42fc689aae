package dev.tollgate.seal;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The data keys of a node: the first one seals, all open. */
final class KeyRing {
  /** Keys at a time. */
  static final int MOST_KEYS = 16;

  /** Bytes of the text with the keys. */
  static final int MOST_BYTES = 8 << 10;

  private final List<DataKey> keys;

  private KeyRing(List<DataKey> keys) {
    this.keys = List.copyOf(keys);
  }

  /**
   * Reads the keys: a line for each, with its id and 32 bytes in Base64. Empty lines and lines that
   * begin with {@code #} say nothing.
   *
   * @param text is overwritten with zeros
   * @param where the text is from
   * @throws IOException if there is no key, or a line is none; the message has no part of the line
   */
  static KeyRing parse(byte[] text, String where) throws IOException {
    try {
      if (text.length > MOST_BYTES) {
        throw new IOException(
            where + " gives more than " + MOST_BYTES + " bytes: it is no list of" + " data keys");
      }
      List<DataKey> keys = new ArrayList<>();
      int number = 0;
      for (int begin = 0; begin < text.length; ) {
        int end = begin;
        while (end < text.length && text[end] != '\n') {
          end++;
        }
        number++;
        DataKey key = key(text, begin, end, where + ", line " + number);
        if (key != null) {
          requireNew(keys, key, where);
          keys.add(key);
        }
        begin = end + 1;
      }
      if (keys.isEmpty()) {
        throw new IOException(
            where + " has no data key: write a line with a name and 32 random bytes in Base64");
      }
      if (keys.size() > MOST_KEYS) {
        throw new IOException(where + " has more than " + MOST_KEYS + " data keys");
      }
      return new KeyRing(keys);
    } finally {
      Arrays.fill(text, (byte) 0);
    }
  }

  private static void requireNew(List<DataKey> keys, DataKey key, String where) throws IOException {
    for (DataKey known : keys) {
      if (known.id().equals(key.id()) || known.hasSameSecretAs(key)) {
        throw new IOException(
            where
                + " has the same name or the same key twice: '"
                + known.id()
                + "' and '"
                + key.id()
                + "'");
      }
    }
  }

  private static @Nullable DataKey key(byte[] text, int from, int to, String where)
      throws IOException {
    int begin = skip(text, from, to);
    int end = to;
    while (end > begin && isSpace(text[end - 1])) {
      end--;
    }
    if (begin == end || text[begin] == '#') {
      return null;
    }
    int gap = begin;
    while (gap < end && !isSpace(text[gap])) {
      gap++;
    }
    String id = new String(text, begin, gap - begin, StandardCharsets.ISO_8859_1);
    if (gap == end || !DataKey.isId(id)) {
      throw new IOException(
          where
              + ": a line is a name of letters, digits, '.', '_' and '-', at most "
              + DataKey.MOST_ID_CHARS
              + " of them, a space, and 32 bytes in Base64");
    }
    byte[] encoded = Arrays.copyOfRange(text, skip(text, gap, end), end);
    byte[] secret = {};
    try {
      secret = Base64.getDecoder().decode(encoded);
      if (secret.length == DataKey.BYTES) {
        return new DataKey(id, secret.clone());
      }
    } catch (IllegalArgumentException e) {
      // the message would have a part of the key
    } finally {
      Arrays.fill(encoded, (byte) 0);
      Arrays.fill(secret, (byte) 0);
    }
    throw new IOException(
        where
            + ": the key '"
            + id
            + "' is not 32 bytes in Base64: `openssl rand -base64 32` makes such a key");
  }

  private static int skip(byte[] text, int from, int to) {
    int begin = from;
    while (begin < to && isSpace(text[begin])) {
      begin++;
    }
    return begin;
  }

  private static boolean isSpace(byte character) {
    return character == ' ' || character == '\t' || character == '\r';
  }

  /** The key that seals. */
  DataKey first() {
    return keys.get(0);
  }

  @Nullable DataKey find(String id) {
    for (DataKey key : keys) {
      if (key.id().equals(id)) {
        return key;
      }
    }
    return null;
  }

  List<DataKey> keys() {
    return keys;
  }

  boolean isSameAs(KeyRing other) {
    if (keys.size() != other.keys.size()) {
      return false;
    }
    for (int i = 0; i < keys.size(); i++) {
      if (!keys.get(i).isSameAs(other.keys.get(i))) {
        return false;
      }
    }
    return true;
  }

  /** The names alone. */
  @Override
  public String toString() {
    return keys.toString();
  }
}
