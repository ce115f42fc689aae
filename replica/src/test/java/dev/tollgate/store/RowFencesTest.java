package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.HeldLocks;
import dev.tollgate.core.command.FenceReading;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.PresentedToken;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TableName;
import dev.tollgate.store.limits.StoreLimits;
import dev.tollgate.store.limits.WorkLimit;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every route to a row that has a lock of its own needs the token of that lock. */
class RowFencesTest {
  private static final Operation.RowFence BY_ORDER = new Operation.RowFence("'order-' || ID");

  private StoreDriver replica = new StoreDriver();
  private final SessionId holder = replica.open();
  private final SessionId other = replica.open();
  private final SessionId stranger = replica.open();

  @BeforeEach
  void fence() {
    replica.ok(stranger, "CREATE TABLE CUSTOMER(ID INT PRIMARY KEY, V INT)");
    replica.ok(
        stranger,
        "CREATE TABLE ORDERS(ID INT PRIMARY KEY, V INT, C INT REFERENCES CUSTOMER(ID) ON DELETE"
            + " CASCADE ON UPDATE CASCADE)");
    replica.ok(
        stranger,
        "CREATE TABLE ITEM(ID INT PRIMARY KEY, O INT REFERENCES ORDERS(ID) ON DELETE SET NULL)");
    replica.ok(stranger, "CREATE TABLE SOURCE(ID INT PRIMARY KEY, V INT)");
    replica.ok(stranger, "CREATE INDEX ORDERS_V ON ORDERS(V)");
    replica.ok(stranger, "INSERT INTO CUSTOMER VALUES(1, 1), (2, 1), (3, 1)");
    replica.ok(stranger, "INSERT INTO ORDERS VALUES(7, 1, 1), (8, 1, 1), (9, 1, 2)");
    replica.ok(stranger, "INSERT INTO ITEM VALUES(1, 7), (2, 8)");
    replica.ok(stranger, "INSERT INTO SOURCE VALUES(7, 5), (8, 5), (70, 5)");
    assertOk(fence("ORDERS", BY_ORDER));
    replica.take(holder, "order-7");
    replica.take(other, "order-8");
  }

