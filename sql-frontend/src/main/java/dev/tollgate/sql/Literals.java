package dev.tollgate.sql;

import dev.tollgate.sql.parser.Token;
import dev.tollgate.sql.parser.TollgateParserConstants;
import java.math.BigInteger;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Literals and quoted names of H2 that Calcite reads as something else, or as two tokens. This
 * class turns them into tokens that both read alike.
 *
 * <ul>
 *   <li>{@code 0x1F}, {@code 0b11}, {@code 0o17}, {@code 1_000}, {@code 1L} and {@code 0x1L} are
 *       numbers.
 *   <li>{@code D '...'}, {@code T '...'} and {@code TS '...'} are a date, a time and a timestamp:
 *       what the JDBC escapes {d}, {t} and {ts} leave.
 *   <li>{@code `name`} is a name in upper case. {@code U&'...'} and {@code U&"..."} give characters
 *       by their code points.
 * </ul>
 */
final class Literals {

  /** The text after the zero of a hexadecimal, octal or binary number. */
  private static final Pattern RADIX =
      Pattern.compile(
          "(?:[xX]_?([0-9a-fA-F]+(?:_[0-9a-fA-F]+)*)|[oO]_?([0-7]+(?:_[0-7]+)*)"
              + "|[bB]_?([01]+(?:_[01]+)*))([lL]?)");

  private static final int GROUP_OF_TYPE = 4;

  private static final int[] BASES = {16, 8, 2};

  /** The text after the digits before the first underscore. */
  private static final Pattern MORE_DIGITS = Pattern.compile("((?:_[0-9]+)*)([lL]?)");

  /**
   * Maximum length of a text to join. A longer text is left as it is, and {@link LexicalRules}
   * refuses it.
   */
  private static final int MOST_DIGITS = 130;

  private Literals() {}

  /** A number that H2 gives the type BIGINT however small it is. */
  static final class TypedNumber extends Token {
    final String textForH2;

    TypedNumber(Token number) {
      copyPlace(number, this);
      endLine = number.endLine;
      endColumn = number.endColumn;
      kind = number.kind;
      image = number.image;
      textForH2 = number.image + "L";
    }

    private static void copyPlace(Token from, Token to) {
      to.beginLine = from.beginLine;
      to.beginColumn = from.beginColumn;
    }
  }

  /** A name in upper case, which the statement may have in other letters. */
  static final class CapitalName extends Token {
    final String written;

    CapitalName(Token name) {
      TypedNumber.copyPlace(name, this);
      endLine = name.endLine;
      endColumn = name.endColumn;
      written = name.image.substring(1, name.image.length() - 1);
      become(this, quoted(written.toUpperCase(Locale.ENGLISH)), QUOTED_NAME);
    }
  }

  /** Returns the one literal that two neighboring tokens form; null if they stay two tokens. */
  static @Nullable Token join(Token left, Token right) {
    if (right.kind == TollgateParserConstants.QUOTED_STRING) {
      giveType(left);
      return null;
    }
    boolean touch = left.endLine == right.beginLine && left.endColumn + 1 == right.beginColumn;
    if (!touch || right.image.length() > MOST_DIGITS) {
      return null;
    }
    boolean integer = left.kind == TollgateParserConstants.UNSIGNED_INTEGER_LITERAL;
    if (integer && right.image.startsWith(".") && LexicalRules.isNumber(right)) {
      // 1_000.5, whose first part was joined before
      return extended(left, right, left.image + right.image, right.kind);
    }
    if (right.kind != TollgateParserConstants.IDENTIFIER) {
      return null;
    }
    if (integer && left.image.equals("0")) {
      Matcher radix = RADIX.matcher(right.image);
      if (radix.matches()) {
        Token number = extended(left, right, decimal(radix), left.kind);
        return radix.group(GROUP_OF_TYPE).isEmpty() ? number : new TypedNumber(number);
      }
    }
    return LexicalRules.isNumber(left) ? withMoreDigits(left, right, integer) : null;
  }

  private static @Nullable Token withMoreDigits(Token left, Token right, boolean integer) {
    Matcher more = MORE_DIGITS.matcher(right.image);
    if (left instanceof TypedNumber || !more.matches()) {
      return null;
    }
    Token number = extended(left, right, left.image + more.group(1).replace("_", ""), left.kind);
    return more.group(2).isEmpty() ? number : integer ? new TypedNumber(number) : null;
  }

  private static String decimal(Matcher radix) {
    int group = 1;
    while (radix.group(group) == null) {
      group++;
    }
    return new BigInteger(radix.group(group).replace("_", ""), BASES[group - 1]).toString();
  }

