package dev.tollgate.node.admin;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Writes JSON (RFC 8259) in one line, without a line break in it, so that it can be the data of a
 * server-sent event. Escapes all that is not plainly ASCII or a letter. Not thread-safe.
 */
final class ConsoleJson {
  private static final int FIRST_PLAIN = 0x20;
  private static final int DELETE = 0x7f;
  private static final int LAST_CONTROL = 0x9f;

  private final StringBuilder text = new StringBuilder(4_096);
  private boolean comma;

  ConsoleJson open(char bracket) {
    separate();
    text.append(bracket);
    comma = false;
    return this;
  }

  ConsoleJson close(char bracket) {
    text.append(bracket);
    comma = true;
    return this;
  }

  /** Begins an object or an array that is a member. */
  ConsoleJson open(String key, char bracket) {
    key(key);
    text.append(bracket);
    comma = false;
    return this;
  }

  ConsoleJson member(String key, @Nullable String value) {
    key(key);
    if (value == null) {
      text.append("null");
    } else {
      quote(value);
    }
    return this;
  }

  ConsoleJson member(String key, @Nullable Long value) {
    key(key);
    text.append(value);
    return this;
  }

  ConsoleJson member(String key, boolean value) {
    key(key);
    text.append(value);
    return this;
  }

  /** An element of an array. */
  ConsoleJson element(String value) {
    separate();
    quote(value);
    return this;
  }

  private void key(String key) {
    separate();
    quote(key);
    text.append(':');
  }

  private void separate() {
    if (comma) {
      text.append(',');
    }
    comma = true;
  }

  private void quote(String value) {
    text.append('"');
    for (int i = 0; i < value.length(); i++) {
      append(value.charAt(i));
    }
    text.append('"');
  }

  private void append(char c) {
    if (c == '"' || c == '\\') {
      text.append('\\').append(c);
    } else if (c < FIRST_PLAIN
        || c == '<'
        || (c >= DELETE && c <= LAST_CONTROL)
        || Character.isSurrogate(c)
        || !Character.isDefined(c)
        || isFormat(c)) {
      text.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
    } else {
      text.append(c);
    }
  }

  private static boolean isFormat(char c) {
    int type = Character.getType(c);
    return type == Character.FORMAT
        || type == Character.LINE_SEPARATOR
        || type == Character.PARAGRAPH_SEPARATOR
        || type == Character.PRIVATE_USE;
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
