package dev.tollgate.node;

import static java.util.Collections.nCopies;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Statements with which a hostile reviewer stopped a node or held it for seconds, whole or a little
 * shortened. Each ends before it costs much.
 */
class ExpensiveStatementsTest {
  private static Connection connection;

  @BeforeAll
  static void open() throws SQLException {
    connection = DriverManager.getConnection("jdbc:tollgate:mem:expensive");
    execute(
        "CREATE TABLE T(ID INT PRIMARY KEY, V VARCHAR)",
        "INSERT INTO T VALUES(1, 'x'), (2, 'y')",
        "CREATE TABLE N(I INT)",
        "INSERT INTO N SELECT X FROM SYSTEM_RANGE(1, 4600)",
        "CREATE TABLE WIDE(" + numbered(16_000, "C%d INT") + ")",
        "CREATE TABLE D(D DECFLOAT)",
        "INSERT INTO D VALUES(3)",
        "CREATE TABLE L(ID INT, V VARCHAR)",
        "CREATE TABLE K(V VARCHAR, W VARCHAR)",
        "CREATE TABLE G(A INT, CHECK(GREATEST(" + times(20_000, "A + 1") + ") > 0))");
    executeNine("CREATE INDEX K%d ON K(V, W)");
    executeNine("INSERT INTO L VALUES(%1$d, REPEAT('x', 1000000) || %1$d)");
  }

  private static void executeNine(String numbered) throws SQLException {
    for (int number = 1; number <= 9; number++) {
      execute(numbered.formatted(number));
    }
  }

