package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.store.limits.StoreLimits;
import dev.tollgate.store.limits.WorkLimit;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** No statement of the log goes on for ever, and all replicas end it at the same row. */
class WorkBudgetTest {
  /** Far more than any of these takes, and far less than for ever. */
  private static final long PATIENCE_SECONDS = 60;

  private static final StoreLimits PAYING =
      new StoreLimits(
          new WorkLimit(1_000, 10, 1_000_000),
          WorkLimit.of(1 << 20),
          WorkLimit.of(Limits.STATEMENT_STEPS),
          1_000_000,
          1 << 20);

  /** With the limits of the product. */
  private final StoreDriver replica = new StoreDriver();

  private final SessionId session = replica.open();

  /** What is endless, or as much smaller, exceeds a tenth of the limits too. */
  private final StoreDriver tenth = new StoreDriver(TenthOfLimits.database());

  private final SessionId own = tenth.open();

  @AfterEach
  void close() {
    replica.close();
    tenth.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "INSERT INTO T(V) SELECT X FROM SYSTEM_RANGE(1, 1000000000000)",
        "INSERT INTO T(V) SELECT X FROM SYSTEM_RANGE(1, 1000000000000) ORDER BY X",
        "INSERT INTO T(V) SELECT DISTINCT X FROM SYSTEM_RANGE(1, 1000000000000)",
        "INSERT INTO T(V) SELECT COUNT(*) FROM SYSTEM_RANGE(1, 1000000000000) WHERE X < 0 OR X > 0",
        "INSERT INTO T(V) SELECT SUM(X) FROM SYSTEM_RANGE(1, 1000000000000)",
        "INSERT INTO T(V) SELECT SUM(X) OVER (ORDER BY X) FROM SYSTEM_RANGE(1, 1000000000000)",
        "INSERT INTO T(V) SELECT X FROM SYSTEM_RANGE(1, 1000000000000) WHERE MOD(X, 7) = 8",
        "INSERT INTO T(V) SELECT X FROM SYSTEM_RANGE(1, 1000000000000) LIMIT 1 OFFSET 999999999999",
        "INSERT INTO T(V) SELECT 1 FROM T A, T B WHERE A.V + B.V = -1",
        "INSERT INTO T(V) SELECT 1 FROM T A JOIN T B ON A.V + B.V = -1",
        "INSERT INTO T(V) SELECT 1 FROM T A LEFT JOIN T B ON A.V + B.V = -1",
        "INSERT INTO T(V) SELECT 1 FROM T A, T B, EMPTY_TABLE E WHERE A.V + B.V = -1",
        "INSERT INTO T(V) SELECT 1 FROM SYSTEM_RANGE(1, 1000000000000) R LEFT JOIN EMPTY_TABLE E"
            + " ON E.ID = R.X WHERE E.ID = 1",
        "INSERT INTO T(V) SELECT V FROM V",
        "INSERT INTO T(V) SELECT V FROM (SELECT * FROM V) D",
        "INSERT INTO T(V) SELECT V FROM T WHERE EXISTS (SELECT 1 FROM T X WHERE X.V + T.V = -1)",
        "INSERT INTO T(V) WITH C(N) AS (SELECT A.V FROM T A, T B WHERE A.V + B.V = -1)"
            + " SELECT N FROM C",
        "INSERT INTO T(V) WITH RECURSIVE R(N) AS (SELECT 1 UNION ALL SELECT N + 1 FROM R)"
            + " SELECT N FROM R",
        "INSERT INTO T(V) WITH RECURSIVE R(N) AS (SELECT 1 UNION ALL SELECT N FROM R, T WHERE"
            + " T.V + R.N > 0) SELECT N FROM R",
        "INSERT INTO T(V) WITH RECURSIVE R(N) AS (SELECT 1 UNION ALL SELECT N + 1 FROM R,"
            + " SYSTEM_RANGE(1, 1000000000000) X WHERE X.X + N = -1) SELECT N FROM R",
        "INSERT INTO T(V) SELECT 1 FROM T A, T B WHERE A.V + B.V = -1 UNION SELECT 2",
        "INSERT INTO T(V) VALUES((SELECT COUNT(*) FROM T A, T B WHERE A.V + B.V = -1))",
        "INSERT INTO SLOW(ID) VALUES(1)",
        "UPDATE T SET V = (SELECT COUNT(*) FROM T X WHERE X.V + T.V = -1)",
        "UPDATE T SET V = 1 WHERE V IN (SELECT A.V + B.V FROM T A, T B WHERE A.V + B.V = -1)",
        "DELETE FROM T WHERE (SELECT COUNT(*) FROM T X WHERE X.V + T.V = -1) = 1",
        "MERGE INTO T USING (SELECT A.V FROM T A, T B WHERE A.V + B.V = -1) D ON T.ID = D.V"
            + " WHEN MATCHED THEN DELETE",
        "MERGE INTO T USING SYSTEM_RANGE(1, 1000000000000) R ON T.ID = R.X WHEN NOT MATCHED THEN"
            + " INSERT (V) VALUES(1)",
        "MERGE INTO T(ID, V) KEY(ID) SELECT X, X FROM SYSTEM_RANGE(1, 1000000000000)",
        "CREATE TABLE N AS SELECT X FROM SYSTEM_RANGE(1, 1000000000000)",
        "CREATE TABLE N AS SELECT A.ID FROM T A, T B WHERE A.V + B.V = -1",
        "SELECT NEXT VALUE FOR S, COUNT(*) FROM T A, T B WHERE A.V + B.V = -1",
        "SELECT * FROM FINAL TABLE (INSERT INTO T(V) SELECT 1 FROM T A, T B WHERE A.V + B.V = -1)",
        "SELECT ID FROM T WHERE EXISTS (SELECT 1 FROM T X WHERE X.V + T.V = -1) FOR UPDATE"
      })
  void endlessStatementIsEndedAndChangesNothing(String sql) throws Exception {
    try (StoreDriver other = new StoreDriver(TenthOfLimits.database())) {
      SessionId second = other.open();
      createTables(tenth, own);
      createTables(other, second);
      String before = tenth.script();
      long start = System.nanoTime();
      Outcome outcome = tenth.run(own, sql);
      long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start);
      assertEquals("54001", stateOf(outcome), outcome.toString());
      assertTrue(seconds < PATIENCE_SECONDS, seconds + " s");
      assertEquals(outcome, other.run(second, sql));
      // sequences are not rolled back, so only what follows has to be equal
      tenth.ok(own, "INSERT INTO T(V) VALUES(-7)");
      other.ok(second, "INSERT INTO T(V) VALUES(-7)");
      assertEquals(tenth.script(), other.script());
      tenth.ok(own, "DELETE FROM T WHERE V = -7");
      assertEquals(rowsOf(before), rowsOf(tenth.script()));
    }
  }

  private static void createTables(StoreDriver on, SessionId who) {
    on.ok(who, "CREATE TABLE T(ID BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY, V BIGINT)");
    for (int first = 1; first < 3_000; first += 300) {
      on.ok(
          who, "INSERT INTO T(V) SELECT X FROM SYSTEM_RANGE(" + first + ", " + (first + 299) + ")");
    }
    on.ok(who, "CREATE TABLE EMPTY_TABLE(ID BIGINT PRIMARY KEY, V BIGINT)");
    on.ok(who, "CREATE SEQUENCE S");
    on.ok(who, "CREATE VIEW V AS SELECT A.ID, B.V FROM T A, T B WHERE A.V + B.V = -1");
    on.ok(
        who,
        "CREATE TABLE SLOW(ID BIGINT PRIMARY KEY, V BIGINT DEFAULT (SELECT COUNT(*) FROM T A, T B"
            + " WHERE A.V + B.V = -1))");
  }

  /** A script without the positions of sequences, which no failure takes back. */
  private static List<String> rowsOf(String script) {
    return script
        .lines()
        .filter(l -> !l.startsWith("SYSTEM_SEQUENCE") && !l.startsWith("S,"))
        .toList();
  }

  private static String stateOf(Outcome outcome) {
    return assertInstanceOf(Outcome.SqlFailed.class, outcome, outcome.toString()).sqlState();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "INSERT INTO N SELECT X, ? || X FROM SYSTEM_RANGE(1, 100000)",
        "UPDATE N SET S = ? || ID",
        "MERGE INTO N(ID, S) KEY(ID) SELECT X, ? || X FROM SYSTEM_RANGE(1, 100000)",
        "MERGE INTO N USING SYSTEM_RANGE(1, 100000) R ON ID = X WHEN MATCHED THEN UPDATE SET S ="
            + " ? || X WHEN NOT MATCHED THEN INSERT VALUES(X, 'x')",
        "INSERT INTO N SELECT 1, LISTAGG(? || X) WITHIN GROUP (ORDER BY X) FROM SYSTEM_RANGE(1,"
            + " 9000)",
        "INSERT INTO N SELECT COUNT(*), 'x' FROM (SELECT DISTINCT ? || X FROM SYSTEM_RANGE(1,"
            + " 9000)) D",
        "INSERT INTO N SELECT CARDINALITY(ARRAY_AGG(? || X ORDER BY X)), 'x' FROM SYSTEM_RANGE(1,"
            + " 9000)",
        "INSERT INTO N WITH RECURSIVE R(I, S) AS (SELECT 1, 'x' UNION ALL SELECT I + 1, ? || I"
            + " FROM R) SELECT I, S FROM R",
        "SELECT ID FROM FINAL TABLE (INSERT INTO N SELECT X, ? || X FROM SYSTEM_RANGE(1, 9000))",
        "SELECT ID FROM FINAL TABLE (UPDATE N SET S = LPAD(?, 500000 + MOD(ID, 9), 'y'))",
        "SELECT COUNT(*) FROM OLD TABLE (UPDATE N SET S = LPAD(?, 500000 + MOD(ID, 9), 'y'))"
      })
  void statementThatWritesLargeRowsIsEnded(String sql) throws SQLException {
    replica.ok(session, "CREATE TABLE N(ID INT, S VARCHAR)");
    replica.ok(session, "INSERT INTO N SELECT X, 'x' FROM SYSTEM_RANGE(1, 5000)");
    String before = replica.script();
    for (Operation.WantedKeys keys :
        List.of(
            new Operation.WantedKeys.None(),
            new Operation.WantedKeys.Names(List.of("ID")),
            new Operation.WantedKeys.Positions(List.of()))) {
      List<Object[]> large = List.<Object[]>of(new Object[] {"x".repeat(500_000)});
      Outcome outcome =
          replica.perform(session, StoreDriver.statement(sql, null, large, keys, null));
      assertEquals("54001", stateOf(outcome), outcome.toString());
      assertEquals(before, replica.script());
    }
  }

  /**
   * H2 goes through rows again for each row, and keeps what rows are ordered by. The work grows
   * with the square of the rows: these would be 20,000 with the limits of the product.
   */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "MAX(X) OVER (ORDER BY X ROWS BETWEEN 1600 PRECEDING AND 1600 FOLLOWING)",
        "MAX(X) OVER (ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW EXCLUDE CURRENT ROW)",
        "MEDIAN(X) OVER (ORDER BY X)",
        "SUM(DISTINCT X) OVER (ORDER BY X)",
        "NTH_VALUE(X, 2300) OVER (ORDER BY X)",
        "LAG(NULLIF(X, X), 2300) IGNORE NULLS OVER (ORDER BY X)",
        "FIRST_VALUE(NULLIF(X, X)) IGNORE NULLS OVER (ORDER BY X)",
        "ROW_NUMBER() OVER (PARTITION BY REPEAT('a', 1000000 + X))",
        "ROW_NUMBER() OVER (ORDER BY REPEAT('a', 1000000 + X))"
      })
  void windowCounts(String function) {
    createTables(tenth, own);
    String sql =
        "INSERT INTO T(V) SELECT COUNT(*) FROM (SELECT %s M FROM SYSTEM_RANGE(1, 6500)) WHERE M ="
            + " 5";
    Outcome outcome = tenth.run(own, sql.formatted(function));
    assertEquals("54001", stateOf(outcome), outcome.toString());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ROW_NUMBER() OVER (PARTITION BY MOD(X, 5) ORDER BY X)",
        "SUM(X) OVER (ORDER BY X)",
        "SUM(X) OVER (ORDER BY X ROWS BETWEEN 5 PRECEDING AND CURRENT ROW)",
        "SUM(X) OVER (ORDER BY X ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING)",
        "LAG(X, 3) OVER (ORDER BY X)",
        "LAST_VALUE(X) OVER (PARTITION BY MOD(X, 5))",
        "RANK() OVER (ORDER BY MOD(X, 5))"
      })
  void cheapWindowIsComputed(String function) {
    createTables(replica, session);
    String sql =
        "INSERT INTO T(V) SELECT COUNT(*) FROM (SELECT %s M FROM SYSTEM_RANGE(1, 20000)) WHERE M ="
            + " 5";
    replica.ok(session, sql.formatted(function));
  }

  @Test
  void orderOfAnAggregateCounts() {
    createTables(tenth, own);
    Outcome outcome =
        tenth.run(
            own,
            "INSERT INTO T(V) SELECT LENGTH(LISTAGG(X, ',') WITHIN GROUP (ORDER BY REPEAT('a',"
                + " 1000000 + X))) FROM SYSTEM_RANGE(1, 300)");
    assertEquals("54001", stateOf(outcome), outcome.toString());
  }

  @Test
  void checkOfALongTextCounts() {
    tenth.ok(own, "CREATE TABLE C(ID INT, CHECK (REPEAT('x', 1000000 + ID) <> 'a'))");
    Outcome outcome = tenth.run(own, "INSERT INTO C SELECT X FROM SYSTEM_RANGE(1, 200)");
    assertEquals("54001", stateOf(outcome), outcome.toString());
    tenth.ok(own, "INSERT INTO C SELECT X FROM SYSTEM_RANGE(1, 2)");
  }

  @Test
  void newTableOfLargeRowsIsNotMade() throws SQLException {
    String large = "x".repeat(500_000);
    Outcome outcome =
        replica.run(
            session,
            "CREATE TABLE N AS SELECT X, '" + large + "' || X AS S FROM SYSTEM_RANGE(1, 100000)");
    assertEquals("54001", stateOf(outcome), outcome.toString());
    replica.ok(session, "CREATE TABLE N AS SELECT X, RAND() AS R FROM SYSTEM_RANGE(1, 3)");
    assertEquals(List.of("3"), replica.query("SELECT COUNT(DISTINCT R) FROM N"));
  }

  /** A statement pays for data that exists: here 1,000 rows at first, and 10 for each row. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "UPDATE BIG SET V = V + 1",
        "INSERT INTO EMPTY_TABLE SELECT ID, V FROM BIG",
        "INSERT INTO EMPTY_TABLE SELECT ID, V FROM BIG_VIEW",
        "INSERT INTO EMPTY_TABLE SELECT ID, V FROM (SELECT * FROM BIG) D WHERE V >= 0",
        "INSERT INTO EMPTY_TABLE WITH C AS (SELECT * FROM BIG) SELECT ID, V FROM C",
        "CREATE TABLE N AS SELECT * FROM BIG",
        "CREATE TABLE N(ID BIGINT PRIMARY KEY, V BIGINT) AS SELECT ID, V FROM BIG_VIEW",
        "MERGE INTO EMPTY_TABLE(ID, V) KEY(ID) SELECT ID, V FROM BIG",
        "MERGE INTO EMPTY_TABLE E USING BIG B ON E.ID = B.ID WHEN NOT MATCHED THEN INSERT"
            + " VALUES(B.ID, B.V)",
        "UPDATE BIG B SET V = (SELECT V FROM BIG A WHERE A.ID = B.ID)",
        "SELECT COUNT(*) FROM FINAL TABLE (INSERT INTO EMPTY_TABLE SELECT ID, V FROM BIG)",
        "DELETE FROM BIG"
      })
  void workThatGrowsWithTheTablesIsDone(String sql) throws SQLException {
    try (StoreDriver small = new StoreDriver(new SqlDatabase(PAYING))) {
      SessionId owner = withBigTable(small);
      small.ok(owner, sql);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "UPDATE BIG SET V = (SELECT COUNT(*) FROM BIG A, BIG B WHERE A.V + B.V = -1)",
        "INSERT INTO EMPTY_TABLE SELECT A.ID * 10000 + B.ID, 1 FROM BIG A, BIG B",
        "INSERT INTO EMPTY_TABLE SELECT X, X FROM SYSTEM_RANGE(1, 200)",
        "MERGE INTO EMPTY_TABLE E USING SYSTEM_RANGE(1, 200) R ON E.ID = R.X WHEN NOT MATCHED THEN"
            + " INSERT VALUES(R.X, 1)",
        "SELECT COUNT(*) FROM FINAL TABLE (INSERT INTO EMPTY_TABLE SELECT X, X FROM SYSTEM_RANGE(1,"
            + " 200))",
        "CREATE TABLE N(ID BIGINT PRIMARY KEY) AS SELECT X FROM SYSTEM_RANGE(1, 200)"
      })
  void workThatGrowsWithNothingIsEnded(String sql) throws SQLException {
    try (StoreDriver small = new StoreDriver(new SqlDatabase(PAYING))) {
      SessionId owner = withBigTable(small);
      Outcome outcome = small.run(owner, sql);
      assertEquals("54001", stateOf(outcome), outcome.toString());
      assertEquals(List.of("0"), small.query("SELECT COUNT(*) FROM EMPTY_TABLE"));
    }
  }

  @Test
  void rowsThatAreWrittenOutPayToo() throws SQLException {
    try (StoreDriver small = new StoreDriver(new SqlDatabase(PAYING))) {
      SessionId owner = withBigTable(small);
      small.ok(owner, "INSERT INTO EMPTY_TABLE VALUES(0, 0)" + rows(5_000));
      assertEquals(List.of("5001"), small.query("SELECT COUNT(*) FROM EMPTY_TABLE"));
    }
  }

  private static String rows(int count) {
    StringBuilder rows = new StringBuilder();
    for (int i = 1; i <= count; i++) {
      rows.append(", (").append(i).append(", 0)");
    }
    return rows.toString();
  }

  /** What others insert and delete counts on every replica, so it may count. */
  @Test
  void errorSaysWhatTheLimitIsMadeOf() throws SQLException {
    try (StoreDriver small = new StoreDriver(new SqlDatabase(PAYING))) {
      SessionId owner = withBigTable(small);
      SessionId other = small.open();
      small.in(other, "DELETE FROM BIG WHERE ID <= 1000");
      Outcome outcome = small.run(owner, "INSERT INTO EMPTY_TABLE SELECT 1, 1 FROM BIG A, BIG B");
      assertEquals(
          "the statement was ended and its changes undone, because it looked at more than 41000 rows:"
              + " every replica would stand still meanwhile. A statement may look at 1000 rows, and"
              + " 10 more for each of the 4000 rows that its tables and its VALUES have, but not"
              + " more than 1000000. Split it, for instance by ranges of the key, or give its"
              + " conditions and joins an index",
          assertInstanceOf(Outcome.SqlFailed.class, outcome).message());
    }
  }

  @Test
  void setsOfABatchShareWhatAStatementMayDoForNothing() throws SQLException {
    try (StoreDriver small = new StoreDriver(new SqlDatabase(PAYING))) {
      SessionId owner = withBigTable(small);
      String sql =
          "INSERT INTO EMPTY_TABLE SELECT CAST(? AS BIGINT), COUNT(*) FROM SYSTEM_RANGE(1, 400)"
              + " WHERE MOD(X, 7) = 8";
      List<Outcome> outcomes = batch(small, owner, sql, 3);
      assertInstanceOf(Outcome.Executed.class, outcomes.get(0));
      assertEquals("54001", stateOf(outcomes.get(1)));
      assertTrue(
          outcomes.get(1).toString().contains("The statements and sets of one request share this"),
          outcomes.get(1).toString());
      assertTrue(outcomes.get(2).toString().contains("was not run"), outcomes.get(2).toString());
      assertEquals(List.of("0"), small.query("SELECT ID FROM EMPTY_TABLE"));
      small.ok(owner, sql, 7);
    }
  }

  @Test
  void setsOfABatchEndAtTheMostThatOneStatementMayDo() throws SQLException {
    try (StoreDriver small = new StoreDriver(new SqlDatabase(PAYING))) {
      SessionId owner = withBigTable(small);
      List<Outcome> outcomes =
          batch(small, owner, "UPDATE EMPTY_TABLE SET V = ? WHERE ID IN (SELECT V FROM BIG)", 300);
      List<Outcome> refused =
          outcomes.stream().filter(o -> o instanceof Outcome.SqlFailed).toList();
      assertEquals(175, refused.size(), "8,000 rows each, 1,000,000 in all");
      assertEquals("54001", stateOf(refused.get(0)));
    }
  }

  /** Each of them alone is well within the steps that a statement has. */
  @Test
  void setsOfABatchShareTheirSteps() throws SQLException {
    createTables(replica, session);
    String sql =
        "INSERT INTO EMPTY_TABLE SELECT 0, LOCATE('b', REPEAT('a', 900000) || ?) FROM"
            + " SYSTEM_RANGE(1, 10) WHERE FALSE OR LOCATE('b', REPEAT('a', 900000) || ?) > 0";
    List<Object[]> sets = new ArrayList<>(Collections.nCopies(40, new Object[] {"a", "a"}));
    List<Outcome> outcomes =
        ((Outcome.Batch) replica.perform(session, StoreDriver.statement(sql, null, sets)))
            .outcomes();
    assertInstanceOf(Outcome.Executed.class, outcomes.get(0));
    Outcome last = outcomes.get(outcomes.size() - 1);
    assertTrue(last.toString().contains("was not run"), last.toString());
    assertTrue(outcomes.stream().anyMatch(o -> o.toString().contains("steps")));
    replica.ok(session, sql, "a", "a");
  }

  /** Rows that are written out pay for themselves, once for each set that has them. */
  @Test
  void setsOfABatchShareWhatATransactionMayChange() throws SQLException {
    StoreLimits few =
        new StoreLimits(
            WorkLimit.of(Limits.STATEMENT_ROWS),
            WorkLimit.of(Limits.STATEMENT_WRITTEN_BYTES),
            WorkLimit.of(Limits.STATEMENT_STEPS),
            /* transactionChanges= */ 10_000,
            Limits.TRANSACTION_WRITTEN_BYTES);
    try (StoreDriver small = new StoreDriver(new SqlDatabase(few))) {
      SessionId owner = small.open();
      small.ok(owner, "CREATE TABLE P(V INT)");
      String sql = "INSERT INTO P VALUES (1)" + ",(1)".repeat(2_999);
      List<Object[]> sets = new ArrayList<>(Collections.nCopies(9, new Object[0]));
      List<Outcome> outcomes =
          ((Outcome.Batch) small.perform(owner, StoreDriver.statement(sql, null, sets))).outcomes();
      assertTrue(
          outcomes.get(3).toString().contains("one request changes at most 10000 rows"),
          outcomes.get(3).toString());
      assertTrue(outcomes.get(4).toString().contains("was not run"), outcomes.get(4).toString());
      assertEquals(List.of("9000"), small.query("SELECT COUNT(*) FROM P"));
      small.ok(owner, sql);
    }
  }

  @Test
  void largeBatchesOfPlainWritesGoThrough() throws SQLException {
    try (StoreDriver small = new StoreDriver(new SqlDatabase(PAYING))) {
      SessionId owner = withBigTable(small);
      for (String sql :
          List.of(
              "INSERT INTO EMPTY_TABLE VALUES(?, 0)",
              "UPDATE EMPTY_TABLE SET V = V + 1 WHERE ID = ?",
              "DELETE FROM EMPTY_TABLE WHERE ID = ?")) {
        for (Outcome outcome : batch(small, owner, sql, 5_000)) {
          assertInstanceOf(Outcome.Executed.class, outcome);
        }
      }
    }
  }

  /** The outcomes of the sets 0 to {@code count - 1}. */
  private static List<Outcome> batch(
      StoreDriver replica, SessionId session, String sql, int count) {
    List<Object[]> sets = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      sets.add(new Object[] {i});
    }
    return ((Outcome.Batch) replica.perform(session, StoreDriver.statement(sql, null, sets)))
        .outcomes();
  }

  private static SessionId withBigTable(StoreDriver small) {
    SessionId owner = small.open();
    small.ok(owner, "CREATE TABLE BIG(ID BIGINT PRIMARY KEY, V BIGINT)");
    small.ok(owner, "CREATE INDEX BIG_V ON BIG(V)");
    small.ok(owner, "CREATE TABLE EMPTY_TABLE(ID BIGINT PRIMARY KEY, V BIGINT)");
    small.ok(owner, "CREATE VIEW BIG_VIEW AS SELECT ID, V FROM BIG WHERE ID > 0");
    for (int first = 0; first < 4_000; first += 50) {
      small.ok(
          owner,
          "INSERT INTO BIG SELECT X, X FROM SYSTEM_RANGE("
              + (first + 1)
              + ", "
              + (first + 50)
              + ")");
    }
    return owner;
  }

  @Test
  void definitionsMayGoThroughALargeTable() throws SQLException {
    try (StoreDriver small =
        new StoreDriver(
            new SqlDatabase(
                new StoreLimits(
                    WorkLimit.of(20_000),
                    WorkLimit.of(10_000_000),
                    WorkLimit.of(Limits.STATEMENT_STEPS),
                    1_000_000,
                    10_000_000)))) {
      SessionId owner = small.open();
      small.ok(owner, "CREATE TABLE T(ID BIGINT PRIMARY KEY, V BIGINT)");
      for (int i = 0; i < 20; i++) {
        small.ok(
            owner,
            "INSERT INTO T SELECT X, X FROM SYSTEM_RANGE("
                + i * 1_000
                + ", "
                + (i * 1_000 + 999)
                + ")");
      }
      assertEquals("54001", stateOf(small.run(owner, "UPDATE T SET V = V + 1")));
      small.ok(owner, "CREATE INDEX T_V ON T(V)");
      small.ok(owner, "ALTER TABLE T ADD COLUMN W INT DEFAULT 1");
      small.ok(owner, "ALTER TABLE T ALTER COLUMN V SET DATA TYPE NUMERIC(20)");
      small.ok(owner, "ALTER TABLE T ADD CONSTRAINT C CHECK (V >= 0)");
      small.ok(
          owner,
          "ALTER TABLE T ADD (X INT DEFAULT 1 + ABS(0) CHECK (X > 0), Y INT AS (X + W), Z TIMESTAMP"
              + " DEFAULT CURRENT_TIMESTAMP)");
      assertEquals(List.of("20000"), small.query("SELECT COUNT(*) FROM T"));
    }
  }

  @Test
  void writeJoinsManyTables() throws SQLException {
    createTables(replica, session);
    String joins = "";
    for (int i = 0; i < 11; i++) {
      joins += " JOIN T AS T" + i + " USING(ID)";
    }
    replica.ok(session, "INSERT INTO EMPTY_TABLE SELECT T.ID, 1 FROM T" + joins);
    assertEquals(List.of("3000"), replica.query("SELECT COUNT(*) FROM EMPTY_TABLE"));
  }
}
