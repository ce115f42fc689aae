package dev.tollgate.sql;

import dev.tollgate.sql.parser.Token;
import dev.tollgate.sql.parser.TollgateParserConstants;
import org.jspecify.annotations.Nullable;

/**
 * Refuses text that the lexers of Calcite and H2 would read differently, so that what is checked is
 * what runs. Each rule stands for a difference that was observed.
 */
final class LexicalRules {

  /** Maximum length of an exponent, with its sign and leading zeros. */
  private static final int DIGITS_OF_AN_EXPONENT = 8;

  private LexicalRules() {}

  /** Checks one token; the tokens must come in the order of the text. */
  static void check(@Nullable Token previous, Token token) {
    checkComments(token);
    if (previous != null) {
      checkNeighbours(previous, token);
    }
    checkNumber(token);
    String refusal = refusalOf(token);
    if (refusal != null) {
      throw Refusals.syntax(token, refusal);
    }
  }

  /**
   * Returns the sentence for a character with which no token begins; null stands for the end of the
   * text.
   */
  static String sentenceFor(@Nullable String character) {
    if (character == null) {
      return "a comment or a name in backticks is empty or not closed";
    }
    return switch (character) {
      case "@" -> "variables (@name) are not allowed: they are no part of the replicated state";
      default -> "unexpected character '" + character + "'";
    };
  }

  private static @Nullable String refusalOf(Token token) {
    return switch (token.kind) {
      case TollgateParserConstants.QUOTED_STRING,
          TollgateParserConstants.PREFIXED_STRING_LITERAL, // N'...'
          TollgateParserConstants.BINARY_STRING_LITERAL,
          TollgateParserConstants.QUOTED_IDENTIFIER,
          TollgateParserConstants.UNICODE_STRING_LITERAL,
          TollgateParserConstants.UNICODE_QUOTED_IDENTIFIER,
          TollgateParserConstants.BACKTICK_NAME,
          TollgateParserConstants.EOF ->
          null;
      case TollgateParserConstants.QUOTE -> "a string is not closed";
      case TollgateParserConstants.DOUBLE_QUOTE -> "a quoted name is empty or not closed";
      case TollgateParserConstants.C_STYLE_ESCAPED_STRING_LITERAL ->
          "E'' strings are not allowed: in '...' only a quote is escaped, by doubling it";
      case TollgateParserConstants.HINT_BEG -> "hints are not allowed";
      case TollgateParserConstants.COMMENT_END ->
          "this comment was never opened; comments within comments are not allowed";
      case TollgateParserConstants.LBRACE,
          TollgateParserConstants.LBRACE_D,
          TollgateParserConstants.LBRACE_T,
          TollgateParserConstants.LBRACE_TS,
          TollgateParserConstants.LBRACE_FN,
          TollgateParserConstants.RBRACE ->
          "JDBC escapes {...} are for the driver to translate: write DATE '...', or the function"
              + " itself";
      default ->
          isPlain(token.image)
              ? null
              : "names without quotes have only ASCII letters, digits, '_', and '$' but for the"
                  + " first: write \""
                  + Refusals.excerpt(token)
                  + "\"";
    };
  }