  private static void execute(String... statements) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    }
  }

  @AfterAll
  static void close() throws SQLException {
    connection.close();
  }

  static List<String> expensive() {
    return List.of(
        "UPDATE T SET V = (SELECT LISTAGG(X, REPEAT('s', 1000000)) WITHIN GROUP (ORDER BY X)"
            + " FROM SYSTEM_RANGE(1, 1000))",
        counting("GREATEST(" + times(1_000, "MEDIAN(X)") + ")"),
        windowed("ROW_NUMBER() OVER (ORDER BY X)"),
        "UPDATE T SET V = 'a' WHERE EXISTS(SELECT " + times(1_000, "WIDE.*") + " FROM WIDE)",
        "UPDATE T SET V = 'z' WHERE (SELECT COUNT(*) FROM SYSTEM_RANGE(1, 20000) WHERE GREATEST("
            + times(20_000, "X + 1")
            + ") = 0) = 1",
        "INSERT INTO G SELECT X FROM SYSTEM_RANGE(1, 1000)",
        "INSERT INTO G VALUES " + numbered(4_600, "(%d)"),
        "INSERT INTO N SELECT 1 FROM SYSTEM_RANGE(1, 20000) WHERE -X = ANY(ARRAY["
            + numbered(60_000, "%d")
            + "])",
        "UPDATE T SET V = CARDINALITY(ARRAY[" + times(1_000, "HASH('SHA-256', 'x', 100000)") + "])",
        "UPDATE T SET V = 'a' WHERE GREATEST("
            + times(3_000, "EXISTS(SELECT 1 FROM N A, N B, N C, N D, N E WHERE A.I = B.I)")
            + ")",
        longRows("SELECT DISTINCT A.V, B.ID B, C.ID C, D.ID D", ""),
        longRows("SELECT A.V, B.ID B, C.ID C, D.ID D", " UNION SELECT V, 0, 0, 0 FROM L"),
        longRows("SELECT A.V, B.ID B, C.ID C, D.ID D", " INTERSECT SELECT V, 0, 0, 0 FROM L"),
        longRows(
            "SELECT A.V, B.ID B, C.ID C, D.ID D",
            " ORDER BY 1, 2, 3, 4 FETCH FIRST 7000 ROWS ONLY"),
        longRows("SELECT A.V, B.ID B, C.ID C, D.ID D", " GROUP BY A.V, B.ID, C.ID, D.ID"),
        longRows("SELECT DISTINCT ON (A.V, B.ID, C.ID, D.ID) 1 X", ""),
        longRows("SELECT MAX(A.V)", ""),
        longRows("SELECT COUNT(DISTINCT A.V)", ""),
        longRows("SELECT ROW_NUMBER() OVER (ORDER BY A.V)", ""),
        longRows("SELECT SUM(A.ID) OVER (PARTITION BY A.V)", ""),
        longRows("SELECT ARRAY_AGG(A.ID ORDER BY A.V)", ""),
        "INSERT INTO K SELECT V, V FROM L",
        "CREATE TABLE F(A INT, " + times(20_000, "CHECK(A > 0)") + ")",
        "CREATE TABLE E(E ENUM(" + numbered(65_000, "'%d'") + "))");
  }

  /**
   * Each takes several seconds of a processor. {@code WorkBudgetTest} and {@code
   * HeavyStatementsTest} have the same functions with a tenth of the limits.
   */
  static List<String> mostExpensive() {
    return List.of(
        "INSERT INTO N SELECT LENGTH(RAWTOHEX(RAWTOHEX(RAWTOHEX(RAWTOHEX("
            + "REPEAT('x', 1000000 + ID - ID)))))) FROM T, N",
        "INSERT INTO N SELECT CARDINALITY(ARRAY["
            + times(500, "RAWTOHEX(REPEAT('x', 1000000 + ID - ID))")
            + "]) FROM T",
        counting("GREATEST(" + times(1_000, "COUNT(DISTINCT X)") + ")"),
        windowed("SUM(X) OVER (PARTITION BY X ORDER BY X)"),
        "UPDATE T SET V = 'a' WHERE GREATEST(" + times(1_000, "EXISTS(SELECT * FROM WIDE)") + ")",
        "INSERT INTO N SELECT 1 FROM SYSTEM_RANGE(1, 20000)"
            + " WHERE ORA_HASH(REPEAT('x', 1000000), 10, X) = 11",
        "UPDATE N SET I = LENGTH(HASH('SHA-256', 'x' || I, 100000))");
  }

  private static String counting(String aggregates) {
    return "UPDATE T SET V = 'a' WHERE (SELECT "
        + aggregates
        + " FROM SYSTEM_RANGE(1, 40000)) = -1";
  }

  /** 6,561 rows, each with one of nine values of a megabyte that differ in their last character. */
  private static String longRows(String select, String rest) {
    return "INSERT INTO N SELECT COUNT(*) FROM ("
        + select
        + " FROM L A, L B, L C, L D"
        + rest
        + ")";
  }

  private static String windowed(String function) {
    return "UPDATE T SET V = 'a' WHERE (SELECT COUNT(*) FROM (SELECT GREATEST("
        + times(1_000, function)
        + ") FROM SYSTEM_RANGE(1, 30000))) = -1";
  }

  private static String times(int count, String part) {
    return String.join(", ", nCopies(count, part));
  }

  private static String numbered(int count, String part) {
    return IntStream.range(0, count).mapToObj(part::formatted).collect(Collectors.joining(", "));
  }

  @ParameterizedTest(name = "{index}")
  @MethodSource
  void expensive(String sql) throws SQLException {
    requireRefusal(sql);
  }

  @Tag("nightly")
  @ParameterizedTest(name = "{index}")
  @MethodSource
  void mostExpensive(String sql) throws SQLException {
    requireRefusal(sql);
  }

  private static void requireRefusal(String sql) throws SQLException {
    await().atMost(Duration.ofSeconds(30)).until(ExpensiveStatementsTest::isAnyWriteTaken);
    try (Statement statement = connection.createStatement()) {
      SQLException refused = assertThrows(SQLException.class, () -> statement.execute(sql));
      assertTrue(
          List.of("54001", "54000", "53200", "22001", "42T01").contains(refused.getSQLState()),
          refused.getSQLState() + " " + refused.getMessage());
      assertFalse(isRefusalOfEveryWrite(refused), refused.getMessage());
    }
  }

  /** False until a collection has shown that what the statement before held is gone. */
  private static boolean isAnyWriteTaken() throws SQLException {
    try {
      execute("UPDATE T SET V = 'w' WHERE ID = 1");
      return true;
    } catch (SQLException e) {
      if (isRefusalOfEveryWrite(e)) {
        return false;
      }
      throw e;
    }
  }

  private static boolean isRefusalOfEveryWrite(SQLException refusal) {
    return refusal.getMessage().contains("nearly filled");
  }

  @Test
  void likeStatementsThatCostLittleRun() throws SQLException {
    execute(
        "CREATE TABLE S(V VARCHAR, N DECIMAL(20, 2))",
        "CREATE INDEX SV ON S(V)",
        "CREATE INDEX SN ON S(N)",
        "INSERT INTO S VALUES('a', 1), ('b', 2)",
        "INSERT INTO S SELECT MAX(V) || MIN(V), MEDIAN(N) + MAX(N) FROM S",
        "DELETE FROM S WHERE V = (SELECT MIN(V) FROM S)",
        "INSERT INTO S SELECT 'c', CAST(CAST(7 AS DECFLOAT(34)) / 3 AS DECIMAL(20, 2))",
        "UPDATE S SET N = (SELECT AVG(CAST(ID AS DECFLOAT(34))) FROM T)",
        "INSERT INTO S SELECT LISTAGG(ID, ', ') WITHIN GROUP (ORDER BY ID), 1 FROM T",
        "UPDATE S SET N = (SELECT COUNT(DISTINCT I) FROM N)",
        "INSERT INTO N VALUES " + numbered(4_600, "(LENGTH(UPPER('a' || %d)) + 1)"),
        "CREATE TABLE P(ID INT PRIMARY KEY, V VARCHAR, W VARCHAR)",
        "INSERT INTO P SELECT X, REPEAT('p', 2000) || X, REPEAT('p', 2000) || X"
            + " FROM SYSTEM_RANGE(1, 2000)",
        "CREATE INDEX PV ON P(V, W)",
        "UPDATE P SET V = W, W = V WHERE ID <= 1000",
        "UPDATE N SET I = (SELECT COUNT(*) FROM (SELECT DISTINCT V FROM P))",
        "INSERT INTO N SELECT LENGTH(V) FROM (SELECT V FROM P UNION SELECT W FROM P)",
        "INSERT INTO N SELECT ROW_NUMBER() OVER (ORDER BY V) FROM P",
        "INSERT INTO N SELECT MAX(LENGTH(W)) FROM P GROUP BY V ORDER BY V",
        "INSERT INTO N SELECT LENGTH(MAX(W)) + LENGTH(MIN(V)) FROM P WHERE ID > 5",
        "DELETE FROM P WHERE ID > 1000",
        "UPDATE T SET V = CAST(ID AS DECFLOAT) / 7",
        "UPDATE D SET D = D / 7",
        "UPDATE T SET V = (SELECT LENGTH(AVG(D)) FROM D)",
        "CREATE TABLE C(A INT, " + times(500, "CHECK(A > 0)") + ")",
        "CREATE TABLE M(E ENUM(" + numbered(4_000, "'%d'") + "))");
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT MAX(V), MEDIAN(N), MIN(N) FROM S")) {
      assertTrue(rows.next());
      assertEquals("c", rows.getString(1));
    }
  }
}
