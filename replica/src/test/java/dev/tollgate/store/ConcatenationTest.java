package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.SessionId;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One call could put together more than the memory of every node. */
class ConcatenationTest {
  private final StoreDriver replica = new StoreDriver();
  private final SessionId session = replica.open();

  @BeforeEach
  void makeTable() {
    replica.ok(
        session,
        "CREATE TABLE T(ID INT PRIMARY KEY, V VARCHAR, B VARBINARY, A INT ARRAY, G VARCHAR)");
    replica.ok(session, "INSERT INTO T(ID, V) VALUES(1, ?)", "x".repeat(1_000_000));
    replica.ok(session, "UPDATE T SET B = STRINGTOUTF8(V), A = ARRAY[1, 2]");
  }

  @AfterEach
  void close() {
    replica.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "UPDATE T SET V = V%s",
        "UPDATE T SET V = 'a' || V%s",
        "UPDATE T SET ID = CHAR_LENGTH(V%s)",
        "UPDATE T SET B = B%b",
        "UPDATE T SET V = CONCAT(V%c)",
        "UPDATE T SET V = CONCAT_WS('', V%c)",
        "UPDATE T SET V = CONCAT_WS(V, ''%e)",
        "UPDATE T SET ID = CHAR_LENGTH(CAST(JSON_ARRAY(V%c) AS VARCHAR))",
        "DELETE FROM T WHERE V%s = 'x'",
        "INSERT INTO T(ID, V) SELECT 2, V%s FROM T"
      })
  void hugeResultsAreEnded(String sql) throws SQLException {
    String many =
        sql.replace("%s", " || V".repeat(400))
            .replace("%b", " || B".repeat(400))
            .replace("%c", ", V".repeat(400))
            .replace("%e", ", ''".repeat(400));
    Outcome.SqlFailed failed =
        assertInstanceOf(Outcome.SqlFailed.class, replica.run(session, many), sql);
    assertEquals("54001", failed.sqlState(), failed.message());
    // each byte of JSON takes steps
    String bound = sql.contains("JSON") ? " steps, " : "made and wrote more than";
    assertTrue(failed.message().contains(bound), failed.message());
    assertEquals(List.of("1000000"), replica.query("SELECT CHAR_LENGTH(V) FROM T"));
  }

  @Test
  void separatorThatIsAConstantCounts() {
    Outcome.SqlFailed failed =
        assertInstanceOf(
            Outcome.SqlFailed.class,
            replica.run(
                session,
                "UPDATE T SET V = CONCAT_WS('"
                    + "s".repeat(500_000)
                    + "'"
                    + ", G".repeat(9)
                    + ", ID".repeat(400)
                    + ")"));
    assertEquals("54001", failed.sqlState(), failed.message());
  }

  @Test
  void othersAreMade() throws SQLException {
    replica.ok(session, "UPDATE T SET V = V || V || 'x' || ID WHERE ID = 1");
    assertEquals(List.of("2000002"), replica.query("SELECT CHAR_LENGTH(V) FROM T"));
    replica.ok(session, "UPDATE T SET G = CONCAT_WS(', ', 'a', ID, 'b'), A = A || A");
    assertEquals(List.of("a, 1, b,4"), replica.query("SELECT G, CARDINALITY(A) FROM T"));
    assertEquals(
        List.of("{\"a\":1}"), replica.query("SELECT CAST(JSON_OBJECT('a': ID) AS VARCHAR) FROM T"));
  }
}
