package dev.tollgate.differential;

import dev.tollgate.differential.LogicScript.Step;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/**
 * Runs scripts on two databases and counts. Of the queries of a script it takes some, and all of
 * its other statements. A script ends at its first difference, because others follow from it.
 */
final class LogicRun {
  private final Random random;
  private final int queriesPerScript;
  private final int statementsPerRestart;
  private final Map<String, Integer> refused = new TreeMap<>();
  private final List<String> differences = new ArrayList<>();
  private int accepted;
  private int restarts;

  LogicRun(Random random, int queriesPerScript, int statementsPerRestart) {
    this.random = random;
    this.queriesPerScript = queriesPerScript;
    this.statementsPerRestart = statementsPerRestart;
  }

  /** Takes a snapshot and opens the first side again after every so many statements. */
  void run(String name, LogicScript script, Side ours, Side theirs) throws SQLException {
    long queries = script.records().stream().filter(Step::query).count();
    int number = 0;
    for (Step each : script.records()) {
      if (each.query() && random.nextLong(queries) >= queriesPerScript) {
        continue;
      }
      if (!isSame(name, each, ours, theirs)) {
        return;
      }
      if (++number % statementsPerRestart == 0) {
        ours.run("CALL take_snapshot()");
        ours.reopen();
        restarts++;
        if (!isSame(name, tables(theirs), ours, theirs)) {
          return;
        }
      }
    }
    isSame(name, tables(theirs), ours, theirs);
  }

  private boolean isSame(String name, List<Step> all, Side ours, Side theirs) {
    return all.stream().allMatch(each -> isSame(name, each, ours, theirs));
  }

  private boolean isSame(String name, Step each, Side ours, Side theirs) {
    List<String> our = each.inOrder() ? ours.runInOrder(each.sql()) : ours.run(each.sql());
    if (Answers.isRefused(our)) {
      refused.merge(our.get(0).substring("state ".length()) + " " + reason(our), 1, Integer::sum);
      return true;
    }
    accepted++;
    List<String> their = each.inOrder() ? theirs.runInOrder(each.sql()) : theirs.run(each.sql());
    if (Answers.isSame(our, their)) {
      return true;
    }
    differences.add(name + ": " + each.sql() + "\nTollgate: " + our + "\nH2:       " + their);
    return false;
  }

  /** A message without what differs from statement to statement. */
  private static String reason(List<String> answer) {
    String message = answer.get(1).lines().findFirst().orElse("");
    String general = message.replaceAll("\"[^\"]*\"|'[^']*'", "...").replaceAll("[0-9,]+", "n");
    return general.substring(0, Math.min(general.length(), 100));
  }

  private static List<Step> tables(Side side) {
    String sql =
        "SELECT TABLE_NAME FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = 'PUBLIC'"
            + " AND TABLE_TYPE <> 'VIEW'";
    List<String> rows = side.read(sql);
    return rows.stream()
        .skip(1)
        .map(row -> "SELECT * FROM " + row.substring(0, row.length() - 1))
        .map(select -> new Step(select, true, false))
        .toList();
  }

  List<String> differences() {
    return List.copyOf(differences);
  }

  int accepted() {
    return accepted;
  }

  Map<String, Integer> refused() {
    return Map.copyOf(refused);
  }

  @Override
  public String toString() {
    int none = refused.values().stream().mapToInt(Integer::intValue).sum();
    return (accepted + none)
        + " statements, "
        + accepted
        + " accepted, "
        + differences.size()
        + " differ, "
        + restarts
        + " restarts, "
        + none
        + " refused: "
        + refused;
  }
}
