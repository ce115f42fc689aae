package dev.tollgate.store.h2;

import dev.tollgate.core.command.TimeZoneName;
import java.sql.SQLException;
import java.time.DateTimeException;
import org.h2.engine.SessionLocal;
import org.h2.expression.TimeZoneOperation;
import org.h2.message.DbException;
import org.h2.util.TimeZoneProvider;
import org.h2.value.DataType;
import org.h2.value.Value;
import org.h2.value.ValueNull;
import org.jspecify.annotations.Nullable;

/**
 * Time zones by their names. The Java runtime has the rules of regions, so a name may mean nothing,
 * or something else, in another environment of the log (docs/adr/0039).
 */
public final class TimeZones {
  private TimeZones() {}

  /**
   * Has the statements of a session run in a time zone until {@link #leave}.
   *
   * @throws DbException with 90008 if this runtime has no such zone
   */
  public static void enter(SessionLocal session, TimeZoneName name) {
    session.setTimeZone(find(name.value()));
  }

  /** Has a session run in UTC again, as all sessions do outside the statements of clients. */
  public static void leave(SessionLocal session) {
    session.setTimeZone(TimeZoneProvider.UTC);
  }

  /**
   * The name by which H2 calls a zone that a client has named.
   *
   * @throws SQLException with 90008 if there is no such zone
   */
  public static TimeZoneName named(String text) throws SQLException {
    return nameOf(ValueNull.INSTANCE, text);
  }

  /**
   * The same for the value in SET TIME ZONE: a name, or an interval, which is an offset.
   *
   * @throws SQLException with 90008 if it is neither, or if there is no such zone
   */
  public static TimeZoneName named(SqlValue value) throws SQLException {
    return nameOf(value.h2(), value.textOrNull());
  }

  private static TimeZoneName nameOf(Value value, @Nullable String text) throws SQLException {
    try {
      if (text == null && !DataType.isIntervalType(value.getValueType())) {
        throw unknown(value.getTraceSQL());
      }
      TimeZoneProvider zone =
          text == null
              ? TimeZoneProvider.ofOffset(TimeZoneOperation.parseInterval(value))
              : find(text);
      return new TimeZoneName(zone.getId());
    } catch (DbException e) {
      throw e.getSQLException();
    }
  }

  private static TimeZoneProvider find(String name) {
    if (!TimeZoneName.isValid(name)) {
      throw unknown("a name of " + name.length() + " characters");
    }
    try {
      return TimeZoneProvider.ofId(name);
    } catch (DateTimeException | IllegalArgumentException e) {
      throw unknown("'" + name + "'");
    }
  }

  private static DbException unknown(String shown) {
    return DbException.getInvalidValueException("TIME ZONE", shown);
  }
}
