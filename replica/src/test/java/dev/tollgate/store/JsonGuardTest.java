package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.value.JsonNumbers;
import java.sql.SQLException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every way on which H2 reads JSON text. */
class JsonGuardTest {
  private static final String LONG = "[" + "7".repeat(JsonNumbers.MAX_DIGITS + 1) + "]";

  private final StoreDriver replica = new StoreDriver();
  private final SessionId session = replica.open();

  @BeforeEach
  void makeTables() {
    replica.ok(session, "CREATE TABLE S(ID INT PRIMARY KEY, V VARCHAR, B VARBINARY)");
    replica.ok(
        session,
        "INSERT INTO S VALUES(1, ?, STRINGTOUTF8(?)), (2, '[12]', X'5b31325d')",
        LONG,
        LONG);
    replica.ok(session, "CREATE TABLE T(ID INT PRIMARY KEY, J JSON)");
    replica.ok(session, "INSERT INTO T VALUES(1, JSON '[1]')");
    replica.ok(session, "CREATE TABLE I(ID INT PRIMARY KEY, J JSON)");
    replica.ok(session, "CREATE INDEX IJ ON I(J)");
    replica.ok(session, "INSERT INTO I SELECT X, JSON '[1]' FROM SYSTEM_RANGE(1, 100)");
    replica.ok(session, "CREATE TABLE G(B VARBINARY, J JSON GENERATED ALWAYS AS (B))");
    replica.ok(session, "INSERT INTO G(B) VALUES(X'31')");
    replica.ok(session, "CREATE TABLE C(B VARBINARY, CHECK (B <> JSON '1'))");
  }

  @AfterEach
  void close() {
    replica.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT V FORMAT JSON FROM S",
        "SELECT (V || '') FORMAT JSON FROM S",
        "SELECT COUNT(*) FROM S WHERE V IS JSON",
        "SELECT COUNT(*) FROM S WHERE B IS NOT JSON ARRAY",
        "SELECT JSON_OBJECT('a': V FORMAT JSON) FROM S",
        "SELECT JSON_ARRAY(V FORMAT JSON) FROM S",
        "SELECT JSON_ARRAYAGG(V FORMAT JSON) FROM S",
        "SELECT CAST(B AS JSON) FROM S",
        "SELECT COALESCE(NULLIF(J, J), B FORMAT JSON) FROM S, T",
        "SELECT CASE S.ID WHEN 1 THEN CAST(B AS JSON) ELSE J END FROM S, T",
        "SELECT CAST(ARRAY[B] AS JSON) FROM S",
        "SELECT CAST(ARRAY[ARRAY[B]] AS JSON ARRAY) FROM S",
        "SELECT ARRAY[J, B] FROM S, T",
        "SELECT COALESCE(NULLIF(J, J), B) FROM S, T",
        "SELECT CASE WHEN S.ID = 1 THEN B ELSE J END FROM S, T",
        "SELECT CASE S.ID WHEN 1 THEN B ELSE J END FROM S, T",
        "SELECT CASE J WHEN B THEN 1 END FROM S, T",
        "SELECT JSON_ARRAY(B) FROM S",
        "SELECT JSON_OBJECT('a': B) FROM S",
        "SELECT JSON_ARRAYAGG(B) FROM S",
        "SELECT JSON_OBJECTAGG(KEY 'a' VALUE B) FROM S",
        "SELECT LAG(J, 1, B) OVER (ORDER BY S.ID DESC) FROM S, T",
        "SELECT J FROM T UNION ALL SELECT B FROM S",
        "SELECT B AS X FROM S EXCEPT SELECT J FROM T",
        "SELECT COUNT(*) FROM S, T WHERE J = B",
        "SELECT COUNT(*) FROM S, T WHERE (1, J) = (1, B)",
        "SELECT COUNT(*) FROM T WHERE J IN (SELECT B FROM S)",
        "SELECT COUNT(*) FROM T WHERE J = (SELECT B FROM S WHERE ID = 1)",
        "SELECT COUNT(*) FROM S WHERE B = ANY(SELECT J FROM T)",
        "SELECT COUNT(*) FROM S, T WHERE B BETWEEN J AND JSON '1'",
        "SELECT COUNT(*) FROM S JOIN I ON I.J = S.B",
        "SELECT ? FORMAT JSON",
        "SELECT CAST(? FORMAT JSON AS VARCHAR)"
      })
  void queries(String sql) {
    Object[] parameters = sql.contains("?") ? new Object[] {LONG} : new Object[0];
    SQLException ended = assertThrows(SQLException.class, () -> replica.query(sql, parameters));
    assertEquals("54001", ended.getSQLState(), ended.getMessage());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "INSERT INTO T VALUES(5, ? FORMAT JSON)",
        "INSERT INTO T SELECT ID + 5, V FORMAT JSON FROM S",
        "INSERT INTO T SELECT ID + 5, B FROM S",
        "INSERT INTO T VALUES(5, (SELECT B FROM S WHERE ID = 1))",
        "UPDATE T SET J = (SELECT B FROM S WHERE ID = 1)",
        "MERGE INTO T KEY(ID) SELECT ID, B FROM S",
        "MERGE INTO T USING S ON T.ID = S.ID WHEN MATCHED THEN UPDATE SET J = B",
        "INSERT INTO T SELECT ID + 5, B AS X FROM S UNION SELECT 9, JSON '1'",
        "INSERT INTO T VALUES(5, COALESCE(NULL, (SELECT B FROM S WHERE ID = 1)))",
        "CREATE TABLE N(J JSON) AS SELECT B FROM S",
        "INSERT INTO G(B) SELECT B FROM S",
        "SELECT COUNT(*) FROM FINAL TABLE (INSERT INTO G(B) SELECT B FROM S)",
        "UPDATE G SET B = (SELECT B FROM S WHERE ID = 1)",
        "DELETE FROM S WHERE V IS JSON"
      })
  void changes(String sql) {
    Object[] parameters = sql.contains("?") ? new Object[] {LONG} : new Object[0];
    Outcome.SqlFailed failed =
        assertInstanceOf(Outcome.SqlFailed.class, replica.run(session, sql, parameters), sql);
    assertEquals("54001", failed.sqlState(), failed.message());
    assertTrue(failed.message().contains("more than 1000 digits"), failed.message());
  }

  /** H2 says of all that fails in a CHECK that the constraint is invalid. */
  @Test
  void checks() {
    Outcome.SqlFailed failed =
        assertInstanceOf(
            Outcome.SqlFailed.class, replica.run(session, "INSERT INTO C(B) SELECT B FROM S"));
    assertEquals("54001", failed.sqlState(), failed.message());
    replica.ok(session, "INSERT INTO C(B) SELECT B FROM S WHERE ID = 2");
  }

  @Test
  void otherJsonIsRead() throws SQLException {
    replica.ok(session, "INSERT INTO T SELECT 5, V FORMAT JSON FROM S WHERE ID = 2");
    replica.ok(session, "INSERT INTO T SELECT 6, B FROM S WHERE ID = 2");
    replica.ok(session, "INSERT INTO T SELECT 7, V FROM S WHERE ID = 1");
    assertEquals("[2]", replica.query("SELECT COUNT(*) FROM T WHERE J = JSON '[12]'").toString());
    assertEquals(
        "[1]",
        replica
            .query("SELECT COUNT(*) FROM T WHERE CHAR_LENGTH(CAST(J AS VARCHAR)) > 1000")
            .toString());
  }
}
