package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.tollgate.core.command.FenceReading;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TableName;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every route into a fenced table needs a token. */
class FencedTablesTest {
  private final StoreDriver replica = new StoreDriver();
  private final SessionId holder = replica.open();
  private final SessionId stranger = replica.open();

  @BeforeEach
  void fence() {
    replica.ok(stranger, "CREATE TABLE PARENT(ID INT PRIMARY KEY, V INT)");
    replica.ok(stranger, "CREATE DOMAIN WIDE AS INT");
    replica.ok(stranger, "CREATE DOMAIN NARROW AS WIDE");
    replica.ok(
        stranger,
        "CREATE TABLE T(ID INT PRIMARY KEY, V NARROW, P INT REFERENCES PARENT(ID) ON DELETE CASCADE)");
    replica.ok(stranger, "CREATE SCHEMA FAR");
    replica.ok(
        stranger, "CREATE TABLE FAR.UNCLE(ID INT, CONSTRAINT FAR.UNCLE_KEY PRIMARY KEY(ID))");
    replica.ok(stranger, "ALTER TABLE T ADD FOREIGN KEY(ID) REFERENCES FAR.UNCLE(ID) NOCHECK");
    replica.ok(stranger, "INSERT INTO FAR.UNCLE VALUES(1), (2), (3), (4), (5), (9)");
    replica.ok(
        stranger,
        "CREATE TABLE GRANDCHILD(ID INT PRIMARY KEY, T INT REFERENCES T(ID) ON DELETE CASCADE)");
    replica.ok(stranger, "CREATE INDEX T_V ON T(V)");
    replica.ok(stranger, "ALTER TABLE T ADD CONSTRAINT T_CHECK CHECK (ID < 1000)");
    replica.ok(stranger, "CREATE TABLE OPEN_TABLE(ID INT PRIMARY KEY, V INT)");
    replica.ok(stranger, "INSERT INTO PARENT VALUES(1, 1)");
    replica.ok(stranger, "INSERT INTO T VALUES(1, 1, 1)");
    replica.take(holder, "job");
    assertInstanceOf(Outcome.Executed.class, replica.fence(holder, "T", FenceReading.HELD));
  }

