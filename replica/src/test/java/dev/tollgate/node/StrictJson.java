package dev.tollgate.node;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads JSON as RFC 8259 has it, and no member twice: what a node writes has to be that. */
final class StrictJson {
  private static final Pattern NUMBER =
      Pattern.compile("-?(?:0|[1-9][0-9]*+)(\\.[0-9]++)?([eE][+-]?[0-9]++)?");
  private static final Pattern STRING =
      Pattern.compile("\"((?:[^\"\\\\\\x00-\\x1f]|\\\\(?:[\"\\\\/bfnrt]|u[0-9a-fA-F]{4}))*+)\"");

  private final String text;
  private int at;

  private StrictJson(String text) {
    this.text = text;
  }

  /** Reads one value; throws AssertionError if it is none. */
  static @Nullable Object read(String text) {
    StrictJson reader = new StrictJson(text);
    Object value = reader.value();
    reader.skip();
    if (reader.at != text.length()) {
      throw reader.wrong();
    }
    return value;
  }

  private AssertionError wrong() {
    return new AssertionError("no JSON at " + at + ": " + text);
  }

  private void skip() {
    while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
  }

  private boolean take(String sign) {
    skip();
    boolean there = text.startsWith(sign, at);
    at += there ? sign.length() : 0;
    return there;
  }

  private @Nullable Object value() {
    if (take("{")) {
      return object();
    }
    if (take("[")) {
      return array();
    }
    if (take("null")) {
      return null;
    }
    if (take("true")) {
      return true;
    }
    if (take("false")) {
      return false;
    }
    if (at < text.length() && text.charAt(at) == '"') {
      return string();
    }
    Matcher number = NUMBER.matcher(text).region(at, text.length());
    if (!number.lookingAt()) {
      throw wrong();
    }
    at = number.end();
    BigDecimal exact = new BigDecimal(number.group());
    boolean whole = number.group(1) == null && number.group(2) == null;
    return whole && exact.unscaledValue().bitLength() < Long.SIZE
        ? (Object) exact.longValueExact()
        : exact;
  }

  private String string() {
    skip();
    Matcher string = STRING.matcher(text).region(at, text.length());
    if (!string.lookingAt()) {
      throw wrong();
    }
    at = string.end();
    return string.group(1);
  }

  private Map<String, @Nullable Object> object() {
    Map<String, @Nullable Object> members = new LinkedHashMap<>();
    if (take("}")) {
      return members;
    }
    do {
      String name = string();
      if (!take(":") || members.containsKey(name)) {
        throw wrong();
      }
      members.put(name, value());
    } while (take(","));
    if (!take("}")) {
      throw wrong();
    }
    return members;
  }

  private List<@Nullable Object> array() {
    List<@Nullable Object> elements = new ArrayList<>();
    if (take("]")) {
      return elements;
    }
    do {
      elements.add(value());
    } while (take(","));
    if (!take("]")) {
      throw wrong();
    }
    return elements;
  }
}
