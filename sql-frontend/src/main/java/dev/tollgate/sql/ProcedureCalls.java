package dev.tollgate.sql;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlFunction;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlNode;
import org.jspecify.annotations.Nullable;

/** CALL of a {@link Procedure}. */
final class ProcedureCalls {
  private ProcedureCalls() {}

  /**
   * Returns the plan of {@code CALL procedure(...)}; null if anything else is called.
   *
   * @throws SqlRefused if the arguments are too few, too many, or neither literals nor parameters
   */
  static Plan.@Nullable Administer of(Tokens tokens, SqlNode expression, boolean outParameter) {
    if (!(expression instanceof SqlCall call)
        || !(call.getOperator() instanceof SqlFunction operator)) {
      return null;
    }
    Procedure procedure = Procedure.named(operator.getName().toUpperCase(Locale.ROOT));
    SqlIdentifier name = operator.getSqlIdentifier();
    if (procedure == null || (name != null && !name.isSimple())) {
      return null;
    }
    if (outParameter) {
      throw Refusals.notAllowed(
          call.getParserPosition(), procedure + " returns rows: write CALL without ? =");
    }
    return new Plan.Administer(procedure, arguments(procedure, call), tokens.parameterCount());
  }

  private static List<Argument> arguments(Procedure procedure, SqlCall call) {
    int count = call.operandCount();
    if (count != procedure.argumentCount()) {
      throw Refusals.notAllowed(
          call.getParserPosition(), "wrong number of arguments: " + procedure.signature());
    }
    List<Argument> arguments = new ArrayList<>();
    for (SqlNode operand : call.getOperandList()) {
      Argument argument = Arguments.of(operand);
      if (argument == null) {
        throw Refusals.notAllowed(
            operand.getParserPosition(),
            "an argument of " + procedure + " is written out or a parameter");
      }
      arguments.add(argument);
    }
    return arguments;
  }
}
