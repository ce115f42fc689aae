package dev.tollgate.sql;

import dev.tollgate.sql.parser.TollgateParserConstants;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.calcite.sql.SqlBinaryStringLiteral;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlCharStringLiteral;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlNumericLiteral;

/**
 * Constant texts that H2 may convert to a number while it prepares the statement. H2 writes out the
 * zeros of {@code '1e500000000'}, and the store can check a statement only after H2 has prepared
 * it. Whether H2 converts a text depends on the columns beside it, which the front-end does not
 * know, and {@code '5e10000000'} may be a hash. So H2 gets such a literal as a query, whose value
 * it does not compute ahead.
 */
final class NumberConstants {
  private static final Pattern NUMBER =
      Pattern.compile(
          "[\\x00- ]*+[+-]?+(\\p{Nd}*+)\\.?+(\\p{Nd}*+)(?:[eE][+-]?+(\\p{Nd}++))?+[\\x00- ]*+");

  private static final Pattern JSON_DIGITS =
      Pattern.compile(
          "[0-9]{"
              + (SqlLimits.JSON_NUMBER_LENGTH + 1)
              + "}|(?:3[0-9]){"
              + (SqlLimits.JSON_NUMBER_LENGTH + 1)
              + "}");

  /**
   * Number of digits of the smallest exponent beyond the limit, plus one digit before the exponent.
   */
  private static final int LEAST_DIGITS = 6;

  /**
   * Number of characters that cannot become too long a number, even if RAWTOHEX makes digits and
   * letters of them.
   */
  private static final int CHARACTERS_OF_NO_NUMBER = 2;

  private static final Set<SqlKind> CONVERTING =
      EnumSet.of(
          SqlKind.PLUS,
          SqlKind.MINUS,
          SqlKind.TIMES,
          SqlKind.DIVIDE,
          SqlKind.MOD,
          SqlKind.PLUS_PREFIX,
          SqlKind.MINUS_PREFIX,
          SqlKind.CAST,
          SqlKind.CASE,
          SqlKind.COALESCE,
          SqlKind.NULLIF,
          SqlKind.GREATEST,
          SqlKind.LEAST,
          SqlKind.ARRAY_VALUE_CONSTRUCTOR);

  private static final Set<String> CONVERTING_FUNCTIONS =
      Set.of(
          "::",
          "ARRAY_CONTAINS",
          "CASEWHEN",
          "COALESCE",
          "CONVERT",
          "DECODE",
          "GREATEST",
          "IFNULL",
          "LEAST",
          "MOD",
          "NULLIF",
          "NVL",
          "NVL2");

  /** Functions whose result has each character of their operands at most once. */
  private static final Set<String> PASSING =
      Set.of(
          "||",
          "CONCAT",
          "LCASE",
          "LEFT",
          "LOWER",
          "LTRIM",
          "RIGHT",
          "RTRIM",
          "SUBSTR",
          "SUBSTRING",
          "TRIM",
          "UCASE",
          "UPPER");

  /** Functions whose result has no characters but those of their operands. */
  private static final Set<String> REPEATING =
      Set.of("CONCAT_WS", "INSERT", "LPAD", "REPEAT", "REPLACE", "RPAD", "SPACE", "TRANSLATE");

  /** Functions whose result may have characters that no operand has. */
  private static final Set<String> MAKING =
      Set.of(
          "CHAR",
          "CHR",
          "FORMATDATETIME",
          "QUOTE_IDENT",
          "RAWTOHEX",
          "REGEXP_REPLACE",
          "REGEXP_SUBSTR",
          "STRINGDECODE",
          "STRINGENCODE",
          "TO_CHAR",
          "UTF8TOSTRING");

  private NumberConstants() {}

  /** Whether H2 may convert the operands of a call to numbers. */
  static boolean converts(SqlCall call) {
    return GeometryConstants.isComparison(call)
        || CONVERTING.contains(call.getKind())
        || CONVERTING_FUNCTIONS.contains(nameOf(call));
  }

  private static String nameOf(SqlCall call) {
    return call.getOperator().getName().toUpperCase(Locale.ROOT);
  }

  /**
   * Finds literals that are too long as numbers among the operands of a call.
   *
   * @param found gets each such literal
   * @throws SqlRefused with the reason TOO_LONG for a computed constant that may be such a number
   */
  static void find(SqlCall call, Consumer<SqlCharStringLiteral> found) {
    Deque<SqlNode> open =
        new ArrayDeque<>(call.getOperandList().stream().filter(Objects::nonNull).toList());
    while (!open.isEmpty()) {
      SqlNode operand = open.pop();
      if (operand instanceof SqlNodeList list) {
        list.stream().filter(Objects::nonNull).forEach(open::push);
      } else if (operand instanceof SqlCharStringLiteral literal) {
        if (isTooLong(Arguments.text(literal))) {
          found.accept(literal);
        }
      } else if (operand instanceof SqlCall row && row.getKind() == SqlKind.ROW) {
        row.getOperandList().forEach(open::push);
      } else if (operand instanceof SqlCall computed && mayBeTooLong(computed)) {
        throw Refusals.tooLong(
            computed.getParserPosition(),
            "a constant that is computed here may become a number with more than "
                + SqlLimits.NUMBER_LENGTH
                + " digits, or with such an exponent: write it as one literal, or pass it as a"
                + " parameter");
      }
    }
  }

