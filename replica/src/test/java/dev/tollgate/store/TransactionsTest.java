package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.FenceReading;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TableName;
import dev.tollgate.core.command.TransactionScope;
import dev.tollgate.store.limits.StoreLimits;
import dev.tollgate.store.limits.WorkLimit;
import dev.tollgate.value.StatementResult;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Transactions of several sessions on one thread, and what H2 alone gets wrong about them:
 * docs/transactions.md says which test is about what. Without a rule H2 may spin for ever, so tests
 * have a thread of their own that can be left behind.
 */
@Timeout(value = 60, threadMode = ThreadMode.SEPARATE_THREAD)
class TransactionsTest {
  private final StoreDriver store = new StoreDriver();
  private final SessionId a = store.open();
  private final SessionId b = store.open();
  private final SessionId c = store.open();

  @BeforeEach
  void createTable() {
    store.ok(a, "CREATE TABLE T(ID INT PRIMARY KEY, V INT, U INT UNIQUE)");
    store.ok(a, "INSERT INTO T VALUES(1, 0, 1), (2, 0, 2)");
  }

  @AfterEach
  void close() {
    store.close();
  }

  private static void assertOk(Outcome outcome) {
    assertInstanceOf(Outcome.Executed.class, outcome, outcome.toString());
  }

  private static void assertWaiting(Outcome outcome) {
    assertEquals(new Outcome.Waiting(), outcome);
  }

  private static void assertState(String state, Outcome outcome) {
    assertInstanceOf(Outcome.SqlFailed.class, outcome, outcome.toString());
    assertEquals(state, ((Outcome.SqlFailed) outcome).sqlState(), outcome.toString());
  }

  private static void assertLost(Outcome outcome) {
    assertInstanceOf(Outcome.Refused.class, outcome, outcome.toString());
    assertEquals(RefusalCode.TRANSACTION_LOST, ((Outcome.Refused) outcome).code());
  }

  private List<String> rows() throws SQLException {
    return store.query("SELECT ID, V FROM T ORDER BY ID");
  }

  @Test
  void ruleOfATableSeesWhatItsTransactionHasWritten() throws SQLException {
    store.ok(a, "CREATE VIEW W AS SELECT ID FROM T");
    store.ok(
        a,
        "CREATE TABLE N(ID INT PRIMARY KEY, BY_VIEW INT DEFAULT (SELECT COUNT(*) FROM W),"
            + " BY_DERIVED INT DEFAULT (SELECT COUNT(*) FROM (SELECT DISTINCT ID FROM T)),"
            + " CHECK (ID IN (SELECT ID FROM T WHERE ID IN (SELECT ID FROM W))))");
    assertOk(store.in(a, "INSERT INTO T VALUES(3, 0, 3)"));
    assertOk(store.in(a, "INSERT INTO N(ID) VALUES(3)"));
    assertState("23513", store.in(a, "INSERT INTO N(ID) VALUES(4)"));
    assertOk(store.in(a, "INSERT INTO T VALUES(4, 0, 4)"));
    assertOk(store.in(a, "INSERT INTO N(ID) VALUES(4)"));
    assertEquals(new Outcome.Done(), store.commit(a));
    assertEquals(List.of("3,3,3", "4,4,4"), query("SELECT * FROM N ORDER BY ID"));
  }

  @Test
  void changesAreSeenByOthersOnceTheyAreCommitted() throws SQLException {
    assertOk(store.in(a, "UPDATE T SET V = 1 WHERE ID = 1"));
    assertEquals(List.of("1,0", "2,0"), rows());
    assertEquals(new Outcome.Done(), store.commit(a));
    assertEquals(List.of("1,1", "2,0"), rows());
  }

  @Test
  void rollbackUndoesEverythingSinceTheLastCommit() throws SQLException {
    assertOk(store.in(a, "UPDATE T SET V = 1 WHERE ID = 1"));
    assertOk(store.in(a, "INSERT INTO T VALUES(3, 3, 3)"));
    assertEquals(new Outcome.Done(), store.rollback(a));
    assertEquals(List.of("1,0", "2,0"), rows());
    assertNull(store.machine.state().session(a).transaction());
  }

  /** It may end after the node has seen that the client is in it, before the query runs. */
  @Test
  void queryInATransactionThatHasEndedFails() throws SQLException {
    assertOk(store.in(a, "UPDATE T SET V = 1 WHERE ID = 1"));
    assertEquals(List.of("1,1", "2,0"), rowsSeenBy(a));
    store.rollback(a);
    SQLException e = assertThrows(SQLException.class, () -> rowsSeenBy(a));
    assertEquals("40001", e.getSQLState());
  }

  private List<String> rowsSeenBy(SessionId session) throws SQLException {
    return store.queryIn(session, "SELECT ID, V FROM T ORDER BY ID");
  }

