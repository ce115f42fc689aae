package dev.tollgate.store.h2;

import static java.util.Objects.requireNonNull;

import dev.tollgate.value.Parameter;
import java.math.BigDecimal;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.h2.api.IntervalQualifier;
import org.h2.message.DbException;
import org.h2.value.DataType;
import org.h2.value.Value;
import org.h2.value.ValueArray;
import org.h2.value.ValueBigint;
import org.h2.value.ValueBoolean;
import org.h2.value.ValueDecfloat;
import org.h2.value.ValueInterval;
import org.h2.value.ValueNull;
import org.h2.value.ValueNumeric;
import org.h2.value.ValueVarchar;
import org.jspecify.annotations.Nullable;

/** An SQL value, for callers that pass it on and need not know what it is. */
public final class SqlValue {
  private static final int MOST_DECIMALS = 1_000;

  private final Value value;

  private SqlValue(Value value) {
    this.value = requireNonNull(value, "value");
  }

  public static SqlValue of(Value value) {
    return new SqlValue(value);
  }

  public static SqlValue ofNull() {
    return new SqlValue(ValueNull.INSTANCE);
  }

  public static SqlValue ofNumber(long number) {
    return new SqlValue(ValueBigint.get(number));
  }

  /**
   * A number that need not be whole: exact if its digits can be written out, else a DECFLOAT.
   *
   * @throws SQLException if no value may have so many digits, or such an exponent
   */
  public static SqlValue ofDecimal(BigDecimal number) throws SQLException {
    try {
      return new SqlValue(
          number.scale() >= 0 && number.scale() <= MOST_DECIMALS
              ? ValueNumeric.get(number)
              : ValueDecfloat.get(number));
    } catch (DbException e) {
      throw DbException.toSQLException(e);
    }
  }

  public static SqlValue ofTruth(boolean truth) {
    return new SqlValue(ValueBoolean.get(truth));
  }

  public static SqlValue ofText(String text) {
    return new SqlValue(ValueVarchar.get(text));
  }

  /** An INTERVAL of this many milliseconds. */
  public static SqlValue ofInterval(long millis) {
    long nanos = Math.multiplyExact(Math.abs(millis % 1_000), 1_000_000L);
    return new SqlValue(
        ValueInterval.from(IntervalQualifier.SECOND, millis < 0, Math.abs(millis / 1_000), nanos));
  }

  /**
   * An array of values of one type, with one precision and scale unless they are texts. Conversions
   * to a common type may need a session of H2.
   *
   * @throws SQLException if the values have several types, or are more than an array may have
   */
  public static SqlValue ofArray(List<SqlValue> values) throws SQLException {
    SqlValue first = null;
    for (SqlValue element : values) {
      if (first == null || first.isNull()) {
        first = element;
      } else if (!element.isNull() && !element.isTypedAs(first)) {
        throw SqlErrors.invalid(
            "an array has elements of the types "
                + first.value.getType().getTraceSQL()
                + " and "
                + element.value.getType().getTraceSQL()
                + ": write elements of one type");
      }
    }
    try {
      return new SqlValue(
          ValueArray.get(values.stream().map(SqlValue::h2).toArray(Value[]::new), null));
    } catch (DbException e) {
      throw DbException.toSQLException(e);
    }
  }

  /** Whether an array of both is made without a conversion, or from texts. */
  private boolean isTypedAs(SqlValue other) {
    int type = value.getValueType();
    return DataType.isCharacterStringType(type)
        ? DataType.isCharacterStringType(other.value.getValueType())
        : value.getType().equals(other.value.getType()) && type != Value.ARRAY && type != Value.ROW;
  }

  /** The values of a parameter set that a client has sent. */
  public static List<SqlValue> decode(byte[] parameterSet) {
    List<SqlValue> values = new ArrayList<>();
    for (Value value : Parameter.decodeSent(parameterSet)) {
      values.add(new SqlValue(value));
    }
    return values;
  }

  /** The first values of a parameter set, as a set of their own. */
  public static byte[] encodeFirst(List<SqlValue> values, int count) {
    List<Value> first = new ArrayList<>(count);
    for (SqlValue value : values.subList(0, count)) {
      first.add(value.value);
    }
    return Parameter.encodeValues(first);
  }

  public boolean isNull() {
    return ValueNull.INSTANCE.equals(value);
  }

  /** The characters of a character string; null for any other value. */
  public @Nullable String textOrNull() {
    return switch (value.getValueType()) {
      case Value.CHAR, Value.VARCHAR, Value.VARCHAR_IGNORECASE, Value.CLOB -> value.getString();
      default -> null;
    };
  }

  public Value h2() {
    return value;
  }
}
