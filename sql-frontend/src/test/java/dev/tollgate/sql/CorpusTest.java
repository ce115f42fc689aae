package dev.tollgate.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What real tools send must be planned, all of it. */
class CorpusTest {

  private final SqlFrontend frontend = new SqlFrontend(0);

  @ParameterizedTest
  @ValueSource(strings = {"/tools.sql", "/dialect.sql"})
  void everyStatementIsPlanned(String resource) {
    List<String> refused = new ArrayList<>();
    Corpus.byTool(resource)
        .forEach(
            (tool, statements) -> {
              int before = refused.size();
              for (String sql : statements) {
                try {
                  frontend.plan(sql);
                } catch (SqlRefused e) {
                  refused.add(sql + "\n  " + e.getMessage());
                }
              }
              int planned = statements.size() - (refused.size() - before);
              System.out.println(tool + ": " + planned + " of " + statements.size() + " planned");
            });
    assertEquals(List.of(), refused);
  }

  @Test
  void corpusHoldsWhatWasRecorded() {
    Map<String, Integer> counts = new LinkedHashMap<>();
    Corpus.byTool("/tools.sql")
        .forEach((tool, statements) -> counts.put(tool.split("-", 2)[0], statements.size()));
    assertEquals(
        Map.of("flyway", 34, "liquibase", 47, "hibernate", 47, "shedlock", 9, "spring", 6), counts);
  }
}
