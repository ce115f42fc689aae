package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.tollgate.core.command.FenceReading;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.wire.SqlState;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which rows an UPDATE or a DELETE with a limit changes. */
class FirstRowsTest {
  private final StoreDriver replica = new StoreDriver();
  private final Planned client = new Planned(replica);
  private final SessionId session = replica.open();

  /** N says in which order the rows were inserted; no index is in this order. */
  @BeforeEach
  void createTables() {
    run("CREATE TABLE TEXTS(N INT, K VARCHAR(9) PRIMARY KEY, V INT)");
    run("CREATE TABLE NUMBERS(N INT, K INT PRIMARY KEY, V INT)");
    run("CREATE TABLE NOKEY(N INT, K INT, V INT)");
    for (String table : List.of("TEXTS", "NUMBERS", "NOKEY")) {
      run("CREATE INDEX " + table + "_V ON " + table + "(V, N DESC)");
      run("CREATE INDEX " + table + "_N ON " + table + "(N DESC)");
      run("INSERT INTO " + table + " SELECT X, 100 - X, MOD(X, 3) FROM SYSTEM_RANGE(1, 9)");
    }
  }

  @AfterEach
  void close() {
    replica.close();
  }

  private void run(String sql, Object... parameters) {
    assertEquals(Planned.OK, client.run(sql, parameters), sql);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          LIMIT 3                                        | 1 2 3 | 9 8 7
          WHERE V = 0 LIMIT 2                            | 3 6   | 9 6
          WHERE V IN (2, 0, 0) FETCH FIRST 3 ROWS ONLY   | 2 3 5 | 9 8 6
          WHERE V IN (SELECT 2 UNION SELECT 1) LIMIT 2   | 1 2   | 8 7
          WHERE N > 4 FETCH NEXT 2 ROWS ONLY             | 5 6   | 9 8
          WHERE N BETWEEN 3 AND 8 AND V > 0 LIMIT (1 + 1)| 4 5   | 8 7
          WHERE K > '92' AND K < '97' LIMIT 2            | 4 5   | 7 6
          WHERE N = 1 OR V = 2 FETCH FIRST ROW ONLY      | 1     | 8
          WHERE EXISTS (SELECT 1 FROM NOKEY X WHERE X.V = T.V AND X.N < T.N) LIMIT 1 | 4 | 9
          WHERE FALSE LIMIT 5                            |       |
          LIMIT 0                                        |       |
          LIMIT 100                                      | 1 2 3 4 5 6 7 8 9 | 1 2 3 4 5 6 7 8 9
          """)
  void changesTheFirstInOrderOfTheKeysOfRows(String rest, String inserted, String byNumber)
      throws SQLException {
    for (String table : List.of("TEXTS", "NUMBERS", "NOKEY")) {
      List<String> expected = rowsOf(table.equals("NUMBERS") ? byNumber : inserted);
      run("UPDATE " + table + " T SET V = V + 100 " + rest);
      assertEquals(expected, numbers(table, "V >= 100"), "UPDATE " + table + " " + rest);
      run("UPDATE " + table + " SET V = V - 100 WHERE V >= 100");
      List<String> before = numbers(table, "TRUE");
      run("DELETE FROM " + table + " AS T " + rest);
      List<String> gone = new ArrayList<>(before);
      gone.removeAll(numbers(table, "TRUE"));
      assertEquals(expected, gone, "DELETE FROM " + table + " " + rest);
      run("DELETE FROM " + table);
      run("INSERT INTO " + table + " SELECT X, 100 - X, MOD(X, 3) FROM SYSTEM_RANGE(1, 9)");
    }
  }

  private List<String> numbers(String table, String condition) throws SQLException {
    return replica.query("SELECT N FROM " + table + " WHERE " + condition + " ORDER BY N");
  }

  private static List<String> rowsOf(String expected) {
    return expected == null ? List.of() : List.of(expected.split(" ")).stream().sorted().toList();
  }

  @Test
  void limitMayBeAParameter() throws SQLException {
    run("DELETE FROM TEXTS WHERE V = ? LIMIT ?", 1, 2);
    run("UPDATE TEXTS SET V = ? WHERE V = ? FETCH FIRST ? ROWS ONLY", 9, 2, 1);
    assertEquals(List.of("2", "3", "5", "6", "7", "8", "9"), numbers("TEXTS", "TRUE"));
    assertEquals(List.of("2"), numbers("TEXTS", "V = 9"));
    assertEquals("90008", client.run("DELETE FROM TEXTS LIMIT ?", -1));
    assertEquals("90008", client.run("DELETE FROM TEXTS LIMIT ?", (Object) null));
  }

  @Test
  void changeWithinAQueryIsLimitedToo() throws SQLException {
    run("SELECT * FROM OLD TABLE (DELETE FROM TEXTS WHERE V = 1 LIMIT 1)");
    run("SELECT N FROM FINAL TABLE (UPDATE TEXTS SET V = 50 WHERE V = 2 LIMIT 2) ORDER BY N");
    assertEquals(List.of("2", "3", "4", "5", "6", "7", "8", "9"), numbers("TEXTS", "TRUE"));
    assertEquals(List.of("2", "5"), numbers("TEXTS", "V = 50"));
  }

  /** A condition that draws at random decides about a row once. */
  @Test
  void conditionIsEvaluatedOncePerRow() throws SQLException {
    run("INSERT INTO NOKEY SELECT X, X, 7 FROM SYSTEM_RANGE(10, 2000)");
    run("DELETE FROM NOKEY WHERE RAND() < 0.5 FETCH FIRST 500 ROWS ONLY");
    assertEquals(List.of("1500"), replica.query("SELECT COUNT(*) FROM NOKEY"));
  }

  /** A replica from a snapshot has other keys of rows where rows are gone, in the same order. */
  @ParameterizedTest
  @ValueSource(strings = {"TEXTS", "NUMBERS", "NOKEY"})
  void replicaFromASnapshotChangesTheSameRows(String table) throws Exception {
    try (StoreDriver restored = new StoreDriver()) {
      Planned other = new Planned(restored);
      run("DELETE FROM " + table + " WHERE N IN (2, 8, 9)");
      run("ALTER TABLE " + table + " ADD COLUMN LATE INT DEFAULT 5");
      DatabaseCopyTest.read(DatabaseCopyTest.snapshotOf(replica.database), restored.database);
      for (String sql :
          List.of(
              "INSERT INTO " + table + "(N, K, V) VALUES(20, 50, 2), (21, 10, 0), (22, 51, 2)",
              "UPDATE " + table + " SET N = N + 100 WHERE V = 2 LIMIT 3",
              "DELETE FROM " + table + " WHERE V <> 1 LIMIT 2",
              "INSERT INTO " + table + "(N, K, V) VALUES(30, 44, 2)",
              "DELETE FROM " + table + " LIMIT 3")) {
        assertEquals(Planned.OK, client.run(sql), sql);
        assertEquals(Planned.OK, other.run(sql), sql);
        assertEquals(
            numbers(table, "TRUE"), restored.query("SELECT N FROM " + table + " ORDER BY N"), sql);
      }
    }
  }

  @Test
  void rowsThatWereLookedAtCount() throws SQLException {
    run("INSERT INTO NOKEY SELECT X, X, 7 FROM SYSTEM_RANGE(10, 2000)");
    String many = "(SELECT COUNT(*) FROM NOKEY A, NOKEY B WHERE A.N + B.N < T.N)";
    assertEquals(
        SqlState.TOO_MUCH_WORK.state(),
        client.run("DELETE FROM NOKEY T WHERE " + many + " < 0 LIMIT 1"));
  }

  @Test
  void rowOfAnotherTransactionIsWaitedFor() throws SQLException {
    replica.in(session, "UPDATE NOKEY SET V = 9 WHERE N = 1");
    SessionId waiting = replica.open();
    assertInstanceOf(
        Outcome.Waiting.class, replica.run(waiting, "DELETE FROM NOKEY WHERE V = 1 LIMIT 1"));
    replica.commit(session);
    // row 1 has another value now
    assertEquals(List.of("1", "2", "3", "5", "6", "7", "8", "9"), numbers("NOKEY", "TRUE"));
  }

  @Test
  void fenceOfTheTableIsAskedFor() {
    long token = replica.take(session, "job");
    replica.fence(session, "TEXTS", FenceReading.HELD);
    String sql = "DELETE FROM TEXTS LIMIT 1";
    assertInstanceOf(Outcome.Refused.class, replica.run(replica.open(), sql));
    assertInstanceOf(Outcome.Executed.class, replica.runFenced(replica.open(), sql, token));
  }
}
