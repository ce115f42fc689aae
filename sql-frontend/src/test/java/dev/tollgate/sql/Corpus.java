package dev.tollgate.sql;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Statements from a file: one a line, ended by a semicolon, under the name of a tool. */
final class Corpus {

  private static final String TOOL = "-- tool: ";

  private Corpus() {}

  /** The statements of each tool, in the order of the file. */
  static Map<String, List<String>> byTool(String resource) {
    Map<String, List<String>> statements = new LinkedHashMap<>();
    String tool = "";
    StringBuilder statement = new StringBuilder();
    for (String line : lines(resource)) {
      if (line.startsWith(TOOL)) {
        tool = line.substring(TOOL.length());
      } else if (!line.startsWith("--")) {
        statement.append(line);
        if (line.endsWith(";")) {
          statements.computeIfAbsent(tool, key -> new ArrayList<>()).add(statement.toString());
          statement.setLength(0);
        } else {
          statement.append('\n');
        }
      }
    }
    return statements;
  }

  static List<String> all(String resource) {
    return byTool(resource).values().stream().flatMap(List::stream).toList();
  }

  static String text(String resource) {
    return String.join("\n", lines(resource)) + "\n";
  }

  private static List<String> lines(String resource) {
    try (InputStream in = Corpus.class.getResourceAsStream(resource)) {
      if (in == null) {
        throw new IllegalArgumentException("no resource " + resource);
      }
      try (BufferedReader reader =
          new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
        return reader.lines().toList();
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