  @AfterEach
  void close() {
    replica.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "INSERT INTO ORDERS VALUES(20, 2, NULL)",
        "INSERT INTO PUBLIC.\"ORDERS\" VALUES(20, 2, NULL)",
        "INSERT INTO ORDERS SELECT ID, V, NULL FROM SOURCE WHERE ID = 70",
        "UPDATE ORDERS SET V = 2 WHERE ID = 7",
        "UPDATE ORDERS AS X SET V = 2 WHERE X.C = 1",
        "DELETE FROM ORDERS WHERE ID = 7",
        "DELETE FROM ORDERS",
        "MERGE INTO ORDERS(ID, V) KEY(ID) VALUES(7, 2)",
        "MERGE INTO ORDERS(ID, V) KEY(ID) VALUES(20, 2)",
        "MERGE INTO ORDERS USING SOURCE S ON ORDERS.ID = S.ID WHEN MATCHED THEN DELETE",
        "MERGE INTO ORDERS USING SOURCE S ON ORDERS.ID = S.ID WHEN MATCHED THEN UPDATE SET V = 3",
        "MERGE INTO ORDERS USING SOURCE S ON ORDERS.ID = S.ID WHEN NOT MATCHED THEN INSERT"
            + " VALUES(S.ID, S.V, NULL)",
        "SELECT * FROM FINAL TABLE (UPDATE ORDERS SET V = 2 WHERE ID = 7)",
        "SELECT * FROM FINAL TABLE (INSERT INTO ORDERS VALUES(20, 2, NULL))",
        "SELECT * FROM OLD TABLE (DELETE FROM ORDERS WHERE ID = 7)",
        "DELETE FROM CUSTOMER WHERE ID = 1",
        "UPDATE CUSTOMER SET ID = 11 WHERE ID = 1",
        "TRUNCATE TABLE ORDERS",
        "DROP TABLE ORDERS CASCADE",
        "DROP TABLE IF EXISTS ORDERS CASCADE",
        "DROP SCHEMA PUBLIC CASCADE",
        "ALTER TABLE ORDERS DROP COLUMN V",
        "ALTER TABLE ORDERS ALTER COLUMN V VARCHAR(10)",
        "ALTER TABLE ORDERS ALTER COLUMN V SET DATA TYPE BIGINT",
        "ALTER TABLE ORDERS SET REFERENTIAL_INTEGRITY FALSE"
      })
  void writeWithoutTokenIsRefusedOnEveryRoute(String sql) throws SQLException {
    // what TRUNCATE empties nobody may refer to
    replica.ok(stranger, "DROP TABLE ITEM");
    String before = replica.script();
    Outcome outcome = replica.run(stranger, sql);
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(outcome), sql);
    assertTrue(outcome.toString().contains("a row of table PUBLIC.ORDERS"), outcome.toString());
    assertEquals(before, replica.script(), "a refused statement changes nothing");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "INSERT INTO ORDERS SELECT ID + 10, V, NULL FROM ORDERS WHERE ID = 7 AND FALSE",
        "UPDATE ORDERS SET V = 2 WHERE ID = 7",
        "MERGE INTO ORDERS(ID, V) KEY(ID) VALUES(7, 2)",
        "SELECT * FROM FINAL TABLE (UPDATE ORDERS SET V = 2 WHERE ID = 7)",
        "DELETE FROM ORDERS WHERE ID = 7",
        "DELETE FROM CUSTOMER WHERE ID = 3"
      })
  void holderMayWriteItsRowsOnTheSameRoutes(String sql) {
    assertOk(replica.run(holder, sql));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "UPDATE ORDERS SET V = 2",
        "UPDATE ORDERS SET V = 2 WHERE ID = 8",
        "DELETE FROM ORDERS WHERE C = 1",
        "MERGE INTO ORDERS(ID, V) KEY(ID) VALUES(8, 2)",
        "DELETE FROM CUSTOMER WHERE ID = 1",
        "UPDATE CUSTOMER SET ID = 11 WHERE ID = 1",
        "TRUNCATE TABLE ORDERS",
        "DROP TABLE ORDERS CASCADE",
        "ALTER TABLE ORDERS DROP COLUMN V"
      })
  void holderMayNotWriteRowsOfAnotherWithIts(String sql) throws SQLException {
    replica.ok(stranger, "DROP TABLE ITEM");
    String before = replica.script();
    Outcome outcome = replica.run(holder, sql);
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(outcome), sql);
    assertTrue(outcome.toString().contains("'order-8'"), outcome.toString());
    assertEquals(before, replica.script(), "a refused statement changes nothing");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "UPDATE CUSTOMER SET V = 2",
        "DELETE FROM CUSTOMER WHERE ID = 3",
        "UPDATE ORDERS SET V = 2 WHERE FALSE",
        "UPDATE SOURCE SET V = (SELECT MAX(V) FROM ORDERS)",
        "CREATE TABLE COPY AS SELECT * FROM ORDERS",
        "CREATE VIEW V AS SELECT * FROM ORDERS",
        "CREATE INDEX ORDERS_C2 ON ORDERS(C)",
        "DROP INDEX ORDERS_V",
        "ALTER INDEX ORDERS_V RENAME TO ORDERS_W",
        "COMMENT ON TABLE ORDERS IS 'ours'",
        "ALTER TABLE ORDERS ADD COLUMN W INT DEFAULT 3",
        "ALTER TABLE ORDERS ALTER COLUMN V RENAME TO W",
        "ALTER TABLE ORDERS ALTER COLUMN ID SET DEFAULT 4",
        "ALTER TABLE ORDERS ADD CONSTRAINT POSITIVE CHECK (V > 0)",
        "ALTER TABLE ORDERS RENAME TO PURCHASES"
      })
  void whatChangesNoRowIsOpen(String sql) {
    assertOk(replica.run(stranger, sql));
  }

  /** H2 has them in modes that nodes do not run in, or for views with triggers. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "INSERT INTO ORDERS VALUES(7, 2, NULL) ON DUPLICATE KEY UPDATE V = 2 | 42000",
        "INSERT INTO ORDERS VALUES(7, 2, NULL) ON CONFLICT DO NOTHING | 42000",
        "REPLACE INTO ORDERS VALUES(7, 2, NULL) | 42001",
        "INSERT INTO ORDERS_VIEW VALUES(20, 2, NULL) | HYC00",
        "UPDATE ORDERS_VIEW SET V = 2 WHERE ID = 7 | HYC00",
        "DELETE FROM ORDERS_VIEW WHERE ID = 7 | HYC00",
        "MERGE INTO ORDERS_VIEW(ID, V) KEY(ID) VALUES(7, 2) | HYC00",
        "TRUNCATE TABLE ORDERS_VIEW | 90106"
      })
  void routeThatH2DoesNotHaveLeadsNowhere(String sql, String state) throws SQLException {
    replica.ok(stranger, "CREATE VIEW ORDERS_VIEW AS SELECT * FROM ORDERS");
    String before = replica.script();
    Outcome outcome = replica.run(stranger, sql);
    assertEquals(
        state, assertInstanceOf(Outcome.SqlFailed.class, outcome, outcome.toString()).sqlState());
    assertEquals(before, replica.script());
  }

  @Test
  void rowThatMovesFromOneLockToAnotherNeedsBoth() throws SQLException {
    String move = "UPDATE ORDERS SET ID = 10 WHERE C = 2";
    replica.take(holder, "order-10");
    Outcome withoutOld = replica.run(holder, move);
    assertTrue(withoutOld.toString().contains("'order-9'"), withoutOld.toString());
    replica.take(other, "order-9");
    Outcome withoutNew = replica.run(other, move);
    assertTrue(withoutNew.toString().contains("'order-10'"), withoutNew.toString());
    replica.perform(other, new Operation.ReleaseLock(new LockName("order-9"), null, 0));
    replica.take(holder, "order-9");
    replica.ok(holder, move);
    assertEquals(List.of("10"), replica.query("SELECT ID FROM ORDERS WHERE C = 2"));
  }

  @Test
  void clauseAndSettingPresentTokensOfRows() {
    long token = replica.take(holder, "order-9");
    String sql = "UPDATE ORDERS SET V = 4 WHERE ID = 9";
    assertOk(fenced(stranger, sql, "order-9", token, false));
    assertOk(fenced(stranger, sql, "order-9", token, true));
    assertEquals(
        RefusalCode.TOKEN_MISSING,
        refusal(fenced(stranger, "UPDATE ORDERS SET V = 4", "order-9", token, false)));
    present(stranger, "order-9", token);
    assertOk(replica.run(stranger, sql));
    replica.perform(holder, new Operation.ReleaseLock(new LockName("order-9"), null, 0));
    Outcome stale = replica.run(stranger, sql);
    assertEquals(RefusalCode.TOKEN_STALE, refusal(stale));
    assertTrue(
        stale
            .toString()
            .contains(
                "token "
                    + token
                    + " of lock 'order-9', which fences a row of table PUBLIC.ORDERS, is stale,"
                    + " nobody holds the lock now"),
        stale.toString());
    assertEquals(RefusalCode.TOKEN_STALE, refusal(fenced(stranger, sql, "order-9", token, true)));
  }

  @Test
  void sharedHolderMayNotWriteTheRow() {
    replica.perform(
        stranger, new Operation.AcquireLock(new LockName("order-9"), null, LockMode.SHARED, 0));
    String sql = "UPDATE ORDERS SET V = 4 WHERE ID = 9";
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(replica.run(stranger, sql)));
  }

  @Test
  void everySetOfABatchIsJudgedByItsRows() throws SQLException {
    Outcome outcome =
        replica.perform(
            holder,
            StoreDriver.statement(
                "UPDATE ORDERS SET V = 6 WHERE ID = ?",
                null,
                List.of(new Object[] {7}, new Object[] {8}, new Object[] {99})));
    List<Outcome> outcomes = ((Outcome.Batch) outcome).outcomes();
    assertOk(outcomes.get(0));
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(outcomes.get(1)));
    assertOk(outcomes.get(2));
    assertEquals(List.of("7"), replica.query("SELECT ID FROM ORDERS WHERE V = 6"));
  }

  @Test
  void rowsOfAReferencedTableThatACascadeChangesAreJudgedToo() {
    assertOk(fence("ITEM", new Operation.RowFence("'item-' || ID")));
    Outcome refused = replica.run(holder, "DELETE FROM ORDERS WHERE ID = 7");
    assertTrue(refused.toString().contains("'item-1'"), refused.toString());
    replica.take(holder, "item-1");
    assertOk(replica.run(holder, "DELETE FROM ORDERS WHERE ID = 7"));
  }

  @Test
  void definitionNeedsNoTokenOfLocksThatNobodyHolds() throws SQLException {
    replica.perform(holder, new Operation.ReleaseLock(new LockName("order-7"), null, 0));
    assertEquals(
        RefusalCode.TOKEN_MISSING,
        refusal(replica.run(stranger, "ALTER TABLE ORDERS DROP COLUMN V")));
    assertOk(replica.run(other, "ALTER TABLE ORDERS DROP COLUMN V"));
    replica.ok(stranger, "DROP TABLE ITEM");
    long token = replica.take(holder, "order-7");
    replica.perform(holder, new Operation.ReleaseLock(new LockName("order-7"), null, 0));
    present(other, "order-7", token);
    assertEquals(
        RefusalCode.TOKEN_STALE,
        refusal(replica.run(other, "TRUNCATE TABLE ORDERS")),
        "who shows a stale token believes in it");
    present(other, "order-7", null);
    assertOk(replica.run(other, "TRUNCATE TABLE ORDERS"));
    assertEquals(List.of(), replica.query("SELECT * FROM ORDERS"));
  }

  @Test
  void definitionRespectsSharedHolders() {
    replica.perform(
        stranger, new Operation.AcquireLock(new LockName("order-9"), null, LockMode.SHARED, 0));
    present(holder, "order-8", tokenOf("order-8"));
    Outcome refused = replica.run(holder, "DROP TABLE ORDERS CASCADE");
    assertTrue(refused.toString().contains("'order-9'"), refused.toString());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ALTER TABLE ORDERS ALTER COLUMN ID RENAME TO NUMBER",
        "ALTER TABLE ORDERS ALTER COLUMN ID BIGINT",
        "ALTER TABLE ORDERS DROP COLUMN V, ID",
        "ALTER TABLE ORDERS DROP COLUMN ID"
      })
  void columnOfTheExpressionStaysAsItIs(String sql) throws SQLException {
    String before = replica.script();
    present(holder, "order-8", tokenOf("order-8"));
    Outcome refused = replica.run(holder, sql);
    assertEquals(RefusalCode.FENCE_STATE, refusal(refused));
    assertTrue(refused.toString().contains("column ID"), refused.toString());
    assertEquals(before, replica.script());
  }

  @Test
  void guardFollowsARebuiltAndARenamedTable() throws SQLException {
    replica.ok(stranger, "ALTER TABLE ORDERS ADD COLUMN W INT DEFAULT 1 BEFORE ID");
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(replica.run(stranger, "DELETE FROM ORDERS")));
    replica.ok(stranger, "ALTER TABLE ORDERS RENAME TO PURCHASES");
    Outcome refused = replica.run(stranger, "UPDATE PURCHASES SET W = 3 WHERE ID = 7");
    assertTrue(refused.toString().contains("PUBLIC.PURCHASES"), refused.toString());
    replica.ok(stranger, "ALTER TABLE PURCHASES ADD COLUMN X INT");
    assertEquals(
        RefusalCode.TOKEN_MISSING, refusal(replica.run(stranger, "UPDATE PURCHASES SET X = 3")));
    assertOk(replica.run(holder, "UPDATE PURCHASES SET W = 3 WHERE ID = 7"));
    assertEquals(
        List.of("PUBLIC,PURCHASES,null,HELD,1,'order-' || ID"),
        replica.query("SELECT * FROM TOLLGATE.FENCES"));
  }

  @Test
  void guardFollowsARenamedSchema() {
    replica.ok(stranger, "CREATE SCHEMA APP");
    replica.ok(stranger, "CREATE TABLE APP.U(ID INT)");
    assertOk(
        replica.perform(
            stranger, new Operation.FenceTable(new TableName("APP", "U"), BY_ORDER, null, true)));
    replica.ok(stranger, "ALTER SCHEMA APP RENAME TO APP2");
    assertEquals(
        RefusalCode.TOKEN_MISSING, refusal(replica.run(stranger, "INSERT INTO APP2.U VALUES(1)")));
    assertOk(replica.run(holder, "INSERT INTO APP2.U VALUES(7)"));
    replica.ok(holder, "ALTER TABLE APP2.U ADD COLUMN V INT");
    assertEquals(
        RefusalCode.TOKEN_MISSING,
        refusal(replica.run(stranger, "INSERT INTO APP2.U VALUES(1, 1)")));
  }

  @Test
  void checksOfTheTableSpeakBeforeTheGuardWhicheverCameFirst() {
    replica.ok(stranger, "ALTER TABLE ORDERS ADD CONSTRAINT POSITIVE CHECK (V > 0)");
    Outcome refused = replica.run(stranger, "UPDATE ORDERS SET V = -1 WHERE ID = 7");
    assertEquals("23513", ((Outcome.SqlFailed) refused).sqlState(), refused.toString());
  }

  @Test
  void droppedTableTakesItsGuardAlong() throws SQLException {
    present(holder, "order-8", tokenOf("order-8"));
    replica.ok(holder, "DROP TABLE ORDERS CASCADE");
    assertEquals(List.of(), replica.query("SELECT * FROM TOLLGATE.FENCES"));
    replica.ok(stranger, "CREATE TABLE ORDERS(ID INT)");
    assertOk(replica.run(stranger, "INSERT INTO ORDERS VALUES(1)"));
    assertOk(fence("ORDERS", BY_ORDER));
  }

  @Test
  void droppedSchemaTakesItsGuardsAlong() throws SQLException {
    replica.ok(stranger, "CREATE SCHEMA APP");
    replica.ok(stranger, "CREATE TABLE APP.U(ID INT)");
    assertOk(
        replica.perform(
            stranger, new Operation.FenceTable(new TableName("APP", "U"), BY_ORDER, null, true)));
    replica.ok(holder, "INSERT INTO APP.U VALUES(7)");
    assertEquals(
        RefusalCode.TOKEN_MISSING, refusal(replica.run(stranger, "DROP SCHEMA APP CASCADE")));
    assertOk(replica.run(holder, "DROP SCHEMA APP CASCADE"));
    assertEquals(List.of("ORDERS"), replica.query("SELECT TABLE_NAME FROM TOLLGATE.FENCES"));
  }

  @Test
  void unfencingAndFencingAnewRespectThoseWhoHoldLocks() {
    Operation unfence = new Operation.UnfenceTable(new TableName(null, "ORDERS"), null, true);
    Operation.TableFence oneLock =
        new Operation.TableFence(StoreDriver.JOB, FenceReading.MONOTONIC);
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(replica.perform(stranger, unfence)));
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(fence("ORDERS", oneLock)));
    assertEquals(
        RefusalCode.TOKEN_MISSING, refusal(fence("ORDERS", new Operation.RowFence("'x-' || ID"))));
    replica.perform(other, new Operation.ReleaseLock(new LockName("order-8"), null, 0));
    assertOk(replica.perform(holder, unfence));
    assertOk(replica.run(stranger, "UPDATE ORDERS SET V = 2"));
    assertOk(fence("ORDERS", oneLock));
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(fence("ORDERS", BY_ORDER)));
    replica.take(stranger, "job");
    assertOk(fence("ORDERS", BY_ORDER));
    assertOk(replica.run(holder, "UPDATE ORDERS SET V = 3 WHERE ID = 7"));
    assertEquals(
        RefusalCode.TOKEN_MISSING, refusal(replica.run(stranger, "UPDATE ORDERS SET V = 3")));
  }

  @Test
  void failedFencingLeavesTheFenceAsItWas() {
    replica.ok(other, "UPDATE ORDERS SET V = NULL WHERE ID = 8");
    present(stranger, "order-7", tokenOf("order-7"));
    present(stranger, "order-8", tokenOf("order-8"));
    Outcome failed = fence("ORDERS", new Operation.RowFence("'order-' || V"));
    assertState("22023", failed);
    present(stranger, "order-7", null);
    assertEquals(
        RefusalCode.TOKEN_MISSING,
        refusal(replica.run(stranger, "UPDATE ORDERS SET V = 3 WHERE ID = 7")));
    assertOk(replica.run(holder, "UPDATE ORDERS SET V = 3 WHERE ID = 7"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '→',
      quoteCharacter = '`',
      textBlock =
          """
          'order-' || NAME → NULL → gives NULL
          NAME → '' → a text of 0 characters
          'order-' || REPEAT(NAME, 300) → 'x' → a text of 306 characters
          """)
  void rowWithoutALockIsRefused(String expression, String name, String message)
      throws SQLException {
    replica.ok(stranger, "CREATE TABLE N(NAME VARCHAR(10))");
    assertOk(fence("N", new Operation.RowFence(expression)));
    Outcome refused = replica.run(stranger, "INSERT INTO N VALUES(" + name + ")");
    assertState("22023", refused);
    assertTrue(refused.toString().contains(message), refused.toString());
    assertTrue(refused.toString().contains("PUBLIC.N"), refused.toString());
    assertEquals(List.of(), replica.query("SELECT * FROM N"));
    replica.ok(stranger, "CREATE TABLE M(NAME VARCHAR(10))");
    replica.ok(stranger, "INSERT INTO M VALUES(" + name + ")");
    assertState("22023", fence("M", new Operation.RowFence(expression)));
    assertOk(replica.run(stranger, "DELETE FROM M"));
  }

  @Test
  void expressionDependsOnTheRowAlone() throws SQLException {
    replica.ok(stranger, "CREATE CONSTANT PREFIX VALUE 'order-'");
    replica.ok(stranger, "CREATE TABLE N(ID INT, T TIME, G INT GENERATED ALWAYS AS (ID * 2))");
    assertState("42S22", fence("N", new Operation.RowFence("PREFIX || ID")));
    assertState("42S22", fence("N", new Operation.RowFence("'n-' || NOTHING")));
    assertState("22023", fence("N", new Operation.RowFence("'n-' || G")));
    assertState("22023", fence("N", new Operation.RowFence("'n-' || RAND() || ID")));
    assertState("22023", fence("N", new Operation.RowFence("'n-' || _ROWID_")));
    // H2 takes the date of today for it
    assertOk(fence("N", new Operation.RowFence("'n-' || CAST(T AS TIMESTAMP)")));
    Outcome refused = replica.run(stranger, "INSERT INTO N(ID, T) VALUES(1, TIME '10:00:00')");
    assertTrue(refused.toString().contains("'n-1970-01-01 10:00:00'"), refused.toString());
  }

  @Test
  void createTableMakesItsFence() {
    assertOk(create("CREATE TABLE N(ID INT)", BY_ORDER));
    assertEquals(
        RefusalCode.TOKEN_MISSING, refusal(replica.run(stranger, "INSERT INTO N VALUES(7)")));
    assertOk(replica.run(holder, "INSERT INTO N VALUES(7)"));
    assertOk(create("CREATE TABLE IF NOT EXISTS N(ID INT)", BY_ORDER));
    assertEquals(
        RefusalCode.FENCE_STATE,
        refusal(
            create("CREATE TABLE IF NOT EXISTS N(ID INT)", new Operation.RowFence("'x' || ID"))));
  }

  @Test
  void createTableThatCannotHaveItsFenceLeavesNothingBehind() throws SQLException {
    String before = replica.script();
    List<String> scriptBefore = replica.database.script();
    assertState(
        "42S22",
        create(
            "CREATE TABLE N(ID BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY)",
            new Operation.RowFence("'n-' || NOTHING")));
    assertState(
        "22023", create("CREATE TABLE N AS SELECT CAST(NULL AS INT) AS ID FROM SOURCE", BY_ORDER));
    assertEquals(before, replica.script());
    assertEquals(scriptBefore, replica.database.script());
    assertOk(create("CREATE TABLE N(ID INT)", BY_ORDER));
  }

  @Test
  void clientsSeeNothingOfTheGuard() throws SQLException {
    for (String view : List.of("TABLE_CONSTRAINTS", "CHECK_CONSTRAINTS", "TRIGGERS", "SCHEMATA")) {
      List<String> rows = replica.query("SELECT * FROM INFORMATION_SCHEMA." + view);
      assertFalse(rows.toString().contains("FENCE_"), rows.toString());
    }
    assertFalse(replica.database.script().toString().contains("FENCE_"));
    assertState("90057", replica.run(holder, "ALTER TABLE ORDERS DROP CONSTRAINT FENCE_1"));
  }

  @Test
  void rowsCountTowardsTheBudgetOfAStatement() {
    replica.close();
    replica =
        new StoreDriver(
            new SqlDatabase(
                new StoreLimits(
                    WorkLimit.of(100),
                    WorkLimit.of(1 << 20),
                    WorkLimit.of(Limits.STATEMENT_STEPS),
                    1_000,
                    1 << 20)));
    SessionId session = replica.open();
    replica.ok(session, "CREATE TABLE ORDERS(ID INT, V INT)");
    replica.ok(session, "INSERT INTO ORDERS SELECT 7, X FROM SYSTEM_RANGE(1, 40)");
    assertOk(replica.run(session, "UPDATE ORDERS SET V = V"));
    replica.perform(
        session, new Operation.FenceTable(new TableName(null, "ORDERS"), BY_ORDER, null, true));
    replica.take(session, "order-7");
    assertState("54001", replica.run(session, "UPDATE ORDERS SET V = 0"));
    assertOk(replica.run(session, "UPDATE ORDERS SET V = 0 WHERE V < 20"));
  }

  @Test
  void lockLostBeforeTheCommitFailsIt() throws SQLException {
    assertOk(replica.in(holder, "UPDATE ORDERS SET V = 2 WHERE ID = 7"));
    replica.perform(other, new Operation.ForceReleaseLock(new LockName("order-7")));
    Outcome refused = replica.commit(holder);
    assertEquals(RefusalCode.TOKEN_STALE, refusal(refused));
    assertTrue(
        refused.toString().contains("'order-7', which fences a row of table PUBLIC.ORDERS"),
        refused.toString());
    assertEquals(List.of("1"), replica.query("SELECT V FROM ORDERS WHERE ID = 7"));
  }

  @Test
  void lockLostAndTakenAgainBeforeTheCommitFailsItToo() throws SQLException {
    assertOk(replica.in(holder, "UPDATE ORDERS SET V = 2 WHERE ID = 7"));
    replica.perform(holder, new Operation.ReleaseLock(new LockName("order-7"), null, 0));
    replica.take(holder, "order-7");
    assertOk(replica.in(holder, "UPDATE ORDERS SET V = 3 WHERE ID = 7"));
    assertEquals(RefusalCode.TOKEN_STALE, refusal(replica.commit(holder)));
    assertEquals(List.of("1"), replica.query("SELECT V FROM ORDERS WHERE ID = 7"));
  }

  @Test
  void transactionKeepsWhatItsRefusedStatementsDidNotTouch() throws SQLException {
    assertOk(replica.in(holder, "UPDATE ORDERS SET V = 2 WHERE ID = 7"));
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(replica.in(holder, "UPDATE ORDERS SET V = 9")));
    assertEquals(
        RefusalCode.TOKEN_MISSING,
        refusal(
            replica.in(
                holder,
                "SELECT * FROM FINAL TABLE (INSERT INTO ORDERS SELECT ID, V, NULL FROM"
                    + " (VALUES (77, 7), (70, 7)) AS S(ID, V))")));
    replica.take(holder, "order-77");
    assertEquals(
        RefusalCode.TOKEN_MISSING,
        refusal(
            replica.in(
                holder,
                "SELECT * FROM FINAL TABLE (INSERT INTO ORDERS SELECT ID, V, NULL FROM"
                    + " (VALUES (77, 7), (70, 7)) AS S(ID, V) ORDER BY ID DESC)")));
    assertEquals(new Outcome.Done(), replica.commit(holder));
    assertEquals(
        List.of("7,2", "8,1", "9,1"), replica.query("SELECT ID, V FROM ORDERS ORDER BY ID"));
  }

  @Test
  void unfencingWaitsForTransactionsThatHaveRows() {
    Operation unfence = new Operation.UnfenceTable(new TableName(null, "ORDERS"), null, true);
    assertOk(replica.in(holder, "UPDATE ORDERS SET V = 2 WHERE ID = 7"));
    assertEquals(new Outcome.Waiting(), replica.perform(other, unfence));
    replica.commit(holder);
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(replica.last(other)));
  }

  @Test
  void truncateWaitsForTransactionsThatHaveRows() {
    replica.ok(stranger, "DROP TABLE ITEM");
    assertOk(replica.in(holder, "UPDATE ORDERS SET V = 2 WHERE ID = 7"));
    assertEquals(new Outcome.Waiting(), replica.run(other, "TRUNCATE TABLE ORDERS"));
    replica.commit(holder);
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(replica.last(other)));
  }

  private long tokenOf(String lock) {
    return HeldLocks.lockToken(replica.machine.state(), new LockName(lock)).value();
  }

  private void present(SessionId session, String lock, @Nullable Long token) {
    assertEquals(
        new Outcome.Done(),
        replica.perform(session, new Operation.PresentToken(new LockName(lock), token)));
  }

  private Outcome fenced(
      SessionId session, String sql, String lock, long token, boolean monotonic) {
    List<Object[]> oneSet = new ArrayList<>();
    oneSet.add(new Object[0]);
    return replica.perform(
        session,
        StoreDriver.statement(
            sql,
            new Operation.StatementFence(new PresentedToken(new LockName(lock), token), monotonic),
            oneSet));
  }

  private Outcome fence(String table, Operation.FenceTerms terms) {
    return replica.perform(
        stranger, new Operation.FenceTable(new TableName(null, table), terms, null, true));
  }

  private Outcome create(String sql, Operation.FenceTerms terms) {
    return replica.perform(
        holder,
        StoreDriver.statement(
            sql, null, List.<Object[]>of(new Object[0]), new Operation.WantedKeys.None(), terms));
  }

  private static void assertOk(Outcome outcome) {
    assertInstanceOf(Outcome.Executed.class, outcome, outcome.toString());
  }

  private static void assertState(String state, Outcome outcome) {
    assertInstanceOf(Outcome.SqlFailed.class, outcome, outcome.toString());
    assertEquals(state, ((Outcome.SqlFailed) outcome).sqlState(), outcome.toString());
  }

  private static RefusalCode refusal(Outcome outcome) {
    if (outcome instanceof Outcome.Refused refused) {
      return refused.code();
    }
    throw new AssertionError(outcome.toString());
  }
}
