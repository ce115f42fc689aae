package dev.tollgate.sql;

import dev.tollgate.sql.tree.Statement;
import org.apache.calcite.sql.SqlCharStringLiteral;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.jspecify.annotations.Nullable;

/** Turns SET statements into plans. */
final class Settings {

  private Settings() {}

  static Plan.SetSession plan(Tokens tokens, Statement.SetSession statement) {
    Setting setting = Setting.valueOf(statement.setting());
    return new Plan.SetSession(setting, value(setting, statement.value()), tokens.parameterCount());
  }

  private static Argument value(Setting setting, @Nullable SqlNode value) {
    if (value == null) {
      return new Argument.Null();
    }
    return switch (setting) {
      case SCHEMA -> schema(value);
      case AUTOCOMMIT -> new Argument.Flag(((SqlLiteral) value).booleanValue());
      case LOCK_TIMEOUT, QUERY_TIMEOUT, ISOLATION, TIME_ZONE -> plain(value);
    };
  }

  private static Argument schema(SqlNode value) {
    if (!(value instanceof SqlIdentifier) && !(value instanceof SqlCharStringLiteral)) {
      return plain(value);
    }
    String name =
        value instanceof SqlIdentifier identifier
            ? identifier.getSimple()
            : Arguments.text((SqlCharStringLiteral) value);
    if (ObjectName.isReservedSchema(name)) {
      throw Refusals.notAllowed(
          value.getParserPosition(),
          "a session cannot stand in schema "
              + name
              + ", because every node shows its own state there: write "
              + name
              + ".table");
    }
    return new Argument.Text(name);
  }

  private static Argument plain(SqlNode value) {
    Argument argument = Arguments.of(value);
    if (argument == null) {
      throw Refusals.syntax(
          value.getParserPosition(), "expected a number, a string or a parameter");
    }
    return argument;
  }
}
