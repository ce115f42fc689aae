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
  private static final int LONGEST = 32 << 20;

  /** A stream of bytes locks itself for each one. */
  private static final int STEPS_OF_A_WRITTEN_BYTE = 2;

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

  /**
   * Makes letters capitals, some at a time: the runtime copies what it has for each letter that
   * becomes several. No letter depends on another one.
   */
  static String upper(String text, Locale locale) {
    if (text.length() <= SHORT) {
      return text.toUpperCase(locale);
    }
    Meter.steps(text.length() / LETTERS_PER_STEP);
    StringBuilder capitals = new StringBuilder(text.length());
    for (int from = 0; from < text.length(); ) {
      int to = Math.min(from + LETTERS_AT_A_TIME, text.length());
      if (to < text.length() && Character.isSurrogatePair(text.charAt(to - 1), text.charAt(to))) {
        to++;
      }
      capitals.append(text.substring(from, to).toUpperCase(locale));
      from = to;
    }
    return capitals.toString();
  }

  /**
   * Makes letters small. The runtime looks through the whole text for each capital sigma, and
   * copies what it has for each letter that becomes two.
   */
  static String lower(String text, Locale locale) {
    if (SmallLetters.areNeeded(text)) {
      return SmallLetters.of(text, locale);
    }
    if (text.length() > SHORT) {
      Meter.steps(text.length() / LETTERS_PER_STEP);
    }
    return text.toLowerCase(locale);
  }

  /** Letters that are made capitals together. */
  private static final int LETTERS_AT_A_TIME = 16;

  /** Letters whose case is changed in the time of one step. */
  private static final int LETTERS_PER_STEP = 1;

  /** Characters that are compared one by one in the time of one step. */
  private static final int COMPARED_PER_STEP = 8;

  /** Counts what a search has passed, which ended here, or at the end if this is negative. */
  private static int passed(CharSequence text, int from, int end) {
    chars((end < 0 ? text.length() : end) - (long) from);
    return end;
  }

  /** Finds a part as {@link String#indexOf(String, int)} does, which may compare all of it anew. */
  private static int find(String text, String part, int from) {
    if (part.length() <= 1) {
      return passed(text, from, text.indexOf(part, from));
    }
    char first = part.charAt(0);
    for (int at = Math.max(from, 0); ; at++) {
      int next = passed(text, at, text.indexOf(first, at));
      if (next < 0 || next + part.length() > text.length()) {
        return -1;
      }
      at = next;
      int same = 1;
      while (same < part.length() && text.charAt(at + same) == part.charAt(same)) {
        same++;
      }
      Meter.steps(1 + same / COMPARED_PER_STEP);
      if (same == part.length()) {
        return at;
      }
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
  public static boolean regionMatches(
      String text, boolean ignoreCase, int at, String other, int from, int length) {
    if (length > SHORT
        && text.regionMatches(ignoreCase, at, other, from, SHORT / COMPARED_PER_STEP)) {
      Meter.steps(length / COMPARED_PER_STEP);
    }
    return text.regionMatches(ignoreCase, at, other, from, length);
  }

  @Replaces(of = "java.lang.String")
  public static String concat(String text, String more) {
    requireRoom((long) text.length() + more.length());
    chars(text.length() + more.length());
    return text.concat(more);
  }

  @Replaces(of = "java.lang.String")
  public static boolean contains(String text, CharSequence part) {
    return indexOf(text, part.toString()) >= 0;
  }

  @Replaces(of = "java.lang.String")
  public static int indexOf(String text, int c) {
    return passed(text, 0, text.indexOf(c));
  }

  @Replaces(of = "java.lang.String")
  public static int indexOf(String text, int c, int from) {
    return passed(text, from, text.indexOf(c, from));
  }

  @Replaces(of = "java.lang.String")
  public static int indexOf(String text, String part) {
    return find(text, part, 0);
  }

  @Replaces(of = "java.lang.String")
  public static int indexOf(String text, String part, int from) {
    return find(text, part, from);
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
    Meter.steps((long) text.length() * (1 + part.length() / COMPARED_PER_STEP));
    return text.lastIndexOf(part, from);
  }

  @Replaces(of = "java.lang.String")
  public static String replace(String text, char from, char to) {
    chars(text.length());
    return text.replace(from, to);
  }

  @Replaces(of = "java.lang.String")
  public static String replace(String text, CharSequence from, CharSequence to) {
    String part = from.toString();
    for (int at = find(text, part, 0);
        at >= 0 && at < text.length();
        at = find(text, part, at + Math.max(part.length(), 1))) {
      chars(to.length());
    }
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
    return upper(text, locale);
  }

  @Replaces(of = "java.lang.String")
  public static String toLowerCase(String text, Locale locale) {
    return lower(text, locale);
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
    int found = builder.indexOf(part, from);
    return passed(builder, from, found);
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
    Meter.steps(STEPS_OF_A_WRITTEN_BYTE);
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
