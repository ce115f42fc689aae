package dev.tollgate.sql;

import dev.tollgate.sql.tree.Statement;
import java.util.Locale;
import org.apache.calcite.sql.SqlCharStringLiteral;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlIntervalLiteral;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.jspecify.annotations.Nullable;

/** Turns SET statements into plans. */
final class Settings {
  /** As in ISO/IEC 9075 and java.time. */
  private static final int MOST_OFFSET_SECONDS = 18 * 3_600;

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
      case TIME_ZONE ->
          value instanceof SqlIntervalLiteral interval ? offset(interval) : plain(value);
      case LOCK_TIMEOUT, QUERY_TIMEOUT, ISOLATION -> plain(value);
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

  /** The offset from UTC that an interval stands for, as a text that names the same zone. */
  private static Argument offset(SqlIntervalLiteral interval) {
    long millis = IntervalMillis.of(interval);
    long seconds = Math.abs(millis) / 1_000;
    if (seconds * 1_000 != Math.abs(millis) || seconds > MOST_OFFSET_SECONDS) {
      throw Refusals.syntax(
          interval.getParserPosition(),
          "the offset of a time zone is whole seconds, from -18 to 18 hours");
    }
    return new Argument.Text(
        String.format(
            Locale.ROOT,
            "%s%02d:%02d:%02d",
            millis < 0 ? "-" : "+",
            seconds / 3_600,
            seconds / 60 % 60,
            seconds % 60));
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
