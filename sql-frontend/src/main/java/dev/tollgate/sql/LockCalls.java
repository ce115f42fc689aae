package dev.tollgate.sql;

import dev.tollgate.sql.UseRules.Role;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlCharStringLiteral;
import org.apache.calcite.sql.SqlFunction;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.SqlSelect;
import org.jspecify.annotations.Nullable;

/** Statements that are a call of a lock function and nothing else. */
final class LockCalls {

  /** The name that H2 gives the column of a VALUES. */
  private static final String VALUES_LABEL = "C1";

  private final Tokens tokens;
  private final LockFunction function;
  private final SqlCall call;

  private LockCalls(Tokens tokens, LockFunction function, SqlCall call) {
    this.tokens = tokens;
    this.function = function;
    this.call = call;
  }

  /**
   * Returns the plan of {@code SELECT f(...) [AS alias]} or {@code VALUES (f(...))}; null for any
   * other query.
   */
  static Plan.@Nullable LockCall ofQuery(Tokens tokens, SqlNode query) {
    if (query instanceof SqlSelect select && isSingleExpression(select)) {
      SqlNode item = select.getSelectList().get(0);
      if (item.getKind() == SqlKind.AS) {
        SqlCall as = (SqlCall) item;
        return of(tokens, as.operand(0), ((SqlIdentifier) as.operand(1)).getSimple(), false);
      }
      return of(tokens, item, null, false);
    }
    if (query.getKind() == SqlKind.VALUES && ((SqlCall) query).operandCount() == 1) {
      SqlCall row = ((SqlCall) query).operand(0);
      return row.operandCount() == 1 ? of(tokens, row.operand(0), VALUES_LABEL, false) : null;
    }
    return null;
  }

  /** Returns the plan of {@code [? =] CALL f(...)}; null if another expression is called. */
  static Plan.@Nullable LockCall ofCall(Tokens tokens, SqlNode expression, boolean outParameter) {
    return of(tokens, expression, null, outParameter);
  }

  /**
   * @throws SqlRefused if a lock function has too few or too many arguments, or an invalid name of
   *     a lock
   */
  static void checkArguments(LockFunction function, SqlCall call) {
    int count = call.operandCount();
    boolean isStar =
        count == 1 && call.operand(0) instanceof SqlIdentifier identifier && identifier.isStar();
    if (count < function.minArguments() || count > function.maxArguments() || isStar) {
      throw Refusals.notAllowed(
          call.getParserPosition(), "wrong number of arguments: " + function.signature());
    }
    if (call.getFunctionQuantifier() != null) {
      throw Refusals.notAllowed(
          call.getParserPosition(),
          function + " is no aggregate, it takes neither DISTINCT nor ALL");
    }
    if (function.takesLockName()) {
      checkLockNames(call.operand(0));
    }
  }

  private static void checkLockNames(SqlNode names) {
    if (names instanceof SqlCharStringLiteral literal) {
      Arguments.lockName(literal);
    } else if (names.getKind() == SqlKind.ARRAY_VALUE_CONSTRUCTOR) {
      for (SqlNode name : ((SqlCall) names).getOperandList()) {
        if (name instanceof SqlCharStringLiteral literal) {
          Arguments.lockName(literal);
        }
      }
    }
  }

  private static boolean isSingleExpression(SqlSelect select) {
    return select.getSelectList().size() == 1
        && select.getFrom() == null
        && select.getWhere() == null
        && select.getGroup() == null
        && select.getHaving() == null
        && select.getQualify() == null
        && isEmpty(select.getWindowList())
        && isEmpty(select.getHints())
        && isEmpty((SqlNodeList) select.getOperandList().get(0)); // DISTINCT and ALL
  }

  private static boolean isEmpty(@Nullable SqlNodeList list) {
    return list == null || list.isEmpty();
  }

  private static Plan.@Nullable LockCall of(
      Tokens tokens, SqlNode expression, @Nullable String label, boolean outParameter) {
    if (!(expression instanceof SqlCall call)
        || !(call.getOperator() instanceof SqlFunction operator)) {
      return null;
    }
    SqlIdentifier name = operator.getSqlIdentifier();
    if (name != null && !name.isSimple() && !TollgateFunctions.isOne(name)) {
      return null;
    }
    LockFunction function = LockFunction.named(operator.getName().toUpperCase(Locale.ROOT));
    return function == null
        ? null
        : new LockCalls(tokens, function, call).plan(label, outParameter);
  }

  private Plan.LockCall plan(@Nullable String label, boolean outParameter) {
    checkArguments(function, call);
    List<Argument> arguments = new ArrayList<>();
    for (SqlNode operand : call.getOperandList()) {
      Argument argument = Arguments.orArray(operand);
      if (argument != null) {
        arguments.add(argument);
      }
    }
    boolean simple = arguments.size() == call.operandCount();
    return new Plan.LockCall(
        function,
        simple ? arguments : List.of(),
        simple ? null : argumentsSql(),
        label == null ? label() : label,
        tokens.parameterCount(),
        outParameter);
  }

  /** Returns a query for H2 that evaluates the arguments between the parentheses of the call. */
  private String argumentsSql() {
    Findings findings = new Findings();
    for (SqlNode operand : call.getOperandList()) {
      TreeWalk.expression(tokens, operand, findings);
    }
    UseRules.check(findings, Role.ARGUMENTS);
    H2Text text = new H2Text(tokens);
    TollgateFunctions.qualify(tokens, findings, text);
    return "SELECT " + text.render(begin() + 2, end());
  }

  /** Returns the name that H2 gives the column of an expression without an alias. */
  private String label() {
    return new H2Text(tokens).canonical(begin(), end() + 1);
  }

  /** The index of the name of the function; its opening parenthesis follows. */
  private int begin() {
    return tokens.indexOfFunction(call.getParserPosition());
  }

  private int end() {
    return tokens.indexOfClosing(begin() + 1);
  }
}
