package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * One statement of a script.
 *
 * @param line the line of the script on which its first word stands, from 1
 * @param sql the text that is sent, without the semicolon
 */
public record SqlStatement(int line, String sql) {
  /** First words of statements that read or change rows, or the session alone. */
  private static final Set<String> NO_DEFINITIONS =
      Set.of(
          "INSERT",
          "UPDATE",
          "DELETE",
          "MERGE",
          "SELECT",
          "WITH",
          "VALUES",
          "TABLE",
          "CALL",
          "SET",
          "SAVEPOINT",
          "RELEASE",
          "ROLLBACK",
          "EXPLAIN",
          "SHOW",
          "SCRIPT");

  public SqlStatement {
    requireNonNull(sql, "sql");
    if (line < 1) {
      throw new IllegalArgumentException("line: " + line);
    }
  }

  /** False if the statement reads or changes rows; a definition commits the open transaction. */
  boolean mayBeDefinition() {
    String first = firstWords().get(0);
    return !NO_DEFINITIONS.contains(first) && !first.startsWith("(");
  }

  /** True if the statement changes nothing but the session, which ends with its runner. */
  boolean setsSession() {
    return firstWords().get(0).equals("SET");
  }

  /** True if the runner alone says when a transaction ends and which lock fences the session. */
  boolean belongsToTheRunner() {
    List<String> words = firstWords();
    String second = words.size() > 1 ? words.get(1) : "";
    String third = words.size() > 2 ? words.get(2) : "";
    return switch (words.get(0)) {
      case "BEGIN", "START", "COMMIT", "END", "ABORT" -> true;
      case "ROLLBACK" -> !second.equals("TO") && !third.equals("TO");
      case "SET" ->
          second.startsWith("AUTOCOMMIT")
              || second.equals("FENCED")
              || (second.equals("NOT") && third.equals("FENCED"));
      default -> false;
    };
  }

  /**
   * True if it does no harm to run the definition again where the first run has changed no
   * definition. TRUNCATE, RESTART and a conversion USING an expression change rows or sequences.
   */
  boolean isHarmlessWithoutEffect() {
    String upper = " " + sql.toUpperCase(Locale.ROOT).replaceAll("\\s+", " ") + " ";
    return switch (firstWords().get(0)) {
      case "CREATE", "DROP", "COMMENT" -> true;
      case "ALTER" -> !upper.contains(" RESTART ") && !upper.contains(" USING ");
      default -> false;
    };
  }

  /** The first three words in upper case, or fewer; at least one. */
  private List<String> firstWords() {
    return List.of(SqlText.withoutLeadingComments(sql).toUpperCase(Locale.ROOT).split("\\s+", 4));
  }
}
