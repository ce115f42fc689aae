package dev.tollgate.node.admin;

import dev.tollgate.node.json.JsonText;
import org.jspecify.annotations.Nullable;

/**
 * Writes JSON (RFC 8259) in one line, so that it can be the data of a server-sent event. Not
 * thread-safe.
 */
final class ConsoleJson {
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
    JsonText.escape(value, text);
    text.append('"');
  }

  @Override
  public String toString() {
    return text.toString();
  }
}