  static boolean isTooLong(String text) {
    Matcher number = NUMBER.matcher(text);
    if (!number.matches()) {
      return false;
    }
    int digits = number.end(1) - number.start(1) + number.end(2) - number.start(2);
    String exponent = number.group(3) == null ? "" : number.group(3);
    int from = 0;
    while (from < exponent.length() && Character.digit(exponent.charAt(from), 10) == 0) {
      from++;
    }
    int length = exponent.length() - from;
    return digits > SqlLimits.NUMBER_LENGTH
        || length >= LEAST_DIGITS
        || (length == LEAST_DIGITS - 1
            && Integer.parseInt(exponent.substring(from)) > SqlLimits.NUMBER_LENGTH);
  }

  /**
   * Refuses literals with very many digits in a statement about JSON: H2 parses numbers in JSON
   * while it prepares the statement.
   *
   * @throws SqlRefused with the reason TOO_LONG
   */
  static void checkLiterals(Tokens tokens) {
    boolean json = false;
    for (int i = 0; i < tokens.size() && !json; i++) {
      json = tokens.get(i).kind == TollgateParserConstants.JSON;
    }
    for (int i = 0; i < tokens.size() && json; i++) {
      String image = tokens.get(i).image;
      if (image.endsWith("'") && JSON_DIGITS.matcher(image).find()) {
        throw Refusals.tooLong(
            tokens.get(i),
            "a number in JSON has at most "
                + SqlLimits.JSON_NUMBER_LENGTH
                + " digits: write it as a string of JSON, or pass it as a parameter");
      }
    }
  }

  /**
   * Refuses a computed constant that may have very many digits where H2 parses it as JSON.
   *
   * @throws SqlRefused with the reason TOO_LONG
   */
  static void checkJson(SqlCall call) {
    String name = nameOf(call);
    if (!name.equals("FORMAT JSON") && !(name.startsWith("IS ") && name.contains(" JSON"))) {
      return;
    }
    for (SqlNode operand : call.getOperandList()) {
      if (operand instanceof SqlCall computed
          && CostRules.charsOfConstant(computed) > SqlLimits.JSON_NUMBER_LENGTH
          && new Composition().of(computed).mayRepeatDigits()) {
        throw Refusals.tooLong(
            computed.getParserPosition(),
            "a constant that is computed here may have a number with more than "
                + SqlLimits.JSON_NUMBER_LENGTH
                + " digits, and is read as JSON: write it as one literal, or pass it as a"
                + " parameter");
      }
    }
  }

  private static boolean mayBeTooLong(SqlCall call) {
    boolean computed = !converts(call) && CostRules.charsOfConstant(call) > 0;
    return computed && new Composition().of(call).mayBeTooLong(CostRules.charsOfConstant(call));
  }

  /** What a constant consists of. */
  private static final class Composition {
    private boolean exponent;
    private boolean casts;
    private boolean repeats;
    private boolean makes;
    private boolean isOther;
    private long characters;
    private long digits;
    private long digitsOfNumbers;

    Composition of(SqlNode constant) {
      Deque<SqlNode> open = new ArrayDeque<>();
      open.push(constant);
      while (!open.isEmpty()) {
        SqlNode part = open.pop();
        if (part instanceof SqlCall call && !addCharacter(call)) {
          add(call);
          call.getOperandList().stream().filter(Objects::nonNull).forEach(open::push);
        } else if (part instanceof SqlNodeList list) {
          list.stream().filter(Objects::nonNull).forEach(open::push);
        } else if (part instanceof SqlCharStringLiteral literal) {
          add(Arguments.text(literal));
        } else if (part instanceof SqlBinaryStringLiteral bytes) {
          makes = true;
          characters += bytes.toString().length();
        } else if (part instanceof SqlLiteral literal) {
          digitsOfNumbers += literal.toString().codePoints().filter(Character::isDigit).count();
        }
      }
      return this;
    }

    private void add(SqlCall call) {
      String name = nameOf(call);
      if (converts(call)) {
        casts = true;
      } else if (REPEATING.contains(name)) {
        repeats = true;
      } else if (MAKING.contains(name)) {
        makes = true;
      } else if (!PASSING.contains(name)) {
        isOther = true;
      }
    }

    private void add(String text) {
      exponent |= text.indexOf('e') >= 0 || text.indexOf('E') >= 0;
      digits += text.codePoints().filter(Character::isDigit).count();
      characters += text.length();
    }

    /** Adds the character of a call like CHAR(101); returns false for any other call. */
    private boolean addCharacter(SqlCall call) {
      boolean character =
          call.operandCount() == 1
              && (nameOf(call).equals("CHAR") || nameOf(call).equals("CHR"))
              && call.operand(0) instanceof SqlNumericLiteral number
              && number.isInteger();
      if (character) {
        add(Character.toString((char) ((SqlNumericLiteral) call.operand(0)).longValue(false)));
      }
      return character;
    }

    boolean mayRepeatDigits() {
      return makes
          || (repeats && digits + digitsOfNumbers > 0)
          || digits > SqlLimits.JSON_NUMBER_LENGTH;
    }

    boolean mayBeTooLong(long length) {
      if (isOther) {
        // H2 computes the call for each row, or it gives no numeric text: lock_token('job')
        return false;
      }
      if (makes) {
        return characters + digitsOfNumbers > CHARACTERS_OF_NO_NUMBER;
      }
      long all = casts ? digits + digitsOfNumbers : digits;
      return repeats
          ? all > 0 && (exponent || length > SqlLimits.NUMBER_LENGTH)
          : all > SqlLimits.NUMBER_LENGTH || (exponent && all >= LEAST_DIGITS);
    }
  }
}
