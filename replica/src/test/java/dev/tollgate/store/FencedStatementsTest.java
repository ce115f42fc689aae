package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.FenceReading;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.PresentedToken;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TableName;
import dev.tollgate.core.command.TransactionScope;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Which statements the fence of a session stops. */
class FencedStatementsTest {
  private final StoreDriver replica = new StoreDriver();
  private final SessionId holder = replica.open();
  private final SessionId session = replica.open();
  private final Planned statements = new Planned(replica, session);
  private final long token = replica.take(holder, "job");

  @BeforeEach
  void define() {
    replica.ok(holder, "CREATE TABLE T(ID INT PRIMARY KEY, V INT)");
    replica.ok(holder, "INSERT INTO T VALUES(1, 1)");
    replica.ok(holder, "CREATE INDEX T_V ON T(V)");
    replica.ok(holder, "CREATE SEQUENCE S");
    replica.ok(holder, "CREATE VIEW TV AS SELECT * FROM T");
    replica.ok(holder, "CREATE TABLE R(ID INT PRIMARY KEY)");
  }

  @AfterEach
  void close() {
    replica.close();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "INSERT INTO T VALUES(2, 2)",
        "INSERT INTO T SELECT 2, 2",
        "UPDATE T SET V = 2",
        "UPDATE T SET V = 2 WHERE FALSE",
        "DELETE FROM T",
        "MERGE INTO T(ID, V) KEY(ID) VALUES(1, 2)",
        "MERGE INTO T USING (SELECT 1 AS I) S ON T.ID = S.I WHEN MATCHED THEN DELETE",
        "SELECT * FROM FINAL TABLE (INSERT INTO T VALUES(2, 2))",
        "SELECT COUNT(*) FROM OLD TABLE (DELETE FROM T)",
        "SELECT V FROM NEW TABLE (UPDATE T SET V = 2)",
        "TRUNCATE TABLE T",
        "CREATE TABLE N(ID INT)",
        "CREATE TABLE N AS SELECT * FROM T",
        "CREATE VIEW N AS SELECT 1 AS A",
        "CREATE OR REPLACE VIEW TV AS SELECT 1 AS A",
        "CREATE INDEX N ON T(V)",
        "CREATE SEQUENCE N",
        "CREATE SCHEMA N",
        "CREATE DOMAIN N AS INT",
        "CREATE ROLE N",
        "GRANT SELECT ON T TO PUBLIC",
        "ALTER TABLE T ADD COLUMN W INT",
        "ALTER TABLE R RENAME TO N",
        "ALTER INDEX T_V RENAME TO N",
        "ALTER SEQUENCE S RESTART WITH 9",
        "ALTER VIEW TV RECOMPILE",
        "COMMENT ON TABLE T IS 'mine'",
        "DROP VIEW TV",
        "DROP INDEX T_V",
        "DROP SEQUENCE S",
        "DROP TABLE T CASCADE",
        // as with the clause, also if there is nothing to do
        "CREATE TABLE IF NOT EXISTS T(ID INT)",
        "CREATE INDEX IF NOT EXISTS T_V ON T(V)",
        "ALTER TABLE T ADD COLUMN IF NOT EXISTS V INT",
        "DROP TABLE IF EXISTS NOWHERE"
      })
  void statementThatMayHaveTheClauseNeedsTheToken(String sql) throws SQLException {
    fence(token - 1);
    String before = replica.script();
    String refused = statements.run(sql);
    assertTrue(refused.startsWith("Refused[code=TOKEN_STALE"), refused);
    assertTrue(refused.contains("SET NOT FENCED"), refused);
    assertEquals(before, replica.script(), "a refused statement changes nothing");
    fence(token);
    assertEquals(Planned.OK, statements.run(sql));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT * FROM T",
        "SELECT * FROM T FOR UPDATE",
        "SELECT NEXT VALUE FOR S",
        "CALL NEXT VALUE FOR S",
        "SELECT 'got ' || try_acquire_lock('free')",
        "SELECT ID, try_acquire_lock('row-' || ID) FROM T",
        "SELECT COALESCE(release_lock('free'), FALSE), 1",
        "EXPLAIN DELETE FROM T",
        "SHOW TABLES"
      })
  void statementThatChangesNoRowsIsNotFenced(String sql) {
    fence(token - 1);
    assertEquals(Planned.OK, statements.run(sql));
  }

  @Test
  void fencesOfTablesAreChangedUnderTheTokenOfTheSession() {
    fence(token - 1);
    assertEquals(RefusalCode.TOKEN_STALE, refusal(replica.fence(session, "T", FenceReading.HELD)));
    fence(token);
    assertInstanceOf(Outcome.Executed.class, replica.fence(session, "T", FenceReading.HELD));
    Operation.UnfenceTable unfence =
        new Operation.UnfenceTable(new TableName(null, "T"), null, true);
    fence(token - 1);
    assertEquals(RefusalCode.TOKEN_STALE, refusal(replica.perform(session, unfence)));
    fence(token);
    assertInstanceOf(Outcome.Executed.class, replica.perform(session, unfence));
  }

  @Test
  void createTableThatBindsItsTableIsFencedItself() throws SQLException {
    fence(token - 1);
    Operation.ExecuteSql create =
        StoreDriver.statement(
            "CREATE TABLE N(ID INT)",
            null,
            List.<Object[]>of(new Object[0]),
            new Operation.WantedKeys.None(),
            new Operation.TableFence(StoreDriver.JOB, FenceReading.HELD));
    assertEquals(RefusalCode.TOKEN_STALE, refusal(replica.perform(session, create)));
    assertEquals(List.of(), replica.query("SELECT * FROM TOLLGATE.FENCES"));
  }

  @Test
  void rowsWithLocksOfTheirOwnGetTheTokenOfTheSession() {
    replica.perform(
        holder,
        new Operation.FenceTable(
            new TableName(null, "T"), new Operation.RowFence("'row-' || ID"), null, true));
    long row = replica.take(holder, "row-1");
    replica.perform(
        session, new Operation.FenceSession(new PresentedToken(new LockName("row-1"), row)));
    assertEquals(Planned.OK, statements.run("UPDATE T SET V = 2 WHERE ID = 1"));
    assertTrue(statements.run("INSERT INTO T VALUES(2, 2)").contains("TOKEN_MISSING"));
  }

  @Test
  void lockThatIsLostBeforeCommitFailsTheCommit() throws SQLException {
    fence(token);
    assertExecuted(replica.in(session, "UPDATE T SET V = 2"));
    replica.perform(holder, new Operation.ForceReleaseLock(StoreDriver.JOB));
    assertEquals(RefusalCode.TOKEN_STALE, refusal(replica.commit(session)));
    assertEquals(List.of("1,1"), replica.query("SELECT * FROM T"));
  }

  @Test
  void transactionRemembersTheFenceUnderWhichItHasWritten() throws SQLException {
    fence(token);
    assertExecuted(replica.in(session, "UPDATE T SET V = 2"));
    unfence();
    assertExecuted(replica.in(session, "UPDATE T SET V = 3"));
    replica.perform(holder, new Operation.ForceReleaseLock(StoreDriver.JOB));
    assertEquals(RefusalCode.TOKEN_STALE, refusal(replica.commit(session)));
    assertEquals(List.of("1,1"), replica.query("SELECT * FROM T"));
  }

  @Test
  void transactionThatWroteNothingUnderTheFenceCommits() throws SQLException {
    assertExecuted(replica.in(session, "UPDATE T SET V = 2"));
    fence(token - 1);
    assertExecuted(query("SELECT * FROM T FOR UPDATE"));
    assertEquals(RefusalCode.TOKEN_STALE, refusal(replica.in(session, "UPDATE T SET V = 3")));
    assertEquals(new Outcome.Done(), replica.commit(session));
    assertEquals(List.of("1,2"), replica.query("SELECT * FROM T"));
  }

  @Test
  void rollbackLeavesTheFence() {
    replica.in(session, "UPDATE T SET V = 2");
    replica.perform(
        session, new Operation.MarkSavepoint(false, "A", TransactionScope.READ_COMMITTED));
    fence(token - 1);
    replica.perform(
        session, new Operation.MarkSavepoint(true, "A", TransactionScope.READ_COMMITTED));
    assertEquals(RefusalCode.TOKEN_STALE, refusal(replica.in(session, "UPDATE T SET V = 3")));
    replica.rollback(session);
    assertEquals(RefusalCode.TOKEN_STALE, refusal(replica.run(session, "UPDATE T SET V = 3")));
  }

  @Test
  void statementThatHasWaitedIsFencedWhenItRuns() throws SQLException {
    fence(token);
    replica.in(holder, "UPDATE T SET V = 5");
    assertEquals(new Outcome.Waiting(), replica.run(session, "UPDATE T SET V = V + 1"));
    replica.perform(replica.open(), new Operation.ForceReleaseLock(StoreDriver.JOB));
    replica.commit(holder);
    assertEquals(RefusalCode.TOKEN_STALE, refusal(replica.last(session)));
    assertEquals(List.of("1,5"), replica.query("SELECT * FROM T"));
  }

  /** The second set takes the lock from its holder. */
  @Test
  void everySetOfABatchIsCheckedWhereItRuns() throws SQLException {
    fence(token);
    Operation.ExecuteSql batch =
        StoreDriver.statement(
            "INSERT INTO T VALUES(?, CASE WHEN ? = 0 THEN 0"
                + " WHEN TOLLGATE.FORCE_RELEASE_LOCK('job') THEN 1 END)",
            null,
            List.of(new Object[] {2, 0}, new Object[] {3, 1}, new Object[] {4, 0}));
    Outcome.Batch outcome = (Outcome.Batch) replica.perform(session, batch);
    assertExecuted(outcome.outcomes().get(0));
    assertExecuted(outcome.outcomes().get(1));
    assertEquals(RefusalCode.TOKEN_STALE, refusal(outcome.outcomes().get(2)));
    assertEquals(List.of("1,1", "2,0", "3,1"), replica.query("SELECT * FROM T ORDER BY ID"));
  }

  private Outcome query(String sql) {
    return replica.perform(
        session, StoreDriver.inTransaction(sql, TransactionScope.READ_COMMITTED));
  }

  private void fence(long under) {
    replica.perform(
        session, new Operation.FenceSession(new PresentedToken(StoreDriver.JOB, under)));
  }

  private void unfence() {
    replica.perform(session, new Operation.FenceSession(null));
  }

  private static void assertExecuted(Outcome outcome) {
    assertInstanceOf(Outcome.Executed.class, outcome);
  }

  private static RefusalCode refusal(Outcome outcome) {
    if (outcome instanceof Outcome.Refused refused) {
      return refused.code();
    }
    throw new AssertionError(outcome.toString());
  }
}
