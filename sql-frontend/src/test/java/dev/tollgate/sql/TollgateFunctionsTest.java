package dev.tollgate.sql;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Functions of H2 that could ask for gigabytes are replaced, and nobody notices. */
class TollgateFunctionsTest {

  private final SqlFrontend frontend = new SqlFrontend(0);

  @ParameterizedTest
  @CsvSource(
      delimiter = '→',
      quoteCharacter = '`',
      textBlock =
          """
          SELECT REPEAT('a', 3)                           → SELECT TOLLGATE.REPEAT('a', 3)
          VALUES (Space(3), "LPAD"('a', 2))               → VALUES (TOLLGATE.SPACE(3), TOLLGATE.LPAD('a', 2))
          SELECT rpad(a, ?) x FROM t                      → SELECT TOLLGATE.RPAD(a, ?) x FROM t
          UPDATE t SET a = REPLACE(a, 'x', SPACE(9))      → UPDATE t SET a = TOLLGATE.REPLACE(a, 'x', TOLLGATE.SPACE(9))
          CREATE TABLE t (a VARCHAR DEFAULT REPEAT('a', 2)) → CREATE TABLE t (a VARCHAR DEFAULT TOLLGATE.REPEAT('a', 2))
          SELECT tollgate.repeat(a, 3) FROM t             → SELECT tollgate.repeat(a, 3) FROM t
          SELECT lock_token(REPEAT(a, 2)) FROM t          → SELECT TOLLGATE.LOCK_TOKEN(TOLLGATE.REPEAT(a, 2)) AS "LOCK_TOKEN(REPEAT(A, 2))" FROM t
          SELECT LPAD(a, 2) FROM t                        → SELECT TOLLGATE.LPAD(a, 2) AS "LPAD(A, 2)" FROM t
          SELECT (SELECT LPAD(a, 2) FROM t)               → SELECT (SELECT TOLLGATE.LPAD(a, 2) AS "LPAD(A, 2)" FROM t) AS "SELECT LPAD(A, 2) FROM T"
          SELECT LPAD(a, 2) x, LPAD FROM lpad WHERE LPAD(b, 1) = '' → SELECT TOLLGATE.LPAD(a, 2) x, LPAD FROM lpad WHERE TOLLGATE.LPAD(b, 1) = ''
          """)
  void callIsGivenTheSchema(String sql, String expected) {
    Plan plan = frontend.plan(sql);
    assertEquals(expected, plan instanceof Plan.Read read ? read.sql() : ((Plan.Write) plan).sql());
  }

  @Test
  void argumentsOfALockCallAreGivenTheSchema() {
    Plan.LockCall call = (Plan.LockCall) frontend.plan("SELECT acquire_lock(REPEAT('a', 2))");
    assertEquals("SELECT TOLLGATE.REPEAT('a', 2)", call.argumentsSql());
    assertEquals("ACQUIRE_LOCK(REPEAT('a', 2))", call.columnLabel());
  }

