package dev.tollgate.store;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.h2.jdbc.JdbcConnection;
import org.h2.jdbc.JdbcResultSet;
import org.h2.result.SimpleResult;
import org.h2.util.DateTimeUtils;
import org.h2.value.TypeInfo;
import org.h2.value.Value;
import org.h2.value.ValueBigint;
import org.h2.value.ValueBoolean;
import org.h2.value.ValueNull;
import org.h2.value.ValueTimestampTimeZone;
import org.h2.value.ValueVarchar;
import org.jspecify.annotations.Nullable;

/** The rows of the views of schema TOLLGATE, as H2 asks for them. */
public final class SystemFunctions {
  private static final TypeInfo NAME = TypeInfo.getTypeInfo(Value.VARCHAR, 256, -1, null);
  private static final TypeInfo WORD = TypeInfo.getTypeInfo(Value.VARCHAR, 16, -1, null);
  private static final TypeInfo MOMENT = TypeInfo.getTypeInfo(Value.TIMESTAMP_TZ, -1, 6, null);

  private SystemFunctions() {}

  /**
   * The rows of a system table; none while H2 only asks for its columns.
   *
   * @param table the name of a {@link SystemTable}
   */
  public static ResultSet rowsOf(Connection connection, String table) throws SQLException {
    SystemTable systemTable = SystemTable.valueOf(table);
    SimpleResult result = new SimpleResult();
    for (SystemTable.Column column : systemTable.columns()) {
      result.addColumn(column.name(), typeOf(column.type()));
    }
    LockAccess locks = LockFunctions.locksOrNull(connection);
    if (locks != null) {
      for (@Nullable Object[] row : locks.rows(systemTable)) {
        result.addRow(valuesOf(systemTable.columns(), row));
      }
    }
    return new JdbcResultSet(
        (JdbcConnection) connection, null, null, result, -1, false, true, false);
  }

  private static TypeInfo typeOf(SystemTable.Type type) {
    return switch (type) {
      case NAME -> NAME;
      case WORD -> WORD;
      case NUMBER -> TypeInfo.TYPE_BIGINT;
      case ANSWER -> TypeInfo.TYPE_BOOLEAN;
      case MOMENT -> MOMENT;
    };
  }

  private static Value[] valuesOf(List<SystemTable.Column> columns, @Nullable Object[] row) {
    Value[] values = new Value[columns.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = valueOf(columns.get(i).type(), row[i]);
    }
    return values;
  }

  private static Value valueOf(SystemTable.Type type, @Nullable Object value) {
    if (value == null) {
      return ValueNull.INSTANCE;
    }
    return switch (type) {
      case NAME, WORD -> ValueVarchar.get((String) value);
      case NUMBER -> ValueBigint.get((Long) value);
      case ANSWER -> ValueBoolean.get((Boolean) value);
      case MOMENT -> timestamp((Long) value);
    };
  }

  /** Microseconds since 1970-01-01T00:00:00Z as a timestamp in UTC. */
  static ValueTimestampTimeZone timestamp(long micros) {
    long day = Math.floorDiv(micros, TimeUnit.DAYS.toMicros(1));
    long microsOfDay = Math.floorMod(micros, TimeUnit.DAYS.toMicros(1));
    return ValueTimestampTimeZone.fromDateValueAndNanos(
        DateTimeUtils.dateValueFromAbsoluteDay(day), TimeUnit.MICROSECONDS.toNanos(microsOfDay), 0);
  }
}