  /** Each transaction that gets the row keeps it, and the others are not tried in vain. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "SELECT V FROM T WHERE ID = 1 FOR UPDATE",
        "UPDATE T SET V = V + 1 WHERE ID = 1",
        "DELETE FROM T WHERE ID = 1 AND V < 0 OR U = 1",
      })
  void statementsThatWaitForOneRowRunOnceWhenItIsFree(String sql) {
    assertOk(store.in(a, "UPDATE T SET V = 1 WHERE ID = 1"));
    int before = store.executions;
    List<SessionId> waiters = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      SessionId waiter = store.open();
      assertWaiting(store.in(waiter, sql));
      waiters.add(waiter);
    }
    SessionId holder = a;
    for (SessionId next : waiters) {
      store.rollback(holder);
      assertOk(store.last(next));
      holder = next;
    }
    assertEquals(2 * waiters.size(), store.executions - before);
  }

  @Test
  void deadlockIsFoundWithTheTransactionThatGotTheRowMeanwhile() throws SQLException {
    assertOk(store.in(a, "UPDATE T SET V = 1 WHERE ID = 1"));
    assertOk(store.in(c, "UPDATE T SET V = 2 WHERE ID = 2"));
    assertWaiting(store.in(b, "UPDATE T SET V = V + 10 WHERE ID = 1"));
    assertWaiting(store.in(c, "UPDATE T SET V = V + 20 WHERE ID = 1"));
    store.commit(a);
    assertOk(store.last(b));
    assertLost(store.in(b, "UPDATE T SET V = V + 10 WHERE ID = 2"));
    assertOk(store.last(c));
    store.commit(c);
    assertEquals(List.of("1,21", "2,2"), rows());
  }

  @Test
  void waiterWhoseRowIsGoneRunsAtOnce() throws SQLException {
    assertOk(store.in(a, "DELETE FROM T WHERE ID = 1"));
    assertWaiting(store.in(b, "UPDATE T SET V = 5 WHERE ID = 1"));
    assertWaiting(store.in(c, "UPDATE T SET V = 6 WHERE ID = 1"));
    store.commit(a);
    assertEquals(LoggedStatements.updated(0), store.last(b));
    assertEquals(LoggedStatements.updated(0), store.last(c));
  }

  @Test
  void failedStatementLeavesTheTransactionAsItWas() throws SQLException {
    assertOk(store.in(a, "UPDATE T SET V = 1 WHERE ID = 1"));
    assertState("23505", store.in(a, "INSERT INTO T VALUES(3, 3, 3), (2, 2, 2)"));
    store.commit(a);
    assertEquals(List.of("1,1", "2,0"), rows());
  }

  @Test
  void failedQueryThatWritesLeavesTheTransactionAsItWas() throws SQLException {
    assertOk(store.in(a, "UPDATE T SET V = 1 WHERE ID = 1"));
    assertState(
        "23505",
        store.in(a, "SELECT * FROM FINAL TABLE (INSERT INTO T VALUES(3, 3, 3), (2, 2, 2))"));
    store.commit(a);
    assertEquals(List.of("1,1", "2,0"), rows());
  }

  @Test
  void lockLostAndTakenAgainBeforeTheCommitFailsIt() throws SQLException {
    store.fence(a, "T", FenceReading.HELD);
    store.take(a, "job");
    assertOk(store.in(a, "UPDATE T SET V = 1 WHERE ID = 1"));
    store.perform(b, new Operation.ForceReleaseLock(StoreDriver.JOB));
    store.take(a, "job");
    assertOk(store.in(a, "UPDATE T SET V = 2 WHERE ID = 1"));
    assertEquals(RefusalCode.TOKEN_STALE, ((Outcome.Refused) store.commit(a)).code());
    assertEquals(List.of("1,0", "2,0"), rows());
  }

  @Test
  void tokenOfAClauseCountsAtCommitThoughALaterOneIsCurrent() throws SQLException {
    for (int i = 1; i <= 2; i++) {
      store.perform(b, new Operation.ForceReleaseLock(StoreDriver.JOB));
      long token = store.take(a, "job");
      Operation.ExecuteSql plain =
          StoreDriver.inTransaction(
              "UPDATE T SET V = " + i + " WHERE ID = 1", TransactionScope.READ_COMMITTED);
      assertOk(
          store.perform(
              a,
              new Operation.ExecuteSql(
                  plain.sql(),
                  plain.definition(),
                  plain.targets(),
                  List.of(
                      new Operation.ParameterSet(
                          plain.parameterSets().get(0).values(), StoreDriver.clause(token))),
                  plain.batch(),
                  plain.returnsRows(),
                  plain.keys(),
                  plain.maxRows(),
                  plain.binding(),
                  plain.ownLeaseTrusted(),
                  plain.mode())));
    }
    assertEquals(RefusalCode.TOKEN_STALE, ((Outcome.Refused) store.commit(a)).code());
    assertEquals(List.of("1,0", "2,0"), rows());
  }

  @Test
  void monotonicTableRemembersTheHighestTokenOfATransaction() {
    store.fence(a, "T", FenceReading.MONOTONIC);
    long first = store.take(a, "job");
    assertOk(store.in(a, "UPDATE T SET V = 1 WHERE ID = 1"));
    store.perform(b, new Operation.ForceReleaseLock(StoreDriver.JOB));
    store.take(a, "job");
    assertOk(store.in(a, "UPDATE T SET V = 2 WHERE ID = 1"));
    assertEquals(new Outcome.Done(), store.commit(a));
    store.perform(b, new Operation.PresentToken(StoreDriver.JOB, first));
    Outcome stale = store.run(b, "UPDATE T SET V = 3 WHERE ID = 1");
    assertEquals(RefusalCode.TOKEN_STALE, ((Outcome.Refused) stale).code());
  }

  @Test
  void savepointBringsBackWhatWasThere() throws SQLException {
    assertOk(store.in(a, "UPDATE T SET V = 1 WHERE ID = 1"));
    mark(a, false, "S");
    assertOk(store.in(a, "UPDATE T SET V = 2 WHERE ID = 1"));
    mark(a, true, "S");
    // with H2's mark of a rollback this would spin for ever
    assertWaiting(store.run(b, "UPDATE T SET V = 9 WHERE ID = 1"));
    store.commit(a);
    assertOk(store.last(b));
    assertEquals(List.of("1,9", "2,0"), rows());
    assertState(
        "90063",
        store.perform(a, new Operation.MarkSavepoint(true, "S", TransactionScope.READ_COMMITTED)));
  }

  private void mark(SessionId session, boolean rollback, String name) {
    assertEquals(
        new Outcome.Done(),
        store.perform(
            session, new Operation.MarkSavepoint(rollback, name, TransactionScope.READ_COMMITTED)));
  }

  @Test
  void rowOfAnotherTransactionIsWaitedForInTheOrderOfAsking() throws SQLException {
    assertOk(store.in(a, "UPDATE T SET V = 1 WHERE ID = 1"));
    assertWaiting(store.in(b, "UPDATE T SET V = V * 10 + 2 WHERE ID = 1"));
    assertWaiting(store.run(c, "UPDATE T SET V = V * 10 + 3 WHERE ID = 1"));
    store.commit(a);
    assertOk(store.last(b));
    assertEquals(new Outcome.Waiting(), store.last(c), "now b has the row");
    store.commit(b);
    assertOk(store.last(c));
    assertEquals(List.of("1,123", "2,0"), rows());
  }

  /** H2 would wait for its lock timeout, and as zero is no timeout to it, for two seconds. */
  @Test
  void conflictWaitsForNothingInsideH2() {
    assertOk(store.in(a, "UPDATE T SET V = 1 WHERE ID = 1"));
    // whoever waits finds this out, and takes it away
    Thread.currentThread().interrupt();
    Outcome update = store.in(b, "UPDATE T SET V = 2 WHERE ID = 1");
    Outcome insert = store.run(c, "INSERT INTO T VALUES(1, 0, 9)");
    assertTrue(Thread.interrupted());
    assertWaiting(update);
    assertWaiting(insert);
  }

  /** H2 would run the insert again, and find the first row of its own first attempt. */
  @Test
  void statementThatMeetsAConflictIsUndoneBeforeItIsTriedAgain() throws SQLException {
    assertOk(store.in(a, "INSERT INTO T VALUES(4, 0, 4)"));
    assertWaiting(store.run(b, "INSERT INTO T VALUES(3, 0, 3), (4, 0, 5)"));
    store.rollback(a);
    assertOk(store.last(b));
    assertEquals(List.of("1,0", "2,0", "3,0", "4,0"), rows());
  }

