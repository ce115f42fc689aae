package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ParameterMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * What tools send means to a replica what it means to H2: every statement of the corpus, in order,
 * has the same outcome on both, and leaves the same database.
 *
 * <p>Time stamps are masked, because the replica takes its time from the log; nothing else is.
 */
class CorpusTest {
  private static final Path CORPUS =
      Path.of("..", "sql-frontend", "src", "test", "resources", "tools.sql");
  private static final String TOOL = "-- tool: ";

  private final Map<String, int[]> coverage = new TreeMap<>();
  private final List<String> differences = new ArrayList<>();
  private int longestScript;

  @Test
  void replicaAndPlainH2AgreeOnWhatToolsSend() throws Exception {
    try (StoreDriver replica = new StoreDriver();
        Connection h2 = DriverManager.getConnection("jdbc:h2:mem:corpus;ANALYZE_AUTO=0")) {
      h2.createStatement().execute("SET TIME ZONE 'UTC'");
      Planned planned = new Planned(replica);
      String tool = "";
      for (String line : statements()) {
        if (line.startsWith(TOOL)) {
          tool = line.substring(TOOL.length());
          compareScripts(replica, h2);
        } else {
          compare(tool, line, planned, h2);
        }
      }
      coverage.forEach(
          (name, counts) ->
              System.out.println(
                  "CorpusTest: "
                      + name
                      + ": "
                      + counts[0]
                      + " equal ("
                      + counts[3]
                      + " of them the same error), "
                      + counts[1]
                      + " skipped, "
                      + counts[2]
                      + " different"));
      differences.forEach(System.out::println);
      assertEquals(List.of(), differences);
      compareScripts(replica, h2);
      assertTrue(longestScript > 20, "the corpus leaves hardly anything: " + longestScript);
    }
  }

  private void compareScripts(StoreDriver replica, Connection h2) throws SQLException {
    List<String> expected = scriptOf(h2);
    longestScript = Math.max(longestScript, expected.size());
    assertEquals(expected, normalised(replica.database.script()));
  }

  private void compare(String tool, String sql, Planned planned, Connection h2) {
    int[] counts = coverage.computeIfAbsent(tool, name -> new int[4]);
    Object[] parameters = parametersFor(sql, h2);
    String ours = planned.run(sql, parameters);
    if (ours.startsWith(Planned.SKIPPED)) {
      counts[1]++;
      return;
    }
    String theirs = runOnH2(sql, parameters, h2);
    if (ours.equals(theirs)) {
      counts[0]++;
      counts[3] += ours.equals(Planned.OK) ? 0 : 1;
    } else {
      counts[2]++;
      differences.add(tool + ": " + ours + " instead of " + theirs + ": " + sql);
    }
  }

  private static String runOnH2(String sql, Object[] parameters, Connection h2) {
    try (PreparedStatement statement = h2.prepareStatement(sql)) {
      for (int i = 0; i < parameters.length; i++) {
        statement.setObject(i + 1, parameters[i]);
      }
      statement.execute();
      return Planned.OK;
    } catch (SQLException e) {
      return e.getSQLState();
    }
  }

  /** Values that fit the types that H2 expects; none if it refuses the statement. */
  private static Object[] parametersFor(String sql, Connection h2) {
    try (PreparedStatement statement = h2.prepareStatement(sql)) {
      ParameterMetaData types = statement.getParameterMetaData();
      Object[] values = new Object[types.getParameterCount()];
      for (int i = 0; i < values.length; i++) {
        values[i] =
            switch (types.getParameterType(i + 1)) {
              case Types.INTEGER, Types.SMALLINT, Types.TINYINT -> 1;
              case Types.BIGINT, Types.NUMERIC, Types.DECIMAL, Types.DOUBLE, Types.REAL -> 1L;
              case Types.BOOLEAN -> "true";
              case Types.TIMESTAMP, Types.DATE, Types.TIMESTAMP_WITH_TIMEZONE ->
                  "2001-02-03 04:05:06";
              case Types.TIME -> "04:05:06";
              default -> "p" + i;
            };
      }
      return values;
    } catch (SQLException e) {
      return new Object[0];
    }
  }

  private static List<String> statements() throws IOException {
    List<String> statements = new ArrayList<>();
    StringBuilder statement = new StringBuilder();
    for (String line : Files.readAllLines(CORPUS)) {
      if (line.startsWith(TOOL)) {
        statements.add(line);
      } else if (!line.startsWith("--")) {
        statement.append(line).append('\n');
        if (line.endsWith(";")) {
          statements.add(statement.substring(0, statement.length() - 2));
          statement.setLength(0);
        }
      }
    }
    assertTrue(statements.size() > 100, "the corpus has " + statements.size() + " statements");
    return statements;
  }

  private static List<String> scriptOf(Connection h2) throws SQLException {
    List<String> lines = new ArrayList<>();
    try (ResultSet result = h2.createStatement().executeQuery("SCRIPT NOPASSWORDS NOSETTINGS")) {
      while (result.next()) {
        lines.add(result.getString(1));
      }
    }
    return normalised(lines);
  }

  /**
   * Without users, rights and schema TOLLGATE, which plain H2 does not have, and with ordinary
   * tables for those that are GLOBAL TEMPORARY there.
   */
  static List<String> normalised(List<String> script) {
    return script.stream()
        .filter(line -> !line.contains("\"TOLLGATE\".") && !line.startsWith("CREATE USER"))
        .filter(line -> !line.startsWith("GRANT ALTER ANY SCHEMA"))
        .filter(line -> !line.startsWith("GRANT SELECT ON SCHEMA \"TOLLGATE\""))
        .map(line -> line.replaceAll("TIMESTAMP (WITH TIME ZONE )?'20[^']*'", "TIMESTAMP"))
        .map(line -> line.replace("CREATE GLOBAL TEMPORARY TABLE", "CREATE MEMORY TABLE"))
        .map(line -> line.replaceAll(" AUTHORIZATION \"[^\"]*\"", ""))
        .filter(line -> !line.startsWith("CREATE SCHEMA IF NOT EXISTS \"TOLLGATE\""))
        .toList();
  }
}
