package dev.tollgate.store;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.tollgate.store.OddStatements.Odd;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.h2.value.Value;
import org.h2.value.ValueVarchar;

/** The files of statements that tests run. */
final class Corpora {
  private static final String CASE = "-- case: ";
  private static final Path TOOLS =
      Path.of("..", "sql-frontend", "src", "test", "resources", "tools.sql");

  private Corpora() {}

  /** Statements whose result H2 may choose. */
  static List<Odd> choices() throws IOException {
    return lines("/choices.sql").stream()
        .filter(line -> !line.isBlank() && !line.startsWith("--"))
        .map(Odd::of)
        .toList();
  }

  /** Statements that have stopped or spoiled replicas, by the name of their case. */
  static Map<String, List<Odd>> oddCases() throws IOException {
    Map<String, List<Odd>> cases = new LinkedHashMap<>();
    List<Odd> statements = List.of();
    for (String line : lines("/odd-cases.sql")) {
      if (line.startsWith(CASE)) {
        statements = new ArrayList<>();
        cases.put(line.substring(CASE.length()), statements);
      } else if (!line.isBlank() && !line.startsWith("--")) {
        statements.add(Odd.of(line));
      }
    }
    return cases;
  }

  /** What tools send, each parameter with one value. */
  static List<Odd> ofTools() throws IOException {
    List<Odd> statements = new ArrayList<>();
    StringBuilder statement = new StringBuilder();
    for (String line : Files.readAllLines(TOOLS)) {
      if (line.startsWith("--")) {
        continue;
      }
      statement.append(line).append('\n');
      if (line.endsWith(";")) {
        String sql = statement.substring(0, statement.length() - 2);
        Value value = ValueVarchar.get("1");
        int parameters = (int) sql.chars().filter(c -> c == '?').count();
        statements.add(new Odd(sql, Collections.nCopies(parameters, value)));
        statement.setLength(0);
      }
    }
    return statements;
  }

  private static List<String> lines(String file) throws IOException {
    try (InputStream in = Objects.requireNonNull(Corpora.class.getResourceAsStream(file))) {
      return new String(in.readAllBytes(), UTF_8).lines().toList();
    }
  }
}
