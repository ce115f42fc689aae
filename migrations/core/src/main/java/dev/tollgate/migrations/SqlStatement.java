package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.Set;

/**
 * One statement of a script.
 *
 * @param line the line of the script on which its first word stands, from 1
 * @param sql the text that is sent, without the semicolon
 * @param written the text of the script, before placeholders have values
 */
public record SqlStatement(int line, String sql, String written, Dialect dialect) {
  /** Enough words to tell what a statement does. */
  private static final int FIRST_WORDS = 8;

  private static final int WORDS_OF_A_SETTING = 1_000;

  /** Statements that read or change rows, or the session alone, in each database. */
  private static final Set<String> ROWS =
      Set.of(
          "INSERT",
          "UPDATE",
          "DELETE",
          "MERGE",
          "SELECT",
          "WITH",
          "VALUES",
          "TABLE",
          "SET",
          "SAVEPOINT",
          "RELEASE",
          "ROLLBACK",
          "EXPLAIN",
          "SHOW");

  private static final Set<String> ROWS_OF_TOLLGATE = Set.of("CALL", "SCRIPT");

  private static final Set<String> ROWS_OF_MARIADB =
      Set.of("REPLACE", "DO", "DESCRIBE", "DESC", "USE");

  private static final Set<String> DEFINITIONS =
      Set.of(
          "CREATE",
          "ALTER",
          "DROP",
          "RENAME",
          "TRUNCATE",
          "GRANT",
          "REVOKE",
          "COMMENT",
          "REINDEX",
          "VACUUM",
          "REFRESH",
          "CLUSTER");

  /** SET with these changes more than the session, or is another statement. */
  private static final Set<String> NO_SETTINGS =
      Set.of("STATEMENT", "PASSWORD", "DEFAULT", "GLOBAL", "PERSIST");

  private static final Set<String> TRANSACTION_CONTROL =
      Set.of("BEGIN", "START", "COMMIT", "END", "ABORT", "XA");

  /** What a statement does to the open transaction where definitions commit. */
  enum Effect {
    /** Its changes are part of the transaction. */
    ROWS,
    /** It commits the transaction, and takes effect as a whole or not at all. */
    DEFINITION,
    /** Nobody knows: it may commit at any point, and fail behind that. */
    OPAQUE
  }

  public SqlStatement {
    requireNonNull(sql, "sql");
    requireNonNull(written, "written");
    requireNonNull(dialect, "dialect");
    if (line < 1) {
      throw new IllegalArgumentException("line: " + line);
    }
  }

  /** A statement for Tollgate, without placeholders. */
  public SqlStatement(int line, String sql) {
    this(line, sql, sql, Dialect.TOLLGATE);
  }

  /** A statement that no script has. */
  public static SqlStatement of(String sql, Dialect dialect) {
    return new SqlStatement(1, sql, sql, dialect);
  }

  /** What the statement does to a transaction: a closed list, and all else is opaque. */
  Effect effect() {
    List<String> words = SqlText.words(sql, dialect, FIRST_WORDS);
    if (words.stream().anyMatch(SqlText::isOpener)) {
      return Effect.OPAQUE;
    }
    String first = first(words);
    if (dialect == Dialect.TOLLGATE) {
      boolean setsPassword = first.equals("SET") && second(words).equals("PASSWORD");
      return !setsPassword && (ROWS.contains(first) || ROWS_OF_TOLLGATE.contains(first))
          ? Effect.ROWS
          : Effect.DEFINITION;
    }
    boolean rows =
        switch (first) {
          case "SET" -> !NO_SETTINGS.contains(second(words));
          case "LOAD" ->
              dialect == Dialect.MARIADB && Set.of("DATA", "XML").contains(second(words));
          default ->
              ROWS.contains(first)
                  || (dialect == Dialect.MARIADB && ROWS_OF_MARIADB.contains(first));
        };
    return rows ? Effect.ROWS : DEFINITIONS.contains(first) ? Effect.DEFINITION : Effect.OPAQUE;
  }

  /** False if the statement reads or changes rows; a definition commits the open transaction. */
  boolean mayBeDefinition() {
    return effect() != Effect.ROWS;
  }

  /**
   * True if the statement changes or shows nothing but the session. A transaction of these keeps no
   * later holder of a lock waiting.
   */
  public boolean concernsSessionAlone() {
    String first = first(executedWords());
    return first.equals("RESET")
        || (effect() == Effect.ROWS && Set.of("SET", "SHOW", "USE").contains(first));
  }

  /** True if the statement begins or ends a transaction, or goes back to a savepoint. */
  public boolean controlsTransaction() {
    List<String> words = executedWords();
    String first = first(words);
    return TRANSACTION_CONTROL.contains(first) || first.equals("ROLLBACK");
  }

  /** True if the runner alone says when a transaction ends and which lock fences the session. */
  boolean belongsToTheRunner() {
    List<String> words = executedWords();
    String second = second(words);
    String third = words.size() > 2 ? words.get(2) : "";
    String first = first(words);
    return switch (first) {
      case "ROLLBACK" -> !second.equals("TO") && !third.equals("TO");
      case "SET" ->
          setsAutocommit(words)
              || second.equals("FENCED")
              || (second.equals("NOT") && third.equals("FENCED"));
      // they commit, and what is locked hides the tables of the runner
      case "LOCK", "UNLOCK" -> dialect == Dialect.MARIADB;
      case "PREPARE" -> second.equals("TRANSACTION");
      default -> TRANSACTION_CONTROL.contains(first);
    };
  }

  private static boolean setsAutocommit(List<String> words) {
    for (int i = 1; i < words.size(); i++) {
      boolean assigned =
          i == 1 || (i + 1 < words.size() && Set.of("=", ":").contains(words.get(i + 1)));
      if (words.get(i).equals("AUTOCOMMIT") && assigned) {
        return true;
      }
    }
    return false;
  }

  /** The first words; of a setting, more. */
  private List<String> executedWords() {
    List<String> words = executedWords(FIRST_WORDS);
    return first(words).equals("SET") ? executedWords(WORDS_OF_A_SETTING) : words;
  }

  /** The first words, of comments that are executed too, at most so many. */
  List<String> executedWords(int most) {
    return SqlText.words(sql, dialect, most).stream()
        .filter(word -> !SqlText.isOpener(word) && !SqlText.isCloser(word))
        .toList();
  }

  /** A query may stand in parentheses. */
  private static String first(List<String> words) {
    return words.stream().filter(word -> !word.equals("(")).findFirst().orElse("");
  }

  private static String second(List<String> words) {
    return words.size() > 1 ? words.get(1) : "";
  }
}
