package dev.tollgate.differential;

import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tollgate.differential.H2Script.Step;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Of the statements of H2's own test scripts that plain H2 takes in its regular mode, Tollgate
 * refuses less than 5 %: docs/sql.md says what and why. The scripts are no part of this project:
 * {@code -Dtollgate.h2scripts=DIR} names a directory with them, {@code
 * h2/src/test/org/h2/test/scripts} of H2's sources. What is refused is written to {@code
 * target/h2-scripts.tsv}, a line for each: script, reason, statement.
 */
@Tag("nightly")
class H2ScriptsTest {
  private static final String SCRIPTS = System.getProperty("tollgate.h2scripts", "");
  private static final int MOST_REFUSED_PERCENT = 5;

  /** States of statements that Tollgate does not run. */
  private static final Set<String> REFUSED = Set.of("42T01", "HYC00", "54000", "54001");

  private final List<String> refusals = new ArrayList<>();
  private final List<String> others = new ArrayList<>();
  private final Map<String, Integer> reasons = new TreeMap<>();
  private int statements;
  private int taken;

  @Test
  void fewOfTheStatementsThatH2TakesAreRefused() throws Exception {
    assumeTrue(!SCRIPTS.isEmpty(), "-Dtollgate.h2scripts=DIR names the scripts of H2's tests");
    List<Path> scripts;
    try (Stream<Path> found = Files.walk(Path.of(SCRIPTS))) {
      scripts = found.filter(path -> path.toString().endsWith(".sql")).sorted().toList();
    }
    for (Path script : scripts) {
      run(Path.of(SCRIPTS).relativize(script).toString(), H2Script.of(Files.readString(script)));
    }
    Files.write(Path.of("target", "h2-scripts.tsv"), refusals);
    Files.write(Path.of("target", "h2-scripts-failed.tsv"), others);
    String summary =
        "H2ScriptsTest: %,d scripts, %,d statements, H2 takes %,d, of these refused %,d (%.1f %%), failed otherwise %,d"
            .formatted(
                scripts.size(),
                statements,
                taken,
                refusals.size(),
                100.0 * refusals.size() / taken,
                others.size());
    System.out.println(summary);
    reasons.entrySet().stream()
        .sorted(Map.Entry.<String, Integer>comparingByValue().reversed())
        .forEach(reason -> System.out.println(reason.getValue() + "\t" + reason.getKey()));
    assertTrue(taken > 1_000, summary);
    assertTrue(refusals.size() * 100 < taken * MOST_REFUSED_PERCENT, summary);
  }

  private void run(String name, H2Script script) throws SQLException {
    String database = name.replaceAll("[^A-Za-z0-9]", "-");
    try (Connection h2 = DriverManager.getConnection("jdbc:h2:mem:" + database);
        Connection tollgate = DriverManager.getConnection("jdbc:tollgate:mem:" + database)) {
      for (Step step : script.steps()) {
        if (step.isDirective()) {
          direct(step.text(), h2);
          direct(step.text(), tollgate);
        } else if (!h2.isClosed()) {
          compare(name, step, h2, tollgate);
        }
      }
      try (Statement end = h2.createStatement()) {
        end.execute("SHUTDOWN IMMEDIATELY");
      }
    }
  }

  /** A database in memory is not connected anew, by H2's own tests neither. */
  private static void direct(String directive, Connection connection) throws SQLException {
    if (directive.startsWith("@autocommit") && !connection.isClosed()) {
      connection.setAutoCommit(directive.endsWith(" on"));
    }
  }

  private void compare(String name, Step step, Connection h2, Connection tollgate) {
    statements++;
    // the other modes of H2 are other languages; the statements for them are tried in this one
    boolean otherMode = step.text().matches("(?is)SET\\s+MODE\\s.*");
    if (!otherMode && execute(h2, step) != null) {
      return;
    }
    taken++;
    SQLException failure = execute(tollgate, step);
    if (failure == null) {
      return;
    }
    String line =
        String.join("\t", name, oneLine(failure.getSQLState() + " " + failure.getMessage()));
    line = line + "\t" + oneLine(step.text());
    if (REFUSED.contains(failure.getSQLState())) {
      refusals.add(line);
      reasons.merge(reason(failure), 1, Integer::sum);
    } else {
      others.add(line);
    }
  }

  private static @Nullable SQLException execute(Connection connection, Step step) {
    try (PreparedStatement statement = connection.prepareStatement(step.text())) {
      for (List<String> row :
          step.parameters().isEmpty() ? List.of(List.<String>of()) : step.parameters()) {
        for (int i = 0; i < row.size(); i++) {
          statement.setString(i + 1, row.get(i).equalsIgnoreCase("null") ? null : row.get(i));
        }
        if (statement.execute()) {
          try (ResultSet rows = statement.getResultSet()) {
            while (rows.next()) {
              rows.getString(1);
            }
          }
        }
      }
      return null;
    } catch (SQLException e) {
      return e;
    }
  }

  /** A message without its place and without what differs from statement to statement. */
  private static String reason(SQLException refusal) {
    String message = String.valueOf(refusal.getMessage()).lines().findFirst().orElse("");
    String general =
        message
            .replaceAll("^line [0-9]+, column [0-9]+: ", "")
            .replaceAll(" \\[[0-9]+-[0-9]+\\]$|; SQL statement:$", "")
            .replaceAll("\"[^\"]*\"|'[^']*'", "...")
            .replaceAll("[0-9][0-9,]*", "n");
    return general.substring(0, Math.min(general.length(), 140));
  }

  private static String oneLine(String text) {
    return text.replaceAll("\\s+", " ");
  }
}
