package dev.tollgate.h2;

import java.io.ByteArrayOutputStream;
import java.nio.charset.Charset;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.h2.api.ErrorCode;
import org.h2.message.DbException;
import org.jspecify.annotations.Nullable;

/** Calls of the Java runtime that go through texts, counted by the length of the texts. */
public final class ChargedTexts {
  /** Characters that the runtime goes through in the time of one step. */
  private static final int CHARS_PER_STEP = 16;

  /** Shorter texts cost nothing beside the step of the loop in which they are used. */
  private static final int SHORT = 64;

  /**
   * Characters of a text that H2 puts together, such as the result of LISTAGG: more than any value
   * has.
   */
  private static final int LONGEST = 64 << 20;

  private ChargedTexts() {}

  static void chars(long count) {
    if (count > SHORT) {
      Meter.steps(count / CHARS_PER_STEP);
      Meter.allocates(count * Character.BYTES);
    }
  }

  /** Checks that a text may become longer, and announces the memory that it grows into. */
  private static void grows(StringBuilder builder, int more) {
    long length = (long) builder.length() + more;
    requireRoom(length);
    if (length > builder.capacity()) {
      Meter.allocates(Math.max(length, 2L * builder.capacity()) * Character.BYTES);
    }
  }

  /** The same for bytes, whose capacity doubles too. */
  private static void grows(ByteArrayOutputStream out, int more) {
    long size = (long) out.size() + more;
    requireRoom(size);
    if (Long.highestOneBit(size) > out.size()) {
      Meter.allocates(2 * size);
    }
  }

  /** Counts what a search has passed, which ended here, or at the end if this is negative. */
  private static int passed(String text, int from, int end, int partLength) {
    search((end < 0 ? text.length() : end) - (long) from, partLength);
    return end;
  }

  /** A search may compare the part anew at each place. */
  private static void search(long count, int partLength) {
    if (count > SHORT) {
      Meter.steps(count / CHARS_PER_STEP * (1 + Math.min(partLength, count) / CHARS_PER_STEP));
    }
  }

  @Replaces(of = "java.lang.String")
  public static int compareTo(String text, String other) {
    chars(Math.min(text.length(), other.length()));
    return text.compareTo(other);
  }

  @Replaces(of = "java.lang.String")
  public static int compareToIgnoreCase(String text, String other) {
    chars(Math.min(text.length(), other.length()));
    return text.compareToIgnoreCase(other);
  }

  @Replaces(of = "java.lang.String")
  public static boolean equalsIgnoreCase(String text, @Nullable String other) {
    chars(text.length());
    return text.equalsIgnoreCase(other);
  }

  @Replaces(of = "java.lang.String")
  public static boolean contains(String text, CharSequence part) {
    return indexOf(text, part.toString()) >= 0;
  }

  @Replaces(of = "java.lang.String")
  public static int indexOf(String text, int c) {
    return passed(text, 0, text.indexOf(c), 1);
  }

  @Replaces(of = "java.lang.String")
  public static int indexOf(String text, int c, int from) {
    return passed(text, from, text.indexOf(c, from), 1);
  }

  @Replaces(of = "java.lang.String")
  public static int indexOf(String text, String part) {
    return passed(text, 0, text.indexOf(part), part.length());
  }

  @Replaces(of = "java.lang.String")
  public static int indexOf(String text, String part, int from) {
    return passed(text, from, text.indexOf(part, from), part.length());
  }

  @Replaces(of = "java.lang.String")
  public static int lastIndexOf(String text, int c) {
    chars(text.length());
    return text.lastIndexOf(c);
  }

  @Replaces(of = "java.lang.String")
  public static int lastIndexOf(String text, int c, int from) {
    chars(text.length());
    return text.lastIndexOf(c, from);
  }

  @Replaces(of = "java.lang.String")
  public static int lastIndexOf(String text, String part, int from) {
    search(text.length(), part.length());
    return text.lastIndexOf(part, from);
  }

  @Replaces(of = "java.lang.String")
  public static String replace(String text, char from, char to) {
    chars(text.length());
    return text.replace(from, to);
  }

