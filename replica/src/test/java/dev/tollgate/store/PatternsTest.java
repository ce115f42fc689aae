package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.store.limits.StoreLimits;
import dev.tollgate.store.limits.WorkLimit;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
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

  /** What is endless exceeds any limit. */
  private final StoreDriver replica = new StoreDriver(TenthOfLimits.database());

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
        "INSERT INTO T(ID, S) SELECT 2, 'x' WHERE EXISTS (SELECT 1 FROM T WHERE S LIKE ? ||"
            + " RAND())",
        "MERGE INTO T USING (VALUES 1) D(X) ON ID = X AND S LIKE ? WHEN MATCHED THEN DELETE"
      })
  void endlessLikeOfAWriteIsEndedAtTheSameStepEverywhere(String sql) throws SQLException {
    String before = replica.script();
    Outcome outcome = replica.run(session, sql, ENDLESS);
    assertEquals("54001", Planned.stateOf(outcome), outcome.toString());
    assertEquals(before, replica.script());
  }

  /** The second text is found nowhere, but nearly everywhere. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "DELETE FROM T WHERE LOCATE(?, S) > 0",
        "DELETE FROM T WHERE INSTR(S, ?) > 0",
        "DELETE FROM T WHERE POSITION(? IN S) > 0",
        "DELETE FROM T WHERE LOCATE(?, S, 7) > 0",
        "UPDATE T SET P = TOLLGATE.REPLACE(S, ?, 'x')",
        "DELETE FROM T WHERE S LIKE '%' || ? || '%'",
        "DELETE FROM T WHERE S ILIKE '%' || ? || '%'"
      })
  void endlessSearchOfAWriteIsEnded(String sql) throws SQLException {
    replica.ok(session, "UPDATE T SET S = ?", "a".repeat(1_000_000));
    String wanted = "a".repeat(100_000) + "bcdefgh".repeat(1_000);
    String before = replica.script();
    Outcome outcome = replica.run(session, sql, wanted);
    assertEquals("54001", Planned.stateOf(outcome), outcome.toString());
    assertEquals(before, replica.script());
  }

  @Test
  void queryWithASearchIsCancelledInTheMiddle() {
    replica.ok(session, "UPDATE T SET S = ?", "a".repeat(1_000_000));
    SqlReader.Canceller canceller = new SqlReader.Canceller();
    SQLException e =
        assertThrows(
            SQLException.class,
            () ->
                replica.query(
                    "SELECT CASE WHEN TOLLGATE.HOLDS_LOCK('signal', 1) IS NULL THEN 0 ELSE"
                        + " LOCATE(?, S) END FROM T",
                    StoreDriver.encode("a".repeat(10_000) + "b"),
                    replica.views(canceller::cancel),
                    canceller));
    assertEquals("57014", e.getSQLState(), e.getMessage());
  }

  /** Long rows pay for being looked through once. */
  @Test
  void longTextsOfATableMayBeSearched() throws SQLException {
    try (StoreDriver small =
        new StoreDriver(
            new SqlDatabase(
                new StoreLimits(
                    new WorkLimit(1_000, 10, 1_000_000),
                    WorkLimit.of(1 << 24),
                    WorkLimit.of(Limits.STATEMENT_STEPS),
                    10_000,
                    1 << 24)))) {
      SessionId owner = small.open();
      small.ok(owner, "CREATE TABLE D(ID INT PRIMARY KEY, S VARCHAR)");
      for (int id = 1; id <= 100; id++) {
        small.ok(owner, "INSERT INTO D VALUES(?, ?)", id, "x y".repeat(2_500));
      }
      small.ok(owner, "UPDATE D SET S = TOLLGATE.REPLACE(S, ' ', '_')");
      small.ok(owner, "DELETE FROM D WHERE S LIKE '%x_z%'");
      small.ok(owner, "DELETE FROM D WHERE LOCATE('z', S) = 0");
      assertEquals(List.of("0"), small.query("SELECT COUNT(*) FROM D"));
    }
  }

  @Test
  void randomSearchesFindWhatTheyFindInH2() throws SQLException {
    long seed = Long.getLong("tollgate.seed", System.nanoTime());
    System.out.println("PatternsTest: -Dtollgate.seed=" + seed);
    Random random = new Random(seed);
    try (Connection h2 = DriverManager.getConnection("jdbc:h2:mem:")) {
      for (int i = 0; i < 300; i++) {
        String sql =
            List.of(
                    "SELECT LOCATE(?, V) FROM (VALUES (?), (NULL), ('ab')) D(V)",
                    "SELECT INSTR(?, V) FROM (VALUES (?), (NULL), ('ab')) D(V)",
                    "SELECT REPLACE(?, V, 'xy') FROM (VALUES (?), (NULL), ('ab')) D(V)",
                    "SELECT TRANSLATE(?, V, 'xy') FROM (VALUES (?), (NULL), ('ab')) D(V)")
                .get(random.nextInt(4));
        String first = text(random, "ab").repeat(random.nextInt(200));
        String second = text(random, "ab").repeat(random.nextInt(9));
        String expected = onH2(h2, sql, first, second);
        assertEquals(expected, replica.query(sql, first, second).toString(), first + " " + second);
      }
    }
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
                    "SELECT COUNT(*) FROM T WHERE CASE WHEN TOLLGATE.HOLDS_LOCK('signal', 1) IS"
                        + " NULL THEN FALSE ELSE S LIKE ? END",
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
        List<String> found = new ArrayList<>();
        while (rows.next()) {
          found.add(rows.getString(1));
        }
        return found.toString();
      }
    } catch (SQLException e) {
      return e.getSQLState();
    }
  }
}
