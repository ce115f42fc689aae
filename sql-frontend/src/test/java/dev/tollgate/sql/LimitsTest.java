package dev.tollgate.sql;

import static dev.tollgate.sql.Refusal.assertRefused;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.sql.SqlRefused.Reason;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A statement can neither overflow the stack of its caller nor keep it busy for long. */
class LimitsTest {

  private static final long SMALL_STACK_BYTES = 512 * 1024;

  private final SqlFrontend frontend = new SqlFrontend(0);

  @BeforeAll
  static void loadClasses() {
    new SqlFrontend(0).warmUp();
  }

  /** Each gets parentheses, and these count. */
  @ParameterizedTest
  @ValueSource(strings = {"SELECT ", "SELECT 1=", "SELECT 1,", "CALL "})
  void subqueriesWithoutParenthesesAreNested(String one) {
    frontend.plan("SELECT " + "SELECT ".repeat(5) + "1");
    for (int levels : new int[] {200, 10_000}) {
      String sql = one + (one.startsWith("CALL") ? "SELECT " : one).repeat(levels) + "1";
      SqlRefused refused = assertThrows(SqlRefused.class, () -> frontend.plan(sql));
      assertEquals(Reason.TOO_LONG, refused.reason(), refused.getMessage());
      assertTrue(refused.getMessage().contains("nested more than 100 levels"), one);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          INSERT INTO t           | SELECT * FROM (                        | SELECT 1 a | )
          SELECT * FROM           | (SELECT a FROM                         | t          | )
          INSERT INTO t           | WITH c(a) AS (                         | SELECT 1 a | ) SELECT a FROM c
          SELECT * FROM t WHERE   | a IN (SELECT a FROM (SELECT a FROM t WHERE | a = 1  | ))
          DELETE FROM t WHERE     | EXISTS (SELECT 1 FROM (SELECT a FROM t WHERE | a = 1 | ))
          UPDATE t SET a =        | (SELECT MAX(a) FROM (SELECT a + 1 FROM t WHERE a = | 1 | ) d)
          MERGE INTO t USING      | (SELECT a FROM                         | u          | ) ON t.a = 1 WHEN MATCHED THEN DELETE
          CREATE TABLE n AS       | SELECT * FROM (                        | SELECT 1 a | )
          """)
  void derivedTablesAreFiveDeepAtMost(String start, String open, String inner, String close) {
    boolean merge = start.startsWith("MERGE");
    String tail = merge ? close.substring(1) : "";
    String end = merge ? ")" : close;
    for (int levels : new int[] {5, 6}) {
      String sql =
          start + " " + (open + " ").repeat(levels) + inner + (" " + end).repeat(levels) + tail;
      if (levels == 5) {
        frontend.plan(sql);
      } else {
        SqlRefused refused = assertThrows(SqlRefused.class, () -> frontend.plan(sql), sql);
        assertEquals(Reason.TOO_LONG, refused.reason(), refused.getMessage());
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT COALESCE(1#, (SELECT a FROM (SELECT a FROM t))#)",
        "SELECT a FROM (SELECT a FROM (SELECT a FROM (SELECT a FROM t WHERE a IN (1#, 2#))))",
        "WITH c AS (SELECT 1 a)#, c AS (SELECT a FROM (SELECT 1 a) d)# SELECT 1"
      })
  void derivedTablesAreNeitherManyNorLong(String sql) {
    String[] parts = sql.split("#", -1);
    frontend.plan(parts[0] + parts[1].repeat(50) + parts[2]);
    String many = parts[0] + parts[1].repeat(10_000) + parts[2];
    SqlRefused refused = assertThrows(SqlRefused.class, () -> frontend.plan(many));
    assertEquals(Reason.TOO_LONG, refused.reason(), refused.getMessage());
  }

  @Test
  void longChainOfNamedQueriesIsAllowed() {
    StringBuilder sql = new StringBuilder("WITH c0(a) AS (SELECT 1)");
    for (int i = 1; i < 100; i++) {
      sql.append(", c").append(i).append("(a) AS (SELECT a FROM c").append(i - 1).append(")");
    }
    frontend.plan("INSERT INTO t " + sql + " SELECT a FROM c99");
  }

  @Test
  void viewIsShorterThanAStatement() {
    String query = "SELECT * FROM (".repeat(5) + "SELECT 1 a" + ")".repeat(5);
    frontend.plan(query);
    SqlRefused refused =
        assertThrows(SqlRefused.class, () -> frontend.plan("CREATE VIEW v AS " + query));
    assertEquals(Reason.TOO_LONG, refused.reason(), refused.getMessage());
    frontend.plan(
        "CREATE VIEW v AS " + query.substring("SELECT * FROM (".length(), query.length() - 1));
  }

  @Test
  void tenThousandParenthesesAreRefused() throws InterruptedException {
    String sql = "SELECT " + "(".repeat(10_000) + "1" + ")".repeat(10_000);
    SqlRefused refused = (SqlRefused) onSmallStack(sql);
    assertNotNull(refused);
    assertEquals(Reason.TOO_LONG, refused.reason());
    assertEquals(8 + SqlLimits.NESTING, refused.column());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          SELECT                  | (                            | 1   | )
          SELECT                  | ABS(                         | 1   | )
          SELECT                  | (1 +                         | 1   | )
          SELECT                  | COALESCE(1,                  | 1   | )
          SELECT                  | CASE WHEN 1 = 1 THEN         | 1   | END
          SELECT                  | CASE 1 WHEN                  | 1   | THEN 1 END
          SELECT                  | ARRAY[                       | 1   | ]
          SELECT                  | a[                           | 1   | ]
          SELECT                  | CAST(                        | 1   | AS INT)
          SELECT                  | a IN (1,                     | 1   | )
          SELECT                  | JSON_ARRAY(                  | 1   | )
          SELECT                  | SUBSTRING(a FROM             | 1   | )
          SELECT 1 WHERE          | EXISTS (SELECT 1 WHERE       | TRUE| )
          SELECT                  | (SELECT                      | 1   | )
          SELECT * FROM           | (                            | t JOIN s ON TRUE | )
          VALUES                  | (                            | 1   | )
          INSERT INTO t VALUES    | (                            | 1   | )
          UPDATE t SET a =        | (                            | 1   | )
          DELETE FROM t WHERE     | (                            | TRUE| )
          CREATE VIEW v AS SELECT | (                            | 1   | )
          CALL                    | (                            | 1   | )
          """)
  void parserSurvivesTheDeepestNestingOnASmallStack(
      String begin, String open, String middle, String close) throws InterruptedException {
    String deepest =
        begin
            + " "
            + (open + " ").repeat(SqlLimits.NESTING)
            + middle
            + (" " + close).repeat(SqlLimits.NESTING);
    assertNull(onSmallStack(deepest), deepest.substring(0, 60));
    String deeper = deepest.replace(" " + middle, " " + open + " " + middle + " " + close);
    SqlRefused refused = (SqlRefused) onSmallStack(deeper);
    assertNotNull(refused);
    assertEquals(Reason.TOO_LONG, refused.reason(), refused.getMessage());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '→',
      quoteCharacter = '`',
      textBlock =
          """
          SELECT 1                     → + 1                         → 1
          SELECT a                     → || a                        → 1
          SELECT a = 1                 → OR a = 1                    → 2
          SELECT TRUE                  → AND NOT a                   → 2
          SELECT a                     → IS NULL                     → 1
          SELECT a                     → ::INT                       → 1
          SELECT a                     → [1]                         → 1
          SELECT a                     → AND a BETWEEN 1 AND 2       → 5
          SELECT a                     → LIKE a                      → 3
          SELECT 1, 2                  → UNION SELECT 1, 2           → 1
          SELECT * FROM t              → JOIN s ON a = 1, u          → 1
          SELECT CASE WHEN a THEN 1    → WHEN b THEN 2               → 1
          """)
  void parserSurvivesTheLongestChainOfOperatorsOnASmallStack(
      String begin, String link, int operators) throws InterruptedException {
    int links = SqlLimits.OPERATORS / operators - 3;
    String end = begin.contains("CASE") ? " END" : "";
    assertNull(onSmallStack(begin + (" " + link).repeat(links) + end));
    SqlRefused refused = (SqlRefused) onSmallStack(begin + (" " + link).repeat(2 * links) + end);
    assertNotNull(refused);
    assertEquals(Reason.TOO_LONG, refused.reason());
  }

  /** Operators count along the way from the outside to the inside, since the tree is that deep. */
  @Test
  void operatorsOfNestedLevelsAddUp() throws InterruptedException {
    String level = "1" + " + 1".repeat(SqlLimits.OPERATORS / SqlLimits.NESTING - 2) + " + ";
    String end = ")".repeat(SqlLimits.NESTING);
    assertNull(onSmallStack("SELECT " + ("(" + level).repeat(SqlLimits.NESTING) + "1" + end));
    SqlRefused refused =
        (SqlRefused)
            onSmallStack("SELECT " + ("(" + level + level).repeat(SqlLimits.NESTING) + "1" + end);
    assertNotNull(refused);
    assertEquals(Reason.TOO_LONG, refused.reason());
  }

  /** Both limits at once may be too much for a small stack; even then it is a refusal, no error. */
  @Test
  void longestChainInTheDeepestNestingIsAnswered() throws InterruptedException {
    int operators = SqlLimits.OPERATORS - SqlLimits.NESTING - 5;
    String chain = "1" + " + 1".repeat(operators);
    String begin = "SELECT " + "ABS(".repeat(SqlLimits.NESTING);
    Throwable thrown = onSmallStack(begin + chain + ")".repeat(SqlLimits.NESTING));
    if (thrown != null) {
      assertEquals(Reason.TOO_LONG, ((SqlRefused) thrown).reason());
    }
  }

  @Test
  void listsAreNotChains() {
    assertNotNull(frontend.plan("SELECT a FROM t WHERE a IN (-1" + ", -1".repeat(9_000) + ")"));
    assertNotNull(frontend.plan("INSERT INTO t VALUES (-1, 1)" + ", (-1, 1 + 1)".repeat(9_000)));
    assertNotNull(frontend.plan("SELECT a + 1" + ", a + 1".repeat(9_000) + " FROM t"));
  }

  @Test
  void refusalNamesThePlaceWhereTheLimitIsPassed() {
    assertRefused(
        "SELECT 1" + "+1".repeat(SqlLimits.OPERATORS) + "\n+ 1",
        Reason.TOO_LONG,
        2,
        1,
        "more than 500 operators in one expression");
  }

  @Test
  void longestStatementIsPlannedAndALongerOneIsNot() {
    String begin = "SELECT '";
    String text = "x".repeat(SqlLimits.STATEMENT_LENGTH - begin.length() - 1);
    Plan.Read read = (Plan.Read) frontend.plan(begin + text + "'");
    assertEquals(SqlLimits.STATEMENT_LENGTH, read.sql().length());
    assertRefused(begin + text + "x'", Reason.TOO_LONG, 1, "at most 1048576 characters");
  }

  @Test
  void tokensAreCounted() {
    String begin = "SELECT 1";
    frontend.plan(begin + ",1".repeat((SqlLimits.TOKENS - 2) / 2));
    assertRefused(
        begin + ",1".repeat(SqlLimits.TOKENS / 2),
        Reason.TOO_LONG,
        begin.length() + SqlLimits.TOKENS - 1,
        "at most 100000 words, literals and signs");
  }

  @Test
  void literalIsOneTokenHoweverLong() {
    assertTrue(SqlFrontend.isShortEnough("VALUES ('" + "x".repeat(1_000_000) + "')"));
    assertFalse(SqlFrontend.isShortEnough("VALUES (1" + ",1".repeat(SqlLimits.TOKENS) + ")"));
    assertFalse(SqlFrontend.isShortEnough("SELECT '" + "x".repeat(SqlLimits.STATEMENT_LENGTH)));
  }

  /** A text that is repeated a quarter of a million times is answered all the same. */
  @ParameterizedTest
  @MethodSource("fragments")
  void noRepetitionTakesLong(String fragment) {
    requireAnswers(fragment, SqlLimits.STATEMENT_LENGTH / 4, Duration.ofSeconds(5));
  }

  /** The same with the longest statement, which takes four times as long. */
  @Tag("nightly")
  @ParameterizedTest
  @MethodSource("fragments")
  void noRepetitionInTheLongestStatementTakesLong(String fragment) {
    requireAnswers(fragment, SqlLimits.STATEMENT_LENGTH, Duration.ofSeconds(20));
  }

  private void requireAnswers(String fragment, int length, Duration limit) {
    String repeated = fragment.repeat((length - 20) / fragment.length());
    for (String begin : new String[] {"SELECT ", "SELECT * FROM ", "UPDATE t SET a = "}) {
      assertTimeoutPreemptively(
          limit,
          () -> {
            answer(begin + repeated);
          });
    }
  }

  static List<String> fragments() {
    return List.of(
        "(",
        ")",
        "[",
        "a.",
        "a-",
        "a:",
        "a::",
        "_a.",
        "a'",
        "'",
        "''",
        "\"",
        "\"a\"",
        "/*",
        "/**/",
        "--\n",
        "//\n",
        "x ",
        "1 ",
        "1.",
        "1,",
        "a,",
        "a b,",
        "(1),",
        "-",
        "+1",
        "AND ",
        "NOT ",
        "CASE ",
        "WHEN ",
        "E'\\",
        "N'a'",
        "U&",
        "X'",
        "?",
        "?,",
        "{",
        "$",
        ";",
        "*",
        "=",
        "\\",
        "\t",
        "a AND ",
        "a BETWEEN 1 AND ",
        "SELECT 1 UNION ",
        "FROM t ",
        "t JOIN ",
        "f(",
        "f(1)",
        "CURSOR ",
        "INTERVAL '1' DAY + ",
        "INT ARRAY ",
        "CAST(1 AS ",
        "a IN (1), ",
        "/*+",
        "/***/");
  }

  /**
   * A parser that looks for what it might have expected at the end of the text must find an end.
   */
  @Test
  void everyFourthBeginningOfAStatementIsAnswered() {
    answerBeginnings(4);
  }

  @Tag("nightly")
  @Test
  void everyBeginningOfAStatementIsAnswered() {
    answerBeginnings(1);
  }

  private void answerBeginnings(int words) {
    assertTimeoutPreemptively(
        Duration.ofSeconds(60),
        () -> {
          int word = 0;
          for (String sql : Corpus.all("/dialect.sql")) {
            for (int end = sql.indexOf(' '); end > 0; end = sql.indexOf(' ', end + 1)) {
              if (++word % words == 0) {
                answer(sql.substring(0, end));
              }
            }
          }
          answer("SELECT a FROM s (a");
          answer("INSERT INTO t SELECT a FROM s (a");
        });
  }

  private void answer(String sql) {
    try {
      assertNotNull(frontend.plan(sql));
    } catch (SqlRefused refused) {
      assertTrue(String.valueOf(refused.getMessage()).length() < 500);
    }
  }

  @Test
  void limitsAreChecked() {
    assertThrows(IllegalArgumentException.class, () -> new SqlFrontend(-1));
  }

  /** What planning throws, null for nothing, on a thread with a stack of 512 KiB. */
  private Throwable onSmallStack(String sql) throws InterruptedException {
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread thread =
        new Thread(
            null,
            () -> {
              try {
                frontend.plan(sql);
              } catch (Throwable e) {
                thrown.set(e);
              }
            },
            "small-stack",
            SMALL_STACK_BYTES);
    thread.start();
    thread.join();
    return thrown.get();
  }

  /** A list of names in WITH, of which each makes something of the one before. */
  private static String with(int names, String query) {
    StringBuilder sql = new StringBuilder("WITH x0(c) AS (SELECT c FROM t)");
    for (int i = 1; i <= names; i++) {
      String before = "x" + (i - 1);
      sql.append(", x").append(i).append("(c) AS (").append(query.replace("?", before)).append(")");
    }
    return sql + " SELECT c FROM x" + names;
  }

  /** A view is compiled again after each definition. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT a.c FROM ? a, ? b",
        "SELECT c FROM ? UNION ALL SELECT c FROM ?",
        "SELECT c FROM ? WHERE c IN (SELECT c FROM ?)",
        "SELECT c FROM ? WHERE EXISTS (SELECT 1 FROM (SELECT c FROM ?) d)",
        "WITH y AS (SELECT c FROM ?) SELECT a.c FROM y a, y b",
      })
  void whatQueriesOfAViewMakeOfOneAnotherIsCounted(String query) {
    frontend.plan("CREATE VIEW u AS " + with(3, query));
    for (int names : List.of(9, 70)) {
      String tooMuch = "CREATE VIEW u AS " + with(names, query);
      SqlRefused refused = assertThrows(SqlRefused.class, () -> frontend.plan(tooMuch), tooMuch);
      assertEquals(Reason.TOO_LONG, refused.reason(), refused.getMessage());
    }
  }

  @Test
  void queriesThatAreUsedOnceAreNotCounted() {
    frontend.plan("CREATE VIEW u AS SELECT c FROM t" + " UNION SELECT c FROM t".repeat(200));
    frontend.plan("CREATE VIEW u AS SELECT c FROM t" + ", (SELECT c FROM t)".repeat(40));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "INSERT INTO t VALUES(1, %s)",
        "SELECT %s",
        "UPDATE t SET v = %s WHERE id = 1",
        "SELECT CHAR_LENGTH(CAST(%s AS CLOB)), CAST(%s AS VARCHAR(10)), CAST(1 AS TEXT)"
      })
  void otherConstantsMayNest(String sql) {
    String deep = "GEOMETRYCOLLECTION(".repeat(300) + "POINT(1 2)" + ")".repeat(300);
    assertNotNull(frontend.plan(sql.replace("%s", "'" + deep + "'")));
    assertNotNull(frontend.plan(sql.replace("%s", "('" + deep + "' || 'x')")));
  }
}
