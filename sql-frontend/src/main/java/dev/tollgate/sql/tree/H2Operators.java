package dev.tollgate.sql.tree;

import org.apache.calcite.sql.SqlBinaryOperator;
import org.apache.calcite.sql.SqlFunction;
import org.apache.calcite.sql.SqlFunctionCategory;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlPostfixOperator;
import org.apache.calcite.sql.type.OperandTypes;
import org.apache.calcite.sql.type.ReturnTypes;

/**
 * Operators of H2 that Calcite lacks. They have a name and a precedence, and are never validated:
 * only H2 needs their meaning.
 */
public final class H2Operators {

  private static final int BINDS_LIKE_A_DOT = 94;
  private static final int BINDS_LIKE_LIKE = 32;
  private static final int BINDS_LIKE_IS = 28;

  public static final SqlBinaryOperator INFIX_CAST =
      new SqlBinaryOperator(
          "::", SqlKind.CAST, BINDS_LIKE_A_DOT, true, null, null, OperandTypes.VARIADIC);

  public static final SqlBinaryOperator REGEXP =
      new SqlBinaryOperator(
          "REGEXP",
          SqlKind.LIKE,
          BINDS_LIKE_LIKE,
          true,
          ReturnTypes.BOOLEAN_NULLABLE,
          null,
          OperandTypes.VARIADIC);

  public static final SqlBinaryOperator IS_OF =
      new SqlBinaryOperator(
          "IS OF",
          SqlKind.OTHER,
          BINDS_LIKE_IS,
          true,
          ReturnTypes.BOOLEAN_NULLABLE,
          null,
          OperandTypes.VARIADIC);

  public static final SqlBinaryOperator AT_TIME_ZONE =
      new SqlBinaryOperator(
          "AT TIME ZONE", SqlKind.OTHER, BINDS_LIKE_A_DOT, true, null, null, OperandTypes.VARIADIC);

  public static final SqlPostfixOperator AT_LOCAL =
      new SqlPostfixOperator(
          "AT LOCAL", SqlKind.OTHER, BINDS_LIKE_A_DOT, null, null, OperandTypes.VARIADIC);

  private H2Operators() {}

  /** Returns a function whose first argument is a part of a date: DATEADD, DATEDIFF. */
  public static SqlFunction datePartFunction(String name) {
    return new SqlFunction(
        name,
        SqlKind.OTHER_FUNCTION,
        ReturnTypes.ARG2_NULLABLE,
        null,
        OperandTypes.VARIADIC,
        SqlFunctionCategory.TIMEDATE);
  }
}