  /** H2 would let others who meet a row of such a transaction spin for ever. */
  @Test
  void rowOfATransactionInWhichAStatementFailedIsWaitedFor() {
    assertOk(store.in(a, "UPDATE T SET V = 1 WHERE ID = 1"));
    assertState("23505", store.in(a, "INSERT INTO T VALUES(2, 2, 2)"));
    assertWaiting(store.run(b, "UPDATE T SET V = 9 WHERE ID = 1"));
    assertWaiting(store.run(c, "INSERT INTO T VALUES(1, 0, 9)"));
    store.commit(a);
    assertOk(store.last(b));
    assertState("23505", store.last(c));
  }

  /** A transaction that was in the way of an earlier statement is not in the way of this one. */
  @Test
  void statementWaitsForTheOneWhoHasItsRow() {
    assertOk(store.in(a, "UPDATE T SET V = 1 WHERE ID = 1"));
    assertOk(store.in(b, "UPDATE T SET V = 1 WHERE ID = 2"));
    assertWaiting(store.in(c, "UPDATE T SET V = 2 WHERE ID = 1"));
    timeOut(c);
    assertWaiting(store.in(c, "UPDATE T SET V = 2 WHERE ID = 2"));
    store.commit(b);
    assertOk(store.last(c));
  }

  @Test
  void waitThatTimesOutFailsTheStatementAlone() throws SQLException {
    assertOk(store.in(a, "UPDATE T SET V = 1 WHERE ID = 1"));
    assertOk(store.in(b, "UPDATE T SET V = 2 WHERE ID = 2"));
    assertWaiting(store.in(b, "UPDATE T SET V = 2 WHERE ID = 1"));
    timeOut(b);
    store.commit(b);
    store.rollback(a);
    assertEquals(List.of("1,0", "2,2"), rows());
  }

  private void timeOut(SessionId session) {
    long sequence = store.machine.state().session(session).lastSequence();
    store.apply(new Command.EndWait(session, sequence, Command.WaitEnd.TIMED_OUT));
    assertState("HYT00", store.last(session));
  }

  @Test
  void deadlockEndsTheYoungestTransactionAtOnce() throws SQLException {
    assertOk(store.in(a, "UPDATE T SET V = 1 WHERE ID = 1"));
    assertOk(store.in(b, "UPDATE T SET V = 2 WHERE ID = 2"));
    assertWaiting(store.in(b, "UPDATE T SET V = 2 WHERE ID = 1"));
    assertOk(store.in(a, "UPDATE T SET V = 1 WHERE ID = 2"));
    assertLost(store.last(b));
    store.commit(a);
    assertEquals(List.of("1,1", "2,1"), rows());
    assertOk(store.in(b, "UPDATE T SET V = 3 WHERE ID = 1"));
    store.commit(b);
  }

  @Test
  void deadlockOfThreeIsFound() {
    store.ok(a, "INSERT INTO T VALUES(3, 0, 3)");
    assertOk(store.in(a, "UPDATE T SET V = 1 WHERE ID = 1"));
    assertOk(store.in(b, "UPDATE T SET V = 1 WHERE ID = 2"));
    assertOk(store.in(c, "UPDATE T SET V = 1 WHERE ID = 3"));
    assertWaiting(store.in(a, "UPDATE T SET V = 1 WHERE ID = 2"));
    assertWaiting(store.in(b, "UPDATE T SET V = 1 WHERE ID = 3"));
    assertLost(store.in(c, "UPDATE T SET V = 1 WHERE ID = 1"));
    assertOk(store.last(b));
  }

  @Test
  void insertOfAKeyThatIsNotCommittedWaits() throws SQLException {
    assertOk(store.in(a, "INSERT INTO T VALUES(3, 1, 3)"));
    assertWaiting(store.run(b, "INSERT INTO T VALUES(2 + 1, 2, 4)"));
    store.rollback(a);
    assertOk(store.last(b));
    assertOk(store.in(a, "INSERT INTO T VALUES(5, 1, 5)"));
    assertWaiting(store.run(b, "INSERT INTO T VALUES(6, 2, 5)"));
    store.commit(a);
    assertState("23505", store.last(b));
  }

  /** R4: H2 says "duplicate" although the row may be gone in a moment. */
  @Test
  void uniqueKeyOfARowThatAnotherDeletesIsWaitedFor() {
    assertOk(store.in(a, "DELETE FROM T WHERE ID = 1"));
    assertWaiting(store.run(b, "INSERT INTO T VALUES(7, 0, 1)"));
    store.commit(a);
    assertOk(store.last(b));
  }

  /** R4, when the row stays. */
  @Test
  void uniqueKeyOfARowThatStaysIsADuplicateInTheEnd() {
    assertOk(store.in(a, "DELETE FROM T WHERE ID = 1"));
    assertWaiting(store.run(b, "INSERT INTO T VALUES(7, 0, 1)"));
    store.rollback(a);
    assertState("23505", store.last(b));
  }

  /** H2 undoes a failed change, but keeps the rows that a failed query has locked. */
  @Test
  void queryThatFailsOutsideATransactionKeepsNoRow() {
    assertOk(store.in(a, "UPDATE T SET V = 1 WHERE ID = 2"));
    assertState("HYT00", store.run(b, "SELECT * FROM T ORDER BY ID FOR UPDATE NOWAIT"));
    assertOk(store.in(c, "UPDATE T SET V = 1 WHERE ID = 1"));
  }

  /** Statements that are tried again in one entry of the log are not one statement. */
  @Test
  void statementsThatWaitedForOneTransactionDrawTheirOwnNumbers() {
    store.ok(a, "CREATE TABLE R(ID INT PRIMARY KEY, G UUID DEFAULT RANDOM_UUID())");
    assertOk(store.in(a, "INSERT INTO R(ID) VALUES(1), (2)"));
    assertWaiting(store.run(b, "INSERT INTO R(ID) VALUES(1)"));
    assertWaiting(store.run(c, "INSERT INTO R(ID) VALUES(2)"));
    store.rollback(a);
    assertOk(store.last(b));
    assertOk(store.last(c));
    assertEquals(List.of("2"), query("SELECT COUNT(DISTINCT G) FROM R"));
  }

  /**
   * Values of a sequence are gone with every attempt, so that all replicas have to attempt alike.
   */
  @Test
  void attemptsThatFailTakeValuesOfASequence() {
    store.ok(a, "CREATE TABLE S(ID INT GENERATED ALWAYS AS IDENTITY, V INT UNIQUE)");
    assertOk(store.in(a, "INSERT INTO S(V) VALUES(10)"));
    assertWaiting(store.run(b, "INSERT INTO S(V) VALUES(10)"));
    store.rollback(a);
    assertOk(store.last(b));
    assertState("23505", store.run(c, "INSERT INTO S(V) VALUES(10)"));
    assertOk(store.run(c, "INSERT INTO S(V) VALUES(11)"));
    assertEquals(List.of("3,10", "5,11"), query("SELECT * FROM S ORDER BY ID"));
  }

  private List<String> query(String sql) {
    return assertDoesNotThrow(() -> store.query(sql));
  }

