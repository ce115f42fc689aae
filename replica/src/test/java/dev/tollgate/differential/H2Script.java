package dev.tollgate.differential;

import java.util.ArrayList;
import java.util.List;

/**
 * A script of H2's own tests, without the results that it expects: statements that end with a
 * semicolon at the end of a line, their parameters in braces, and directives.
 *
 * @param steps in their order
 */
record H2Script(List<Step> steps) {
  /**
   * A statement, or a directive if it begins with {@code @}.
   *
   * @param parameters a list for each execution; none for a statement without parameters
   */
  record Step(String text, List<List<String>> parameters) {
    boolean isDirective() {
      return text.startsWith("@");
    }
  }

  static H2Script of(String script) {
    List<Step> steps = new ArrayList<>();
    StringBuilder statement = new StringBuilder();
    List<String> lines =
        script
            .lines()
            .map(String::trim)
            .filter(line -> !line.isEmpty() && !line.startsWith("--") && !line.startsWith(">"))
            .toList();
    for (int i = 0; i < lines.size(); i++) {
      String line = lines.get(i);
      if (line.startsWith("@") && statement.isEmpty()) {
        steps.add(new Step(line, List.of()));
      } else if (line.endsWith(";")) {
        String sql = statement.append(line, 0, line.length() - 1).toString();
        statement.setLength(0);
        int end = i;
        if (sql.contains("?") && i + 1 < lines.size() && lines.get(i + 1).equals("{")) {
          end = i + 1 + lines.subList(i + 1, lines.size()).indexOf("};");
          end = end > i ? end : i + 1 + lines.subList(i + 1, lines.size()).indexOf("}");
        }
        List<String> rows = end > i ? lines.subList(i + 2, end) : List.of();
        steps.add(new Step(sql, rows.stream().map(H2Script::parameters).toList()));
        i = end;
      } else {
        statement.append(line).append('\n');
      }
    }
    return new H2Script(List.copyOf(steps));
  }

  /** Separated by commas, the longer ones in quotes. */
  private static List<String> parameters(String row) {
    List<String> found = new ArrayList<>();
    StringBuilder value = new StringBuilder();
    boolean quoted = false;
    for (int i = 0; i < row.length(); i++) {
      char each = row.charAt(i);
      if (each == '"') {
        quoted = !quoted;
      } else if (each == ',' && !quoted) {
        found.add(value.toString());
        value.setLength(0);
      } else if (quoted || each > ' ') {
        value.append(each);
      }
    }
    if (!value.isEmpty()) {
      found.add(value.toString());
    }
    return List.copyOf(found);
  }
}
