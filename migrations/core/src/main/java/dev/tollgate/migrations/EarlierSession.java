package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the statements that an earlier run has done have set in its session, which has ended since:
 * the last value of each setting, and the locks that they acquired and did not release. The rest of
 * the script runs in a session that has the same.
 */
final class EarlierSession {
  private static final Pattern LOCK_CALL =
      Pattern.compile(
          "(?:SELECT|CALL|VALUES)[\\s(]+(TRY_)?(ACQUIRE|RELEASE)_(?:SHARED_)?LOCKS?\\s*\\((.*)\\)[\\s)]*",
          Pattern.CASE_INSENSITIVE | Pattern.DOTALL);

  private static final Pattern ACQUIRES =
      Pattern.compile("\\bACQUIRE_(?:SHARED_)?LOCKS?\\s*\\(", Pattern.CASE_INSENSITIVE);

  /** A literal may hold commas. */
  private static final Pattern FIRST_ARGUMENT =
      Pattern.compile("\\s*('(?:[^']|'')*'|ARRAY\\s*\\[[^\\]]*\\]|[^,]*)", Pattern.DOTALL);

  private final String unit;

  /** By what they set: a setting or a lock. */
  private final Map<String, SqlStatement> inForce = new LinkedHashMap<>();

  /**
   * @param unit what messages call the script
   */
  EarlierSession(String unit) {
    this.unit = requireNonNull(unit, "unit");
  }

  /**
   * Takes the next statement that is done.
   *
   * @throws MigrationException with INPUT if it has acquired locks, and it cannot be told which
   */
  void did(SqlStatement statement) throws MigrationException {
    String sql = SqlText.withoutLeadingComments(statement.sql());
    Matcher call = LOCK_CALL.matcher(sql);
    if (statement.setsSession()) {
      put("SET " + statement.setting(), statement);
    } else if (call.matches() && isOneCall(call.group(3))) {
      String lock = "LOCK " + firstArgument(call.group(3));
      if (call.group(2).equalsIgnoreCase("RELEASE")) {
        inForce.remove(lock);
      } else {
        put(lock, statement);
      }
    } else if (ACQUIRES.matcher(sql).find()) {
      throw new MigrationException(
          MigrationException.Reason.INPUT,
          unit
              + ": line "
              + statement.line()
              + " was done by an earlier run and acquires locks, which this run would have to"
              + " acquire again, and cannot tell which: run what is left of the script by hand,"
              + " and in new scripts acquire each lock by SELECT acquire_lock('name')");
    }
  }

  private static boolean isOneCall(String arguments) {
    return !ACQUIRES.matcher(arguments).find() && arguments.indexOf(';') < 0;
  }

  private static String firstArgument(String arguments) {
    Matcher first = FIRST_ARGUMENT.matcher(arguments);
    return first.lookingAt() ? first.group(1).strip() : arguments.strip();
  }

  private void put(String what, SqlStatement statement) {
    inForce.remove(what);
    inForce.put(what, statement);
  }

  /**
   * Gives the session of a connection the settings and locks, in the order of their statements.
   *
   * @throws MigrationException with LOCK_BUSY if a lock is not granted
   */
  void restore(Connection connection) throws SQLException, MigrationException {
    for (Map.Entry<String, SqlStatement> entry : inForce.entrySet()) {
      SqlStatement statement = entry.getValue();
      try (Statement sent = connection.createStatement()) {
        sent.setEscapeProcessing(false);
        if (sent.execute(statement.sql()) && !isGranted(sent) && !isAttempt(statement)) {
          throw new MigrationException(
              MigrationException.Reason.LOCK_BUSY,
              unit
                  + ": line "
                  + statement.line()
                  + " was done by an earlier run, and its lock is not free for this run: run again"
                  + " once the lock is free");
        }
      }
    }
    inForce.clear();
  }

  private static boolean isGranted(Statement sent) throws SQLException {
    try (ResultSet token = sent.getResultSet()) {
      return token.next() && token.getObject(1) != null;
    }
  }

  /** A script that tries to acquire a lock goes on without it. */
  private static boolean isAttempt(SqlStatement statement) {
    return statement.sql().toUpperCase(Locale.ROOT).contains("TRY_ACQUIRE");
  }
}
