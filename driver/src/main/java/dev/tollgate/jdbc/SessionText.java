package dev.tollgate.jdbc;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.h2.command.CommandInterface;
import org.h2.engine.IsolationLevel;
import org.jspecify.annotations.Nullable;

/**
 * Statements about what the connection itself keeps, as applications write them: transaction
 * control, autocommit, the isolation level and the query timeout. They need no round trip, but for
 * the end of a transaction.
 */
final class SessionText {
  private static final Pattern END = pattern("(COMMIT|ROLLBACK)( WORK)?");
  private static final Pattern BEGIN = pattern("BEGIN( WORK| TRANSACTION)?|START TRANSACTION");
  private static final Pattern AUTOCOMMIT =
      pattern("SET AUTOCOMMIT(?: ?= ?| )(TRUE|ON|1|FALSE|OFF|0)");
  private static final Pattern ISOLATION =
      pattern(
          "SET (?:SESSION CHARACTERISTICS AS )?TRANSACTION ISOLATION LEVEL (READ UNCOMMITTED|READ"
              + " COMMITTED|REPEATABLE READ|SNAPSHOT|SERIALIZABLE)");
  private static final Pattern QUERY_TIMEOUT = pattern("SET QUERY_TIMEOUT(?: ?= ?| )(\\d{1,9})");

  /** Longer texts are none of these; so no time is spent on them. */
  private static final int MAX_LENGTH = 100;

  /** What these statements are about. */
  interface Session {
    void begin();

    void end(boolean commit);

    void setAutoCommit(boolean on);

    void setIsolationLevel(IsolationLevel level);

    void setQueryTimeoutMillis(int millis);
  }

  private SessionText() {}

  private static Pattern pattern(String text) {
    return Pattern.compile(text);
  }

  /** The statement, or null if it is about something else. */
  static @Nullable CommandInterface of(String sql, Session session) {
    if (sql.length() > MAX_LENGTH) {
      return null;
    }
    String text =
        sql.strip().replaceFirst("\\s*;$", "").replaceAll("\\s+", " ").toUpperCase(Locale.ROOT);
    Matcher end = END.matcher(text);
    if (end.matches()) {
      return SessionFact.action(() -> session.end(end.group(1).equals("COMMIT")));
    }
    if (BEGIN.matcher(text).matches()) {
      return SessionFact.action(session::begin);
    }
    Matcher autoCommit = AUTOCOMMIT.matcher(text);
    if (autoCommit.matches()) {
      return SessionFact.action(
          () -> session.setAutoCommit(autoCommit.group(1).matches("TRUE|ON|1")));
    }
    Matcher isolation = ISOLATION.matcher(text);
    if (isolation.matches()) {
      IsolationLevel level = IsolationLevel.valueOf(isolation.group(1).replace(' ', '_'));
      return SessionFact.action(() -> session.setIsolationLevel(level));
    }
    Matcher timeout = QUERY_TIMEOUT.matcher(text);
    return timeout.matches()
        ? SessionFact.action(
            () -> session.setQueryTimeoutMillis(Integer.parseInt(timeout.group(1))))
        : null;
  }
}
