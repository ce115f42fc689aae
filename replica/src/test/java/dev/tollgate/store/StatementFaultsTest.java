package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.SqlContext;
import dev.tollgate.core.command.LogPosition;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RandomSeed;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TableName;
import dev.tollgate.core.command.UserName;
import dev.tollgate.store.fence.RowGuards;
import dev.tollgate.store.h2.ReplicaFailure;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a statement throws is a refusal that has changed nothing, and stops no replica. */
class StatementFaultsTest {
  private final StoreDriver replica = new StoreDriver();
  private final SessionId session = replica.open();

  @BeforeEach
  void define() {
    replica.ok(session, "CREATE TABLE T(ID INT PRIMARY KEY, V INT)");
    replica.ok(session, "CREATE TABLE U(X BIGINT)");
    replica.ok(session, "INSERT INTO T VALUES(1, 1), (2, 2), (3, 3)");
  }

  @AfterEach
  void close() {
    replica.close();
  }

  /** H2 throws exceptions at all of these that it does not expect itself. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "INSERT INTO U SELECT X FROM SYSTEM_RANGE(1, CAST(NULL AS INT))",
        "INSERT INTO U SELECT X FROM SYSTEM_RANGE(1, 5, NULL)",
        "DELETE FROM T WHERE TIME WITH TIME ZONE '10:00:00+00' + INTERVAL '1' YEAR IS NULL",
        "INSERT INTO U SELECT NTILE(NULL) OVER (ORDER BY ID) FROM T",
        "INSERT INTO U SELECT LAG(ID, NULL) OVER (ORDER BY ID) FROM T",
        "INSERT INTO U SELECT NTH_VALUE(ID, NULL) OVER (ORDER BY ID) FROM T",
        "INSERT INTO U SELECT COUNT(*) OVER (ORDER BY TIME WITH TIME ZONE '10:00:00+00' +"
            + " CAST(ID AS INTERVAL HOUR) RANGE BETWEEN INTERVAL '1' YEAR PRECEDING AND CURRENT"
            + " ROW) FROM T",
        "SELECT NTILE(NULL) OVER (ORDER BY ID) FROM FINAL TABLE (INSERT INTO T VALUES(9, 9))",
        "CREATE TABLE N AS SELECT NTILE(NULL) OVER (ORDER BY ID) AS X FROM T",
        "ALTER TABLE T ADD COLUMN W INT DEFAULT (SELECT NTILE(NULL) OVER (ORDER BY 1))"
      })
  void faultOfTheDatabaseIsARefusal(String sql) {
    List<String> before = replica.database.script();
    assertFault(replica.run(session, sql));
    assertEquals(before, replica.database.script());
    replica.ok(session, "INSERT INTO T VALUES(4, 4)");
  }

  /** The runtime and H2 refuse these values, which no declared type does. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "INSERT INTO U SELECT DATEDIFF(DAY, DATE '2000-01-01', DATE '1000000000-12-31' + 1)",
        "INSERT INTO U SELECT EXTRACT(YEAR FROM DATEADD(YEAR, 999999999, DATE '2000-01-01'))",
        "INSERT INTO U SELECT EXTRACT(DAY FROM LAST_DAY(X'00'))"
      })
  void valueBeyondItsRangeIsARefusal(String sql) {
    List<String> before = replica.database.script();
    assertEquals("22023", Planned.stateOf(replica.run(session, sql)));
    assertEquals(before, replica.database.script());
  }

  @Test
  void parameterMayCauseTheFault() {
    String sql = "INSERT INTO U SELECT X FROM SYSTEM_RANGE(1, ?)";
    assertFault(replica.run(session, sql, (Object) null));
    replica.ok(session, sql, 3);
  }

  @Test
  void faultInATransactionUndoesTheStatementAlone() throws SQLException {
    replica.in(session, "INSERT INTO T VALUES(4, 4)");
    assertFault(replica.in(session, "INSERT INTO U SELECT NTILE(NULL) OVER (ORDER BY ID) FROM T"));
    assertFault(
        replica.in(
            session,
            "SELECT NTILE(NULL) OVER (ORDER BY ID) FROM FINAL TABLE (INSERT INTO T VALUES(9, 9))"));
    replica.in(session, "INSERT INTO T VALUES(5, 5)");
    assertInstanceOf(Outcome.Done.class, replica.commit(session));
    assertEquals(List.of("1", "2", "3", "4", "5"), replica.query("SELECT ID FROM T ORDER BY 1"));
  }

  /** Rows that a failed statement left uncommitted would be in no snapshot. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT 1 / (ID - 4) FROM FINAL TABLE (INSERT INTO T VALUES(4, 4))",
        "SELECT 1 / 0 FROM FINAL TABLE (INSERT INTO T VALUES(4, 4))",
        "SELECT NTILE(NULL) OVER (ORDER BY ID) FROM FINAL TABLE (UPDATE T SET V = 9)",
        "SELECT ID FROM OLD TABLE (DELETE FROM T) ORDER BY 1 / (ID - 2)",
        "SELECT ID FROM OLD TABLE (DELETE FROM T) LIMIT (SELECT -1)",
        "SELECT (SELECT COUNT(*) FROM FINAL TABLE (INSERT INTO T VALUES(4, 4))) / 0",
        "INSERT INTO U SELECT 1 / (ID - 4) FROM FINAL TABLE (INSERT INTO T VALUES(4, 4))",
        "UPDATE U SET X = (SELECT ID FROM FINAL TABLE (INSERT INTO T VALUES(4, 4))) WHERE 1 / X = 1",
        "CREATE TABLE N AS SELECT 1 / (ID - 4) AS X FROM FINAL TABLE (INSERT INTO T VALUES(4, 4))"
      })
  void failedStatementLeavesNoRows(String sql) throws SQLException, IOException {
    replica.ok(session, "INSERT INTO U VALUES(1), (0)");
    List<String> before = replica.database.script();
    Outcome outcome = replica.run(session, sql);
    assertInstanceOf(Outcome.SqlFailed.class, outcome);
    assertEquals(before, replica.database.script());
    replica.ok(session, "INSERT INTO U VALUES(2)");
    try (StoreDriver restarted =
        new StoreDriver(DatabaseCopyTest.restored(DatabaseCopyTest.snapshotOf(replica.database)))) {
      assertEquals(replica.script(), restarted.script());
    }
  }

  /**
   * H2 has rebuilt the table with the new columns when it finds that it cannot make a constraint.
   */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "ALTER TABLE T ADD COLUMN W INT DEFAULT 0 UNIQUE",
        "ALTER TABLE T ADD (W INT DEFAULT 0 CONSTRAINT C CHECK (W < V), X INT CONSTRAINT C UNIQUE)",
        "ALTER TABLE T ADD (W INT GENERATED ALWAYS AS IDENTITY, X INT DEFAULT 7 UNIQUE)"
      })
  void definitionThatFailsHalfwayChangesNothing(String sql) throws SQLException {
    replica.ok(session, "CREATE VIEW W AS SELECT V FROM T");
    replica.ok(session, "CREATE TABLE CHILD(T INT REFERENCES T ON DELETE CASCADE)");
    assertInstanceOf(Outcome.Executed.class, fenceRows("'row-' || ID"));
    String before = replica.script();
    assertInstanceOf(Outcome.SqlFailed.class, replica.run(session, sql));
    assertEquals(before, replica.script());
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(replica.run(session, "DELETE FROM T")));
    replica.ok(session, "CREATE TABLE N(I INT)");
    replica.take(session, "row-4");
    replica.ok(session, "INSERT INTO T VALUES(4, 4)");
    assertEquals(List.of("1", "2", "3", "4"), replica.query("SELECT V FROM W ORDER BY 1"));
  }

  /** H2 drops what belongs to a column before it finds that a view needs the column. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "ALTER TABLE M DROP COLUMN A",
        "ALTER TABLE M DROP COLUMN W",
        "ALTER TABLE M DROP COLUMN (B, A)",
        "ALTER TABLE M DROP COLUMN G, A",
        "ALTER TABLE M ALTER COLUMN A SET DATA TYPE TIME",
        "ALTER TABLE M ALTER COLUMN C SET DATA TYPE INT USING C / 0",
        "ALTER TABLE M ADD COLUMN Z INT UNIQUE REFERENCES NOWHERE",
        "ALTER TABLE M ADD COLUMN Z INT NOT NULL",
        "ALTER TABLE M ADD CONSTRAINT N CHECK (C > 1)",
        "ALTER TABLE M ADD CONSTRAINT N UNIQUE(C)",
        "CREATE UNIQUE INDEX N ON M(C)",
        "DROP TABLE M",
        "DROP SCHEMA S",
        "DROP SCHEMA S CASCADE",
        "DROP DOMAIN S.D",
        "ALTER DOMAIN S.D ADD CHECK (VALUE > 1)",
        "CREATE TABLE N(I INT GENERATED ALWAYS AS IDENTITY, J INT REFERENCES NOWHERE)",
        "CREATE TABLE N(I INT UNIQUE) AS SELECT C FROM M"
      })
  void refusedDefinitionChangesNothing(String sql) throws SQLException {
    replica.ok(session, "CREATE SCHEMA S");
    replica.ok(session, "CREATE DOMAIN S.D AS INT CHECK (VALUE > 0)");
    replica.ok(
        session,
        "CREATE TABLE M(A INT PRIMARY KEY, B S.D, C INT, W INT, G INT GENERATED ALWAYS AS (C + 1),"
            + " UNIQUE(A, B), CHECK (A < 100), CHECK (A + C < 100))");
    replica.ok(
        session,
        "CREATE TABLE S.CHILD(A INT REFERENCES PUBLIC.M ON DELETE CASCADE, B INT,"
            + " FOREIGN KEY(A, B) REFERENCES PUBLIC.M(A, B))");
    replica.ok(session, "CREATE INDEX MI ON M(A, C)");
    replica.ok(session, "CREATE VIEW V AS SELECT A, W FROM M");
    replica.ok(session, "INSERT INTO M(A, B, C) VALUES(1, 1, 1), (2, 2, 1)");
    List<String> before = definitions();
    assertInstanceOf(Outcome.SqlFailed.class, replica.run(session, sql));
    assertEquals(before, definitions());
    replica.ok(session, "INSERT INTO S.CHILD VALUES(1, 1)");
    replica.ok(session, "DELETE FROM M WHERE A = 1");
    assertEquals(List.of(), replica.query("SELECT * FROM S.CHILD"));
    assertEquals("23505", Planned.stateOf(replica.run(session, "INSERT INTO M(A) VALUES(2)")));
  }

  /** In any order: what is made again comes last. */
  private List<String> definitions() {
    return replica.database.script().stream().sorted().toList();
  }

  @Test
  void domainWhoseConstraintFailsIsNotMade() {
    List<String> before = replica.database.script();
    assertEquals(
        "90045",
        Planned.stateOf(
            replica.run(
                session,
                "CREATE DOMAIN D AS INT CONSTRAINT C CHECK (VALUE > 1) CONSTRAINT C CHECK (VALUE >"
                    + " 2)")));
    assertEquals(before, replica.database.script());
  }

  /**
   * The guard was lost with the next change of the table, and the one after stopped the replica.
   */
  @Test
  void locksOfRowsDependOnNoDomain() {
    replica.ok(session, "CREATE DOMAIN D AS VARCHAR(5)");
    Outcome.SqlFailed refused =
        assertInstanceOf(Outcome.SqlFailed.class, fenceRows("'x' || CAST(ID AS PUBLIC.D)"));
    assertEquals("22023", refused.sqlState());
    assertTrue(refused.message().contains("table PUBLIC.T"), refused.message());
    assertTrue(refused.message().contains("domain D"), refused.message());
    // also where H2 computes the cast ahead
    assertEquals("22023", Planned.stateOf(fenceRows("CAST('x' AS PUBLIC.D) || ID")));
    assertInstanceOf(Outcome.Executed.class, fenceRows("'x' || CAST(ID AS VARCHAR(5))"));
    replica.ok(session, "ALTER DOMAIN D RENAME TO E");
    replica.ok(session, "ALTER TABLE T ADD COLUMN W INT");
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(replica.run(session, "DELETE FROM T")));
    replica.ok(session, "CREATE TABLE N(I INT)");
  }

  /** A fence whose locks cannot be computed admits nothing, until it is removed. */
  @Test
  void guardThatCannotBeMadeIsClosed() throws ReflectiveOperationException {
    assertInstanceOf(Outcome.Executed.class, fenceRows("'row-' || ID"));
    breakGuard();
    for (String sql :
        List.of("INSERT INTO T VALUES(4, 4)", "UPDATE T SET V = 4", "DELETE FROM T")) {
      Outcome.SqlFailed refused =
          assertInstanceOf(Outcome.SqlFailed.class, replica.run(session, sql));
      assertEquals("55T03", refused.sqlState());
      assertTrue(refused.message().contains("ALTER TABLE PUBLIC.T NOT FENCED"), refused.message());
    }
    assertEquals("55T03", Planned.stateOf(replica.run(session, "DROP TABLE T")));
    replica.ok(session, "CREATE TABLE N(I INT)");
    assertInstanceOf(
        Outcome.Executed.class,
        replica.perform(session, new Operation.UnfenceTable(new TableName(null, "T"), null, true)));
    replica.ok(session, "INSERT INTO T VALUES(4, 4)");
  }

  private void breakGuard() throws ReflectiveOperationException {
    Field fenced = SqlDatabase.class.getDeclaredField("fencedTables");
    fenced.setAccessible(true);
    Object tables = fenced.get(replica.database);
    Field guards = tables.getClass().getDeclaredField("guards");
    guards.setAccessible(true);
    var fence = replica.machine.state().fences().iterator().next();
    Field session = SqlDatabase.class.getDeclaredField("session");
    session.setAccessible(true);
    ((RowGuards) guards.get(tables))
        .guard(
            fence.id(),
            dev.tollgate.store.fence.FencedTables.find(
                (org.h2.engine.SessionLocal) session.get(replica.database), fence.table()),
            new Operation.RowFence("'row-' || NO_SUCH_COLUMN"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "CREATE OR REPLACE VIEW A AS SELECT * FROM A",
        "CREATE OR REPLACE VIEW A AS SELECT X FROM B",
        "CREATE OR REPLACE VIEW A AS SELECT ID AS X FROM T WHERE 1 IN (SELECT X FROM B)",
        "CREATE OR REPLACE VIEW A AS SELECT (SELECT MAX(X) FROM C) AS X FROM T",
        "CREATE OR REPLACE VIEW A AS WITH Q AS (SELECT X FROM C) SELECT X FROM Q",
        "CREATE FORCE VIEW MISSING AS SELECT X FROM LOOSE",
        "ALTER VIEW TIED RENAME TO MISSING"
      })
  void viewDoesNotUseItself(String sql) throws SQLException {
    replica.ok(session, "CREATE VIEW A AS SELECT ID AS X FROM T");
    replica.ok(session, "CREATE VIEW B AS SELECT X FROM A");
    replica.ok(session, "CREATE VIEW C AS SELECT X FROM B");
    replica.ok(session, "CREATE FORCE VIEW LOOSE AS SELECT X FROM MISSING");
    replica.ok(session, "CREATE FORCE VIEW TIED AS SELECT X FROM LOOSE");
    List<String> before = replica.database.script();
    Outcome.SqlFailed refused =
        assertInstanceOf(Outcome.SqlFailed.class, replica.run(session, sql));
    assertEquals("42T01", refused.sqlState());
    assertTrue(refused.message().contains("would use itself"), refused.message());
    assertEquals(before, replica.database.script());
    replica.ok(session, "CREATE TABLE N(I INT)");
    assertEquals(List.of("1", "2", "3"), replica.query("SELECT X FROM C ORDER BY 1"));
  }

  /**
   * A view is text. It would name what is not there, and nothing would keep its table from going.
   */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "ALTER TABLE S.SOURCE RENAME TO N | DROP TABLE S.N",
        "ALTER TABLE S.SOURCE ALTER COLUMN V RENAME TO N | DROP TABLE S.SOURCE",
        "ALTER VIEW A RENAME TO N | DROP VIEW N RESTRICT",
        "ALTER TABLE ASKED RENAME TO N | DROP TABLE S.SOURCE",
        "ALTER SCHEMA S RENAME TO N | DROP TABLE N.SOURCE"
      })
  void viewKeepsWhatItNames(String rename, String drop) throws SQLException {
    replica.ok(session, "CREATE SCHEMA S");
    replica.ok(session, "CREATE TABLE S.SOURCE(ID INT PRIMARY KEY, V INT, OTHER INT)");
    replica.ok(session, "CREATE TABLE ASKED(I INT)");
    replica.ok(session, "CREATE VIEW A AS SELECT V FROM S.SOURCE WHERE V IN (SELECT I FROM ASKED)");
    replica.ok(session, "CREATE VIEW B AS SELECT V FROM A");
    List<String> before = replica.database.script();
    Outcome.SqlFailed refused =
        assertInstanceOf(Outcome.SqlFailed.class, replica.run(session, rename));
    assertEquals("HYC00", refused.sqlState());
    assertTrue(refused.message().contains("drop the view"), refused.message());
    assertFalse(replica.run(session, drop) instanceof Outcome.Executed);
    assertEquals(before, replica.database.script());
    replica.ok(session, "ALTER TABLE S.SOURCE ALTER COLUMN OTHER RENAME TO N");
    replica.ok(session, "ALTER TABLE U RENAME TO N");
    assertEquals(List.of(), replica.query("SELECT V FROM B"));
  }

  /** H2 would draw one number for all rows of the steps. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "INSERT INTO U WITH RECURSIVE R(N, V) AS (SELECT 1, NEXT VALUE FOR S UNION ALL SELECT N + 1,"
            + " NEXT VALUE FOR S FROM R WHERE N < 4) SELECT V FROM R",
        "INSERT INTO U SELECT * FROM (WITH RECURSIVE R(N, V) AS (SELECT 1, 1 UNION ALL SELECT N + 1,"
            + " V + (SELECT NEXT VALUE FOR S) FROM R WHERE N < 4) SELECT V FROM R)",
        "SELECT V FROM (WITH RECURSIVE R(N, V) AS (SELECT 1, NEXT VALUE FOR S UNION ALL SELECT N +"
            + " 1, NEXT VALUE FOR S FROM R WHERE N < 4) SELECT V FROM R)",
        "CREATE TABLE N AS WITH RECURSIVE R(N, V) AS (SELECT 1, NEXT VALUE FOR S UNION ALL SELECT N +"
            + " 1, NEXT VALUE FOR S FROM R WHERE N < 4) SELECT V FROM R"
      })
  void recursiveTableDrawsFromNoSequence(String sql) throws SQLException {
    replica.ok(session, "CREATE SEQUENCE S");
    assertEquals("HYC00", Planned.stateOf(replica.run(session, sql)));
    replica.ok(
        session,
        "INSERT INTO U WITH RECURSIVE R(N) AS (SELECT 1 UNION ALL SELECT N + 1 FROM R WHERE N < 4)"
            + " SELECT NEXT VALUE FOR S FROM R");
    assertEquals(List.of("1", "2", "3", "4"), replica.query("SELECT X FROM U ORDER BY 1"));
  }

  /** The core refuses by values, so its exceptions are broken invariants, also within H2. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT TOLLGATE.TRY_ACQUIRE_LOCK('job')",
        "INSERT INTO U SELECT 1 FROM T WHERE TOLLGATE.HOLDS_LOCK('job', ID)"
      })
  void exceptionOfTheCoreStopsTheReplica(String sql) {
    SqlContext broken =
        (SqlContext)
            Proxy.newProxyInstance(
                SqlContext.class.getClassLoader(),
                new Class<?>[] {SqlContext.class},
                (proxy, method, arguments) ->
                    switch (method.getName()) {
                      case "position" -> new LogPosition(1_000, 0, 1_000_000_000_000_000L);
                      case "randomSeed" -> RandomSeed.NONE;
                      case "attempt" -> 1;
                      case "schema" -> "PUBLIC";
                      case "user" -> UserName.ANONYMOUS;
                      case "workLimit" -> 100;
                      case "mayUse" -> true;
                      case "transaction", "admit" -> null;
                      default -> throw new IllegalStateException("an invariant is broken");
                    });
    Operation.ExecuteSql statement =
        StoreDriver.statement(sql, null, List.<Object[]>of(new Object[0]));
    assertThrows(ReplicaFailure.class, () -> replica.database.execute(statement, 0, broken));
  }

  private Outcome fenceRows(String lockSql) {
    return replica.perform(
        session,
        new Operation.FenceTable(
            new TableName(null, "T"), new Operation.RowFence(lockSql), null, true));
  }

  private static RefusalCode refusal(Outcome outcome) {
    return assertInstanceOf(Outcome.Refused.class, outcome).code();
  }

  private static void assertFault(Outcome outcome) {
    Outcome.SqlFailed failed = assertInstanceOf(Outcome.SqlFailed.class, outcome);
    assertEquals("XX000", failed.sqlState(), failed.message());
    assertTrue(failed.message().contains("(RuntimeException)"), failed.message());
  }
}
