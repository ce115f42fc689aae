package dev.tollgate.sql;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * docs/sql.md says what the front-end does. After a change, write it anew: {@code mvn -f
 * sql-frontend/pom.xml test -Dtest=SqlReferenceTest -Dtollgate.docs.write=true}.
 */
class SqlReferenceTest {

  private static final Pattern SQL_BLOCK = Pattern.compile("(?s)```sql\\n(.*?)```");
  private static final Pattern COMMENT = Pattern.compile("--[^\\n]*");
  private static final Pattern STATEMENT_END = Pattern.compile(";\\s*(\\n|$)\\s*");
  private static final Path PAGE = Path.of("..", "docs", "sql.md");

  @Test
  void pageIsWhatTheTablesSay() throws IOException {
    if (Boolean.getBoolean("tollgate.docs.write")) {
      Files.writeString(PAGE, SqlReference.text());
    }
    assertEquals(
        SqlReference.text(),
        Files.readString(PAGE),
        "docs/sql.md is out of date: run this test with -Dtollgate.docs.write=true");
  }

  /** Blocks of SQL have one or more statements, each with a semicolon at the end of a line. */
  @Test
  void examplesArePlanned() {
    SqlFrontend frontend = new SqlFrontend(0);
    int planned = 0;
    for (MatchResult block : SQL_BLOCK.matcher(SqlReference.text()).results().toList()) {
      String statements = COMMENT.matcher(block.group(1)).replaceAll("");
      for (String sql : STATEMENT_END.split(statements.strip(), 0)) {
        assertDoesNotThrow(() -> frontend.plan(sql), sql);
        planned++;
      }
    }
    assertTrue(planned > 35, "only " + planned + " statements were found");
  }

  @Test
  void pageNamesEveryFunctionAndEveryStatement() {
    String text = SqlReference.text();
    for (FunctionRule rule : FunctionRules.all()) {
      assertTrue(text.matches("(?s).*[ ,]" + rule.name() + "[ ,].*"), rule.name());
    }
    for (StatementRule rule : StatementRules.all()) {
      assertTrue(text.contains("`" + rule.name()), rule.name());
      assertTrue(text.contains(rule.sentence()), rule.name());
    }
  }
}
