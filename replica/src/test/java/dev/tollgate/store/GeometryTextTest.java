package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.store.limits.GeometryText;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.h2.value.Value;
import org.h2.value.ValueArray;
import org.h2.value.ValueGeometry;
import org.h2.value.ValueVarchar;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every way on which a text becomes a GEOMETRY: H2 takes a time for it that grows with the square
 * of the text's nesting.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GeometryTextTest {
  private static final int TOO_DEEP = 3_000;

  private final StoreDriver replica = new StoreDriver();
  private final SessionId session = replica.open();

  @AfterEach
  void close() {
    replica.close();
  }

  /** S has texts of which some are too deep, T is written, P refers to nothing. */
  private void makeTables() {
    replica.ok(
        session, "CREATE TABLE S(ID INT PRIMARY KEY, V VARCHAR, X VARCHAR, A VARCHAR ARRAY)");
    replica.ok(
        session,
        "INSERT INTO S VALUES(1, ?, ?, NULL), (2, 'POINT(1 2)', 'xPOINT(1 2)', NULL)",
        Geometries.nestedText(TOO_DEEP),
        "x" + Geometries.nestedText(TOO_DEEP));
    replica.ok(session, "UPDATE S SET A = ARRAY[V]");
    replica.ok(session, "CREATE TABLE T(ID INT PRIMARY KEY, G GEOMETRY, GS GEOMETRY ARRAY)");
    replica.ok(session, "CREATE INDEX TG ON T(G)");
    replica.ok(session, "CREATE INDEX SV ON S(ID, V)");
    replica.ok(session, "INSERT INTO T VALUES(1, 'POINT(1 2)', NULL), (2, 'POINT EMPTY', NULL)");
    replica.ok(session, "CREATE VIEW W AS SELECT ID, CAST(V AS GEOMETRY) G FROM S");
    replica.ok(session, "CREATE DOMAIN D AS GEOMETRY");
  }

  static List<String> queries() {
    return List.of(
        "SELECT CAST(V AS GEOMETRY) FROM S",
        "SELECT V::GEOMETRY FROM S",
        "SELECT CONVERT(V, GEOMETRY) FROM S",
        "SELECT CAST(V AS D) FROM S",
        "SELECT CAST(CAST(V AS CLOB) AS GEOMETRY) FROM S",
        "SELECT CAST(CAST(V AS VARCHAR_IGNORECASE) AS GEOMETRY) FROM S",
        "SELECT CAST(SUBSTRING(X FROM 2) AS GEOMETRY) FROM S",
        "SELECT CAST(V || '' AS GEOMETRY) FROM S",
        "SELECT CAST(A AS GEOMETRY ARRAY) FROM S",
        "SELECT CAST(A[1] AS GEOMETRY) FROM S",
        "SELECT CAST(ROW(1, V) AS ROW(N INT, G GEOMETRY)) FROM S",
        "SELECT CAST((SELECT MAX(V) FROM S) AS GEOMETRY)",
        "SELECT CAST(MAX(V) AS GEOMETRY) FROM S GROUP BY ID",
        "SELECT MAX(CAST(V AS GEOMETRY)) FROM S",
        "SELECT CAST(MAX(V) OVER (PARTITION BY ID) AS GEOMETRY) FROM S",
        "SELECT ENVELOPE(V) FROM S",
        "SELECT ENVELOPE(CAST(V AS GEOMETRY)) FROM S",
        "SELECT COUNT(*) FROM S, T WHERE G = V",
        "SELECT COUNT(*) FROM S, T WHERE V = G",
        "SELECT COUNT(*) FROM T WHERE G < (SELECT V FROM S WHERE ID = 1)",
        "SELECT COUNT(*) FROM S JOIN T ON G IS NOT DISTINCT FROM V",
        "SELECT COUNT(*) FROM S JOIN T USING (ID) WHERE (S.ID, V) = (T.ID, G)",
        "SELECT COUNT(*) FROM T WHERE G IN (SELECT V FROM S)",
        "SELECT COUNT(*) FROM T WHERE G IN (SELECT V FROM S WHERE S.ID = T.ID)",
        "SELECT COUNT(*) FROM T WHERE G > ANY (SELECT V FROM S)",
        "SELECT COUNT(*) FROM S, T WHERE G IN (V, 'POINT(1 2)')",
        "SELECT COUNT(*) FROM S, T WHERE G BETWEEN V AND V",
        "SELECT COUNT(*) FROM S, T WHERE V BETWEEN G AND G",
        "SELECT COUNT(*) FROM S, T WHERE G = ANY(A)",
        "SELECT COALESCE(V, G) FROM S, T",
        "SELECT NULLIF(G, V) FROM S, T",
        "SELECT GREATEST(G, V) FROM S, T",
        "SELECT CASE WHEN S.ID = 1 THEN V ELSE G END FROM S, T",
        "SELECT CASE G WHEN V THEN 1 END FROM S, T",
        "SELECT CASE S.ID WHEN 1 THEN V ELSE G END FROM S, T",
        "SELECT DECODE(G, V, 1) FROM S, T",
        "SELECT ARRAY[G, V] FROM S, T",
        "SELECT ARRAY_CONTAINS(ARRAY[G], V) FROM S, T",
        "SELECT G FROM T UNION SELECT V FROM S",
        "SELECT V FROM S UNION ALL SELECT G FROM T",
        "SELECT G FROM T INTERSECT SELECT V FROM S",
        "SELECT G FROM T EXCEPT SELECT V FROM S",
        "SELECT * FROM (VALUES(GEOMETRY 'POINT(1 2)'), ((SELECT V FROM S WHERE ID = 1)))",
        "WITH RECURSIVE R(N, G) AS (SELECT 1, GEOMETRY 'POINT(1 2)' UNION ALL"
            + " SELECT N + 1, (SELECT V FROM S WHERE S.ID = 1) FROM R WHERE N < 2) SELECT * FROM R",
        "WITH C(G) AS (SELECT CAST(V AS GEOMETRY) FROM S) SELECT * FROM C",
        "SELECT * FROM (SELECT V FROM S) X JOIN T ON T.G = X.V",
        "SELECT * FROM W",
        "SELECT W.ID FROM W WHERE G = 'POINT(1 2)'",
        "SELECT ID FROM S ORDER BY CAST(V AS GEOMETRY)",
        "SELECT COUNT(*) FROM S GROUP BY CAST(V AS GEOMETRY)",
        "SELECT ID FROM S GROUP BY ID, V HAVING CAST(V AS GEOMETRY) IS NULL",
        "SELECT ID FROM S QUALIFY ROW_NUMBER() OVER (ORDER BY CAST(V AS GEOMETRY)) = 1",
        "SELECT LAG(CAST(V AS GEOMETRY)) OVER (ORDER BY ID) FROM S",
        "SELECT * FROM UNNEST(CAST((SELECT A FROM S WHERE ID = 1) AS GEOMETRY ARRAY)) U(G)",
        "SELECT CHAR_LENGTH(CAST(CAST(V AS GEOMETRY) AS VARCHAR)) FROM S",
        "SELECT CAST(CAST(G AS VARCHAR) AS GEOMETRY) FROM (SELECT CAST(? AS GEOMETRY) G)",
        "SELECT COUNT(*) FROM T WHERE G = ?",
        "SELECT COUNT(*) FROM T WHERE ? = G",
        "SELECT COUNT(*) FROM T WHERE G IN (?, 'POINT(1 2)')",
        "SELECT CAST(? AS GEOMETRY)",
        "SELECT COALESCE(G, ?) FROM T");
  }

  @ParameterizedTest
  @MethodSource
  void queries(String sql) {
    makeTables();
    Object[] parameters =
        sql.contains("?") ? new Object[] {Geometries.nestedText(TOO_DEEP)} : new Object[0];
    SQLException ended =
        assertThrows(SQLException.class, () -> replica.query(sql, parameters), sql);
    assertRefused(ended.getSQLState(), ended.getMessage());
    refused("CREATE TABLE N AS " + sql, parameters);
  }

  static List<String> changes() {
    return List.of(
        "INSERT INTO T(ID, G) SELECT ID + 2, V FROM S",
        "INSERT INTO T(ID, G) SELECT ID + 2, SUBSTRING(X FROM 2) FROM S",
        "INSERT INTO T(ID, G) VALUES(3, (SELECT V FROM S WHERE ID = 1))",
        "INSERT INTO T(ID, G) VALUES(3, ?)",
        "INSERT INTO T(ID, G) VALUES(3, ? || '')",
        "INSERT INTO T(ID, G) VALUES(3, CAST(? AS GEOMETRY))",
        "INSERT INTO T(ID, G) SELECT 3, ?",
        "INSERT INTO T(ID, GS) SELECT ID + 2, A FROM S",
        "INSERT INTO T(ID, GS) VALUES(3, ARRAY[CAST(? AS VARCHAR)])",
        "INSERT INTO T SELECT ID + 2, V, NULL FROM S UNION ALL SELECT ID + 4, V, NULL FROM S",
        "UPDATE T SET G = (SELECT V FROM S WHERE ID = 1)",
        "UPDATE T SET (ID, G) = (SELECT ID, V FROM S WHERE S.ID = T.ID)",
        "UPDATE T SET G = ?",
        "UPDATE S SET ID = ID + 5 WHERE CAST(V AS GEOMETRY) IS NOT NULL",
        "UPDATE S SET V = CAST(V AS GEOMETRY)",
        "DELETE FROM T WHERE G IN (SELECT V FROM S)",
        "DELETE FROM S WHERE CAST(V AS GEOMETRY) IS NOT NULL",
        "MERGE INTO T(ID, G) KEY(ID) SELECT ID, V FROM S",
        "MERGE INTO T(ID, G) KEY(G) SELECT ID + 5, V FROM S",
        "MERGE INTO T(ID, G) KEY(ID) VALUES(1, ?)",
        "MERGE INTO T USING S ON T.ID = S.ID WHEN MATCHED THEN UPDATE SET G = V",
        "MERGE INTO T USING S ON G = V WHEN MATCHED THEN DELETE",
        "MERGE INTO T USING S ON T.ID = S.ID + 9 WHEN NOT MATCHED THEN INSERT(ID, G)"
            + " VALUES(S.ID + 9, V)",
        "SELECT ID FROM FINAL TABLE (INSERT INTO T(ID, G) SELECT ID + 2, V FROM S)",
        "SELECT ID FROM OLD TABLE (UPDATE T SET G = (SELECT V FROM S WHERE ID = 1))",
        "SELECT CAST(V AS GEOMETRY) FROM OLD TABLE (DELETE FROM S)",
        "SELECT CAST(V AS GEOMETRY) FROM S FOR UPDATE");
  }

  @ParameterizedTest
  @MethodSource
  void changes(String sql) throws SQLException {
    makeTables();
    refused(
        sql, sql.contains("?") ? new Object[] {Geometries.nestedText(TOO_DEEP)} : new Object[0]);
    assertEquals(
        List.of("1,POINT (1 2),null", "2,POINT EMPTY,null"),
        replica.query("SELECT * FROM T ORDER BY ID"));
    assertEquals(List.of("2"), replica.query("SELECT COUNT(*) FROM S"));
  }

  static List<String> definitions() {
    return List.of(
        "ALTER TABLE S ALTER COLUMN V SET DATA TYPE GEOMETRY",
        "ALTER TABLE S ALTER COLUMN V GEOMETRY",
        "ALTER TABLE S ALTER COLUMN A SET DATA TYPE GEOMETRY ARRAY",
        "ALTER TABLE S ALTER COLUMN V SET DATA TYPE D",
        "ALTER TABLE S ALTER COLUMN ID SET DATA TYPE GEOMETRY USING V",
        "ALTER TABLE S ADD COLUMN G GEOMETRY GENERATED ALWAYS AS (V)",
        "ALTER TABLE S ADD COLUMN G GEOMETRY DEFAULT 'POINT(1 ' || '2' || LOWER(SCHEMA())",
        "ALTER TABLE S ADD COLUMN N INT GENERATED ALWAYS AS"
            + " (CHAR_LENGTH(CAST(CAST(V AS GEOMETRY) AS VARCHAR)))",
        "ALTER TABLE S ADD CHECK (CAST(V AS GEOMETRY) IS NOT NULL)",
        "ALTER TABLE S ADD CHECK (CAST(V AS D) IS NOT NULL)",
        "ALTER TABLE S ADD CONSTRAINT C CHECK (ENVELOPE(V) IS NOT NULL)",
        "CREATE TABLE N(V VARCHAR, G GEOMETRY, CHECK (G = V))",
        "CREATE TABLE N(V VARCHAR, G GEOMETRY, CHECK (CASE WHEN V = 'x' THEN G ELSE V END = G))",
        "CREATE TABLE N(G GEOMETRY, CHECK (G = CAST(G AS VARCHAR)))",
        "CREATE TABLE N(V VARCHAR, G GEOMETRY GENERATED ALWAYS AS (CAST(V AS GEOMETRY)))",
        "CREATE TABLE N(V VARCHAR, CHECK (CAST(V AS GEOMETRY) IS NULL)) AS SELECT V FROM S",
        "CREATE TABLE N(G GEOMETRY DEFAULT LOWER(SCHEMA()))",
        "CREATE TABLE N(V VARCHAR PRIMARY KEY, G GEOMETRY REFERENCES N)",
        "CREATE TABLE N(G GEOMETRY PRIMARY KEY, V VARCHAR REFERENCES N)",
        "CREATE DOMAIN E AS GEOMETRY DEFAULT LOWER(SCHEMA())",
        "CREATE DOMAIN E AS GEOMETRY CHECK (VALUE <> LOWER(SCHEMA()))",
        "CREATE DOMAIN E AS VARCHAR CHECK (CAST(VALUE AS GEOMETRY) IS NOT NULL)",
        "ALTER DOMAIN D SET DEFAULT LOWER(SCHEMA())",
        "ALTER DOMAIN D ADD CHECK (VALUE <> LOWER(SCHEMA()))",
        "ALTER TABLE T ALTER COLUMN G SET DEFAULT LOWER(SCHEMA())",
        "ALTER TABLE T ALTER COLUMN G SET ON UPDATE LOWER(SCHEMA())");
  }

  /** What is in a definition is evaluated in statements that H2 makes for itself. */
  @ParameterizedTest
  @MethodSource
  void definitions(String sql) {
    makeTables();
    Outcome outcome = replica.run(session, sql);
    Outcome.SqlFailed failed = assertInstanceOf(Outcome.SqlFailed.class, outcome, sql);
    assertTrue(
        failed.sqlState().equals("54001") || sql.contains("ENVELOPE"),
        failed.sqlState() + failed.message());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "CREATE TABLE N(ID INT PRIMARY KEY, V VARCHAR, G GEOMETRY(POINT) DEFAULT 'POINT(1 2)',"
            + " CHECK (CHAR_LENGTH(V) < 9), CHECK (G IS NOT NULL))",
        "CREATE TABLE N(G D, CHECK (G <> 'POINT(1 2)'))",
        "CREATE TABLE N(B VARBINARY, G GEOMETRY GENERATED ALWAYS AS (B))",
        "CREATE DOMAIN E AS GEOMETRY DEFAULT 'POINT(1 2)' CHECK (VALUE IS NOT NULL)",
        "ALTER TABLE T ADD COLUMN H GEOMETRY DEFAULT GEOMETRY 'POINT(1 2)'",
        "ALTER TABLE T ADD COLUMN V VARCHAR DEFAULT LOWER(SCHEMA())",
        "ALTER TABLE T ALTER COLUMN G SET DATA TYPE VARCHAR",
        "ALTER TABLE T ALTER COLUMN G SET DEFAULT 'POINT(1 2)'",
        "CREATE TABLE N AS SELECT ID, CAST(V AS GEOMETRY) G FROM S WHERE ID = 2",
        "CREATE TABLE N(G GEOMETRY) AS SELECT V FROM S WHERE ID = 2",
        "INSERT INTO T(ID, G) SELECT 7, V FROM S WHERE ID = 2",
        "UPDATE T SET G = 'POINT(3 4)' WHERE G = 'POINT(1 2)'",
        "MERGE INTO T(ID, G) KEY(ID) SELECT ID, V FROM S WHERE ID = 2"
      })
  void whatIsNotDeepIsAllowed(String sql) {
    makeTables();
    replica.ok(session, sql);
  }

  @Test
  void deepestTextsAreRead() throws SQLException {
    makeTables();
    int deepest = Limits.GEOMETRY_NESTING;
    replica.ok(session, "INSERT INTO T(ID, G) VALUES(3, ?)", Geometries.nestedText(deepest));
    replica.ok(session, "UPDATE S SET V = ? WHERE ID = 1", Geometries.nestedText(deepest));
    replica.ok(session, "UPDATE T SET G = (SELECT V FROM S WHERE ID = 1) WHERE ID = 1");
    assertEquals(
        List.of("1"),
        replica.query(
            "SELECT COUNT(*) FROM T WHERE G = ? AND ID = 3", Geometries.nestedText(deepest)));
    refused("UPDATE T SET G = ?", Geometries.nestedText(deepest + 1));
  }

  @Test
  void columnsOfAResultKeepTheirNames() throws SQLException {
    makeTables();
    assertEquals(
        List.of("2,POINT(1 2),POINT EMPTY,15"),
        replica.query(
            "SELECT S.ID, V, G, CHAR_LENGTH(V) + 5 FROM S JOIN T USING (ID) WHERE V LIKE 'PO%'"
                + " ORDER BY V DESC"));
    assertEquals(
        List.of("POINT(1 2),1"),
        replica.query(
            "SELECT DISTINCT V, COUNT(G) FROM S JOIN T USING (ID) WHERE S.ID = 2 GROUP BY V"));
  }

  @Test
  void arrayThatIsAParameterIsChecked() {
    makeTables();
    Value[] texts = {
      ValueVarchar.get("POINT(1 2)"), ValueVarchar.get(Geometries.nestedText(TOO_DEEP))
    };
    refused("UPDATE T SET GS = ?", ValueArray.get(texts, null));
    refused("DELETE FROM T WHERE G = ANY(?)", ValueArray.get(texts, null));
  }

  @Test
  void textOfNoCollectionIsNotTooDeep() {
    String parentheses = "(".repeat(Limits.GEOMETRY_NESTING + 1);
    assertFalse(GeometryText.isTooDeep(""));
    assertFalse(GeometryText.isTooDeep(parentheses));
    assertFalse(GeometryText.isTooDeep("SRID=1"));
    assertFalse(GeometryText.isTooDeep("POINT" + parentheses));
    assertFalse(GeometryText.isTooDeep("GEOMETRYCOLLECTION" + "()".repeat(1_000)));
    assertTrue(GeometryText.isTooDeep(" \n geometryCollection" + parentheses));
    assertTrue(GeometryText.isTooDeep(" srid=7 ; geometryCollection" + parentheses));
    assertTrue(GeometryText.isTooDeep("GEOMETRYCOLLECTION" + ")".repeat(9) + parentheses));
  }

  /** The longest text that the limit allows. */
  @Test
  void deepestTextOfAMegabyteTakesLittleTime() {
    int deep = Limits.GEOMETRY_NESTING - 1;
    String points = "POINT EMPTY,".repeat(87_000) + "POINT EMPTY";
    String text = "GEOMETRYCOLLECTION(".repeat(deep) + points + ")".repeat(deep);
    assertFalse(GeometryText.isTooDeep(text));
    // the time of the processor, which other work on the machine does not lengthen much
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long begun = threads.getCurrentThreadCpuTime();
    ValueGeometry.get(text);
    assertTrue(threads.getCurrentThreadCpuTime() - begun < Duration.ofSeconds(2).toNanos());
  }

  private void refused(String sql, Object... parameters) {
    Outcome outcome = replica.run(session, sql, parameters);
    Outcome.SqlFailed failed = assertInstanceOf(Outcome.SqlFailed.class, outcome, sql);
    assertRefused(failed.sqlState(), failed.message());
  }

  private static void assertRefused(String state, String message) {
    assertEquals("54001", state, message);
    assertTrue(message.contains("nested deeper than " + Limits.GEOMETRY_NESTING), message);
  }
}
