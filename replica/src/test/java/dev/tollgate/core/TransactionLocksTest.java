package dev.tollgate.core;

import static dev.tollgate.core.CoreDriver.refusal;
import static dev.tollgate.core.CoreDriver.token;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.FenceReading;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.LockDefinition;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.LogPosition;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TableName;
import dev.tollgate.core.command.TransactionScope;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Locks that end with a transaction, and statements that take a lock for themselves. */
class TransactionLocksTest {
  private final CoreDriver core = new CoreDriver();
  private final SessionId a = core.open();
  private final SessionId b = core.open();
  private final SessionId c = core.open();

  @Test
  void commitReleasesTheLockInTheSameEntry() {
    assertEquals(1, token(lock(a, "x")));
    assertEquals(new Outcome.Waiting(), core.acquire(b, "x", null));
    end(a, true);
    assertEquals(2, token(core.completed(b)));
    assertEquals(1, core.machine.state().leases().size(), "only that of session b");
  }

  @Test
  void rollbackReleasesTheLockInTheSameEntry() {
    lock(a, "x");
    lock(a, "y");
    assertEquals(new Outcome.Waiting(), all(b, "x", "y"));
    end(a, false);
    assertInstanceOf(Outcome.GrantedAll.class, core.completed(b));
  }

  @Test
  void endOfTheSessionReleasesTheLock() {
    lock(a, "x");
    core.acquire(b, "x", null);
    core.apply(new Command.Expire(List.of(a), List.of()));
    assertEquals(2, token(core.completed(b)));
  }

