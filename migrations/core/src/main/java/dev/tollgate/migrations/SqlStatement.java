package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

import java.util.ArrayList;
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

  private static final Set<String> SCOPES = Set.of("SESSION", "LOCAL", "GLOBAL");

  public SqlStatement {
    requireNonNull(sql, "sql");
    if (line < 1) {
      throw new IllegalArgumentException("line: " + line);
    }
  }

  /** False if the statement reads or changes rows; a definition commits the open transaction. */
  boolean mayBeDefinition() {
    String first = firstWords().get(0);
    return setsPassword() || (!NO_DEFINITIONS.contains(first) && !first.startsWith("("));
  }

  private boolean setsPassword() {
    List<String> words = firstWords();
    return words.get(0).equals("SET") && words.size() > 1 && words.get(1).equals("PASSWORD");
  }

  /** True if the statement changes nothing but the session, which ends with its runner. */
  boolean setsSession() {
    List<String> words = firstWords();
    return words.get(0).equals("SET") && words.size() > 1 && !setsPassword();
  }

  /** Which setting of the session a SET changes, so that of two only the later one counts. */
  String setting() {
    List<String> words =
        new ArrayList<>(
            List.of(
                SqlText.withoutLeadingComments(sql)
                    .toUpperCase(Locale.ROOT)
                    .replace("=", " = ")
                    .split("\\s+")));
    words.remove(0);
    while (words.size() > 1 && SCOPES.contains(words.get(0))) {
      words.remove(0);
    }
    return switch (words.get(0)) {
      case "FENCING" -> String.join(" ", words).replaceFirst("TOKEN .* FOR ", "TOKEN FOR ");
      case "TIME" -> "TIME ZONE";
      default -> words.get(0);
    };
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

  /** The first three words in upper case, or fewer; at least one. */
  private List<String> firstWords() {
    List<String> words = SqlText.firstWords(sql, 3);
    return words.isEmpty() ? List.of("") : words;
  }
}
