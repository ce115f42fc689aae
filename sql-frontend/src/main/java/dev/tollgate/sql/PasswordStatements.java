package dev.tollgate.sql;

import dev.tollgate.sql.SqlRefused.Reason;
import dev.tollgate.sql.parser.Token;
import java.util.List;

/**
 * Statements that may hold a password. Messages do not repeat their text, and the cache does not
 * keep their plans.
 */
final class PasswordStatements {

  private PasswordStatements() {}

  /** Whether the plan has the text of a password, and not only a parameter for it. */
  static boolean holdsPassword(Plan plan) {
    return plan instanceof Plan.ConfigureUser user && user.password() instanceof Argument.Text;
  }

  /**
   * Returns the refusal of a statement with these tokens. If the statement may hold a password, a
   * sentence about its syntax becomes one that shows the form of the statement: the parser quotes
   * what it did not expect, which may be the password. The cause is dropped for the same reason.
   *
   * @param tokens all tokens of the statement, or those before the refused text
   */
  static SqlRefused withoutText(SqlRefused refused, List<Token> tokens) {
    String form = form(tokens);
    if (form.isEmpty() || refused.reason() != Reason.SYNTAX) {
      return refused;
    }
    return new SqlRefused(
        Reason.SYNTAX,
        refused.line(),
        refused.column(),
        "the statement cannot be read from here on: write "
            + form
            + "; the text is not repeated, because it may be a password");
  }

  /** Returns how to write a statement that begins like this; empty if it has no password. */
  private static String form(List<Token> tokens) {
    if (tokens.size() < 2) {
      return "";
    }
    return switch (Tokens.upperCase(tokens.get(0)) + " " + Tokens.upperCase(tokens.get(1))) {
      case "CREATE USER" ->
          "CREATE USER [IF NOT EXISTS] name [PASSWORD {'password' | ?}] [ADMIN] [WORK"
              + " LIMIT n] [VALID UNTIL 'timestamp']";
      case "ALTER USER" ->
          "ALTER USER name {SET PASSWORD {'password' | ?} [END SESSIONS] | ADD PASSWORD"
              + " {'password' | ?} | DROP OLD PASSWORD | ADMIN {TRUE | FALSE} | WORK LIMIT n |"
              + " ACCOUNT {LOCK | UNLOCK} | VALID UNTIL {'timestamp' | 'infinity'}}";
      case "SET PASSWORD" -> "SET PASSWORD {'password' | ?} [END SESSIONS]";
      default -> "";
    };
  }
}