  private void createChild() {
    store.ok(a, "CREATE TABLE CHILD(ID INT PRIMARY KEY, PARENT INT REFERENCES T(ID))");
  }

  /** R3: H2 would let both commit, and leave a child without a parent. */
  @Test
  void parentOfARowThatIsNotCommittedCannotBeDeleted() {
    createChild();
    assertOk(store.in(a, "INSERT INTO CHILD VALUES(1, 1)"));
    assertWaiting(store.in(b, "DELETE FROM T WHERE ID = 1"));
    store.commit(a);
    assertState("23503", store.last(b));
  }

  /** R3, the other way round. */
  @Test
  void childOfARowThatIsBeingDeletedWaits() {
    createChild();
    assertOk(store.in(a, "DELETE FROM T WHERE ID = 1"));
    assertWaiting(store.in(b, "INSERT INTO CHILD VALUES(1, 1)"));
    store.commit(a);
    assertState("23506", store.last(b));
  }

  /** R3: H2 would refuse the parent's deletion although its last child may be gone in a moment. */
  @Test
  void parentWhoseChildIsBeingDeletedWaits() {
    createChild();
    store.ok(a, "INSERT INTO CHILD VALUES(1, 1)");
    assertOk(store.in(a, "DELETE FROM CHILD WHERE ID = 1"));
    assertWaiting(store.in(b, "DELETE FROM T WHERE ID = 1"));
    store.commit(a);
    assertOk(store.last(b));
  }

  /** R3: no transaction can bring this parent back. */
  @Test
  void childWithoutAParentFailsWhoeverIsAtWork() {
    createChild();
    store.ok(a, "INSERT INTO CHILD VALUES(1, 1)");
    assertOk(store.in(a, "UPDATE CHILD SET PARENT = 2"));
    assertState("23506", store.in(b, "INSERT INTO CHILD VALUES(2, 9)"));
  }

  /** R3, through the key's action. */
  @Test
  void parentIsNotDeletedWithAChildThatIsNotCommitted() {
    store.ok(
        a, "CREATE TABLE CHILD(ID INT PRIMARY KEY, PARENT INT REFERENCES T(ID) ON DELETE CASCADE)");
    assertOk(store.in(a, "INSERT INTO CHILD VALUES(1, 1)"));
    assertWaiting(store.in(b, "DELETE FROM T WHERE ID = 1"));
    store.commit(a);
    assertOk(store.last(b));
    store.commit(b);
    assertEquals(List.of(), query("SELECT * FROM CHILD"));
  }

  /** R3 is about keys: who changes other columns of the parent is not in the way. */
  @Test
  void otherColumnsOfAParentMayChangeWhileChildrenAreInserted() {
    createChild();
    assertOk(store.in(a, "INSERT INTO CHILD VALUES(1, 1)"));
    assertOk(store.in(b, "UPDATE T SET V = 5 WHERE ID = 1"));
    assertOk(store.in(c, "INSERT INTO CHILD VALUES(2, 1)"));
    store.commit(c);
    store.commit(b);
    store.commit(a);
  }

  /** H2's message says which row has the key. */
  @Test
  void duplicateOfARowThatStaysFailsAtOnce() {
    store.ok(a, "CREATE TABLE N(S VARCHAR_IGNORECASE(20) PRIMARY KEY, A INT, B INT, UNIQUE(A, B))");
    store.ok(a, "INSERT INTO N VALUES('a ( /* 2 */ ', 1, 1), ('b', 2, 2)");
    assertOk(store.in(a, "UPDATE T SET V = 1, U = 7 WHERE ID = 2"));
    assertOk(store.in(a, "DELETE FROM N WHERE S = 'b'"));
    assertState("23505", store.run(b, "INSERT INTO T VALUES(1, 0, 9)"));
    assertState("23505", store.run(b, "INSERT INTO T VALUES(9, 0, 1)"));
    assertState("23505", store.run(b, "INSERT INTO N VALUES('A ( /* 2 */ ', 3, 3)"));
    assertState("23505", store.run(b, "INSERT INTO N VALUES('c', 1, 1)"));
    assertWaiting(store.run(b, "INSERT INTO N VALUES('c', 2, 2)"));
    assertWaiting(store.run(c, "INSERT INTO N VALUES('B', 3, 3)"));
    store.rollback(a);
    assertState("23505", store.last(b));
    assertState("23505", store.last(c));
  }

  /** R3 is about keys: transactions on rows of other keys are not in the way of each other. */
  @Test
  void deletionOfAParentLetsChildrenOfOthersBe() {
    createChild();
    store.ok(a, "INSERT INTO T VALUES(3, 0, 3), (4, 0, 4)");
    assertOk(store.in(a, "INSERT INTO CHILD VALUES(1, 1)"));
    assertOk(store.in(b, "INSERT INTO CHILD VALUES(2, 2)"));
    assertOk(store.in(a, "DELETE FROM T WHERE ID = 3"));
    assertOk(store.in(b, "DELETE FROM T WHERE ID = 4"));
    assertEquals(new Outcome.Done(), store.commit(a));
    assertEquals(new Outcome.Done(), store.commit(b));
    assertEquals(List.of("1,1", "2,2"), query("SELECT * FROM CHILD ORDER BY ID"));
  }

  /** R3, without a transaction on one side. */
  @Test
  void statementsOnOtherKeysDoNotWait() {
    createChild();
    store.ok(a, "INSERT INTO T VALUES(3, 0, 3), (4, 0, 4)");
    assertOk(store.in(a, "INSERT INTO CHILD VALUES(1, 1)"));
    assertOk(store.run(b, "DELETE FROM T WHERE ID = 4"));
    store.rollback(a);
    assertOk(store.in(a, "DELETE FROM T WHERE ID = 3"));
    assertOk(store.run(b, "INSERT INTO CHILD VALUES(7, 1)"));
    assertWaiting(store.run(b, "INSERT INTO CHILD VALUES(8, 3)"));
    assertWaiting(store.run(c, "UPDATE CHILD SET PARENT = 3"));
    store.rollback(a);
    assertOk(store.last(b));
    assertOk(store.last(c));
  }

  /** R3: an UPDATE of all columns, as Hibernate makes it, keeps the values of most. */
  @Test
  void updateThatKeepsAReferenceNeedsNothing() {
    createChild();
    store.ok(a, "INSERT INTO CHILD VALUES(1, 1)");
    assertOk(store.in(a, "DELETE FROM T WHERE ID = 2"));
    assertOk(store.run(b, "UPDATE CHILD SET PARENT = 1, ID = 5 WHERE ID = 1"));
    assertOk(store.in(b, "UPDATE CHILD SET PARENT = 1, ID = 6 WHERE ID = 5"));
    assertOk(store.in(c, "UPDATE T SET ID = 1, V = 7, U = 1 WHERE ID = 1"));
    store.commit(a);
    store.commit(b);
    store.commit(c);
  }

