package dev.tollgate.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/**
 * docs/sql.md says what the front-end does. After a change, write it anew: {@code mvn -f
 * sql-frontend/pom.xml test -Dtest=SqlReferenceTest -Dtollgate.docs.write=true}.
 */
class SqlReferenceTest {

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
