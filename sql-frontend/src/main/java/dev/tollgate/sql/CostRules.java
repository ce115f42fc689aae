package dev.tollgate.sql;

import java.math.BigDecimal;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlCharStringLiteral;
import org.apache.calcite.sql.SqlDataTypeSpec;
import org.apache.calcite.sql.SqlDynamicParam;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.type.SqlTypeName;
import org.jspecify.annotations.Nullable;

/**
 * Refuses what may run forever or use up all memory, as far as the text of the statement shows it.
 * A slow query delays only its own client, which can cancel it. A write that never ends stops the
 * apply thread of every replica, and does so again after every restart.
 *
 * <p>These rules do not prove that the rest is cheap. A join of ten tables is not, and the values
 * of parameters are not known here.
 */
final class CostRules {

  /**
   * Maximum number of runs of '%' in a LIKE pattern, not counting one at its end. H2 tries every
   * position for each run, so its time grows with this power of the length of the value. It takes
   * 15 ms for 255 characters and 3 runs, days for 8.
   */
  static final int WILDCARDS = 3;

  /**
   * Maximum number of characters of a value and of a pattern that are both literals. H2 matches
   * them while it parses, where the store can neither count the steps nor interrupt H2.
   */
  static final int CONSTANT_LENGTH = 255;

  /**
   * Limit for the value if the pattern is a regular expression, whose time may double with every
   * character.
   */
  static final int CONSTANT_LENGTH_OF_REGULAR = 24;

  /**
   * Maximum product of the lengths of the searched text and the text to find, if both are
   * constants. In the worst case H2 makes as many comparisons.
   */
  static final int CONSTANT_SEARCH = SqlLimits.FUNCTION_RESULT_LENGTH;

  /** Functions whose result may be far longer than the literals in them. */
  private static final Set<String> GROWING =
      Set.of(
          "CONCAT_WS",
          "EXPAND",
          "JSON_ARRAY",
          "JSON_OBJECT",
          "LPAD",
          "QUOTE_IDENT",
          "RAWTOHEX",
          "REGEXP_REPLACE",
          "REPEAT",
          "REPLACE",
          "RPAD",
          "SPACE",
          "STRINGENCODE",
          "XMLATTR",
          "XMLCDATA",
          "XMLCOMMENT",
          "XMLNODE",
          "XMLTEXT");

  /** Maximum length of an escaped character: &#1234; or two of \\u1234. */
  private static final int CHARS_OF_AN_ESCAPE = 12;

  /** Maximum length of a time, a UUID or a number, which any other call may return. */
  private static final int CHARS_OF_A_VALUE = 64;

  /** Maximum of the third argument of HASH: the rounds of the algorithm for each row. */
  static final int HASH_ROUNDS = 100_000;

  /** Maximum number of rows of SYSTEM_RANGE. */
  static final int RANGE_ROWS = 10_000_000;

  /** The escape character of a LIKE in H2 if no ESCAPE gives another. */
  private static final String DEFAULT_ESCAPE = "\\";

  private CostRules() {}

  /** Returns why a LIKE or REGEXP is too expensive for a write; null if it is not. */
  static @Nullable String ofPattern(SqlCall call) {
    if (call.getOperator().getName().endsWith("REGEXP")) {
      return "REGEXP is not allowed in a statement that writes: "
          + Refusals.explanation(FunctionRules.ENDLESS_PATTERN, FunctionRules.LIKE_INSTEAD);
    }
    if (call.operand(1) instanceof SqlCharStringLiteral pattern
        && wildcards(Arguments.text(pattern), escape(call)) > WILDCARDS) {
      return "a LIKE pattern in a statement that writes may have at most "
          + WILDCARDS
          + " '%', not counting one at its end: each multiplies the time it may take on every"
          + " replica; find the rows with a query first and pass what it gave as parameters";
    }
    return null;
  }

  /**
   * Returns why a match is too expensive for H2 to evaluate while it parses. Returns null if the
   * match depends on a row or a parameter, so that H2 does not evaluate it then, or if it ends
   * soon.
   */
  static @Nullable String ofConstantPattern(SqlCall call, boolean regular) {
    SqlNode value = call.operand(0);
    SqlNode pattern = call.operand(1);
    if (!isConstant(value) || !isConstant(pattern) || isNull(value) || isNull(pattern)) {
      return null;
    }
    int longest = regular ? CONSTANT_LENGTH_OF_REGULAR : CONSTANT_LENGTH;
    boolean isShort =
        isLiteralUpTo(value, longest)
            && isLiteralUpTo(pattern, CONSTANT_LENGTH)
            && (regular
                || wildcards(Arguments.text((SqlCharStringLiteral) pattern), escape(call))
                    <= WILDCARDS);
    return isShort
        ? null
        : "a constant is matched against a constant while the statement is read, which nobody can"
            + " interrupt: the value may have at most "
            + longest
            + " characters, and a LIKE pattern "
            + WILDCARDS
            + " '%', both written out; pass one of them as a parameter";
  }