  @Replaces(of = "java.lang.String")
  public static String replace(String text, CharSequence from, CharSequence to) {
    search(text.length() + (long) text.length() * to.length(), from.length());
    return text.replace(from, to);
  }

  @Replaces(of = "java.lang.String")
  public static String substring(String text, int from) {
    chars(text.length() - from);
    return text.substring(from);
  }

  @Replaces(of = "java.lang.String")
  public static String substring(String text, int from, int to) {
    chars(to - from);
    return text.substring(from, to);
  }

  @Replaces(of = "java.lang.String")
  public static char[] toCharArray(String text) {
    chars(text.length());
    return text.toCharArray();
  }

  @Replaces(of = "java.lang.String")
  public static byte[] getBytes(String text, Charset charset) {
    chars(text.length());
    return text.getBytes(charset);
  }

  @Replaces(of = "java.lang.String")
  public static String trim(String text) {
    chars(text.length());
    return text.trim();
  }

  @Replaces(of = "java.lang.String")
  public static String toUpperCase(String text, Locale locale) {
    chars(text.length());
    return text.toUpperCase(locale);
  }

  @Replaces(of = "java.lang.String")
  public static String toLowerCase(String text, Locale locale) {
    chars(text.length());
    return text.toLowerCase(locale);
  }

  @Replaces(of = "java.lang.String")
  public static String replaceAll(String text, String pattern, String to) {

    return Pattern.compile(pattern).matcher(new CountedText(text)).replaceAll(to);
  }

  /**
   * Ends the growth of a text.
   *
   * @throws DbException with SQLState 22001
   */
  static void requireRoom(long length) {
    if (length > LONGEST) {
      throw DbException.get(
          ErrorCode.VALUE_TOO_LONG_2, "CHARACTER VARYING", "a text (" + length + ")");
    }
  }

  @Replaces(of = "java.lang.StringBuilder")
  public static StringBuilder append(StringBuilder builder, @Nullable String text) {
    int length = text == null ? 0 : text.length();
    chars(length);
    grows(builder, length);
    return builder.append(text);
  }

  @Replaces(of = "java.lang.StringBuilder")
  public static StringBuilder append(StringBuilder builder, CharSequence text, int from, int to) {
    chars(to - from);
    grows(builder, to - from);
    return builder.append(text, from, to);
  }

  @Replaces(of = "java.lang.StringBuilder")
  public static StringBuilder append(StringBuilder builder, char c) {
    grows(builder, 1);
    return builder.append(c);
  }

  @Replaces(of = "java.lang.StringBuilder")
  public static StringBuilder insert(StringBuilder builder, int at, char c) {
    chars(builder.length() - at);
    return builder.insert(at, c);
  }

  @Replaces(of = "java.lang.StringBuilder")
  public static StringBuilder insert(StringBuilder builder, int at, String text) {
    chars(builder.length() - at + text.length());
    return builder.insert(at, text);
  }

  @Replaces(of = "java.lang.StringBuilder")
  public static StringBuilder delete(StringBuilder builder, int from, int to) {
    chars(builder.length() - from);
    return builder.delete(from, to);
  }

  @Replaces(of = "java.lang.StringBuilder")
  public static int indexOf(StringBuilder builder, String part, int from) {
    search(builder.length() - from, part.length());
    return builder.indexOf(part, from);
  }

  @Replaces(of = "java.lang.StringBuilder")
  public static String toString(StringBuilder builder) {
    chars(builder.length());
    return builder.toString();
  }

  @Replaces(of = "java.util.regex.Pattern")
  public static Matcher matcher(Pattern pattern, CharSequence text) {

    return pattern.matcher(new CountedText(text));
  }

  @Replaces(of = "java.io.ByteArrayOutputStream")
  public static void write(ByteArrayOutputStream out, int value) {
    grows(out, 1);
    out.write(value);
  }

  @Replaces(of = "java.io.ByteArrayOutputStream")
  public static void write(ByteArrayOutputStream out, byte[] bytes, int from, int length) {
    chars(length);
    grows(out, length);
    out.write(bytes, from, length);
  }

  @Replaces(of = "java.io.ByteArrayOutputStream")
  public static byte[] toByteArray(ByteArrayOutputStream out) {
    Meter.allocates(out.size());
    return out.toByteArray();
  }
}