  /** R3: the key of a parent that an UPDATE keeps stays, and one that it changes is removed. */
  @Test
  void updateOfAReferencedKeyRemovesTheOldOne() {
    createChild();
    store.ok(a, "INSERT INTO T VALUES(3, 0, 3)");
    assertOk(store.in(a, "UPDATE T SET ID = ID + 10, V = 1 WHERE ID = 2"));
    assertOk(store.in(a, "UPDATE T SET ID = 1, V = 1 WHERE ID = 1"));
    assertOk(store.run(b, "INSERT INTO CHILD VALUES(1, 1)"));
    assertOk(store.run(b, "INSERT INTO CHILD VALUES(3, 3)"));
    assertWaiting(store.run(b, "INSERT INTO CHILD VALUES(2, 2)"));
    store.commit(a);
    assertState("23506", store.last(b));
  }

  /** R3: what is undone is in nobody's way. */
  @Test
  void savepointTakesKeysBack() {
    createChild();
    assertOk(store.in(a, "INSERT INTO CHILD VALUES(1, 1)"));
    mark(a, false, "S");
    assertOk(store.in(a, "INSERT INTO CHILD VALUES(2, 2), (3, 1)"));
    mark(a, true, "S");
    assertOk(store.run(b, "DELETE FROM T WHERE ID = 2"));
    assertWaiting(store.run(c, "DELETE FROM T WHERE ID = 1"));
    store.commit(a);
    assertState("23503", store.last(c));
  }

  /** R3: a statement that fails in the middle leaves no keys behind. */
  @Test
  void statementThatFailsTakesKeysBack() {
    createChild();
    assertOk(store.in(a, "UPDATE T SET V = 0 WHERE ID < 0"));
    assertState("23506", store.in(a, "INSERT INTO CHILD VALUES(1, 1), (2, 9)"));
    assertOk(store.run(b, "DELETE FROM T WHERE ID = 1"));
    store.commit(a);
  }

  /** R3: the rows that the action of a key changes count as those of the statement. */
  @ParameterizedTest
  @ValueSource(strings = {"CASCADE", "SET NULL"})
  void actionsOfKeysCount(String action) {
    store.ok(
        a,
        "CREATE TABLE CHILD(ID INT PRIMARY KEY, PARENT INT UNIQUE REFERENCES T(ID) ON DELETE "
            + action
            + " ON UPDATE "
            + action
            + ")");
    store.ok(a, "CREATE TABLE LEAF(OF INT REFERENCES CHILD(PARENT) ON DELETE CASCADE)");
    store.ok(a, "INSERT INTO T VALUES(3, 0, 3)");
    store.ok(a, "INSERT INTO CHILD VALUES(1, 1), (2, 2), (3, 3)");
    assertOk(store.in(a, "DELETE FROM T WHERE ID = 1"));
    assertOk(store.run(b, "INSERT INTO LEAF VALUES(2)"));
    assertWaiting(store.run(b, "INSERT INTO LEAF VALUES(1)"));
    store.commit(a);
    assertState("23506", store.last(b));
    assertOk(store.in(a, "INSERT INTO LEAF VALUES(3)"));
    assertWaiting(store.run(b, "DELETE FROM T WHERE ID = 3"));
    store.rollback(a);
    assertOk(store.last(b));
  }

  /** R3: a key of which a column is NULL refers to nothing. */
  @Test
  void keyWithANullIsNoKey() {
    store.ok(a, "CREATE TABLE P(A INT, B INT, UNIQUE(A, B))");
    store.ok(a, "CREATE TABLE K(X INT, Y INT, FOREIGN KEY(Y, X) REFERENCES P(B, A))");
    store.ok(a, "INSERT INTO P VALUES(1, 1), (1, 2), (1, NULL)");
    assertOk(store.in(a, "INSERT INTO K VALUES(1, NULL), (NULL, 7), (1, 2)"));
    assertOk(store.run(b, "DELETE FROM P WHERE B IS NULL"));
    assertOk(store.run(b, "DELETE FROM P WHERE B = 1"));
    assertWaiting(store.run(b, "DELETE FROM P WHERE B = 2"));
    store.rollback(a);
    assertOk(store.last(b));
  }

  /** R3: keys are equal where the index of the parent takes them for equal. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "VARCHAR_IGNORECASE|'Ab'|'aB'",
        "CHAR(5)|'ab'|'ab   '",
        "NUMERIC(10, 2)|1.5|1.50",
        "BIGINT|7|7.0",
        "TIMESTAMP(9) WITH TIME ZONE|TIMESTAMP WITH TIME ZONE '2024-01-01 12:00:00+02'|"
            + "TIMESTAMP WITH TIME ZONE '2024-01-01 10:00:00Z'",
        "VARBINARY(9)|X'01ff'|X'01FF'",
      })
  void equalKeysMeet(String line) {
    String[] parts = line.split("\\|", -1);
    store.ok(a, "CREATE TABLE P(K " + parts[0] + " PRIMARY KEY)");
    store.ok(a, "CREATE TABLE K(R " + parts[0] + " REFERENCES P(K))");
    store.ok(a, "INSERT INTO P VALUES(" + parts[1] + ")");
    assertOk(store.in(a, "INSERT INTO K VALUES(" + parts[2] + ")"));
    assertWaiting(store.run(b, "DELETE FROM P"));
    store.rollback(a);
    assertOk(store.last(b));
  }

  /** R3, where both ends of a key are in one table. */
  @Test
  void rowsThatReferToTheirOwnTable() {
    store.ok(a, "CREATE TABLE N(ID INT PRIMARY KEY, UP INT REFERENCES N(ID))");
    store.ok(a, "INSERT INTO N VALUES(1, 1), (2, 2), (3, NULL), (4, NULL)");
    assertOk(store.in(a, "INSERT INTO N VALUES(5, 5), (6, 3)"));
    assertOk(store.in(b, "DELETE FROM N WHERE ID = 2"));
    assertOk(store.in(b, "DELETE FROM N WHERE ID = 4"));
    assertWaiting(store.in(b, "DELETE FROM N WHERE ID = 3"));
    // now they wait for each other, and the younger transaction ends
    assertOk(store.in(a, "UPDATE N SET UP = 4 WHERE ID = 1"));
    assertLost(store.last(b));
  }

  /** R3: each foreign key of a table has its own keys. */
  @Test
  void keysOfSeveralForeignKeysDoNotMix() {
    store.ok(a, "CREATE TABLE P(ID INT PRIMARY KEY)");
    store.ok(a, "CREATE TABLE K(X INT REFERENCES P(ID), Y INT REFERENCES T(ID))");
    store.ok(a, "INSERT INTO P VALUES(1), (2)");
    assertOk(store.in(a, "INSERT INTO K VALUES(1, 2)"));
    assertOk(store.run(b, "DELETE FROM T WHERE ID = 1"));
    assertOk(store.run(b, "DELETE FROM P WHERE ID = 2"));
    assertWaiting(store.run(b, "DELETE FROM P WHERE ID = 1"));
    assertWaiting(store.run(c, "DELETE FROM T WHERE ID = 2"));
    store.commit(a);
    assertState("23503", store.last(b));
    assertState("23503", store.last(c));
  }