  @AfterEach
  void close() {
    replica.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "INSERT INTO T VALUES(2, 2, NULL)",
        "INSERT INTO \"T\" VALUES(2, 2, NULL)",
        "INSERT INTO PUBLIC.T VALUES(2, 2, NULL)",
        "INSERT INTO T SELECT 2, 2, NULL",
        "UPDATE T SET V = 2",
        "UPDATE T SET V = 2 WHERE FALSE",
        "DELETE FROM T",
        "DELETE FROM T AS X WHERE X.ID = 1",
        "MERGE INTO T(ID, V) KEY(ID) VALUES(1, 2)",
        "MERGE INTO T USING (SELECT 1 AS I) S ON T.ID = S.I WHEN MATCHED THEN DELETE",
        "DELETE FROM PARENT WHERE ID = 1",
        "TRUNCATE TABLE T",
        "DELETE FROM SESSION.T",
        "TRUNCATE TABLE SESSION.T",
        "DROP TABLE SESSION.T CASCADE",
        "ALTER TABLE SESSION.T ADD COLUMN W INT",
        "CREATE INDEX T_P ON SESSION.T(P)",
        "DROP INDEX SESSION.T_V",
        "DROP TABLE T CASCADE",
        "DROP TABLE IF EXISTS T CASCADE",
        "ALTER TABLE T ADD COLUMN W INT",
        "ALTER TABLE T RENAME TO OTHER",
        "ALTER TABLE T ALTER COLUMN V RENAME TO W",
        "CREATE INDEX T_P ON T(P)",
        "DROP INDEX T_V",
        "ALTER INDEX T_V RENAME TO T_W",
        "COMMENT ON TABLE T IS 'mine'",
        "COMMENT ON CONSTRAINT T_CHECK IS 'mine'",
        "DROP SCHEMA PUBLIC CASCADE",
        "DROP TABLE PARENT CASCADE",
        "DROP TABLE FAR.UNCLE CASCADE",
        "ALTER TABLE FAR.UNCLE DROP COLUMN ID",
        "ALTER TABLE FAR.UNCLE DROP CONSTRAINT FAR.UNCLE_KEY CASCADE",
        "DROP SCHEMA FAR CASCADE",
        "ALTER DOMAIN NARROW ADD CHECK (VALUE > 0)",
        "ALTER DOMAIN NARROW SET DEFAULT 7",
        "ALTER DOMAIN NARROW RENAME TO E",
        "DROP DOMAIN NARROW CASCADE",
        "ALTER DOMAIN WIDE SET DEFAULT 7",
        "DROP DOMAIN WIDE CASCADE"
      })
  void writeWithoutTokenIsRefusedOnEveryRoute(String sql) throws SQLException {
    String before = replica.script();
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(replica.run(stranger, sql)), sql);
    assertEquals(before, replica.script(), "a refused statement changes nothing");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "INSERT INTO T VALUES(2, 2, NULL)",
        "UPDATE T SET V = 2",
        "DELETE FROM PARENT WHERE ID = 1",
        "MERGE INTO T(ID, V) KEY(ID) VALUES(1, 2)",
        "ALTER TABLE T ADD COLUMN W INT",
        "DROP INDEX T_V"
      })
  void holderMayWriteOnTheSameRoutes(String sql) {
    assertInstanceOf(Outcome.Executed.class, replica.run(holder, sql), sql);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "UPDATE PARENT SET V = 2",
        "INSERT INTO PARENT VALUES(2, 2)",
        "INSERT INTO GRANDCHILD VALUES(1, 1)",
        "DELETE FROM GRANDCHILD",
        "INSERT INTO OPEN_TABLE SELECT ID, V FROM T",
        "CREATE VIEW TV AS SELECT * FROM T"
      })
  void whatDoesNotWriteToTheTableIsOpen(String sql) {
    assertInstanceOf(Outcome.Executed.class, replica.run(stranger, sql), sql);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "CREATE TABLE IF NOT EXISTS T(ID INT)",
        "CREATE TABLE IF NOT EXISTS T AS SELECT 1 AS ID",
        "CREATE INDEX IF NOT EXISTS T_V ON T(V)",
        "CREATE UNIQUE INDEX IF NOT EXISTS T_V ON T(P)",
        "CREATE SCHEMA IF NOT EXISTS PUBLIC",
        "CREATE VIEW IF NOT EXISTS T AS SELECT 1",
        "CREATE SEQUENCE IF NOT EXISTS S",
        "CREATE DOMAIN IF NOT EXISTS D AS INT",
        "DROP TABLE IF EXISTS NOWHERE",
        "DROP INDEX IF EXISTS NOWHERE",
        "DROP VIEW IF EXISTS NOWHERE",
        "DROP SCHEMA IF EXISTS NOWHERE CASCADE",
        "ALTER TABLE IF EXISTS NOWHERE ADD COLUMN W INT",
        "ALTER TABLE IF EXISTS NOWHERE RENAME TO T2",
        "ALTER INDEX IF EXISTS NOWHERE RENAME TO T_W",
        "ALTER TABLE T ADD COLUMN IF NOT EXISTS V INT",
        "ALTER TABLE T DROP COLUMN IF EXISTS NOWHERE",
        "ALTER TABLE T ALTER COLUMN IF EXISTS NOWHERE SET NOT NULL",
        "ALTER TABLE T ADD CONSTRAINT IF NOT EXISTS T_SMALL CHECK (V < 5)",
        "ALTER TABLE T DROP CONSTRAINT IF EXISTS NOWHERE",
        "ALTER TABLE T DROP CONSTRAINT IF EXISTS OF_PARENT"
      })
  void definitionThatChangesNothingNeedsNoToken(String sql) throws SQLException {
    replica.ok(stranger, "CREATE SEQUENCE S");
    replica.ok(stranger, "CREATE DOMAIN D AS INT");
    replica.ok(holder, "ALTER TABLE PARENT ADD CONSTRAINT OF_PARENT CHECK (V < 9)");
    replica.ok(holder, "ALTER TABLE T ADD CONSTRAINT T_SMALL CHECK (V < 5)");
    String before = replica.script();
    assertInstanceOf(Outcome.Executed.class, replica.run(stranger, sql), sql);
    assertEquals(before, replica.script());
    assertEquals(
        RefusalCode.TOKEN_MISSING, refusal(replica.run(stranger, "DELETE FROM T")), "still fenced");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "CREATE INDEX IF NOT EXISTS T_P ON T(P)",
        "ALTER TABLE T ADD COLUMN IF NOT EXISTS W INT",
        "ALTER TABLE T DROP COLUMN IF EXISTS V",
        "ALTER TABLE T ADD CONSTRAINT IF NOT EXISTS T_LARGE CHECK (V > 0)",
        "ALTER TABLE T DROP CONSTRAINT IF EXISTS T_SMALL",
        "DROP INDEX IF EXISTS T_V"
      })
  void definitionWithAConditionThatChangesSomethingNeedsTheToken(String sql) {
    replica.ok(holder, "ALTER TABLE T ADD CONSTRAINT T_SMALL CHECK (V < 5)");
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(replica.run(stranger, sql)), sql);
  }

  @Test
  void tokenThatIsShownForNothingHasToBeTheCurrentOne() {
    String sql = "CREATE INDEX IF NOT EXISTS T_V ON T(V)";
    replica.perform(holder, new Operation.ReleaseLock(StoreDriver.JOB, null, 0));
    long current = replica.take(holder, "job");
    assertInstanceOf(Outcome.Executed.class, replica.runFenced(stranger, sql, current));
    assertEquals(RefusalCode.TOKEN_STALE, refusal(replica.runFenced(stranger, sql, current - 1)));
  }

  @Test
  void definitionThatChangesNothingWaitsForNobody() {
    replica.in(holder, "UPDATE T SET V = 2");
    assertInstanceOf(
        Outcome.Executed.class, replica.run(stranger, "CREATE TABLE IF NOT EXISTS T(ID INT)"));
  }

  @Test
  void fenceFollowsARename() throws SQLException {
    replica.ok(holder, "ALTER TABLE T RENAME TO MOVED");
    assertEquals(
        RefusalCode.TOKEN_MISSING, refusal(replica.run(stranger, "UPDATE MOVED SET V = 3")));
    assertEquals(
        List.of("PUBLIC,MOVED,job,HELD,1,null"), replica.query("SELECT * FROM TOLLGATE.FENCES"));
    replica.ok(stranger, "CREATE TABLE T(ID INT)");
    assertInstanceOf(Outcome.Executed.class, replica.run(stranger, "DELETE FROM T"));
  }

  @Test
  void statementReadsAViewOnceHoweverOftenItNeedsTheRows() throws SQLException {
    assertEquals(
        List.of("4"),
        replica.query(
            "SELECT COUNT(*) + (SELECT COUNT(*) FROM TOLLGATE.FENCES) FROM SYSTEM_RANGE(1, 3) N"
                + " LEFT JOIN TOLLGATE.FENCES F ON F.HIGHEST_TOKEN < N.X + 100"));
    assertEquals(1, replica.viewsRead);
  }

  @Test
  void fenceFollowsARebuiltTable() {
    replica.ok(holder, "ALTER TABLE T ADD COLUMN W INT DEFAULT 1");
    replica.ok(holder, "ALTER TABLE T ALTER COLUMN V BIGINT");
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(replica.run(stranger, "UPDATE T SET W = 3")));
  }

  @Test
  void fenceFollowsARenamedSchema() {
    replica.ok(holder, "CREATE SCHEMA APP");
    replica.ok(holder, "CREATE TABLE APP.U(ID INT)");
    replica.perform(
        holder,
        new Operation.FenceTable(
            new TableName("APP", "U"),
            new Operation.TableFence(StoreDriver.JOB, FenceReading.HELD),
            null,
            true));
    replica.ok(holder, "ALTER SCHEMA APP RENAME TO APP2");
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(replica.run(stranger, "DELETE FROM APP2.U")));
  }

  @Test
  void droppedTableTakesItsFenceAlong() throws SQLException {
    replica.ok(holder, "DROP TABLE T CASCADE");
    assertEquals(List.of(), replica.query("SELECT * FROM TOLLGATE.FENCES"));
    replica.ok(stranger, "CREATE TABLE T(ID INT)");
    assertInstanceOf(Outcome.Executed.class, replica.run(stranger, "INSERT INTO T VALUES(1)"));
  }

  @Test
  void failedDropLeavesTheFence() {
    replica.ok(holder, "CREATE VIEW TV AS SELECT * FROM T");
    assertInstanceOf(Outcome.SqlFailed.class, replica.run(holder, "DROP TABLE T RESTRICT"));
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(replica.run(stranger, "DELETE FROM T")));
  }

  @Test
  void createTableMakesItsFence() {
    assertInstanceOf(Outcome.Executed.class, create("CREATE TABLE N(ID INT)"));
    assertEquals(
        RefusalCode.TOKEN_MISSING, refusal(replica.run(stranger, "INSERT INTO N VALUES(1)")));
    replica.ok(holder, "INSERT INTO N VALUES(1)");
  }

  /** Where there is no schema of this name, H2 takes SESSION for the current one. */
  @Test
  void createTableMakesItsFenceAlsoInTheSchemaOfTheSession() {
    assertInstanceOf(Outcome.Executed.class, create("CREATE TABLE SESSION.N(ID INT)"));
    assertEquals(
        RefusalCode.TOKEN_MISSING, refusal(replica.run(stranger, "INSERT INTO N VALUES(1)")));
    replica.ok(stranger, "CREATE SCHEMA SESSION");
    replica.ok(stranger, "CREATE TABLE SESSION.N(ID INT)");
    replica.ok(stranger, "DROP TABLE SESSION.N");
  }

  @Test
  void createIfNotExistsDoesNotFenceAForeignTable() {
    assertEquals(
        RefusalCode.FENCE_STATE, refusal(create("CREATE TABLE IF NOT EXISTS OPEN_TABLE(ID INT)")));
    assertInstanceOf(Outcome.Executed.class, replica.run(stranger, "DELETE FROM OPEN_TABLE"));
    create("CREATE TABLE IF NOT EXISTS N(ID INT)");
    assertInstanceOf(
        Outcome.Executed.class, create("CREATE TABLE IF NOT EXISTS N(ID INT)"), "same fence");
  }

  @Test
  void unfencingNeedsTheTokenToo() {
    Operation.UnfenceTable unfence =
        new Operation.UnfenceTable(new TableName(null, "T"), null, true);
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(replica.perform(stranger, unfence)));
    assertInstanceOf(Outcome.Executed.class, replica.perform(holder, unfence));
    assertInstanceOf(Outcome.Executed.class, replica.run(stranger, "DELETE FROM T"));
    assertEquals(RefusalCode.FENCE_STATE, refusal(replica.perform(holder, unfence)));
  }

  @Test
  void fencingAgainNeedsTheTokenOfTheOldFence() {
    assertEquals(
        RefusalCode.TOKEN_MISSING, refusal(replica.fence(stranger, "T", FenceReading.MONOTONIC)));
    assertInstanceOf(Outcome.Executed.class, replica.fence(holder, "T", FenceReading.MONOTONIC));
  }

  @Test
  void fenceOnATableThatDoesNotExistIsRefusedAsH2Would() {
    Outcome.SqlFailed failed =
        (Outcome.SqlFailed) replica.fence(holder, "NOWHERE", FenceReading.HELD);
    assertEquals("42S02", failed.sqlState());
  }

  @Test
  void staleTokenInTheClauseIsRefused() {
    replica.perform(holder, new Operation.ReleaseLock(StoreDriver.JOB, null, 0));
    long second = replica.take(stranger, "job");
    assertEquals(
        RefusalCode.TOKEN_STALE,
        refusal(replica.runFenced(holder, "UPDATE T SET V = 9", second - 1)));
    assertInstanceOf(
        Outcome.Executed.class, replica.runFenced(holder, "UPDATE T SET V = 9", second));
  }

  private Outcome create(String sql) {
    return replica.perform(
        holder,
        StoreDriver.statement(
            sql,
            null,
            List.<Object[]>of(new Object[0]),
            new Operation.WantedKeys.None(),
            new Operation.TableFence(StoreDriver.JOB, FenceReading.HELD)));
  }

  private static RefusalCode refusal(Outcome outcome) {
    if (outcome instanceof Outcome.Refused refused) {
      return refused.code();
    }
    throw new AssertionError(outcome.toString());
  }
}
