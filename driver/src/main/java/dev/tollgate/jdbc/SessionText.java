package dev.tollgate.jdbc;

import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.h2.command.CommandInterface;
import org.h2.engine.IsolationLevel;
import org.jspecify.annotations.Nullable;

/**
 * Recognizes statements about the state that the connection itself keeps, as applications write
 * them: transaction control, autocommit, the isolation level and the query timeout. Of these, only
 * the end of a transaction needs a round trip.
 */
final class SessionText {
  private static final Pattern END = Pattern.compile("(COMMIT|ROLLBACK)( WORK)?");
  private static final Pattern BEGIN =
      Pattern.compile("BEGIN( WORK| TRANSACTION)?|START TRANSACTION");
  private static final Pattern AUTOCOMMIT =
      Pattern.compile("SET AUTOCOMMIT(?: ?= ?| )(TRUE|ON|1|FALSE|OFF|0)");
  private static final Pattern ISOLATION =
      Pattern.compile(
          "SET (?:SESSION CHARACTERISTICS AS )?TRANSACTION ISOLATION LEVEL (READ UNCOMMITTED|READ"
              + " COMMITTED|REPEATABLE READ|SNAPSHOT|SERIALIZABLE)");
  private static final Pattern QUERY_TIMEOUT =
      Pattern.compile("SET QUERY_TIMEOUT(?: ?= ?| )(\\d{1,9})");

  /** None of these statements has a literal that could look like a comment. */
  private static final Pattern COMMENT =
      Pattern.compile("--[^\n]*|//[^\n]*|/\\*.*?\\*/", Pattern.DOTALL);

  private static final Set<String> FIRST_WORDS =
      Set.of("BEGIN", "COMMIT", "ROLLBACK", "SET", "START");

  /** A longer text is none of these statements. */
  private static final int MAX_LENGTH = 100;

  private static final int MAX_LENGTH_WITH_COMMENTS = 2_000;

  /** The state that these statements change. */
  interface Session {
    void begin();

    void end(boolean commit);

    void setAutoCommit(boolean on);

    void setIsolationLevel(IsolationLevel level);

    void setQueryTimeoutMillis(int millis);
  }

  private SessionText() {}

  /** Returns the command for a statement, or null if it is none of these statements. */
  static @Nullable CommandInterface of(String sql, Session session) {
    // every statement passes through here, and most are none of these
    if (sql.length() > MAX_LENGTH_WITH_COMMENTS
        || !FIRST_WORDS.contains(StatementKind.firstWord(sql))) {
      return null;
    }
    String bare = COMMENT.matcher(sql).replaceAll(" ").strip();
    if (bare.length() > MAX_LENGTH) {
      return null;
    }
    String text = bare.replaceFirst("\\s*;$", "").replaceAll("\\s+", " ").toUpperCase(Locale.ROOT);
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