  /** The rebuilt statement gives the columns and the rows that H2 gives for the client's text. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT REPEAT('a', 3), SPACE(2), REPLACE('aba', 'a'), LPAD('a', 1 + 1), NULL FROM t",
        "SELECT REPEAT(a, 3), LPAD(t.a, t.b, 'x'), rpad( \"A\" ,3) FROM t",
        "SELECT REPEAT('a', ABS(-3)), REPEAT('a', 1 + 2) || 'x'",
        "SELECT a, (REPEAT(a, 2)), REPEAT(a, ?) FROM t WHERE b < ?",
        "SELECT UPPER(REPEAT(a, 2)), COALESCE(REPEAT(a, 2), 'x'), COUNT(*) FROM t GROUP BY a",
        "SELECT REPEAT(a, 2) || 'x' || a, MAX(REPEAT(a, 2)) OVER (ORDER BY a) FROM t",
        "SELECT LPAD(a, 2) IS NULL, LPAD(a, 2) IN ('a', 'b'), LPAD(a, 2) LIKE 'x%' FROM t",
        "SELECT LPAD(a, 2) = a, REPLACE(a, 'a', 'b') <> '' FROM t",
        "SELECT CASE WHEN a = 'x' THEN REPEAT(a, 2) ELSE 'z' END FROM t ORDER BY LPAD(a, 3)",
        "SELECT DISTINCT LPAD(a, 3) FROM t ORDER BY LPAD(a, 3) DESC LIMIT 1",
        "SELECT REPEAT(a, 1) FROM t UNION ALL SELECT REPEAT(a, 2) FROM t ORDER BY 1",
        "SELECT LPAD(a, 3), COUNT(*) FROM t GROUP BY LPAD(a, 3) HAVING LPAD(a, 3) <> ''",
        "SELECT * FROM (SELECT LPAD(a, 3), b FROM t) x",
        "SELECT \"LPAD(A, 3)\" FROM (SELECT LPAD(a, 3) FROM t)",
        "SELECT TOP 1 LPAD(a, 3) FROM t ORDER BY 1",
        "SELECT b FROM t WHERE a IN (SELECT LPAD(a, 1) FROM t)",
        "WITH x AS (SELECT LPAD(a, 3) FROM t) SELECT * FROM x",
        "VALUES (LPAD('a', 3))",
        "CALL REPEAT('a', 2)",
        "TABLE t"
      })
  void nobodySeesTheSchema(String sql) throws SQLException {
    try (Connection connection = DriverManager.getConnection("jdbc:h2:mem:");
        Statement statement = connection.createStatement()) {
      TollgateSchema.create(connection);
      statement.execute("CREATE TABLE t AS SELECT 'a' a, 2 b UNION ALL VALUES ('b', 3)");
      assertEquals(rows(connection, sql), rows(connection, ((Plan.Read) frontend.plan(sql)).sql()));
    }
  }

  /** The columns of a table or a view that is made of a query are named after its expressions. */
  @Test
  void tableAndViewGetTheNamesThatH2WouldGiveTheirColumns() throws SQLException {
    for (String sql :
        new String[] {
          "CREATE VIEW n AS SELECT LPAD(a, 3), REPEAT('x', 2) FROM t",
          "CREATE TABLE n AS SELECT LPAD(a, 3) FROM t WITH NO DATA",
          "CREATE TABLE n AS SELECT b, LPAD(a, 3) FROM t FENCED BY LOCK 'job' TOKEN 1"
        }) {
      String original = sql.replaceAll(" FENCED.*", "");
      assertEquals(
          columnsAfter(original), columnsAfter(((Plan.Write) frontend.plan(sql)).sql()), sql);
    }
  }

  private static String columnsAfter(String definition) throws SQLException {
    try (Connection connection = DriverManager.getConnection("jdbc:h2:mem:");
        Statement statement = connection.createStatement()) {
      TollgateSchema.create(connection);
      statement.execute("CREATE TABLE t AS SELECT 'a' a, 2 b");
      statement.execute(definition);
      return rows(connection, "SELECT * FROM n");
    }
  }

  private static String rows(Connection connection, String sql) throws SQLException {
    try (PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 1; i <= statement.getParameterMetaData().getParameterCount(); i++) {
        statement.setInt(i, 2 + i);
      }
      StringBuilder rows = new StringBuilder();
      try (ResultSet result = statement.executeQuery()) {
        int columns = result.getMetaData().getColumnCount();
        for (int i = 1; i <= columns; i++) {
          rows.append(result.getMetaData().getColumnLabel(i)).append('|');
        }
        while (result.next()) {
          for (int i = 1; i <= columns; i++) {
            rows.append('\n').append(result.getString(i));
          }
        }
      }
      return rows.toString();
    }
  }

  /** A name may not be that long, and the expression of such a column has no name to speak of. */
  @Test
  void nameThatIsTooLongIsNotGiven() {
    String column = "\"" + "a".repeat(250) + "\"";
    Plan.Read read = (Plan.Read) frontend.plan("SELECT LPAD(" + column + ", 3) FROM t");
    assertTrue(read.sql().endsWith(column + ", 3) FROM t"), read.sql());
  }
}
