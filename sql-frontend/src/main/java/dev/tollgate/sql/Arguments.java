package dev.tollgate.sql;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlCharStringLiteral;
import org.apache.calcite.sql.SqlDynamicParam;
import org.apache.calcite.sql.SqlIntervalLiteral;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNumericLiteral;
import org.apache.calcite.sql.SqlUtil;
import org.apache.calcite.util.NlsString;
import org.jspecify.annotations.Nullable;

/** Turns literals and parameters of the tree into arguments. */
final class Arguments {

  private Arguments() {}

  /**
   * Returns the argument that a node stands for. Returns null if the node is an expression, which
   * only H2 can evaluate, or a number that is no integer or does not fit a long.
   */
  static @Nullable Argument of(SqlNode node) {
    if (node instanceof SqlDynamicParam parameter) {
      return new Argument.Parameter(parameter.getIndex());
    }
    if (node instanceof SqlNumericLiteral number) {
      return integral(number, false);
    }
    if (node.getKind() == SqlKind.MINUS_PREFIX
        && ((SqlCall) node).operand(0) instanceof SqlNumericLiteral number) {
      return integral(number, true);
    }
    if (node instanceof SqlCharStringLiteral text) {
      return new Argument.Text(text(text));
    }
    if (node instanceof SqlIntervalLiteral interval) {
      return new Argument.Interval(IntervalMillis.of(interval));
    }
    if (SqlUtil.isNullLiteral(node, false)) {
      return new Argument.Null();
    }
    return null;
  }

  /** Returns what {@link #of} returns, or an array if the node is an ARRAY[...] of such nodes. */
  static @Nullable Argument orArray(SqlNode node) {
    if (node.getKind() != SqlKind.ARRAY_VALUE_CONSTRUCTOR) {
      return of(node);
    }
    List<Argument> elements = new ArrayList<>();
    for (SqlNode operand : ((SqlCall) node).getOperandList()) {
      Argument element = of(operand);
      if (element == null) {
        return null;
      }
      elements.add(element);
    }
    return new Argument.Array(elements);
  }

  static String text(SqlCharStringLiteral literal) {
    return literal.getValueAs(NlsString.class).getValue();
  }

  /**
   * Returns the lock name that a literal holds.
   *
   * @throws SqlRefused if the name is empty or too long
   */
  static String lockName(SqlCharStringLiteral literal) {
    String name = text(literal);
    if (name.isEmpty() || name.length() > SqlLimits.LOCK_NAME_LENGTH) {
      throw Refusals.notAllowed(
          literal.getParserPosition(),
          "the name of a lock has 1 to "
              + SqlLimits.LOCK_NAME_LENGTH
              + " characters, this one has "
              + name.length());
    }
    return name;
  }

  private static @Nullable Argument integral(SqlLiteral literal, boolean negated) {
    BigDecimal value = literal.bigDecimalValue();
    if (value == null) {
      return null;
    }
    try {
      return new Argument.Integral((negated ? value.negate() : value).longValueExact());
    } catch (ArithmeticException notAnInteger) {
      return null;
    }
  }
}
