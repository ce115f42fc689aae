package dev.tollgate.sql;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import org.apache.calcite.sql.SqlIntervalLiteral;
import org.apache.calcite.sql.SqlIntervalLiteral.IntervalValue;
import org.apache.calcite.sql.SqlIntervalQualifier;
import org.apache.calcite.sql.parser.SqlParserPos;

/**
 * The length of a day-time interval: {@code INTERVAL '1 12:30' DAY TO MINUTE}, {@code INTERVAL
 * '1.5' SECOND}.
 */
final class IntervalMillis {

  private static final List<TimeUnit> UNITS =
      List.of(TimeUnit.DAYS, TimeUnit.HOURS, TimeUnit.MINUTES, TimeUnit.SECONDS);

  private static final Pattern FIELD_SEPARATOR = Pattern.compile("[ :]");
  private static final Pattern DIGITS = Pattern.compile("\\d{1,18}");
  private static final int DIGITS_OF_MILLIS = 3;

  private IntervalMillis() {}

  /** Returns the length in milliseconds; a fraction of a millisecond is cut off. */
  static long of(SqlIntervalLiteral literal) {
    IntervalValue interval = literal.getValueAs(IntervalValue.class);
    SqlIntervalQualifier qualifier = interval.getIntervalQualifier();
    List<TimeUnit> units = units(qualifier, literal.getParserPosition());
    String text = interval.getIntervalLiteral().strip();
    boolean minus = text.startsWith("-");
    String digits = minus || text.startsWith("+") ? text.substring(1) : text;
    try {
      long millis = sum(digits, units);
      return minus == (interval.getSign() < 0) ? millis : -millis;
    } catch (IllegalArgumentException | ArithmeticException e) {
      throw Refusals.syntax(
          literal.getParserPosition(), "'" + text + "' is no interval of " + qualifier);
    }
  }

  /** The units of the fields, from the largest to the smallest. */
  private static List<TimeUnit> units(SqlIntervalQualifier qualifier, SqlParserPos position) {
    int first = indexOf(qualifier.getStartUnit().name());
    int last =
        qualifier.timeUnitRange.endUnit == null
            ? first
            : indexOf(qualifier.timeUnitRange.endUnit.name());
    if (first < 0 || last < first) {
      throw Refusals.notAllowed(
          position,
          "an interval of " + qualifier + " has no fixed length: use DAY, HOUR, MINUTE and SECOND");
    }
    return UNITS.subList(first, last + 1);
  }

  private static int indexOf(String unit) {
    for (int i = 0; i < UNITS.size(); i++) {
      if (UNITS.get(i).name().equals(unit + "S")) {
        return i;
      }
    }
    return -1;
  }

  private static long sum(String text, List<TimeUnit> units) {
    List<String> fields = new ArrayList<>(List.of(FIELD_SEPARATOR.split(text, -1)));
    if (fields.size() != units.size()) {
      throw new IllegalArgumentException(text);
    }
    long millis = 0;
    if (units.get(units.size() - 1) == TimeUnit.SECONDS) {
      String seconds = fields.get(fields.size() - 1);
      int dot = seconds.indexOf('.');
      if (dot >= 0) {
        millis = fraction(seconds.substring(dot + 1));
        fields.set(fields.size() - 1, seconds.substring(0, dot));
      }
    }
    for (int i = 0; i < fields.size(); i++) {
      long factor = units.get(i).toMillis(1);
      millis = Math.addExact(millis, Math.multiplyExact(number(fields.get(i)), factor));
    }
    return millis;
  }

  private static long fraction(String digits) {
    number(digits);
    return number((digits + "000").substring(0, DIGITS_OF_MILLIS));
  }

  private static long number(String digits) {
    if (!DIGITS.matcher(digits).matches()) {
      throw new IllegalArgumentException(digits);
    }
    return Long.parseLong(digits);
  }
}
