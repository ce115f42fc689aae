package dev.tollgate.sql;

import dev.tollgate.sql.parser.TollgateParserConstants;
import dev.tollgate.sql.tree.H2TypeName;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.apache.calcite.sql.SqlBinaryStringLiteral;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlCharStringLiteral;
import org.apache.calcite.sql.SqlDataTypeSpec;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlTypeNameSpec;
import org.apache.calcite.sql.SqlUserDefinedTypeNameSpec;

/**
 * Constants that H2 may convert to GEOMETRY while it prepares the statement, because they are cast
 * or compared with a column. H2's time grows with the square of the constant's nesting depth, and
 * the store can check a statement only after H2 has prepared it.
 *
 * <p>The front-end has no catalog: any column may be a GEOMETRY, and any type name may be a domain.
 */
final class GeometryConstants {

  /** Comparisons in which H2 converts a constant to the type of a column. */
  private static final Set<SqlKind> COMPARISONS =
      EnumSet.of(
          SqlKind.EQUALS,
          SqlKind.NOT_EQUALS,
          SqlKind.LESS_THAN,
          SqlKind.LESS_THAN_OR_EQUAL,
          SqlKind.GREATER_THAN,
          SqlKind.GREATER_THAN_OR_EQUAL,
          SqlKind.IS_DISTINCT_FROM,
          SqlKind.IS_NOT_DISTINCT_FROM,
          SqlKind.IN,
          SqlKind.NOT_IN,
          SqlKind.SOME,
          SqlKind.ALL,
          SqlKind.BETWEEN);

  private static final Set<SqlKind> PASSING_ON =
      EnumSet.of(
          SqlKind.ROW,
          SqlKind.ARRAY_VALUE_CONSTRUCTOR,
          SqlKind.CASE,
          SqlKind.CAST,
          SqlKind.COALESCE,
          SqlKind.NULLIF,
          SqlKind.GREATEST,
          SqlKind.LEAST);

  private static final Set<String> PASSING_FUNCTIONS =
      Set.of(
          "CASEWHEN",
          "COALESCE",
          "CONVERT",
          "DECODE",
          "GREATEST",
          "IFNULL",
          "LEAST",
          "NULLIF",
          "NVL",
          "NVL2");

  /** Types of H2 that Calcite does not know, and that are not domains. */
  private static final Set<String> TYPES_OF_H2 =
      Set.of(
          "BIT",
          "BLOB",
          "CHARACTER",
          "CLOB",
          "DATETIME",
          "ENUM",
          "FLOAT",
          "JSON",
          "LOB",
          "LONG RAW",
          "NATIONAL",
          "NCHAR",
          "NCLOB",
          "NUMBER",
          "TEXT",
          "UUID",
          "VARCHAR_IGNORECASE");

  private static final String TOO_DEEP =
      "a constant that may become a GEOMETRY nests more than "
          + SqlLimits.GEOMETRY_NESTING
          + " parentheses: collect the parts in fewer levels, or pass it as a parameter";

  private GeometryConstants() {}

  static boolean isComparison(SqlCall call) {
    return COMPARISONS.contains(call.getKind());
  }

  /**
   * Whether a type in the text may be a GEOMETRY.
   *
   * @param name the last word of the type
   */
  static boolean mayBeGeometry(SqlTypeNameSpec type, String name) {
    boolean unknown = type instanceof H2TypeName || type instanceof SqlUserDefinedTypeNameSpec;
    return name.equals("GEOMETRY") || (unknown && !TYPES_OF_H2.contains(name));
  }

  /**
   * Refuses a GEOMETRY '...' that is nested too deeply. H2 joins strings in a row into one.
   *
   * @throws SqlRefused with the reason TOO_LONG
   */
  static void checkLiterals(Tokens tokens) {
    for (int i = 0; i < tokens.size(); i++) {
      if (tokens.get(i).kind == TollgateParserConstants.GEOMETRY) {
        StringBuilder text = new StringBuilder();
        for (int j = i + 1; j < tokens.size() && tokens.get(j).image.endsWith("'"); j++) {
          text.append(tokens.get(j).image);
        }
        if (isTooDeep(text)) {
          throw Refusals.tooLong(tokens.get(i), TOO_DEEP);
        }
      }
    }
  }

  /**
   * Refuses a comparison with a constant that H2 could take long to convert to GEOMETRY.
   *
   * @throws SqlRefused with the reason TOO_LONG
   */
  static void checkComparison(SqlCall comparison) {
    Deque<SqlNode> open = new ArrayDeque<>();
    open.push(comparison);
    while (!open.isEmpty()) {
      SqlNode next = open.pop();
      if (next instanceof SqlNodeList list) {
        list.forEach(open::push);
      } else if (next instanceof SqlCall call && (next == comparison || passesOn(call))) {
        call.getOperandList().stream().filter(Objects::nonNull).forEach(open::push);
      }
      if (next != comparison) {
        check(next);
      }
    }
  }

  /**
   * Refuses a constant that H2 could take long to convert to GEOMETRY. The operands from which a
   * constant is computed are not checked.
   *
   * @throws SqlRefused with the reason TOO_LONG
   */
  static void check(SqlNode node) {
    if (node instanceof SqlCharStringLiteral literal && isTooDeep(Arguments.text(literal))) {
      throw Refusals.tooLong(node.getParserPosition(), TOO_DEEP);
    }
    if (node instanceof SqlCall call
        && !isComparison(call)
        && (!passesOn(call) || makesTextOfBytes(call))
        && CostRules.charsOfConstant(call) > SqlLimits.COMPUTED_GEOMETRY) {
      throw Refusals.tooLong(
          node.getParserPosition(),
          "a constant that may become a GEOMETRY is computed, and may have more than "
              + SqlLimits.COMPUTED_GEOMETRY
              + " characters: write it as one literal, or pass it as a parameter");
    }
  }

  /** Whether a call returns one of its operands, or all of them as parts of its result. */
  private static boolean passesOn(SqlCall call) {
    return PASSING_ON.contains(call.getKind())
        || PASSING_FUNCTIONS.contains(call.getOperator().getName().toUpperCase(Locale.ROOT));
  }

  /** Whether a call makes a text of bytes, as CAST(X'28' AS VARCHAR) does. */
  private static boolean makesTextOfBytes(SqlCall call) {
    boolean bytes = call.operandCount() > 0 && call.operand(0) instanceof SqlBinaryStringLiteral;
    boolean toGeometry =
        call.operandCount() > 1
            && call.operand(1) instanceof SqlDataTypeSpec type
            && type.getTypeName().toString().equals("GEOMETRY");
    return bytes && !toGeometry;
  }

  /** Whether a text is nested too deeply. H2 converts a short text soon, at any depth. */
  private static boolean isTooDeep(CharSequence text) {
    int depth = 0;
    int deepest = 0;
    if (text.length() > SqlLimits.COMPUTED_GEOMETRY) {
      for (int i = 0; i < text.length(); i++) {
        char character = text.charAt(i);
        depth += character == '(' ? 1 : character == ')' && depth > 0 ? -1 : 0;
        deepest = Math.max(deepest, depth);
      }
    }
    return deepest > SqlLimits.GEOMETRY_NESTING;
  }
}
