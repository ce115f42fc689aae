package dev.tollgate.cli.certificates;

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.List;

/** Writes values in DER (X.690): what certificates and revocation lists are made of. */
final class Der {
  private static final int CONSTRUCTED = 0x20;
  private static final int CONTEXT = 0x80;
  private static final int LONG_FORM = 0x80;
  private static final int LAST_SHORT_LENGTH = 0x7F;

  private static final DateTimeFormatter UTC_TIME =
      DateTimeFormatter.ofPattern("yyMMddHHmmss'Z'").withZone(ZoneOffset.UTC);
  private static final DateTimeFormatter GENERALIZED_TIME =
      DateTimeFormatter.ofPattern("yyyyMMddHHmmss'Z'").withZone(ZoneOffset.UTC);

  /** RFC 5280: dates from 2050 on have four digits for the year. */
  private static final Instant GENERALIZED_FROM = Instant.parse("2050-01-01T00:00:00Z");

  private Der() {}

  private static byte[] value(int tag, byte[]... parts) {
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      content.writeBytes(part);
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(tag);
    int length = content.size();
    if (length <= LAST_SHORT_LENGTH) {
      out.write(length);
    } else {
      byte[] bytes = BigInteger.valueOf(length).toByteArray();
      int skip = bytes[0] == 0 ? 1 : 0;
      out.write(LONG_FORM | (bytes.length - skip));
      out.write(bytes, skip, bytes.length - skip);
    }
    out.writeBytes(content.toByteArray());
    return out.toByteArray();
  }

  static byte[] sequence(byte[]... parts) {
    return value(0x30, parts);
  }

  static byte[] sequence(List<byte[]> parts) {
    return sequence(parts.toArray(byte[][]::new));
  }

  static byte[] set(byte[]... parts) {
    return value(0x31, parts);
  }

  static byte[] integer(BigInteger number) {
    return value(0x02, number.toByteArray());
  }

  static byte[] yes() {
    return value(0x01, new byte[] {(byte) 0xFF});
  }

  static byte[] octets(byte[] bytes) {
    return value(0x04, bytes);
  }

  static byte[] bits(int unused, byte... bytes) {
    return value(0x03, new byte[] {(byte) unused}, bytes);
  }

  static byte[] utf8(String text) {
    return value(0x0C, text.getBytes(StandardCharsets.UTF_8));
  }

  static byte[] time(Instant time) {
    boolean shortYear = time.isBefore(GENERALIZED_FROM);
    String text = (shortYear ? UTC_TIME : GENERALIZED_TIME).format(time);
    return value(shortYear ? 0x17 : 0x18, text.getBytes(StandardCharsets.US_ASCII));
  }

  /** An object identifier, as 1.2.840. */
  static byte[] oid(String dotted) {
    String[] arcs = dotted.split("\\.", -1);
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    base128(out, 40 * Integer.parseInt(arcs[0]) + Integer.parseInt(arcs[1]));
    for (int i = 2; i < arcs.length; i++) {
      base128(out, Integer.parseInt(arcs[i]));
    }
    return value(0x06, out.toByteArray());
  }

  private static void base128(ByteArrayOutputStream out, int number) {
    for (int shift = 28; shift > 0; shift -= 7) {
      if (number >>> shift != 0) {
        out.write(0x80 | (number >>> shift & 0x7F));
      }
    }
    out.write(number & 0x7F);
  }

  /** A value with a tag of its own around it. */
  static byte[] explicit(int number, byte[] value) {
    return value(CONTEXT | CONSTRUCTED | number, value);
  }

  /** Bytes with a tag of their own in place of the usual one. */
  static byte[] implicit(int number, byte[] bytes) {
    return value(CONTEXT | number, bytes);
  }
}