  /** R3: keys are compared only while a foreign key is there, and definitions wait for tables. */
  @Test
  void foreignKeyThatComesAndGoes() {
    createChild();
    store.ok(a, "ALTER TABLE CHILD ADD CONSTRAINT F FOREIGN KEY(ID) REFERENCES PUBLIC.\"T\"(ID)");
    assertOk(store.in(a, "DELETE FROM T WHERE ID = 2"));
    assertWaiting(store.run(b, "ALTER TABLE CHILD DROP CONSTRAINT F"));
    store.commit(a);
    assertOk(store.last(b));
    assertOk(store.in(a, "INSERT INTO CHILD VALUES(7, 1)"));
    assertWaiting(store.run(b, "ALTER TABLE T ADD COLUMN W INT"));
    store.commit(a);
    assertOk(store.last(b));
    assertOk(store.in(a, "INSERT INTO CHILD VALUES(8, 1)"));
    assertWaiting(store.run(b, "DELETE FROM T WHERE ID = 1"));
    store.commit(a);
    assertState("23503", store.last(b));
  }

  /** R3: what was done while H2 did not check a key counts once it checks the key again. */
  @Test
  void keysCountWhileTheyAreNotChecked() {
    createChild();
    store.ok(a, "ALTER TABLE CHILD SET REFERENTIAL_INTEGRITY FALSE");
    assertOk(store.in(a, "DELETE FROM T WHERE ID = 2"));
    assertWaiting(store.run(b, "ALTER TABLE CHILD SET REFERENTIAL_INTEGRITY TRUE CHECK"));
    store.commit(a);
    assertOk(store.last(b));
    assertState("23506", store.run(b, "INSERT INTO CHILD VALUES(2, 2)"));
  }

  /** R3: who releases another key of a parent table cannot help. */
  @Test
  void childThatStaysKeepsItsParentAtOnce() {
    createChild();
    store.ok(a, "INSERT INTO CHILD VALUES(1, 1), (2, 2)");
    assertOk(store.in(a, "DELETE FROM CHILD WHERE ID = 1"));
    assertState("23503", store.run(b, "DELETE FROM T WHERE ID = 2"));
    assertWaiting(store.run(b, "DELETE FROM T WHERE ID = 1"));
    store.rollback(a);
    assertState("23503", store.last(b));
  }

  /** R3: beyond the limit a transaction is in the way of all keys, and stays correct. */
  @Test
  void manyKeysCountAsAll() {
    createChild();
    for (int first = 10; first <= Limits.KEYS_PER_TRANSACTION + 10; first += 1_000) {
      store.ok(a, "INSERT INTO T(ID) SELECT X FROM SYSTEM_RANGE(?, ?)", first, first + 999);
    }
    assertOk(store.in(a, "SELECT * FROM T WHERE ID = 1 FOR UPDATE"));
    mark(a, false, "S");
    for (int first = 11; first <= Limits.KEYS_PER_TRANSACTION; first += 1_000) {
      assertOk(
          store.in(a, "INSERT INTO CHILD SELECT X, X FROM SYSTEM_RANGE(?, ?)", first, first + 999));
    }
    assertOk(store.run(b, "DELETE FROM T WHERE ID = 10"));
    assertOk(store.in(a, "INSERT INTO CHILD VALUES(1, 1)"));
    assertWaiting(store.run(b, "DELETE FROM T WHERE ID = 2"));
    mark(a, true, "S");
    assertOk(store.run(c, "DELETE FROM T WHERE ID = 11"));
    store.commit(a);
    assertOk(store.last(b));
  }

  /** R2, for what nobody uses: migration tools hold a transaction on their history meanwhile. */
  @Test
  void definitionOfWhatOthersDoNotUseNeedNotWait() {
    store.ok(a, "CREATE TABLE HISTORY(ID INT)");
    assertOk(store.in(a, "SELECT * FROM HISTORY FOR UPDATE"));
    assertOk(store.run(b, "CREATE TABLE MIGRATED(ID INT)"));
    assertOk(store.run(b, "ALTER TABLE T ADD COLUMN W INT"));
    store.commit(a);
    store.ok(a, "CREATE SCHEMA S");
    store.ok(a, "CREATE TABLE S.USED(ID INT)");
    assertOk(store.in(a, "INSERT INTO S.USED VALUES(1)"));
    assertWaiting(store.run(b, "DROP SCHEMA S CASCADE"));
    store.commit(a);
    assertOk(store.last(b));
  }

  /** R2: a foreign key takes hold of both tables. */
  @Test
  void foreignKeyToATableInUseWaits() {
    store.ok(a, "CREATE TABLE CHILD(ID INT, PARENT INT)");
    store.ok(a, "INSERT INTO CHILD VALUES(1, 1)");
    assertOk(store.in(a, "DELETE FROM T WHERE ID = 1"));
    assertWaiting(
        store.run(b, "ALTER TABLE CHILD ADD FOREIGN KEY (PARENT) REFERENCES PUBLIC.\"T\"(ID)"));
    store.commit(a);
    assertState("23506", store.last(b));
  }

  /** R2: H2 lets RENAME, COMMENT and others pass under an open transaction. */
  @Test
  void definitionWaitsForThoseWhoUseItsTable() {
    assertOk(store.in(a, "UPDATE T SET V = 1 WHERE ID = 1"));
    assertWaiting(store.run(b, "ALTER TABLE T RENAME TO RENAMED"));
    assertWaiting(store.in(c, "UPDATE T SET V = 1 WHERE ID = 2"));
    assertOk(store.in(a, "UPDATE T SET V = 2 WHERE ID = 1"));
    store.commit(a);
    assertOk(store.last(b));
    assertState("42S02", store.last(c));
  }

  /** R2, the other statements of which facts say that H2 lets them pass. */
  @Test
  void commentIndexAndTruncateWaitForThoseWhoUseTheTable() {
    for (String definition :
        List.of(
            "COMMENT ON TABLE T IS 'x'",
            "CREATE INDEX I ON T(V)",
            "TRUNCATE TABLE T",
            "DROP TABLE T")) {
      assertOk(store.in(a, "UPDATE T SET V = 1 WHERE ID = 1"));
      assertWaiting(store.run(b, definition));
      store.rollback(a);
      store.last(b);
      if (!definition.startsWith("DROP")) {
        store.run(c, "MERGE INTO T KEY(ID) VALUES(1, 0, 1), (2, 0, 2)");
      }
    }
  }