  /**
   * Returns why a search for one constant in another is too expensive for H2 to run while it
   * parses; null if H2 does not run it then, or if it ends soon.
   */
  static @Nullable String ofConstantSearch(SqlCall call) {
    SqlNode first = call.operand(0);
    SqlNode second = call.operand(1);
    return !isConstant(first)
            || !isConstant(second)
            || charsOf(first) * charsOf(second) <= CONSTANT_SEARCH
        ? null
        : "one constant is looked for in another while the statement is read, which nobody can"
            + " interrupt: the product of their lengths may be at most "
            + CONSTANT_SEARCH
            + "; pass one of them as a parameter";
  }

  /**
   * Returns the maximum length of the constant that H2 computes from a call while it prepares the
   * statement. Returns 0 if the call depends on a row or a parameter, or is no longer than its
   * text.
   */
  static long charsComputed(SqlCall call) {
    return grows(call) && isConstant(call) ? mostCharsOf(call) : 0;
  }

  private static boolean grows(SqlCall call) {
    return GROWING.contains(call.getOperator().getName().toUpperCase(Locale.ROOT));
  }

  /**
   * Returns the maximum length of the constant that H2 computes from any call; 0 if the call is not
   * a constant.
   */
  static long charsOfConstant(SqlCall call) {
    return isConstant(call) ? mostCharsOf(call) : 0;
  }

  private static long mostCharsOf(SqlNode constant) {
    if (constant instanceof SqlCharStringLiteral text) {
      return Arguments.text(text).length();
    }
    if (constant instanceof SqlLiteral literal) {
      return Math.max(CHARS_OF_A_VALUE, literal.toString().length());
    }
    if (constant instanceof SqlNodeList list) {
      return list.getList().stream()
          .filter(Objects::nonNull)
          .mapToLong(CostRules::mostCharsOf)
          .sum();
    }
    if (!(constant instanceof SqlCall call)) {
      return CHARS_OF_A_VALUE;
    }
    long parts = CHARS_OF_A_VALUE;
    for (SqlNode operand : call.getOperandList()) {
      parts += operand == null ? 0 : mostCharsOf(operand);
    }
    if (call.getOperator().getName().equalsIgnoreCase("CONCAT_WS") && call.operandCount() > 0) {
      // the separator stands between any two operands
      return parts + call.operandCount() * mostCharsOf(call.operand(0));
    }
    return Math.min(grows(call) ? grown(call, parts) : parts, SqlLimits.FUNCTION_RESULT_LENGTH);
  }

  /**
   * @param parts number of characters of all operands together
   */
  private static long grown(SqlCall call, long parts) {
    String name = call.getOperator().getName().toUpperCase(Locale.ROOT);
    return switch (name) {
      case "JSON_ARRAY", "JSON_OBJECT", "XMLNODE" -> parts;
      case "QUOTE_IDENT" -> 2 * parts;
      case "RAWTOHEX", "STRINGENCODE", "XMLATTR", "XMLCDATA", "XMLCOMMENT", "XMLTEXT" ->
          CHARS_OF_AN_ESCAPE * parts;
      case "LPAD", "RPAD" -> times(1, call, 1);
      case "SPACE" -> times(1, call, 0);
      case "REPEAT" -> times(call.operandCount() > 0 ? mostCharsOf(call.operand(0)) : 1, call, 1);
      // the new text for each character of the old text
      case "REPLACE" ->
          call.operandCount() > 2
              ? mostCharsOf(call.operand(0)) * Math.max(1, mostCharsOf(call.operand(2)))
              : parts;
      default -> SqlLimits.FUNCTION_RESULT_LENGTH;
    };
  }

  /**
   * Returns {@code chars} times the length that an operand gives; the maximum length of a result if
   * the operand is not a literal.
   */
  private static long times(long chars, SqlCall call, int operand) {
    BigDecimal length = call.operandCount() > operand ? number(call.operand(operand)) : null;
    return length == null
        ? SqlLimits.FUNCTION_RESULT_LENGTH
        : length
            .max(BigDecimal.ZERO)
            .multiply(BigDecimal.valueOf(chars))
            .min(BigDecimal.valueOf(SqlLimits.FUNCTION_RESULT_LENGTH))
            .longValue();
  }

  /** Returns the maximum number of characters of a constant. */
  private static long charsOf(SqlNode constant) {
    long chars = 0;
    Deque<SqlNode> open = new ArrayDeque<>(List.of(constant));
    while (!open.isEmpty()) {
      SqlNode next = open.pop();
      if (next instanceof SqlCharStringLiteral text) {
        chars += Arguments.text(text).length();
      } else if (next instanceof SqlLiteral) {
        chars += next.toString().length();
      } else if (next instanceof SqlCall call) {
        if (GROWING.contains(call.getOperator().getName().toUpperCase(Locale.ROOT))) {
          return SqlLimits.FUNCTION_RESULT_LENGTH;
        }
        chars += CHARS_OF_A_VALUE;
        call.getOperandList().stream().filter(Objects::nonNull).forEach(open::push);
      } else if (next instanceof SqlNodeList list) {
        list.forEach(open::push);
      } else if (next instanceof SqlDataTypeSpec type && fills(type)) {
        return SqlLimits.FUNCTION_RESULT_LENGTH;
      }
    }
    return chars;
  }

