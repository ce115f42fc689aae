package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * What the statements that an earlier run has done have left in its session, which has ended since.
 * A closed list is restored: settings with literal values, and locks of Tollgate. What else a
 * statement leaves, such as a variable or a temporary table, ends the run before a statement that
 * needs it.
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

  private static final String SET = "SET ";

  private final String unit;
  private final String advice;

  /** By what they set: a setting or a lock. */
  private final Map<String, SqlStatement> inForce = new LinkedHashMap<>();

  /** What is gone with the session, by the word of a statement that needs it. */
  private final Map<String, SqlStatement> needed = new LinkedHashMap<>();

  /** What nobody can restore; null if there is no such statement. */
  private @Nullable SqlStatement opaque;

  /**
   * @param unit what messages call the script
   * @param advice what to do if a session cannot be restored
   */
  EarlierSession(String unit, String advice) {
    this.unit = requireNonNull(unit, "unit");
    this.advice = requireNonNull(advice, "advice");
  }

  /**
   * Takes the next statement that is done.
   *
   * @throws MigrationException with INPUT if it has acquired locks, and it cannot be told which
   */
  void did(SqlStatement statement) throws MigrationException {
    SessionEffect effect = SessionEffect.of(statement);
    effect.ended().forEach(needed::remove);
    effect.left().forEach(word -> needed.put(word, statement));
    switch (effect.kind()) {
      case NONE -> didLock(statement);
      case SETTING -> put(SET + effect.name(), statement);
      case RESET -> inForce.remove(SET + effect.name());
      case RESET_ALL -> {
        inForce.keySet().removeIf(what -> what.startsWith(SET));
        needed.clear();
        opaque = null;
      }
      case OPAQUE -> opaque = statement;
    }
  }

  private void didLock(SqlStatement statement) throws MigrationException {
    if (statement.dialect() != Dialect.TOLLGATE) {
      return;
    }
    String sql = SqlText.withoutLeadingComments(statement.sql(), statement.dialect());
    Matcher call = LOCK_CALL.matcher(sql);
    if (call.matches() && isOneCall(call.group(3))) {
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

  /**
   * Takes the next statement that is left.
   *
   * @throws MigrationException with UNKNOWN_OUTCOME if it may need what cannot be restored
   */
  void check(SqlStatement next) throws MigrationException {
    if (opaque != null) {
      throw lost(opaque);
    }
    if (needed.isEmpty()) {
      return;
    }
    List<String> words = next.executedWords(Integer.MAX_VALUE);
    for (Map.Entry<String, SqlStatement> entry : needed.entrySet()) {
      if (SessionEffect.needs(words, entry.getKey())) {
        throw lost(entry.getValue());
      }
    }
    SessionEffect effect = SessionEffect.of(next);
    effect.ended().forEach(needed::remove);
    effect.left().forEach(needed::remove);
  }

  private MigrationException lost(SqlStatement done) {
    return new MigrationException(
        MigrationException.Reason.UNKNOWN_OUTCOME,
        unit
            + ": line "
            + done.line()
            + " was done by an earlier run, whose session has ended, and what is left may need what"
            + " that statement left in the session. Nothing was run. "
            + advice);
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
