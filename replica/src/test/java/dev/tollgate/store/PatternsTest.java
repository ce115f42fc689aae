package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.Outcome;
import dev.tollgate.core.SessionId;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * No pattern takes for ever, whether it comes as a parameter or as a value, and all mean as in H2.
 */
class PatternsTest {
  private static final String ENDLESS = "%a".repeat(12) + "%b";
  private static final String ENDLESS_EXPRESSION = "(a+a+)+b";

  private final StoreDriver replica = new StoreDriver();
  private final SessionId session = replica.open();

  @BeforeEach
  void createTable() {
    replica.ok(session, "CREATE TABLE T(ID INT PRIMARY KEY, S VARCHAR, P VARCHAR)");
    replica.ok(session, "INSERT INTO T VALUES(1, ?, ?)", "a".repeat(300) + "!", ENDLESS);
  }

  @AfterEach
  void close() {
    replica.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "DELETE FROM T WHERE S LIKE ?",
        "DELETE FROM T WHERE S NOT LIKE ? ESCAPE '!'",
        "DELETE FROM T WHERE S ILIKE ?",
        "UPDATE T SET ID = CASE WHEN S LIKE ? THEN 2 ELSE 3 END",
        "INSERT INTO T(ID, S) SELECT 2, S FROM T WHERE S LIKE P OR S LIKE ?",
        "INSERT INTO T(ID, S) SELECT 2, 'x' WHERE EXISTS (SELECT 1 FROM T WHERE S LIKE ? || RAND())",
        "MERGE INTO T USING (VALUES 1) D(X) ON ID = X AND S LIKE ? WHEN MATCHED THEN DELETE"
      })
  void endlessLikeOfAWriteIsEndedAtTheSameStepEverywhere(String sql) throws SQLException {
    String before = replica.script();
    Outcome outcome = replica.run(session, sql, ENDLESS);
    assertEquals("54001", Planned.stateOf(outcome), outcome.toString());
    assertEquals(before, replica.script());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT COUNT(*) FROM T WHERE S LIKE ?",
        "SELECT COUNT(*) FROM T WHERE ? = '' OR S LIKE P"
      })
  void endlessLikeOfAQueryIsEnded(String sql) {
    SQLException e = assertThrows(SQLException.class, () -> replica.query(sql, ENDLESS));
    assertEquals("54001", e.getSQLState(), e.getMessage());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT COUNT(*) FROM T WHERE S REGEXP ?",
        "SELECT REGEXP_LIKE(S, ?) FROM T",
        "SELECT REGEXP_REPLACE(S, ?, 'x') FROM T",
        "SELECT REGEXP_SUBSTR(S, ?) FROM T"
      })
  void endlessRegularExpressionIsEnded(String sql) {
    SQLException e = assertThrows(SQLException.class, () -> replica.query(sql, ENDLESS_EXPRESSION));
    assertEquals("54001", e.getSQLState(), e.getMessage());
  }

  /** H2 prepares a statement with LIKE ? anew when it runs it. */
  @Test
  void statementWithAPatternHasABudgetOfRowsToo() {
    Outcome outcome =
        replica.run(
            session,
            "INSERT INTO T(ID) SELECT X FROM SYSTEM_RANGE(1, 1000000000000) WHERE X || '' LIKE ?",
            "no");
    assertEquals("54001", Planned.stateOf(outcome), outcome.toString());
  }

  /** H2 calls itself for each of them, until the stack of the thread that applies the log ends. */
  @Test
  void patternOfManyWildcardsIsRefused() {
    Outcome outcome =
        replica.run(session, "DELETE FROM T WHERE S LIKE ?", "%a_".repeat(100_000) + "b");
    assertEquals("54001", Planned.stateOf(outcome), outcome.toString());
  }

  @Test
  void queryWithAPatternIsCancelledInTheMiddle() {
    SqlReader.Canceller canceller = new SqlReader.Canceller();
    SQLException e =
        assertThrows(
            SQLException.class,
            () ->
                replica.query(
                    "SELECT COUNT(*) FROM T WHERE CASE WHEN TOLLGATE.HOLDS_LOCK('signal', 1) IS NULL"
                        + " THEN FALSE ELSE S LIKE ? END",
                    StoreDriver.encode("%a%a%a%b"),
                    replica.views(canceller::cancel),
                    canceller));
    assertEquals("57014", e.getSQLState(), e.getMessage());
  }

  @Test
  void randomPatternsMeanWhatTheyMeanInH2() throws SQLException {
    long seed = Long.getLong("tollgate.seed", System.nanoTime());
    System.out.println("PatternsTest: -Dtollgate.seed=" + seed);
    Random random = new Random(seed);
    int matched = 0;
    try (Connection h2 = DriverManager.getConnection("jdbc:h2:mem:")) {
      for (int i = 0; i < 3_000; i++) {
        String operator = List.of("LIKE", "NOT LIKE", "ILIKE", "REGEXP").get(random.nextInt(4));
        String sql = "SELECT V " + operator + " ? FROM (VALUES (?), (NULL), ('ab')) D(V)";
        String value = text(random, "abA%_\\");
        String pattern = text(random, operator.equals("REGEXP") ? "aA.*b?" : "aAb%_\\");
        String expected = onH2(h2, sql, pattern, value);
        String actual;
        try {
          actual = replica.query(sql, pattern, value).toString();
        } catch (SQLException e) {
          actual = e.getSQLState();
        }
        assertEquals(expected, actual, operator + " " + pattern + " on " + value);
        matched += expected.contains("TRUE") ? 1 : 0;
      }
    }
    assertTrue(matched > 500, "so few matches prove little: " + matched);
  }

  private static String text(Random random, String alphabet) {
    StringBuilder text = new StringBuilder();
    for (int length = random.nextInt(8); length > 0; length--) {
      text.append(alphabet.charAt(random.nextInt(alphabet.length())));
    }
    return text.toString();
  }

  private static String onH2(Connection h2, String sql, String pattern, String value) {
    try (PreparedStatement statement = h2.prepareStatement(sql)) {
      statement.setString(1, pattern);
      statement.setString(2, value);
      try (ResultSet rows = statement.executeQuery()) {
        StringBuilder found = new StringBuilder("[");
        while (rows.next()) {
          found.append(found.length() == 1 ? "" : ", ").append(rows.getString(1));
        }
        return found.append(']').toString();
      }
    } catch (SQLException e) {
      return e.getSQLState();
    }
  }
}