  /** Whether a type pads every value to its length, as CHAR(n) and BINARY(n) do. */
  private static boolean fills(SqlDataTypeSpec type) {
    String name = type.getTypeName().getSimple();
    return name.startsWith("CHAR") || name.startsWith("NCHAR") || name.startsWith("BINARY");
  }

  /** Whether a node is the literal NULL, with which nothing is matched. */
  private static boolean isNull(SqlNode node) {
    return node instanceof SqlLiteral literal && literal.getTypeName() == SqlTypeName.NULL;
  }

  private static boolean isLiteralUpTo(SqlNode node, int length) {
    return node instanceof SqlCharStringLiteral literal
        && Arguments.text(literal).length() <= length;
  }

  /**
   * Whether H2 may compute a node while it parses: the node holds no column, parameter or query.
   */
  private static boolean isConstant(SqlNode node) {
    Deque<SqlNode> open = new ArrayDeque<>(List.of(node));
    while (!open.isEmpty()) {
      SqlNode next = open.pop();
      if (next instanceof SqlIdentifier
          || next instanceof SqlDynamicParam
          || next.isA(SqlKind.QUERY)) {
        return false;
      }
      if (next instanceof SqlCall call) {
        call.getOperandList().stream().filter(Objects::nonNull).forEach(open::push);
      } else if (next instanceof SqlNodeList list) {
        list.forEach(open::push);
      }
    }
    return true;
  }

  /** Returns why a call is too expensive for a write; null if it is not. */
  static @Nullable String ofFunction(FunctionRule rule, SqlCall call) {
    return switch (rule.name()) {
      case "HASH" -> ofHash(call);
      case "SYSTEM_RANGE", "GENERATE_SERIES" -> ofRange(rule, call);
      default -> null;
    };
  }

  /** Returns the rounds that a HASH states; zero for another function. */
  static long roundsOf(String function, SqlCall call) {
    BigDecimal rounds =
        function.equals("HASH") && call.operandCount() > 2 ? number(call.operand(2)) : null;
    return rounds == null ? 0 : rounds.min(BigDecimal.valueOf(Integer.MAX_VALUE)).longValue();
  }

  private static @Nullable String ofHash(SqlCall call) {
    if (call.operandCount() < 3) {
      return null;
    }
    BigDecimal rounds = number(call.operand(2));
    return rounds != null && rounds.compareTo(BigDecimal.valueOf(HASH_ROUNDS)) <= 0
        ? null
        : "HASH in a statement that writes takes a number of rounds that is written out, at most "
            + HASH_ROUNDS
            + ": every replica goes through them for each row; hash in the application";
  }

  private static @Nullable String ofRange(FunctionRule rule, SqlCall call) {
    List<BigDecimal> bounds = new ArrayList<>();
    for (SqlNode operand : call.getOperandList()) {
      BigDecimal bound = number(operand);
      if (bound == null) {
        return null;
      }
      bounds.add(bound);
    }
    if (bounds.size() < 2) {
      return null;
    }
    BigDecimal distance = bounds.get(1).subtract(bounds.get(0)).abs();
    BigDecimal step = bounds.size() > 2 ? bounds.get(2).abs().max(BigDecimal.ONE) : BigDecimal.ONE;
    return distance.compareTo(step.multiply(BigDecimal.valueOf(RANGE_ROWS))) < 0
        ? null
        : rule.name()
            + " in a statement that writes gives at most "
            + RANGE_ROWS
            + " rows: every replica goes through them at once; write them in parts";
  }

  private static @Nullable BigDecimal number(SqlNode node) {
    Argument argument = Arguments.of(node);
    return argument instanceof Argument.Integral integral
        ? BigDecimal.valueOf(integral.value())
        : null;
  }

  /**
   * Returns the escape character of a LIKE, or the empty string for none; null if it is not a
   * literal.
   */
  private static @Nullable String escape(SqlCall like) {
    if (like.operandCount() < 3) {
      return DEFAULT_ESCAPE;
    }
    return like.operand(2) instanceof SqlCharStringLiteral literal ? Arguments.text(literal) : null;
  }

  /** Counts the runs of unescaped '%' that a character other than a wildcard follows. */
  private static int wildcards(String pattern, @Nullable String escape) {
    int wildcards = 0;
    boolean inRun = false;
    for (int i = 0; i < pattern.length(); i++) {
      char c = pattern.charAt(i);
      if (c == '%') {
        inRun = true;
      } else if (c != '_') {
        wildcards += inRun ? 1 : 0;
        inRun = false;
        i += escape != null && !escape.isEmpty() && c == escape.charAt(0) ? 1 : 0;
      }
    }
    return wildcards;
  }
}
