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
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Views of views: H2 goes through a view as often as it is used, and nobody can interrupt it. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ViewWeightsTest {
  private final StoreDriver replica = new StoreDriver();
  private final SessionId session = replica.open();

  @BeforeEach
  void makeTable() {
    replica.ok(session, "CREATE TABLE T(C INT PRIMARY KEY)");
    replica.ok(session, "INSERT INTO T VALUES(1), (2)");
    replica.ok(session, "CREATE VIEW V0 AS SELECT C FROM T");
  }

  @AfterEach
  void close() {
    replica.close();
  }

  /** 25 took three seconds in each statement that used the last of them, 35 an hour. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT A.C FROM ? A, ? B WHERE A.C = B.C",
        "SELECT C FROM ? UNION SELECT C FROM ?",
        "SELECT C FROM ? WHERE C IN (SELECT C FROM ?)",
        "SELECT C FROM ? WHERE EXISTS (SELECT 1 FROM ?)",
        "SELECT A.C FROM (SELECT C FROM ?) A JOIN ? B ON A.C = B.C",
        "SELECT C FROM PUBLIC.? WHERE C < ANY(SELECT C + 1 FROM \"PUBLIC\".\"?\")"
      })
  void viewsThatDoubleEnd(String query) throws Exception {
    int last = 0;
    while (replica.run(session, view(last + 1, query)) instanceof Outcome.Executed) {
      last++;
    }
    assertEquals(13, last);
    refused(view(last + 1, query));
    replica.query("SELECT C FROM V" + last + " WHERE C = 7");
    byte[] snapshot = DatabaseCopyTest.snapshotOf(replica.database);
    try (StoreDriver copy = new StoreDriver(DatabaseCopyTest.restored(snapshot))) {
      assertEquals(
          replica.run(session, view(last + 1, query)),
          copy.run(copy.open(), view(last + 1, query)));
    }
  }

  private static String view(int i, String query) {
    return "CREATE VIEW V" + i + " AS " + query.replace("?", "V" + (i - 1));
  }

  /** A view that has its own name in a text is no circle. */
  @Test
  void namesInTextsAreNotUsed() {
    replica.ok(session, "CREATE VIEW W AS SELECT C, '\"PUBLIC\".\"W\"' AS A FROM T");
    replica.ok(
        session,
        "CREATE VIEW X AS SELECT C, 'it''s \"PUBLIC\".\"X\"' AS \"B'\", '\"PUBLIC\".\"X\"' AS A FROM W");
    assertInstanceOf(
        Outcome.SqlFailed.class,
        replica.run(session, "CREATE OR REPLACE VIEW W AS SELECT C, 'x' AS A FROM X"));
  }

  /** H2 writes such names with escapes. */
  @Test
  void viewsWhoseNamesAreNotAsciiAreWeighed() {
    String names = "CREATE VIEW \"É%d\" AS SELECT A.C FROM \"É%d\" A JOIN \"É%d\" B ON A.C = B.C";
    replica.ok(session, "CREATE VIEW \"É0\" AS SELECT C FROM T");
    int level = 1;
    while (replica.run(session, String.format(names, level, level - 1, level - 1))
        instanceof Outcome.Executed) {
      level++;
      assertTrue(level < 20, "none is refused");
    }
    refused(String.format(names, level, level - 1, level - 1));
  }

  @Test
  void viewWithNamedQueriesWeighsFiftyTimes() {
    replica.ok(session, "CREATE VIEW V1 AS WITH X AS (SELECT C FROM V0) SELECT A.C FROM X A, X B");
    replica.ok(session, "CREATE VIEW V2 AS WITH X AS (SELECT C FROM V1) SELECT A.C FROM X A, X B");
    refused("CREATE VIEW V3 AS WITH X AS (SELECT C FROM V2) SELECT A.C FROM X A, X B");
    replica.ok(session, "CREATE VIEW V3 AS SELECT C FROM V2");
  }

  @Test
  void viewThatIsReplacedUnderOthersIsWeighedWithThem() throws Exception {
    for (int i = 1; i <= 10; i++) {
      replica.ok(session, view(i, "SELECT A.C FROM ? A JOIN ? B ON A.C = B.C"));
    }
    replica.ok(session, "CREATE VIEW W AS SELECT C FROM T");
    for (int i = 0; i < 4; i++) {
      replica.ok(
          session,
          "CREATE VIEW W"
              + i
              + " AS SELECT C FROM W UNION ALL SELECT C FROM W"
              + (i == 0 ? "" : i - 1));
    }
    replica.ok(session, "CREATE OR REPLACE VIEW V0 AS SELECT C FROM W");
    refused(
        "CREATE OR REPLACE VIEW V0 AS SELECT C FROM W3 UNION SELECT C FROM W2 UNION SELECT C FROM W3");
    assertEquals(List.of("1", "2"), replica.query("SELECT C FROM V0 ORDER BY C"));
  }

  @Test
  void viewsThatAreForcedFromTheTopAreWeighedToo() {
    int missing = 30;
    while (replica.run(session, forced(missing)) instanceof Outcome.Executed) {
      missing--;
    }
    assertEquals(30 - 14, missing);
    refused(forced(missing));
    refused("CREATE VIEW F" + missing + " AS SELECT C FROM T");
    replica.ok(session, "CREATE TABLE F" + missing + "(C INT)");
    replica.ok(session, "INSERT INTO T SELECT C + 10 FROM F30 WHERE C = 1");
  }

  /** A text that H2 could not read is as the client wrote it. */
  @Test
  void viewsThatAreForcedWithEscapedNamesAreWeighedToo() {
    int missing = 30;
    while (replica.run(session, escaped(missing)) instanceof Outcome.Executed) {
      missing--;
      assertTrue(missing > 0, "none is refused");
    }
    assertEquals(30 - 14, missing);
    Outcome.SqlFailed hidden =
        assertInstanceOf(
            Outcome.SqlFailed.class,
            replica.run(
                session,
                "CREATE FORCE VIEW E1 AS SELECT C FROM U&\"!00c9\" /* hidden */ UESCAPE '!'"));
    assertEquals("54001", hidden.sqlState(), hidden.message());
    replica.ok(session, "CREATE VIEW E2 AS SELECT C FROM U&\"!0054\" UESCAPE '!'");
  }

  private static String escaped(int i) {
    String below = "00c9" + (i - 1);
    return "CREATE FORCE VIEW U&\"\\00c9"
        + i
        + "\" AS SELECT A.C FROM U&\"\\"
        + below
        + "\" A, u&\"\\+00"
        + below
        + "\" B";
  }

  private static String forced(int i) {
    return "CREATE FORCE VIEW F" + i + " AS SELECT A.C FROM F" + (i - 1) + " A, f" + (i - 1) + " B";
  }

  @Test
  void wideViewThatNamesItsColumnsIsLight() {
    StringBuilder columns = new StringBuilder("V0.C C0");
    for (int i = 1; i < 1_000; i++) {
      columns.append(", V0.C C").append(i);
    }
    replica.ok(session, "CREATE VIEW V1 AS SELECT " + columns + " FROM V0");
    for (int i = 2; i < 10; i++) {
      replica.ok(
          session,
          "CREATE VIEW V"
              + i
              + " AS SELECT V"
              + (i - 1)
              + ".C"
              + (i == 2 ? "0" : "")
              + " C FROM V"
              + (i - 1));
    }
  }

  /** Two on each level, of both below: 13 levels took 3 s in each definition, 20 some minutes. */
  @Test
  void viewsAreCompiledAFewTimesAfterADefinition() {
    int last = 0;
    do {
      last++;
      String query = "SELECT A.C FROM L? A, R? B".replace("?", Integer.toString(last - 1));
      if (last == 1) {
        query = "SELECT C FROM T";
      }
      if (replica.run(session, "CREATE VIEW L" + last + " AS " + query) instanceof Outcome.SqlFailed
          || replica.run(session, "CREATE VIEW R" + last + " AS " + query)
              instanceof Outcome.SqlFailed) {
        break;
      }
    } while (last < 20);
    assertEquals(13, last);
    refused(
        "CREATE VIEW L14 AS SELECT A.C FROM L12 A, R12 B",
        "views would be compiled 24565 times after each definition");
  }

  @Test
  void charactersOfViewsAreCountedAsOftenAsTheyAreCompiled() {
    String long1 =
        "CREATE VIEW W? AS SELECT C FROM T WHERE CAST(C AS VARCHAR) <> '"
            + "x".repeat(900_000)
            + "'";
    for (int i = 0; i < 9; i++) {
      replica.ok(session, long1.replace("?", Integer.toString(i)));
    }
    refused(long1.replace("?", "9"), "characters are allowed");
  }

  /** H2 makes those that use it valid when a view becomes valid; 200 took 17 s. */
  @Test
  void viewsThatAreForcedFromTheTopAreCompiledInOneRound() throws SQLException {
    for (int i = 150; i > 0; i--) {
      replica.ok(session, "CREATE FORCE VIEW F" + i + " AS SELECT C FROM F" + (i - 1));
    }
    replica.ok(session, "CREATE TABLE F0(C INT)");
    replica.ok(session, "INSERT INTO F0 VALUES(5)");
    assertEquals(List.of("5"), replica.query("SELECT C FROM F150"));
  }

  private void refused(String sql) {
    refused(sql, "use views more than 20000 times");
  }

  private void refused(String sql, String message) {
    Outcome.SqlFailed failed =
        assertInstanceOf(Outcome.SqlFailed.class, replica.run(session, sql), sql);
    assertEquals("54001", failed.sqlState(), failed.message());
    assertTrue(failed.message().contains(message), failed.message());
  }
}