  @Test
  void writeInTheTransactionPresentsItsToken() {
    fence("t", "x");
    lock(a, "x");
    assertInstanceOf(Outcome.Executed.class, inTransaction(a, "WRITE t"));
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(autocommit(b, "WRITE t")));
    assertEquals(new Outcome.Done(), end(a, true));
    assertEquals(List.of("v"), core.store.written.get("t"));
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(autocommit(a, "WRITE t")), "released");
  }

  @Test
  void lockThatWasTakenByForceFailsTheCommit() {
    lock(a, "x");
    inTransaction(a, "WRITE t");
    core.perform(b, new Operation.ForceReleaseLock(new LockName("x")));
    assertEquals(RefusalCode.TOKEN_STALE, refusal(end(a, true)));
    assertTrue(core.store.ended.contains("rollback " + a));
  }

  @Test
  void transactionWaitsForItsLockInTheQueue() {
    core.take(b, "x");
    core.acquire(c, "x", null);
    assertEquals(new Outcome.Waiting(), lock(a, "x"));
    assertEquals(new LockName("x"), core.machine.state().session(a).awaited());
    core.release(b, "x");
    assertNull(core.completed(a));
    core.release(c, "x");
    assertEquals(3, token(core.completed(a)));
    assertEquals(3, HeldLocks.lockToken(core.machine.state(), new LockName("x")).value());
    end(a, true);
    assertNull(core.machine.state().lock(new LockName("x")));
  }

  @Test
  void lockThatIsNotWaitedForIsNotGrantedAndTheTransactionGoesOn() {
    core.take(b, "x");
    assertEquals(new Outcome.NotGranted(), lock(a, "x", 0));
    assertNotNull(core.machine.state().session(a).transaction());
  }

  @Test
  void waitThatTakesTooLongIsNotGrantedAndTheTransactionGoesOn() {
    core.take(b, "x");
    lock(a, "x");
    timeOut(a);
    assertEquals(new Outcome.NotGranted(), core.completed(a));
    assertNotNull(core.machine.state().session(a).transaction());
    core.release(b, "x");
    assertNull(core.machine.state().lock(new LockName("x")), "nobody waits any more");
  }

  @Test
  void transactionsThatWaitForEachOthersLocksAreFound() {
    lock(a, "x");
    lock(b, "y");
    assertEquals(new Outcome.Waiting(), lock(a, "y"));
    Outcome youngest = lock(b, "x");
    assertEquals(RefusalCode.TRANSACTION_LOST, refusal(youngest));
    assertEquals(3, token(core.completed(a)));
  }

  @Test
  void deadlockOfALockAndARowIsFound() {
    inTransaction(a, "ROW r");
    lock(b, "x");
    assertEquals(new Outcome.Waiting(), inTransaction(b, "ROW r"));
    Outcome oldest = lock(a, "x");
    assertEquals(2, token(oldest), "the younger one gave way at once");
    assertEquals(RefusalCode.TRANSACTION_LOST, refusal(core.completed(b)));
  }

  @Test
  void deadlockOfATransactionLockAndAnOrdinaryWaitIsFound() {
    inTransaction(a, "ROW r");
    lock(b, "x");
    assertEquals(new Outcome.Waiting(), inTransaction(b, "ROW r"));
    assertEquals(2, token(core.acquire(a, "x", null)), "the younger one gave way at once");
    assertEquals(RefusalCode.TRANSACTION_LOST, refusal(core.completed(b)));
  }

  /** Set {x, y} of session c waits for x, and stands before transaction a in the queue of y. */
  @Test
  void deadlockThroughARequestForSeveralLocksIsFound() {
    lock(a, "x");
    assertEquals(new Outcome.Waiting(), all(c, "x", "y"));
    assertEquals(RefusalCode.TRANSACTION_LOST, refusal(lock(a, "y")));
    assertInstanceOf(Outcome.GrantedAll.class, core.completed(c));
  }

  /** A lease may be let go at any time, so nobody is rolled back for its lock. */
  @Test
  void waitForALeaseIsNoDeadlock() {
    inTransaction(a, "ROW r");
    core.take(b, "x");
    inTransaction(b, "ROW r");
    assertEquals(new Outcome.Waiting(), lock(a, "x"));
    assertNull(core.completed(b));
  }

  @Test
  void onePermitThatMayBecomeFreeIsNoDeadlock() {
    core.perform(a, new Operation.DefineLock(new LockDefinition(new LockName("pool"), 2), false));
    inTransaction(a, "ROW r");
    lock(b, "pool");
    core.take(c, "pool");
    inTransaction(b, "ROW r");
    assertEquals(new Outcome.Waiting(), lock(a, "pool"));
    core.release(c, "pool");
    assertEquals(3, token(core.completed(a)));
  }

  @Test
  void lockOfTheConnectionsOwnLeaseStaysWithTheLease() {
    long token = core.take(a, "x");
    assertEquals(token, token(lock(a, "x")));
    end(a, true);
    assertEquals(token, HeldLocks.lockToken(core.machine.state(), new LockName("x")).value());
  }

  @Test
  void ownLeaseDoesNotWaitForItsOwnTransaction() {
    lock(a, "x");
    assertEquals(RefusalCode.LOCK_STATE, refusal(core.acquire(a, "x", null)));
    assertEquals(RefusalCode.LOCK_STATE, refusal(all(a, "y", "x")));
  }

  @Test
  void sharedHoldOfTheOwnLeaseIsNotWaitedFor() {
    core.acquire(a, "x", null, LockMode.SHARED, 0);
    assertEquals(RefusalCode.LOCK_UPGRADE, refusal(lock(a, "x")));
    assertEquals(RefusalCode.LOCK_UPGRADE, refusal(lockedBy(a, "WRITE t", "x")));
  }

  @Test
  void clientsCannotUseTheLeaseOfATransaction() {
    lock(a, "x");
    LeaseId lease = core.machine.state().lock(new LockName("x")).oldestHold().lease().id();
    assertEquals(
        RefusalCode.LEASE_GONE,
        refusal(core.perform(b, new Operation.ReleaseLock(new LockName("x"), lease, 0))));
    assertEquals(
        RefusalCode.LEASE_GONE, refusal(core.perform(b, new Operation.RevokeLease(lease))));
    assertEquals(1, HeldLocks.lockToken(core.machine.state(), new LockName("x")).value());
  }

  @Test
  void transactionThatIsRolledBackNoLongerWaits() {
    core.take(b, "x");
    lock(a, "x");
    long id = core.machine.state().session(a).transaction().id();
    core.apply(new Command.AbortTransaction(a, id, Command.AbortReason.AGE));
    assertEquals(RefusalCode.TRANSACTION_LOST, refusal(core.completed(a)));
    core.release(b, "x");
    assertNull(core.machine.state().lock(new LockName("x")));
  }

  @Test
  void statementTakesWritesAndReleasesInOneEntry() {
    fence("t", "x");
    assertInstanceOf(Outcome.Executed.class, lockedBy(a, "WRITE t", "x"));
    assertEquals(1, core.machine.state().lastToken());
    assertNull(core.machine.state().lock(new LockName("x")));
    assertTrue(core.machine.state().leases().isEmpty());
    assertEquals(List.of("v"), core.store.written.get("t"));
  }

  @Test
  void statementWaitsItsTurnAndMakesWayInTheSameEntry() {
    fence("t", "x");
    core.take(a, "x");
    assertEquals(new Outcome.Waiting(), lockedBy(b, "WRITE t", "x"));
    assertEquals(new Outcome.Waiting(), core.acquire(c, "x", null));
    assertNull(core.store.written.get("t"));
    core.release(a, "x");
    assertInstanceOf(Outcome.Executed.class, core.completed(b));
    assertEquals(3, token(core.completed(c)), "after the statement, which had 2");
    assertEquals(List.of("v"), core.store.written.get("t"));
  }

  @Test
  void allStatementsThatWaitRunInOneEntry() {
    core.take(a, "x");
    lockedBy(b, "WRITE t", "x");
    lockedBy(c, "WRITE t", "x");
    core.apply(new Command.CloseSession(a));
    assertInstanceOf(Outcome.Executed.class, core.completed(b));
    assertInstanceOf(Outcome.Executed.class, core.completed(c));
    assertEquals(3, core.machine.state().lastToken());
    assertTrue(core.machine.state().leases().isEmpty());
  }

  @Test
  void statementThatWaitsTooLongHasChangedNothing() {
    core.take(a, "x");
    lockedBy(b, "WRITE t", "x");
    core.acquire(c, "x", null);
    timeOut(b);
    Outcome.SqlFailed failed = assertInstanceOf(Outcome.SqlFailed.class, core.completed(b));
    assertEquals("HYT00", failed.sqlState());
    assertTrue(failed.message().contains("lock 'x'"), failed.message());
    core.release(a, "x");
    assertEquals(2, token(core.completed(c)));
    assertNull(core.store.written.get("t"));
  }

  @Test
  void statementHoldsNoLockWhileItWaitsForARow() {
    inTransaction(a, "ROW r");
    assertEquals(new Outcome.Waiting(), lockedBy(b, "ROW r", "x"));
    core.take(c, "x");
    end(a, true);
    assertNull(core.completed(b), "now it waits for the lock");
    assertEquals(new LockName("x"), core.machine.state().session(b).awaited());
    core.release(c, "x");
    assertInstanceOf(Outcome.Executed.class, core.completed(b));
  }

  @Test
  void statementThatIsGrantedItsLockGivesItBackWhileAnotherRunsAlone() {
    core.take(a, "x");
    lockedBy(b, "WRITE t", "x");
    core.perform(c, new Operation.BeginTransaction(TransactionScope.SERIALIZABLE));
    core.release(a, "x");
    assertNull(core.completed(b));
    assertNull(core.machine.state().lock(new LockName("x")));
    end(c, true);
    assertInstanceOf(Outcome.Executed.class, core.completed(b));
  }

  @Test
  void statementOfTheHolderWritesUnderItsToken() {
    fence("t", "x");
    core.take(a, "x");
    assertInstanceOf(Outcome.Executed.class, lockedBy(a, "WRITE t", "x"));
    assertEquals(1, core.machine.state().lastToken());
    assertEquals(1, HeldLocks.lockToken(core.machine.state(), new LockName("x")).value());
  }

  @Test
  void eachSetOfABatchTakesItsOwnLock() {
    core.take(a, "y");
    Operation.ExecuteSql batch =
        FakeSqlStore.batch(
            "WRITE t", List.of(FakeSqlStore.locked("1", "x"), FakeSqlStore.locked("2", "y")));
    assertEquals(new Outcome.Waiting(), core.perform(b, batch));
    assertEquals(List.of("1"), core.store.written.get("t"));
    core.release(a, "y");
    Outcome.Batch done = assertInstanceOf(Outcome.Batch.class, core.completed(b));
    assertEquals(2, done.outcomes().size());
    assertEquals(List.of("1", "2"), core.store.written.get("t"));
  }

  @Test
  void batchWhoseLockIsNotFreeInTimeHasAnOutcomeForEachSet() {
    core.take(a, "y");
    Operation.ExecuteSql batch =
        FakeSqlStore.batch(
            "WRITE t", List.of(FakeSqlStore.locked("1", "x"), FakeSqlStore.locked("2", "y")));
    core.perform(b, batch);
    timeOut(b);
    Outcome.Batch done = assertInstanceOf(Outcome.Batch.class, core.completed(b));
    assertInstanceOf(Outcome.Executed.class, done.outcomes().get(0));
    assertInstanceOf(Outcome.SqlFailed.class, done.outcomes().get(1));
  }

  /** Not only when it asks for something else, after it has waited in vain. */
  @Test
  void victimIsToldWhileItWaitsForALockOfALease() {
    lock(a, "x");
    lock(b, "y");
    assertEquals(new Outcome.Waiting(), core.acquire(b, "x", null));
    assertEquals(3, token(lock(a, "y")), "the younger one gave way at once");
    assertEquals(RefusalCode.TRANSACTION_LOST, refusal(core.completed(b)));
    assertNull(core.machine.state().session(b).lostTransaction());
    end(a, true);
    assertNull(core.machine.state().lock(new LockName("x")), "nobody waits any more");
  }

  @Test
  void statementThatWaitsComesBackFromASnapshot() {
    core.take(a, "x");
    lockedBy(b, "WRITE t", "x");
    StateMachine restored = new StateMachine(core.store);
    core.machine.copy().forEach(restored::restore);
    restored.checkInvariants();
    assertEquals(new LockName("x"), restored.state().session(b).awaited());
    restored.apply(new LogPosition(100, 0, 9_000_000), new Command.CloseSession(a));
    restored.checkInvariants();
    assertEquals(List.of("v"), core.store.written.get("t"));
    assertTrue(restored.state().leases().isEmpty());
  }

  private Outcome lock(SessionId session, String lock) {
    return lock(session, lock, CoreDriver.WAIT_MILLIS);
  }

  private Outcome lock(SessionId session, String lock, long waitMillis) {
    return core.perform(
        session,
        new Operation.AcquireTransactionLock(
            new LockName(lock), waitMillis, TransactionScope.READ_COMMITTED));
  }

  private Outcome all(SessionId session, String... locks) {
    return core.perform(
        session,
        new Operation.AcquireLocks(
            List.of(locks).stream().map(LockName::new).toList(), null, CoreDriver.WAIT_MILLIS));
  }

  private Outcome inTransaction(SessionId session, String sql) {
    return core.perform(
        session,
        FakeSqlStore.statement(
            sql, List.of(FakeSqlStore.set("v", null)), TransactionScope.READ_COMMITTED));
  }

  private Outcome autocommit(SessionId session, String sql) {
    return core.perform(session, FakeSqlStore.write(sql, "v", null, true));
  }

  private Outcome lockedBy(SessionId session, String sql, String lock) {
    return core.perform(
        session,
        FakeSqlStore.statement(
            sql, List.of(FakeSqlStore.locked("v", lock)), TransactionScope.AUTOCOMMIT));
  }

  private Outcome end(SessionId session, boolean commit) {
    return core.perform(session, new Operation.EndTransaction(commit));
  }

  private void timeOut(SessionId session) {
    core.apply(new Command.EndWait(session, core.lastSequence(session), Command.WaitEnd.TIMED_OUT));
  }

  private void fence(String table, String lock) {
    core.perform(
        a,
        new Operation.FenceTable(
            new TableName(null, table),
            new Operation.TableFence(new LockName(lock), FenceReading.HELD),
            null,
            true));
  }
}
