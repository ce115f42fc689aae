package dev.tollgate.differential;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.differential.LogicScript.Step;
import java.sql.SQLException;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Scripts are read as sqllogictest means them, and a difference between two databases is found. */
class LogicScriptTest {
  private static final String SCRIPT =
      """
      hash-threshold 8

      # what the tables are
      statement ok
      CREATE TABLE T(A INT,
        B VARCHAR(8))

      statement ok
      INSERT INTO T VALUES(2, 'two'), (1, 'one')

      onlyif mysql
      statement ok
      DELETE FROM T

      skipif mysql
      skipif postgresql
      query I rowsort label-0
      SELECT A FROM T
      ----
      1
      2

      onlyif h2
      query IT nosort
      SELECT A, B FROM T ORDER BY A
      ----
      4 values hashing to 0

      statement error
      INSERT INTO NOWHERE VALUES(1)

      onlyif mssql
      halt

      query I valuesort
      SELECT COUNT(*) FROM T
      ----
      2

      halt

      statement ok
      DROP TABLE T
      """;

  @Test
  void recordsForOtherDatabasesAndExpectedResultsAreLeftOut() {
    assertEquals(
        List.of(
            new Step("CREATE TABLE T(A INT,\n  B VARCHAR(8))", false, false),
            new Step("INSERT INTO T VALUES(2, 'two'), (1, 'one')", false, false),
            new Step("SELECT A FROM T", true, false),
            new Step("SELECT A, B FROM T ORDER BY A", true, true),
            new Step("INSERT INTO NOWHERE VALUES(1)", false, false),
            new Step("SELECT COUNT(*) FROM T", true, false)),
        LogicScript.of(SCRIPT).records());
  }

  @Test
  void equalDatabasesDoNotDiffer() throws SQLException {
    assertEquals(List.of(), differences("SELECT 1", SCRIPT));
  }

  /** What one side has been told before makes the script differ there. */
  @Test
  void plantedDifferencesAreFound() throws SQLException {
    assertDiffers("CREATE TABLE T(A INT)", SCRIPT, "CREATE TABLE T(A INT,");
    assertDiffers("CREATE TABLE NOWHERE(A INT)", SCRIPT, "INSERT INTO NOWHERE VALUES(1)");
    assertDiffers(
        "CREATE TABLE R AS SELECT 1 A",
        "statement ok\nCREATE TABLE IF NOT EXISTS R AS SELECT 2 A\n\nquery I rowsort\nSELECT A FROM R",
        "SELECT A FROM R");
    assertDiffers(
        "CREATE TABLE S AS SELECT 1 A UNION ALL SELECT 2",
        "statement ok\nCREATE TABLE IF NOT EXISTS S AS SELECT 2 A UNION ALL SELECT 1\n\n"
            + "query I rowsort\nSELECT A FROM S\n\nquery I nosort\nSELECT A FROM S WHERE A > 0",
        "SELECT A FROM S WHERE A > 0");
    assertDiffers(
        "CREATE TABLE U AS SELECT 3 A",
        "statement ok\nCREATE TABLE IF NOT EXISTS U AS SELECT 4 A",
        "SELECT * FROM U");
  }

  private static void assertDiffers(String before, String script, String where)
      throws SQLException {
    List<String> differences = differences(before, script);
    assertEquals(1, differences.size(), differences.toString());
    assertTrue(differences.get(0).startsWith("script: " + where), differences.toString());
  }

  private static List<String> differences(String before, String script) throws SQLException {
    LogicRun run = new LogicRun(new Random(1), Integer.MAX_VALUE, Integer.MAX_VALUE);
    try (Side ours = new Side("jdbc:h2:mem:ours");
        Side theirs = new Side("jdbc:h2:mem:theirs")) {
      ours.run(before);
      run.run("script", LogicScript.of(script), ours, theirs);
    }
    return run.differences();
  }
}