  @Test
  void definitionCommitsItsOwnTransactionFirst() throws SQLException {
    assertOk(store.in(a, "UPDATE T SET V = 1 WHERE ID = 1"));
    assertOk(store.in(a, "CREATE TABLE NEW_ONE(V INT)"));
    store.rollback(a);
    assertEquals(List.of("1,1", "2,0"), rows());
  }

  /** In H2 the transaction is committed although its definition failed. */
  @Test
  void definitionThatFailsHasCommittedItsOwnTransactionToo() throws SQLException {
    assertOk(store.in(a, "UPDATE T SET V = 1 WHERE ID = 1"));
    assertState("42S01", store.in(a, "CREATE TABLE T(V INT)"));
    assertNull(store.machine.state().session(a).transaction());
    assertOk(store.run(b, "UPDATE T SET V = V + 1 WHERE ID = 1"));
    assertEquals(new Outcome.Done(), store.rollback(a));
    assertEquals(List.of("1,2", "2,0"), rows());
  }

  /** In H2 some definitions commit and some do not. */
  @Test
  void everyDefinitionCommits() throws SQLException {
    for (String definition :
        List.of(
            "CREATE SEQUENCE Q", "ALTER SEQUENCE Q RESTART WITH 7", "CREATE VIEW W AS SELECT 1")) {
      assertOk(store.in(a, "UPDATE T SET V = V + 1 WHERE ID = 1"));
      assertOk(store.in(a, definition));
      assertNull(store.machine.state().session(a).transaction(), definition);
      store.rollback(a);
    }
    assertEquals(List.of("1,3", "2,0"), rows());
  }

  /** A view changes nothing of the tables that it reads, so it need not wait as RENAME does. */
  @Test
  void viewOfATableInUseShowsWhatIsCommitted() {
    assertOk(store.in(a, "UPDATE T SET V = 1 WHERE ID = 1"));
    assertOk(store.run(b, "CREATE VIEW W AS SELECT ID, V FROM T"));
    assertEquals(List.of("1,0", "2,0"), query("SELECT * FROM W ORDER BY ID"));
    store.commit(a);
    assertEquals(List.of("1,1", "2,0"), query("SELECT * FROM W ORDER BY ID"));
  }

  /** H2's own SERIALIZABLE lets both take the last but one. */
  @Test
  void serializableTransactionsDoNotSkew() throws SQLException {
    String takeOne = "UPDATE T SET V = 1 WHERE ID = %d AND (SELECT SUM(V) FROM T) = 0";
    assertOk(serializable(a, takeOne.formatted(1)));
    assertWaiting(serializable(b, takeOne.formatted(2)));
    store.commit(a);
    assertOk(store.last(b));
    store.commit(b);
    assertEquals(List.of("1,1", "2,0"), rows());
  }

  private Outcome serializable(SessionId session, String sql) {
    return store.perform(session, StoreDriver.inTransaction(sql, TransactionScope.SERIALIZABLE));
  }

  @Test
  void serializableTransactionIsTheOnlyWriter() throws SQLException {
    assertOk(serializable(a, "UPDATE T SET V = 1 WHERE ID = 1"));
    assertWaiting(store.run(b, "UPDATE T SET V = 2 WHERE ID = 2"));
    assertWaiting(store.in(c, "UPDATE T SET V = V + 3 WHERE ID = 2"));
    store.commit(a);
    assertOk(store.last(b));
    assertOk(store.last(c));
    assertWaiting(serializable(a, "UPDATE T SET V = 9 WHERE ID = 1"));
    store.commit(c);
    assertOk(store.last(a));
    assertEquals(List.of("1,1", "2,5"), rows());
  }

  @Test
  void lockThatIsLostBeforeCommitFailsTheCommit() throws SQLException {
    store.fence(a, "T", FenceReading.HELD);
    store.take(a, "job");
    assertOk(store.in(a, "UPDATE T SET V = 1 WHERE ID = 1"));
    store.perform(b, new Operation.ForceReleaseLock(StoreDriver.JOB));
    Outcome commit = store.commit(a);
    assertInstanceOf(Outcome.Refused.class, commit);
    assertEquals(RefusalCode.TOKEN_STALE, ((Outcome.Refused) commit).code());
    assertEquals(List.of("1,0", "2,0"), rows());
    assertNull(store.machine.state().session(a).transaction());
  }

  @Test
  void fenceThatIsGoneAtCommitAsksNothing() throws SQLException {
    store.ok(a, "CREATE TABLE CHILD(ID INT REFERENCES T ON DELETE CASCADE)");
    store.fence(a, "CHILD", FenceReading.HELD);
    store.take(a, "job");
    // passes the fence of CHILD and uses none of its rows
    assertOk(store.in(a, "DELETE FROM T WHERE ID = 99"));
    assertOk(store.in(a, "UPDATE T SET V = 1 WHERE ID = 1"));
    assertOk(
        store.perform(
            b,
            new Operation.UnfenceTable(
                new TableName(null, "CHILD"), StoreDriver.clause(1), false)));
    assertEquals(new Outcome.Done(), store.commit(a));
    assertEquals(List.of("1,1", "2,0"), rows());
  }

  @Test
  void clauseIsCheckedAgainAtCommit() throws SQLException {
    long token = store.take(a, "job");
    Operation.ExecuteSql update =
        StoreDriver.inTransaction("UPDATE T SET V = 1", TransactionScope.READ_COMMITTED);
    Operation.ParameterSet set =
        new Operation.ParameterSet(
            update.parameterSets().get(0).values(), StoreDriver.clause(token));
    assertOk(
        store.perform(
            a,
            new Operation.ExecuteSql(
                update.sql(),
                false,
                update.targets(),
                List.of(set),
                false,
                false,
                update.keys(),
                0,
                null,
                true,
                update.mode())));
    store.perform(a, new Operation.ReleaseLock(StoreDriver.JOB, null, 0));
    assertInstanceOf(Outcome.Refused.class, store.commit(a));
    assertEquals(List.of("1,0", "2,0"), rows());
  }

  @Test
  void endOfASessionRollsBackAndLetsOthersGoOn() throws SQLException {
    assertOk(store.in(a, "UPDATE T SET V = 1 WHERE ID = 1"));
    assertWaiting(store.run(b, "UPDATE T SET V = 2 WHERE ID = 1"));
    store.apply(new Command.Expire(List.of(a), List.of()));
    assertOk(store.last(b));
    assertEquals(List.of("1,2", "2,0"), rows());
  }

