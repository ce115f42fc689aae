package dev.tollgate.store.schema;

import dev.tollgate.core.command.Limits;
import dev.tollgate.store.statement.StatementMeter;
import dev.tollgate.store.statement.StoreCommand;
import dev.tollgate.store.statement.SystemTable;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.Iterator;
import java.util.List;
import org.h2.tools.SimpleResultSet;
import org.h2.tools.SimpleRowSource;
import org.jspecify.annotations.Nullable;

/** The rows of the views of schema TOLLGATE, as H2 asks for them. */
public final class SystemFunctions {
  private static final int NAME_CHARS = 256;
  private static final int WORD_CHARS = 16;
  private static final int BIGINT_BITS = 64;
  private static final int FRACTION_DIGITS = 6;

  private SystemFunctions() {}

  /**
   * The rows of a system table; none while H2 only asks for its columns.
   *
   * <p>The result set does not know the session. H2 asks a result set for its metadata in the
   * middle of the statement. A result set that asked the session then would end the statement.
   *
   * @param table the name of a {@link SystemTable}
   */
  public static ResultSet rowsOf(Connection connection, String table) throws SQLException {
    SystemTable systemTable = SystemTable.valueOf(table);
    StoreCommand statement = LockFunctions.statementOrNull(connection);
    SimpleResultSet result =
        statement == null
            ? new SimpleResultSet()
            : new SimpleResultSet(new Rows(systemTable, statement));
    for (SystemTable.Column column : systemTable.columns()) {
      addColumn(result, column);
    }
    return result;
  }

  /** Gives H2 one row after another while there is memory for them: H2 keeps all rows. */
  private static final class Rows implements SimpleRowSource {
    private final List<SystemTable.Column> columns;
    private final Iterator<@Nullable Object[]> rows;
    private final StatementMeter meter;

    Rows(SystemTable table, StoreCommand statement) {
      columns = table.columns();
      rows = statement.rowsOf(table).iterator();
      meter = statement.meter();
    }

    @Override
    public @Nullable Object @Nullable [] readRow() {
      if (!rows.hasNext()) {
        return null;
      }
      meter.looked(1);
      return values(columns, rows.next());
    }

    @Override
    public void close() {}

    @Override
    public void reset() {
      throw new UnsupportedOperationException("the rows are read once");
    }
  }

  private static void addColumn(SimpleResultSet result, SystemTable.Column column) {
    switch (column.type()) {
      case NAME -> result.addColumn(column.name(), Types.VARCHAR, NAME_CHARS, 0);
      case TEXT -> result.addColumn(column.name(), Types.VARCHAR, Limits.ROW_LOCK_CHARS, 0);
      case WORD -> result.addColumn(column.name(), Types.VARCHAR, WORD_CHARS, 0);
      case NUMBER -> result.addColumn(column.name(), Types.BIGINT, BIGINT_BITS, 0);
      case ANSWER -> result.addColumn(column.name(), Types.BOOLEAN, 1, 0);
      case MOMENT ->
          result.addColumn(column.name(), Types.TIMESTAMP_WITH_TIMEZONE, 0, FRACTION_DIGITS);
    }
  }

  private static @Nullable Object[] values(
      List<SystemTable.Column> columns, @Nullable Object[] row) {
    @Nullable Object[] values = new @Nullable Object[row.length];
    for (int i = 0; i < values.length; i++) {
      Object value = row[i];
      boolean moment = columns.get(i).type() == SystemTable.Type.MOMENT;
      values[i] = moment && value instanceof Long micros ? moment(micros) : value;
    }
    return values;
  }

  /** Microseconds since 1970-01-01T00:00:00Z as a timestamp in UTC. */
  private static OffsetDateTime moment(long micros) {
    return Instant.EPOCH.plus(micros, ChronoUnit.MICROS).atOffset(ZoneOffset.UTC);
  }
}
