package dev.tollgate.differential;

import java.util.ArrayList;
import java.util.List;

/**
 * A script of sqllogictest, without the results that it expects: records with an empty line between
 * them, each of which begins with what it is.
 *
 * @param records in their order, those for other databases left out
 */
record LogicScript(List<Step> records) {
  /** The name under which scripts know H2. */
  private static final String ENGINE = "h2";

  /**
   * @param query whether rows are expected
   * @param inOrder whether the script says in which order
   */
  record Step(String sql, boolean query, boolean inOrder) {}

  static LogicScript of(String text) {
    List<Step> records = new ArrayList<>();
    for (String block : text.replace("\r", "").split("\n(?:[ \t]*\n)+", -1)) {
      List<String> lines = new ArrayList<>(block.lines().filter(LogicScript::isCode).toList());
      if (!isForUs(lines)) {
        continue;
      }
      if (lines.get(0).startsWith("halt")) {
        break;
      }
      if (lines.get(0).startsWith("statement") || lines.get(0).startsWith("query")) {
        records.add(record(lines.get(0), lines.subList(1, lines.size())));
      }
    }
    return new LogicScript(List.copyOf(records));
  }

  private static boolean isCode(String line) {
    return !line.isBlank() && !line.startsWith("#");
  }

  /** Takes the conditions off. */
  private static boolean isForUs(List<String> lines) {
    while (!lines.isEmpty() && lines.get(0).matches("(skipif|onlyif) .*")) {
      String[] condition = lines.remove(0).split("\\s+", -1);
      if (condition[0].equals("onlyif") != condition[1].equals(ENGINE)) {
        return false;
      }
    }
    return !lines.isEmpty();
  }

  private static Step record(String head, List<String> lines) {
    boolean query = head.startsWith("query");
    int end = lines.indexOf("----");
    String sql = String.join("\n", end < 0 ? lines : lines.subList(0, end));
    return new Step(sql, query, query && head.contains("nosort"));
  }
}