  @Test
  void abortedTransactionIsToldAboutOnceAndBeforeAnythingElse() throws SQLException {
    assertOk(store.in(a, "UPDATE T SET V = 1 WHERE ID = 1"));
    long id = store.machine.state().session(a).transaction().id();
    store.apply(new Command.AbortTransaction(a, id, Command.AbortReason.IDLE));
    assertLost(store.in(a, "UPDATE T SET V = 2 WHERE ID = 2"));
    assertOk(store.in(a, "UPDATE T SET V = 3 WHERE ID = 2"));
    long next = store.machine.state().session(a).transaction().id();
    assertTrue(next > id);
    store.apply(new Command.AbortTransaction(a, id, Command.AbortReason.AGE));
    assertEquals(next, store.machine.state().session(a).transaction().id(), "not that one");
    store.apply(new Command.AbortTransaction(a, next, Command.AbortReason.AGE));
    assertLost(store.commit(a));
    assertOk(store.in(a, "UPDATE T SET V = 4 WHERE ID = 2"));
    long last = store.machine.state().session(a).transaction().id();
    store.apply(new Command.AbortTransaction(a, last, Command.AbortReason.SNAPSHOT));
    assertTrue(store.machine.isCopyable(), "the gap is there");
    assertLost(store.commit(a));
    assertEquals(List.of("1,0", "2,0"), rows());
  }

  @Test
  void forUpdateHoldsItsRowsAndNowaitFailsAtOnce() {
    assertOk(store.in(a, "SELECT * FROM T WHERE ID = 1 FOR UPDATE"));
    assertState("HYT00", store.in(b, "SELECT * FROM T WHERE ID = 1 FOR UPDATE NOWAIT"));
    StatementResult free =
        StoreDriver.result(store.in(b, "SELECT * FROM T FOR UPDATE SKIP LOCKED"));
    assertEquals(List.of("2,0,2"), StoreDriver.text(((StatementResult.Rows) free).rows()));
    assertWaiting(store.in(c, "SELECT * FROM T WHERE ID = 1 FOR UPDATE"));
    store.commit(a);
    assertOk(store.last(c));
  }

  /** H2 would wait itself, and nothing else would be applied for all that time. */
  @Test
  void forUpdateWaitsAsLongAsItSaysAndOutsideH2() {
    assertOk(store.in(a, "SELECT * FROM T WHERE ID = 1 FOR UPDATE"));
    Thread.currentThread().interrupt();
    Outcome query = store.in(b, "SELECT * FROM T WHERE ID = 1 FOR UPDATE WAIT 7");
    assertTrue(Thread.interrupted());
    assertWaiting(query);
    assertEquals(List.of(7_000L), store.waitsStarted());
    assertWaiting(store.in(c, "SELECT * FROM T WHERE ID = 1 FOR UPDATE"));
    assertEquals(List.of(Limits.LOCK_TIMEOUT_MILLIS), store.waitsStarted());
  }

  @Test
  void forUpdateOfAUnionIsNoDifferent() {
    String union =
        "SELECT ID FROM T WHERE ID = 1 UNION ALL SELECT ID FROM T WHERE ID = 2 FOR UPDATE";
    assertOk(store.in(a, union));
    assertState("HYT00", store.in(b, union + " NOWAIT"));
    Thread.currentThread().interrupt();
    Outcome query = store.in(b, union + " WAIT 7");
    assertTrue(Thread.interrupted());
    assertWaiting(query);
    assertEquals(List.of(7_000L), store.waitsStarted());
  }

  @Test
  void batchGoesOnWhereItHadToWait() throws SQLException {
    assertOk(store.in(a, "UPDATE T SET V = 1 WHERE ID = 2"));
    assertWaiting(
        store.perform(
            b,
            StoreDriver.statement(
                "UPDATE T SET V = V + ? WHERE ID = ?",
                null,
                List.of(new Object[] {10, 1}, new Object[] {20, 2}, new Object[] {40, 1}))));
    store.commit(a);
    assertEquals(3, ((Outcome.Batch) store.last(b)).outcomes().size());
    assertEquals(List.of("1,50", "2,21"), rows());
  }

  @Test
  void noMoreTransactionsThanTheLimit() {
    for (int i = 0; i < Limits.OPEN_TRANSACTIONS; i++) {
      assertOk(store.in(store.open(), "INSERT INTO T VALUES(" + (100 + i) + ", 0, NULL)"));
    }
    Outcome refused = store.in(a, "UPDATE T SET V = 1 WHERE ID = 1");
    assertEquals(RefusalCode.LIMIT_REACHED, ((Outcome.Refused) refused).code());
    assertOk(store.run(a, "UPDATE T SET V = 1 WHERE ID = 1"));
  }

  @Test
  void transactionThatHasChangedTooManyRowsGetsNoMoreStatements() throws SQLException {
    try (StoreDriver small =
        new StoreDriver(
            new SqlDatabase(
                new StoreLimits(
                    WorkLimit.of(10_000),
                    WorkLimit.of(1_000_000),
                    WorkLimit.of(Limits.STATEMENT_STEPS),
                    10,
                    1_000_000)))) {
      SessionId session = small.open();
      small.ok(session, "CREATE TABLE T(ID INT PRIMARY KEY)");
      assertOk(small.in(session, "INSERT INTO T SELECT X FROM SYSTEM_RANGE(1, 9)"));
      mark(small, session, false);
      assertOk(small.in(session, "DELETE FROM T WHERE ID < 3"));
      assertFull(small.in(session, "INSERT INTO T VALUES(11)"));
      mark(small, session, true);
      assertOk(small.in(session, "INSERT INTO T VALUES(11)"));
      assertFull(small.in(session, "INSERT INTO T VALUES(12)"));
      assertEquals(new Outcome.Done(), small.commit(session));
      assertEquals(List.of("10"), small.query("SELECT COUNT(*) FROM T"));
      assertOk(small.in(session, "INSERT INTO T VALUES(12)"));
    }
  }

  private static void mark(StoreDriver store, SessionId session, boolean rollback) {
    assertEquals(
        new Outcome.Done(),
        store.perform(
            session, new Operation.MarkSavepoint(rollback, "S", TransactionScope.READ_COMMITTED)));
  }

  private static void assertFull(Outcome outcome) {
    assertInstanceOf(Outcome.Refused.class, outcome, outcome.toString());
    assertEquals(RefusalCode.LIMIT_REACHED, ((Outcome.Refused) outcome).code());
  }

  @Test
  void transactionThatHasWrittenTooMuchGetsNoMoreStatements() {
    try (StoreDriver small =
        new StoreDriver(
            new SqlDatabase(
                new StoreLimits(
                    WorkLimit.of(10_000),
                    WorkLimit.of(1_000_000),
                    WorkLimit.of(Limits.STATEMENT_STEPS),
                    1_000,
                    2_000)))) {
      SessionId session = small.open();
      small.ok(session, "CREATE TABLE T(ID INT PRIMARY KEY, V VARCHAR(1000))");
      small.ok(session, "INSERT INTO T VALUES(1, '')");
      assertOk(small.in(session, "UPDATE T SET V = REPEAT('x', 1000)"));
      assertFull(small.in(session, "UPDATE T SET V = ''"));
      assertEquals(new Outcome.Done(), small.rollback(session));
      assertOk(small.in(session, "UPDATE T SET V = ''"));
    }
  }
}
