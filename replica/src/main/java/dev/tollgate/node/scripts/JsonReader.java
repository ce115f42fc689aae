package dev.tollgate.node.scripts;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Text;
import dev.tollgate.wire.SqlState;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads a text in JSON (RFC 8259) as maps, lists, strings, numbers, Boolean and null. A number is a
 * Long if it is whole and fits, else a BigDecimal. Stricter than the RFC where it leaves a choice:
 * no member twice, no deep nesting, no long numbers.
 */
final class JsonReader {
  private static final Pattern NUMBER =
      Pattern.compile("-?(?:0|[1-9][0-9]*+)(\\.[0-9]++)?([eE][+-]?[0-9]{1,5}+)?");

  private static final int HEX_DIGITS = 4;
  private static final int HEX = 16;
  private static final int LONG_DIGITS = 18;

  private final String text;
  private int at;

  private JsonReader(String text) {
    this.text = requireNonNull(text, "text");
  }

  /**
   * Reads an object.
   *
   * @throws ScriptRefusal if the bytes are no object in JSON and UTF-8
   */
  static Map<String, @Nullable Object> object(byte[] body) throws ScriptRefusal {
    String text;
    try {
      text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(body)).toString();
    } catch (CharacterCodingException e) {
      throw ScriptRefusal.invalid("the body is not UTF-8");
    }
    JsonReader reader = new JsonReader(text);
    reader.skipSpace();
    if (reader.peek() != '{') {
      throw reader.wrong("an object");
    }
    Map<String, @Nullable Object> object = reader.object(1);
    reader.skipSpace();
    if (reader.at < text.length()) {
      throw reader.wrong("the end");
    }
    return object;
  }

  private ScriptRefusal wrong(String expected) {
    return ScriptRefusal.invalid(
        "the body is no JSON: character " + (at + 1) + " should be " + expected);
  }

  private char peek() throws ScriptRefusal {
    if (at >= text.length()) {
      throw ScriptRefusal.invalid("the body is no JSON: it ends too early");
    }
    return text.charAt(at);
  }

  private char next() throws ScriptRefusal {
    char unit = peek();
    at++;
    return unit;
  }

  private void skipSpace() {
    while (at < text.length() && " \t\n\r".indexOf(text.charAt(at)) >= 0) {
      at++;
    }
  }

  private @Nullable Object value(int depth) throws ScriptRefusal {
    skipSpace();
    return switch (peek()) {
      case '{' -> object(depth + 1);
      case '[' -> array(depth + 1);
      case '"' -> string();
      case 't' -> word("true", true);
      case 'f' -> word("false", false);
      case 'n' -> word("null", null);
      default -> number();
    };
  }

  private @Nullable Object word(String word, @Nullable Object value) throws ScriptRefusal {
    if (!text.startsWith(word, at)) {
      throw wrong("a value");
    }
    at += word.length();
    return value;
  }

  private static void requireDepth(int depth) throws ScriptRefusal {
    if (depth > ScriptLimits.JSON_DEPTH) {
      throw ScriptRefusal.invalid(
          "the body nests objects and arrays deeper than " + ScriptLimits.JSON_DEPTH);
    }
  }

  private Map<String, @Nullable Object> object(int depth) throws ScriptRefusal {
    requireDepth(depth);
    Map<String, @Nullable Object> members = new LinkedHashMap<>();
    at++;
    skipSpace();
    if (peek() == '}') {
      at++;
      return members;
    }
    while (true) {
      skipSpace();
      if (peek() != '"') {
        throw wrong("the name of a member");
      }
      String name = string();
      skipSpace();
      if (peek() != ':') {
        throw wrong("a colon");
      }
      at++;
      if (members.containsKey(name)) {
        throw ScriptRefusal.invalid("the member \"" + name + "\" is there twice");
      }
      members.put(name, value(depth));
      if (endsAfter('}')) {
        return members;
      }
    }
  }

  private List<@Nullable Object> array(int depth) throws ScriptRefusal {
    requireDepth(depth);
    List<@Nullable Object> elements = new ArrayList<>();
    at++;
    skipSpace();
    if (peek() == ']') {
      at++;
      return elements;
    }
    while (true) {
      elements.add(value(depth));
      if (endsAfter(']')) {
        return elements;
      }
    }
  }

  /** True if what follows is the end, false if it is a comma. */
  private boolean endsAfter(char end) throws ScriptRefusal {
    skipSpace();
    char unit = peek();
    if (unit != end && unit != ',') {
      throw wrong("a comma or " + end);
    }
    at++;
    return unit == end;
  }

  private String string() throws ScriptRefusal {
    StringBuilder read = new StringBuilder();
    at++;
    while (true) {
      char unit = next();
      if (unit == '"') {
        String whole = read.toString();
        if (!Text.isWellFormed(whole)) {
          throw ScriptRefusal.of(
              SqlState.NOT_TEXT,
              "the body has half of a character, an unpaired surrogate, before position "
                  + at
                  + ": write both halves of a character beyond U+FFFF");
        }
        return whole;
      }
      if (unit < ' ') {
        at--;
        throw wrong("an escape: control characters are written as \\uXXXX");
      }
      read.append(unit == '\\' ? escaped() : unit);
    }
  }

  private char escaped() throws ScriptRefusal {
    char unit = next();
    return switch (unit) {
      case '"', '\\', '/' -> unit;
      case 'b' -> '\b';
      case 'f' -> '\f';
      case 'n' -> '\n';
      case 'r' -> '\r';
      case 't' -> '\t';
      case 'u' -> hex();
      default -> {
        at--;
        throw wrong("one of \"\\/bfnrtu after the backslash");
      }
    };
  }

  private char hex() throws ScriptRefusal {
    int code = 0;
    for (int i = 0; i < HEX_DIGITS; i++) {
      int digit = peek() < 128 ? Character.digit(peek(), HEX) : -1;
      if (digit < 0) {
        throw wrong("a hexadecimal digit");
      }
      code = code * HEX + digit;
      at++;
    }
    return (char) code;
  }

  private Object number() throws ScriptRefusal {
    Matcher number = NUMBER.matcher(text).region(at, text.length());
    if (!number.lookingAt()) {
      throw wrong("a value");
    }
    String digits = number.group();
    if (digits.length() > ScriptLimits.NUMBER_CHARS) {
      throw ScriptRefusal.invalid(
          "a number has " + digits.length() + " characters: at most " + ScriptLimits.NUMBER_CHARS);
    }
    at = number.end();
    boolean whole = number.group(1) == null && number.group(2) == null;
    if (whole && digits.length() <= LONG_DIGITS) {
      return Long.valueOf(digits);
    }
    BigDecimal exact = new BigDecimal(digits);
    boolean fits =
        whole
            && exact.compareTo(BigDecimal.valueOf(Long.MAX_VALUE)) <= 0
            && exact.compareTo(BigDecimal.valueOf(Long.MIN_VALUE)) >= 0;
    return fits ? (Object) exact.longValueExact() : exact;
  }
}
