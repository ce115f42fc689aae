package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.Outcome;
import dev.tollgate.core.SessionId;
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
        "DELETE FROM S WHERE V IS JSON"
      })
  void changes(String sql) {
    Object[] parameters = sql.contains("?") ? new Object[] {LONG} : new Object[0];
    Outcome.SqlFailed failed =
        assertInstanceOf(Outcome.SqlFailed.class, replica.run(session, sql, parameters), sql);
    assertEquals("54001", failed.sqlState(), failed.message());
    assertTrue(failed.message().contains("more than 1000 digits"), failed.message());
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
