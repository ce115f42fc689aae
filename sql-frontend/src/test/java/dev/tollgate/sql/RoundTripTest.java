package dev.tollgate.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Types;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The text that is rebuilt from tokens means to H2 what the client's text means: two databases, one
 * given the one and one the other, stay in step.
 */
class RoundTripTest {

  private static final Pattern EXPLAINABLE =
      Pattern.compile(
          "(?is)(SELECT|INSERT|UPDATE|DELETE|MERGE|WITH|VALUES|TABLE|\\().*", Pattern.DOTALL);

  /** H2 numbers the tables that have no name, in the order in which a session needs them. */
  private static final Pattern GENERATED_NAME = Pattern.compile("\"_\\d+\"");

  /** What the clock decides, which differs between any two runs. */
  private static final Pattern MOMENT =
      Pattern.compile("\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d(\\.\\d+)?");

  private final SqlFrontend frontend = new SqlFrontend(0);
  private Connection original;
  private Connection rebuilt;

  @BeforeEach
  void open() throws SQLException {
    original = DriverManager.getConnection("jdbc:h2:mem:");
    rebuilt = DriverManager.getConnection("jdbc:h2:mem:");
    TollgateSchema.create(original);
    TollgateSchema.create(rebuilt);
  }

  @AfterEach
  void close() throws SQLException {
    original.close();
    rebuilt.close();
  }

  @ParameterizedTest
  @ValueSource(strings = {"/tools.sql", "/dialect.sql"})
  void rebuiltTextMeansTheSame(String resource) {
    int succeeded = 0;
    int explained = 0;
    List<String> statements = Corpus.all(resource);
    for (String sql : statements) {
      String text = textForH2(sql);
      if (EXPLAINABLE.matcher(text).matches()) {
        assertEquals(explain(original, sql), explain(rebuilt, text), sql);
        explained++;
      }
      String expected = outcome(original, sql);
      assertEquals(expected, outcome(rebuilt, text), sql);
      succeeded += expected.startsWith("error") ? 0 : 1;
    }
    System.out.printf(
        "%s: %d statements, %d run, %d explained%n",
        resource, statements.size(), succeeded, explained);
    assertEquals(script(original), script(rebuilt));
    assertTrue(succeeded > statements.size() * 3 / 5, "so few statements prove little");
  }

  @Test
  void everyStatementOfTheDialectRuns() {
    for (String sql : Corpus.all("/dialect.sql")) {
      String outcome = outcome(original, sql);
      assertTrue(!outcome.startsWith("error"), () -> sql + " " + outcome);
    }
  }

  /** EXPLAIN is planned as a read, and runs on one node alone: H2 must not run what it explains. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "INSERT INTO t VALUES (NEXT VALUE FOR s)",
        "DELETE FROM t",
        "SELECT NEXT VALUE FOR s",
        "SELECT (SELECT NEXT VALUE FOR s)",
        "SELECT * FROM FINAL TABLE (INSERT INTO t VALUES (2))",
        "SELECT 1 WHERE 1 IN (SELECT a FROM OLD TABLE (DELETE FROM t))",
        "WITH w AS (SELECT * FROM OLD TABLE (DELETE FROM t)) SELECT * FROM w"
      })
  void explanationOfAWriteChangesNothing(String sql) {
    outcome(original, "CREATE TABLE t AS SELECT 1 a");
    outcome(original, "CREATE SEQUENCE s");
    String before = script(original);
    Plan.Read explain = (Plan.Read) frontend.plan("EXPLAIN " + sql);
    assertTrue(outcome(original, explain.sql()).startsWith("rows"));
    assertEquals(before, script(original));
    assertTrue(outcome(original, sql).matches("(?s)(rows|count).*"));
    assertNotEquals(before, script(original));
  }

  /** The plan's text; for what never reaches H2 as text, the client's. */
  private String textForH2(String sql) {
    Plan plan = frontend.plan(sql);
    if (plan instanceof Plan.Read read) {
      return read.sql();
    }
    return plan instanceof Plan.Write write ? write.sql() : sql;
  }

  private static String explain(Connection connection, String sql) {
    String plan = outcome(connection, "EXPLAIN " + sql);
    return GENERATED_NAME.matcher(plan).replaceAll("\"_\"").replace("\"TOLLGATE\".", "");
  }

  /** Rows, a count, or the code of an error; all parameters are NULL. */
  private static String outcome(Connection connection, String sql) {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      int parameters = statement.getParameterMetaData().getParameterCount();
      for (int i = 1; i <= parameters; i++) {
        statement.setNull(i, Types.NULL);
      }
      if (statement.execute()) {
        return rows(statement.getResultSet());
      }
      return "count " + statement.getUpdateCount();
    } catch (SQLException e) {
      return "error " + e.getErrorCode();
    }
  }

  private static String rows(ResultSet resultSet) throws SQLException {
    StringBuilder rows = new StringBuilder("rows");
    ResultSetMetaData columns = resultSet.getMetaData();
    for (int i = 1; i <= columns.getColumnCount(); i++) {
      rows.append('|').append(columns.getColumnLabel(i));
    }
    while (resultSet.next()) {
      rows.append('\n');
      for (int i = 1; i <= columns.getColumnCount(); i++) {
        rows.append('|').append(resultSet.getString(i));
      }
    }
    return MOMENT.matcher(rows).replaceAll("a moment");
  }

  /** The whole database as a script. */
  private static String script(Connection connection) {
    return outcome(connection, "SCRIPT NOPASSWORDS NOSETTINGS");
  }
}
