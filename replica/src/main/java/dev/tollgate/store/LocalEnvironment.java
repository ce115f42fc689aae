package dev.tollgate.store;

import static java.nio.charset.StandardCharsets.UTF_16BE;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.tollgate.core.command.Environment;
import dev.tollgate.h2.Reproducible;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.time.ZoneId;
import java.time.zone.ZoneOffsetTransition;
import java.time.zone.ZoneRules;
import java.time.zone.ZoneRulesProvider;
import java.util.HexFormat;
import java.util.Random;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The environment in which this process computes statements. It holds fingerprints of what H2
 * 2.5.250 asks the Java runtime for in functions, casts, comparisons and indexes that a logged
 * statement may use. docs/adr/0039 lists them.
 */
public final class LocalEnvironment {
  /** Number of code points in each string that is digested. */
  private static final int BLOCK = 1 << 12;

  /**
   * The last code point to digest. Beyond it, up to the tags, no assigned code point has a case or
   * is a digit.
   */
  private static final int LAST_CODE_POINT = 0x1ffff;

  private static final int NUMBERS = 1_000;
  private static final int FINGERPRINT_BYTES = 8;

  private LocalEnvironment() {}

  /**
   * Returns the same object each time. The first call computes it, which takes some tenths of a
   * second.
   */
  public static Environment get() {
    return Computed.ENVIRONMENT;
  }

  /** Computes the environment on first use. */
  private static final class Computed {
    static final Environment ENVIRONMENT = compute();
  }

  static Environment compute() {
    SortedMap<String, String> fingerprints = new TreeMap<>();
    fingerprints.put("characters", characters());
    fingerprints.put("numbers", numbers());
    fingerprints.put("time zones", timeZones());
    return new Environment(
        fingerprints,
        "Java "
            + Runtime.version()
            + " with time zones of "
            + String.join(" ", ZoneRulesProvider.getVersions("UTC").keySet())
            + " on "
            + System.getProperty("os.arch"));
  }

  /** Letters, cases, digits and white space. */
  private static String characters() {
    MessageDigest digest = digest();
    StringBuilder text = new StringBuilder(2 * BLOCK);
    ByteBuffer kinds = ByteBuffer.allocate(2 * BLOCK);
    for (int first = 0; first <= LAST_CODE_POINT; first += BLOCK) {
      text.setLength(0);
      kinds.clear();
      for (int point = first; point < first + BLOCK; point++) {
        kinds.put((byte) Character.digit(point, 36));
        kinds.put((byte) (Character.isWhitespace(point) ? 1 : 0));
        if (point < Character.MIN_SURROGATE || point > Character.MAX_SURROGATE) {
          text.appendCodePoint(point);
        }
      }
      digest.update(kinds.flip());
      String block = text.toString();
      digest.update(block.toUpperCase(Reproducible.LOCALE).getBytes(UTF_16BE));
      digest.update(block.toLowerCase(Reproducible.LOCALE).getBytes(UTF_16BE));
    }
    return fingerprint(digest);
  }

  /** Numbers as text, and functions that a runtime may round in its own way. */
  private static String numbers() {
    MessageDigest digest = digest();
    Random random = new Random(1);
    for (int i = 0; i < NUMBERS; i++) {
      double any = Double.longBitsToDouble(random.nextLong());
      double small = 10 * random.nextGaussian();
      double decimal = i * Math.pow(10, i % 30 - 10);
      float single = Float.intBitsToFloat(random.nextInt());
      String text = any + " " + small + " " + decimal + " " + single + " " + (float) small;
      digest.update(text.getBytes(UTF_8));
      digest.update(functionsOf(small));
    }
    return fingerprint(digest);
  }

  private static ByteBuffer functionsOf(double x) {
    double positive = Math.abs(x);
    return ByteBuffer.allocate(14 * Double.BYTES)
        .putDouble(Math.sin(x))
        .putDouble(Math.cos(x))
        .putDouble(Math.tan(x))
        .putDouble(Math.asin(x / 60))
        .putDouble(Math.acos(x / 60))
        .putDouble(Math.atan(x))
        .putDouble(Math.atan2(x, 3))
        .putDouble(Math.sinh(x))
        .putDouble(Math.cosh(x))
        .putDouble(Math.tanh(x))
        .putDouble(Math.exp(x))
        .putDouble(Math.log(positive))
        .putDouble(Math.log10(positive))
        .putDouble(Math.pow(positive, 1.7))
        .flip();
  }

  /** The rules of all regions. */
  private static String timeZones() {
    MessageDigest digest = digest();
    for (String id : new TreeSet<>(ZoneId.getAvailableZoneIds())) {
      ZoneRules rules = ZoneId.of(id).getRules();
      digest.update((id + rules.getOffset(Instant.EPOCH)).getBytes(UTF_8));
      for (ZoneOffsetTransition change : rules.getTransitions()) {
        digest.update(
            ByteBuffer.allocate(Long.BYTES + 2 * Integer.BYTES)
                .putLong(change.toEpochSecond())
                .putInt(change.getOffsetBefore().getTotalSeconds())
                .putInt(change.getOffsetAfter().getTotalSeconds())
                .flip());
      }
      digest.update(rules.getTransitionRules().toString().getBytes(UTF_8));
    }
    return fingerprint(digest);
  }

  private static MessageDigest digest() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  private static String fingerprint(MessageDigest digest) {
    return HexFormat.of().formatHex(digest.digest(), 0, FINGERPRINT_BYTES);
  }
}
