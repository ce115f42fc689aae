package dev.tollgate.sql;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlCharStringLiteral;
import org.apache.calcite.sql.SqlNode;
import org.jspecify.annotations.Nullable;

/**
 * What may take for ever, or all memory, as far as the statement itself shows it. One client may
 * wait for its own query, which can be cancelled. But what takes for ever on the thread that
 * applies the log stops every replica, and again after every restart.
 *
 * <p>No proof that the rest is cheap: a join of ten tables is not, and parameters are not seen.
 */
final class CostRules {

  /**
   * Wildcards of a LIKE pattern that H2 has to look for. It tries every place for each of them, so
   * that its time grows with this power of the length of the value: 15 ms for 255 characters and 3
   * wildcards, days for 8.
   */
  static final int WILDCARDS = 3;

  /** The third argument of HASH. Each is one round of the algorithm, for each row. */
  static final int HASH_ROUNDS = 100_000;

  /** Rows of SYSTEM_RANGE. */
  static final int RANGE_ROWS = 10_000_000;

  /** What escapes a wildcard in H2, where no ESCAPE says otherwise. */
  private static final String DEFAULT_ESCAPE = "\\";

  private CostRules() {}

  /** Why a LIKE or REGEXP is too dear for a write; null when it is not. */
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

  /** Why a call is too dear for a write; null when it is not. */
  static @Nullable String ofFunction(FunctionRule rule, SqlCall call) {
    return switch (rule.name()) {
      case "HASH" -> ofHash(call);
      case "SYSTEM_RANGE", "GENERATE_SERIES" -> ofRange(rule, call);
      default -> null;
    };
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

  /** The escape character of a LIKE, or the empty string for none; null when nobody knows it. */
  private static @Nullable String escape(SqlCall like) {
    if (like.operandCount() < 3) {
      return DEFAULT_ESCAPE;
    }
    return like.operand(2) instanceof SqlCharStringLiteral literal ? Arguments.text(literal) : null;
  }

  /** The runs of unescaped '%' behind which something follows. */
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
