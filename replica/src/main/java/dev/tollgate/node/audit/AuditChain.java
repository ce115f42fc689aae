package dev.tollgate.node.audit;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * Hashes that tie each line to all lines before it. The last member of a line is {@code chain}: the
 * SHA-256, in hexadecimal, of the {@code chain} of the line before, followed by the bytes of this
 * line up to that member. The first line of a file has the {@code chain} of the line before it,
 * which another file ends with, in its member {@code before}. Immutable.
 *
 * @param last the hash of the last line, or of {@link #BEGINNING}
 */
record AuditChain(String last) {
  private static final int HASH_CHARS = 64;

  /** Stands for the line before the first one. */
  static final AuditChain BEGINNING = new AuditChain("0".repeat(HASH_CHARS));

  private static final String BEFORE = ",\"before\":\"";
  private static final String CHAIN = ",\"chain\":\"";
  private static final String END = "\"}";

  /** How many bytes the end of a line has that is its place in the chain. */
  static final int PLACE_BYTES = CHAIN.length() + HASH_CHARS + END.length();

  AuditChain {
    requireNonNull(last, "last");
  }

  /** A line as it is in a file. */
  static final class Link {
    /** Its bytes before its member {@code chain}. */
    private final byte[] body;

    private final @Nullable String before;
    private final String chain;

    private Link(byte[] body, @Nullable String before, String chain) {
      this.body = body;
      this.before = before;
      this.chain = chain;
    }

    /** The hash of the line before it, or null if the line does not begin a file. */
    @Nullable String before() {
      return before;
    }

    String chain() {
      return chain;
    }
  }

  /**
   * What {@link #extend} has made.
   *
   * @param first the hash of the first of the lines
   */
  record Extended(String lines, String first, AuditChain chain) {}

  /**
   * Gives lines their hashes.
   *
   * @param lines whole lines, each of them an object
   * @param begins whether the first of them begins a file
   */
  Extended extend(String lines, boolean begins) {
    StringBuilder linked = new StringBuilder(lines.length() + 2 * PLACE_BYTES);
    String hash = last;
    String first = last;
    int from = 0;
    for (int end = lines.indexOf('\n'); end >= 0; end = lines.indexOf('\n', from)) {
      String body = lines.substring(from, end - 1);
      if (begins && from == 0) {
        body += BEFORE + hash + '"';
      }
      hash = hash(hash, body.getBytes(UTF_8));
      first = from == 0 ? hash : first;
      linked.append(body).append(CHAIN).append(hash).append(END).append('\n');
      from = end + 1;
    }
    return new Extended(linked.toString(), first, new AuditChain(hash));
  }

  /** True if this line comes next. */
  boolean fits(Link line) {
    return hash(last, line.body).equals(line.chain());
  }

  /**
   * Reads a line.
   *
   * @return null if the line has no hash
   */
  static @Nullable Link read(byte[] line) {
    int bodyBytes = line.length - PLACE_BYTES;
    if (bodyBytes < 0) {
      return null;
    }
    String place = new String(line, bodyBytes, PLACE_BYTES, US_ASCII);
    String chain = hashIn(place, CHAIN, END);
    if (chain == null) {
      return null;
    }
    byte[] body = Arrays.copyOf(line, bodyBytes);
    int beforeBytes = BEFORE.length() + HASH_CHARS + 1;
    String before =
        bodyBytes < beforeBytes
            ? null
            : hashIn(
                new String(body, bodyBytes - beforeBytes, beforeBytes, US_ASCII), BEFORE, "\"");
    return new Link(body, before, chain);
  }

  private static @Nullable String hashIn(String text, String begin, String end) {
    if (!text.startsWith(begin) || !text.endsWith(end)) {
      return null;
    }
    String hash = text.substring(begin.length(), text.length() - end.length());
    return isHash(hash) ? hash : null;
  }

  /** True for a hash as lines have them. */
  static boolean isHash(String text) {
    return text.length() == HASH_CHARS
        && text.chars().allMatch(c -> (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'));
  }

  private static String hash(String before, byte[] body) {
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(before.getBytes(US_ASCII));
      return HexFormat.of().formatHex(digest.digest(body));
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java runtime has SHA-256", e);
    }
  }
}
