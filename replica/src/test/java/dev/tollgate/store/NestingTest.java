package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.store.h2.Nesting;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import org.h2.value.Value;
import org.h2.value.ValueArray;
import org.h2.value.ValueInteger;
import org.h2.value.ValueRow;
import org.h2.value.ValueVarchar;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What is made of itself again and again, by one statement or from statement to statement: arrays
 * and rows, which end with a value that comes back from no snapshot, and with one that nobody can
 * go through in a life.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class NestingTest {
  private static final int DEEPEST = Limits.VALUE_DEPTH;

  private final StoreDriver replica = new StoreDriver();
  private final SessionId session = replica.open();

  @AfterEach
  void close() {
    replica.close();
  }

  private static String array(int depth) {
    return "ARRAY[".repeat(depth) + "1" + "]".repeat(depth);
  }

  private static String arrayType(int depth) {
    return "INT" + " ARRAY".repeat(depth);
  }

  static List<String> tooDeep() {
    int depth = DEEPEST + 1;
    return List.of(
        "CREATE TABLE U(A " + arrayType(depth) + ")",
        "CREATE TABLE U AS SELECT " + array(depth) + " A",
        "CREATE TABLE U AS VALUES(" + array(depth) + ")",
        "CREATE TABLE U AS SELECT A FROM T UNION ALL SELECT " + array(depth),
        "CREATE TABLE U AS SELECT ARRAY[A] A FROM T",
        "CREATE TABLE U AS SELECT ARRAY_AGG(A) A FROM T",
        "CREATE TABLE U AS SELECT ROW(1, A) A FROM T",
        "CREATE VIEW U AS SELECT ARRAY[A] A FROM T",
        "CREATE VIEW U AS SELECT * FROM (VALUES(" + array(depth) + ")) V",
        "CREATE DOMAIN U AS " + arrayType(depth),
        "CREATE CONSTANT U VALUE " + array(depth),
        "ALTER TABLE T ADD COLUMN U " + arrayType(depth),
        "ALTER TABLE T ALTER COLUMN A SET DATA TYPE " + arrayType(depth),
        "ALTER TABLE T ALTER COLUMN A " + arrayType(depth));
  }

  @ParameterizedTest
  @MethodSource
  void tooDeep(String sql) throws SQLException {
    replica.ok(session, "CREATE TABLE T(ID INT PRIMARY KEY, A " + arrayType(DEEPEST) + ")");
    replica.ok(session, "INSERT INTO T VALUES(1, " + array(DEEPEST) + ")");
    refused(sql, "deeper than 32 levels");
    assertEquals(List.of("1"), replica.query("SELECT ID FROM T"));
    replica.ok(session, "UPDATE T SET ID = 2");
    replica.ok(session, "DROP TABLE T");
  }

  @Test
  void whatIsStoredComesBackFromASnapshot() throws Exception {
    replica.ok(
        session,
        "CREATE TABLE T(ID INT PRIMARY KEY, A "
            + arrayType(DEEPEST)
            + ", R ROW(A ROW(B INT)), G GEOMETRY)");
    Value geometry = Geometries.nestedBytes(DEEPEST);
    String sql = "INSERT INTO T VALUES(1, " + array(DEEPEST) + ", ROW(ROW(7)), ?)";
    String all = "SELECT A, R, OCTET_LENGTH(CAST(G AS VARBINARY)) FROM T";
    DepthTest.onQuarterOfTheStack(
        () -> {
          replica.ok(session, sql, geometry);
          byte[] snapshot = DatabaseCopyTest.snapshotOf(replica.database);
          try (StoreDriver copy = new StoreDriver(DatabaseCopyTest.restored(snapshot))) {
            assertEquals(replica.query(all), copy.query(all));
          }
        });
  }

  @Test
  void arraysThatGrowFromStatementToStatementEnd() {
    replica.ok(session, "CREATE TABLE T0 AS SELECT 1 C");
    for (int i = 1; i <= DEEPEST; i++) {
      replica.ok(session, "CREATE TABLE T" + i + " AS SELECT ARRAY[C] C FROM T" + (i - 1));
    }
    refused("CREATE TABLE U AS SELECT ARRAY[C] C FROM T" + DEEPEST, "deeper than 32 levels");
  }

  @Test
  void rowsThatDoubleFromStatementToStatementEnd() {
    replica.ok(session, "CREATE TABLE T0 AS SELECT 1 C");
    int doublings = 0;
    while (replica.run(session, doubled(doublings)) instanceof Outcome.Executed) {
      doublings++;
    }
    refused(doubled(doublings), "more than " + Limits.TYPE_PARTS + " fields");
    // 2 + 4 + ... and the whole
    assertTrue(2 << doublings <= Limits.TYPE_PARTS && 4 << doublings > Limits.TYPE_PARTS);
  }

  private static String doubled(int i) {
    return "CREATE TABLE T" + (i + 1) + " AS SELECT ROW(C, C) C FROM T" + i;
  }

  /** A list of names in WITH, of which each makes something of the one before. */
  private static String with(int names, String columnOfColumns) {
    StringBuilder sql = new StringBuilder("WITH X0(C) AS (SELECT 1)");
    for (int i = 1; i <= names; i++) {
      sql.append(", X" + i + "(C) AS (SELECT " + columnOfColumns + " FROM X" + (i - 1) + ")");
    }
    return sql.toString();
  }

  static List<String> hugeInOneStatement() {
    String wide = "ROW(C" + ",C".repeat(9_999) + ")";
    return List.of(
        with(3, wide) + " SELECT COUNT(*) N FROM X3 WHERE C IS NOT NULL",
        with(24, "ROW(C, C)") + " SELECT COUNT(*) N FROM X24",
        with(24, "ROW(C, C)") + " SELECT C N FROM X24 UNION SELECT C FROM X24");
  }

  /** This took minutes for each level that it was deeper, on every replica. */
  @ParameterizedTest
  @MethodSource
  void hugeInOneStatement(String query) {
    refused("CREATE TABLE U AS " + query, "more than");
    endsWith54001(query);
  }

  @Test
  void arrayThatIsTooLargeToGoThroughEnds() {
    String wide = "ARRAY[C" + ",C".repeat(9_999) + "]";
    String sql = with(4, wide) + " SELECT COUNT(*) N FROM X4 WHERE C IS NOT NULL";
    refused("CREATE TABLE U AS " + sql, "more than");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 100, 3_000})
  void sizeOfAValueIsTheOneThatH2Tells(int elements) {
    Value[] flat = new Value[elements];
    Arrays.fill(flat, ValueInteger.get(5_000));
    Value array = ValueArray.get(flat, null);
    Value row = ValueRow.get(new Value[] {array, ValueVarchar.get("x".repeat(elements)), array});
    for (Value value : List.of(flat[0], array, row)) {
      assertEquals(value.getMemory(), Nesting.bytesOf(value, Long.MAX_VALUE));
    }
    assertTrue(Nesting.bytesOf(row, 100) > 100);
  }

  @Test
  void queryThatOverflowsTheStackEndsAlone() throws SQLException {
    replica.ok(session, "CREATE TABLE T(ID INT PRIMARY KEY, J JSON)");
    replica.ok(
        session,
        "INSERT INTO T VALUES(1, (REPEAT('[', 500000) || REPEAT(']', 500000)) FORMAT JSON)");
    for (String sql :
        List.of("SELECT 1" + "+1".repeat(100_000), with(3_000, "C") + " SELECT C FROM X3000")) {
      endsWith54001(sql);
      assertEquals(List.of("1"), replica.query("SELECT ID FROM T"));
    }
    replica.in(session, "INSERT INTO T(ID) VALUES(2)");
    SQLException ended =
        assertThrows(
            SQLException.class,
            () -> replica.queryIn(session, "SELECT 1" + "+1".repeat(100_000) + " FROM T"));
    assertEquals("54001", ended.getSQLState());
    assertEquals(1, replica.queryIn(session, "SELECT J[1] FROM T WHERE ID = 1").size());
    assertEquals(List.of("1", "2"), replica.queryIn(session, "SELECT ID FROM T ORDER BY ID"));
    replica.commit(session);
    assertEquals(List.of("2"), replica.query("SELECT COUNT(*) FROM T"));
  }

  private void endsWith54001(String sql) {
    SQLException ended = assertThrows(SQLException.class, () -> replica.query(sql));
    assertEquals("54001", ended.getSQLState(), ended.getMessage());
  }

  private void refused(String sql, String reason) {
    Outcome.SqlFailed failed =
        assertInstanceOf(Outcome.SqlFailed.class, replica.run(session, sql), sql);
    assertEquals("54001", failed.sqlState(), failed.message());
    assertTrue(failed.message().contains(reason), failed.message());
  }
}