  /**
   * Refuses a second statement, and adjacent tokens that H2 would read differently. H2 has numbered
   * parameters; Calcite sees two tokens. {@link Literals} has already joined the tokens of numbers
   * like 0x1F and 1_000.
   */
  private static void checkNeighbours(Token previous, Token token) {
    if (previous.kind == TollgateParserConstants.SEMICOLON
        && token.kind != TollgateParserConstants.EOF) {
      throw Refusals.syntax(token, "one statement at a time: nothing may follow the ';'");
    }
    boolean adjacent =
        previous.endLine == token.beginLine && previous.endColumn + 1 == token.beginColumn;
    if (!adjacent || token.image.isEmpty()) {
      return;
    }
    if (previous.kind == TollgateParserConstants.SLASH
        && token.kind == TollgateParserConstants.SLASH) {
      // H2 takes the rest of the line for a comment, and tools that cut scripts at semicolons do
      // not
      throw Refusals.syntax(
          previous, "two slashes begin no comment that all tools know: write -- or /* */");
    }
    if (isNumber(previous)
        && Character.isJavaIdentifierPart(token.image.charAt(0))
        && !isMultiple(previous, token)) {
      throw Refusals.syntax(
          token,
          "a number runs into '"
              + Refusals.excerpt(token)
              + "': put a space between them; in a number there are only digits, single '_' between"
              + " them, a point and an exponent, or 0x and hexadecimal digits");
    }
    if (previous.kind == TollgateParserConstants.IDENTIFIER
        && token.kind == TollgateParserConstants.QUOTED_STRING) {
      throw Refusals.syntax(
          previous,
          "strings with a character set or another prefix are not allowed: write '...' or N'...'");
    }
    if (token.kind == TollgateParserConstants.BACKTICK_NAME
        && previous.kind == TollgateParserConstants.QUOTED_IDENTIFIER) {
      throw Refusals.syntax(token, "a name in backticks holds no backtick: write it in \"...\"");
    }
    if (previous.kind == TollgateParserConstants.HOOK && isNumber(token)) {
      throw Refusals.syntax(token, "parameters have no numbers: write a plain ?");
    }
  }

  /**
   * Whether the tokens are a length as in CLOB(10K). Both lexers read a number and a word, and the
   * text for H2 separates them.
   */
  private static boolean isMultiple(Token number, Token word) {
    return number.kind == TollgateParserConstants.UNSIGNED_INTEGER_LITERAL
        && word.image.matches("[kKmMgGtTpP]");
  }

  /**
   * Refuses a comment that Calcite and H2 may end in different places. H2 nests comments, and
   * Calcite does not see the end of an empty comment with three asterisks.
   */
  private static void checkComments(Token token) {
    for (Token comment = token.specialToken; comment != null; comment = comment.specialToken) {
      if (comment.image.startsWith("/***/")) {
        throw Refusals.syntax(comment, "the comment /***/ is not allowed: write /* */");
      }
      if (comment.image.startsWith("/*") && comment.image.indexOf("/*", 2) >= 0) {
        throw Refusals.syntax(
            comment,
            "a comment within a comment is not allowed, because databases disagree on where it"
                + " ends: take the inner one out");
      }
    }
  }

  /** Checks that a number has neither too many digits nor too large an exponent. */
  static void checkNumber(Token token) {
    if (!isNumber(token)) {
      return;
    }
    int e = Math.max(token.image.indexOf('e'), token.image.indexOf('E'));
    String exponent = e < 0 ? "0" : token.image.substring(e + 1);
    if (token.image.length() > SqlLimits.NUMBER_LENGTH
        || exponent.length() > DIGITS_OF_AN_EXPONENT
        || Math.abs(Integer.parseInt(exponent)) > SqlLimits.NUMBER_LENGTH) {
      throw Refusals.tooLong(
          token,
          "a number has at most "
              + SqlLimits.NUMBER_LENGTH
              + " digits, and an exponent as far as that from zero");
    }
  }

  /**
   * Whether a token has only plain characters. In H2 a dollar opens a string where a word could
   * begin, and a space beyond ASCII separates words. Calcite takes both for letters.
   */
  private static boolean isPlain(String image) {
    for (int i = 0; i < image.length(); i++) {
      char c = image.charAt(i);
      if (c <= ' ' || c >= 127 || (i == 0 && c == '$')) {
        return false;
      }
    }
    return true;
  }

  static boolean isNumber(Token token) {
    return token.kind == TollgateParserConstants.UNSIGNED_INTEGER_LITERAL
        || token.kind == TollgateParserConstants.DECIMAL_NUMERIC_LITERAL
        || token.kind == TollgateParserConstants.APPROX_NUMERIC_LITERAL;
  }
}