  private static Token extended(Token left, Token right, String image, int kind) {
    Token token = new Token();
    TypedNumber.copyPlace(left, token);
    token.endLine = right.endLine;
    token.endColumn = right.endColumn;
    token.image = image;
    token.kind = kind;
    return token;
  }

  /** Replaces D, T and TS before a string with the type that they stand for. */
  private static void giveType(Token word) {
    if (word.kind != TollgateParserConstants.IDENTIFIER) {
      return;
    }
    switch (word.image.toUpperCase(Locale.ROOT)) {
      case "D" -> become(word, "DATE", TollgateParserConstants.DATE);
      case "T" -> become(word, "TIME", TollgateParserConstants.TIME);
      case "TS" -> become(word, "TIMESTAMP", TollgateParserConstants.TIMESTAMP);
      default -> {}
    }
  }

  private static void become(Token token, String image, int kind) {
    token.image = image;
    token.kind = kind;
  }

  /**
   * Puts a name in backticks into double quotes and upper case, as H2 reads it. Removes the spaces
   * from X'01 02'.
   */
  static Token plain(Token token) {
    if (token.kind == TollgateParserConstants.BINARY_STRING_LITERAL) {
      become(token, token.image.replaceAll("\\s", ""), token.kind);
    }
    return token.kind == TollgateParserConstants.BACKTICK_NAME ? new CapitalName(token) : token;
  }

  private static final int QUOTED_NAME = TollgateParserConstants.QUOTED_IDENTIFIER;

  private static String quoted(String name) {
    return '"' + name.replace("\"", "\"\"") + '"';
  }

  /** Replaces the code points in U&'...' and U&"..." with their characters. */
  static void decode(List<Token> tokens) {
    for (int i = 0; i < tokens.size(); i++) {
      Token token = tokens.get(i);
      boolean name = token.kind == TollgateParserConstants.UNICODE_QUOTED_IDENTIFIER;
      if (name || token.kind == TollgateParserConstants.UNICODE_STRING_LITERAL) {
        char escape = takeEscape(tokens, i);
        if (kindAt(tokens, i + 1) == TollgateParserConstants.QUOTED_STRING) {
          throw Refusals.syntax(tokens.get(i + 1), "U&'...' stands alone: join strings with ||");
        }
        String quote = name ? "\"" : "'";
        String body = token.image.substring(3, token.image.length() - 1);
        String text = decoded(token, body.replace(quote + quote, quote), escape);
        become(
            token,
            name ? quoted(text) : "'" + text.replace("'", "''") + "'",
            name ? QUOTED_NAME : TollgateParserConstants.QUOTED_STRING);
      }
    }
  }

  /**
   * Returns the character after UESCAPE, and removes that clause; the backslash if there is none.
   */
  private static char takeEscape(List<Token> tokens, int index) {
    if (kindAt(tokens, index + 1) != TollgateParserConstants.UESCAPE) {
      return '\\';
    }
    Token given = tokens.get(Math.min(index + 2, tokens.size() - 1));
    if (!given.image.matches("'[^0-9a-fA-F+'\"\\s]'")) {
      throw Refusals.syntax(
          given, "UESCAPE takes one character, no digit, letter A to F, + or quote");
    }
    tokens.subList(index + 1, index + 3).clear();
    tokens.get(index).endLine = given.endLine;
    tokens.get(index).endColumn = given.endColumn;
    return given.image.charAt(1);
  }

  private static int kindAt(List<Token> tokens, int index) {
    return index < tokens.size() ? tokens.get(index).kind : TollgateParserConstants.EOF;
  }

  private static String decoded(Token token, String body, char escape) {
    String sign = Pattern.quote(String.valueOf(escape));
    Matcher escaped =
        Pattern.compile(sign + "(" + sign + "|\\+[0-9a-fA-F]{6}|[0-9a-fA-F]{4}|)").matcher(body);
    StringBuilder text = new StringBuilder();
    while (escaped.find()) {
      String number = escaped.group(1).replace("+", "");
      int character =
          number.length() < 4 ? (number.isEmpty() ? -1 : escape) : Integer.parseInt(number, 16);
      if (!Character.isValidCodePoint(character)) {
        throw Refusals.syntax(
            token,
            "in U&'...' four digits follow the " + escape + ", or a + and six, or another one");
      }
      escaped.appendReplacement(text, "");
      text.appendCodePoint(character);
    }
    escaped.appendTail(text);
    if (text.codePoints()
        .anyMatch(c -> Character.MIN_SURROGATE <= c && c <= Character.MAX_SURROGATE)) {
      throw Refusals.syntax(token, "half of a character, an unpaired surrogate, is not allowed");
    }
    return text.toString();
  }
}
