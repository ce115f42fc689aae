package dev.tollgate.core;

import static dev.tollgate.core.CoreDriver.refusal;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.FenceReading;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.PresentedToken;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TableName;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** SET FENCED: every write of the session is as if it had the clause. */
class SessionFenceTest {
  private static final LockName JOB = new LockName("job");
  private static final LockName OTHER = new LockName("other");

  private final CoreDriver core = new CoreDriver();
  private final SessionId holder = core.open();
  private final SessionId writer = core.open();
  private final long token = core.take(holder, "job");

  @Test
  void fencedSessionWritesWhileTheLockIsHeldUnderItsToken() {
    assertEquals(new Outcome.Done(), fence(JOB, token));
    assertWritten(null);
    core.release(holder, "job");
    assertStale(null);
    assertEquals(token + 1, core.take(holder, "job"));
    assertStale(null);
    fence(JOB, token + 1);
    assertWritten(null);
  }

  @Test
  void tokenIsNotCheckedWhenItIsSet() {
    assertEquals(new Outcome.Done(), fence(JOB, token + 5));
    assertStale(null);
  }

  @Test
  void refusalNamesTheTokenAndSaysHowToEndTheFence() {
    fence(JOB, token);
    core.release(holder, "job");
    core.take(holder, "job");
    String refusal = write(null).toString();
    assertTrue(refusal.contains("write refused: token 1 of lock 'job' is stale"), refusal);
    assertTrue(refusal.contains("the lock is held under token 2 by "), refusal);
    assertTrue(
        refusal.contains(
            "; SET FENCED BY LOCK 'job' TOKEN 1 fences all writes of this session: set the token"
                + " under which the lock is held now, or end that with SET NOT FENCED"),
        refusal);
    unfence();
    String clause = write(clause(JOB, token)).toString();
    assertTrue(clause.contains("is stale") && !clause.contains("SET NOT FENCED"), clause);
  }

  @Test
  void sharedHolderMayNotWrite() {
    core.acquire(holder, "other", null, LockMode.SHARED, 0);
    fence(OTHER, token + 1);
    assertStale(null);
  }

  @Test
  void endOfTheFenceLetsEveryWriteThrough() {
    fence(JOB, 77);
    assertStale(null);
    assertEquals(new Outcome.Done(), unfence());
    assertEquals(new Outcome.Done(), unfence());
    assertWritten(null);
  }

  @Test
  void anotherFenceReplacesTheFirst() {
    fence(JOB, 77);
    long other = core.take(holder, "other");
    fence(OTHER, other);
    assertWritten(null);
    core.release(holder, "other");
    assertStale(null);
  }

  @Test
  void fenceIsOfOneSessionAlone() {
    fence(JOB, 77);
    assertInstanceOf(Outcome.Executed.class, write(holder, null));
  }

  @Test
  void fencePresentsItsTokenToFencedTables() {
    fenceTable();
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(write(null)));
    fence(JOB, token);
    assertWritten(null);
    unfence();
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(write(null)));
  }

  @Test
  void fenceGoesBeforeAPresentedTokenAndTheOwnLease() {
    fenceTable();
    core.perform(writer, new Operation.PresentToken(JOB, 77L));
    fence(JOB, token);
    assertWritten(null);
    core.perform(holder, new Operation.FenceSession(new PresentedToken(JOB, 77)));
    assertEquals(RefusalCode.TOKEN_STALE, refusal(write(holder, null)));
  }

  @Test
  void fencePresentsNothingToTablesOfOtherLocks() {
    fenceTable();
    fence(OTHER, core.take(holder, "other"));
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(write(null)));
  }

  @Test
  void statementWithAClauseNeedsBothTokens() {
    long other = core.take(holder, "other");
    fence(JOB, token);
    assertWritten(clause(OTHER, other));
    assertWritten(clause(JOB, token));
    assertStale(clause(OTHER, other + 1));
    assertStale(clause(JOB, token + 1));
    core.release(holder, "job");
    assertStale(clause(OTHER, other));
  }

  @Test
  void monotonicClauseDoesNotOpenAStaleFence() {
    core.perform(
        core.open(),
        new Operation.FenceTable(
            new TableName(null, "t"),
            new Operation.TableFence(JOB, FenceReading.MONOTONIC),
            null,
            true));
    Operation.StatementFence monotonic =
        new Operation.StatementFence(new PresentedToken(JOB, token), true);
    fence(JOB, token);
    assertWritten(monotonic);
    core.release(holder, "job");
    assertStale(monotonic);
    unfence();
    assertWritten(monotonic);
  }

  @Test
  void everySetOfABatchIsFenced() {
    fence(JOB, token);
    Operation.ExecuteSql batch =
        FakeSqlStore.batch(
            "WRITE t", List.of(FakeSqlStore.set("1", null), FakeSqlStore.set("2", null)));
    core.perform(writer, batch);
    assertEquals(List.of("1", "2"), core.store.written.get("t"));
    core.release(holder, "job");
    Outcome.Batch refused = (Outcome.Batch) core.perform(writer, batch);
    for (Outcome outcome : refused.outcomes()) {
      assertEquals(RefusalCode.TOKEN_STALE, refusal(outcome));
    }
    assertEquals(List.of("1", "2"), core.store.written.get("t"));
  }

  @Test
  void lockOperationsAndSettingsAreNotFenced() {
    fence(JOB, 77);
    assertInstanceOf(Outcome.Granted.class, core.acquire(writer, "free", null));
    assertTrue(core.release(writer, "free"));
    assertInstanceOf(
        Outcome.LeaseCreated.class,
        core.perform(writer, new Operation.CreateLease(CoreDriver.LEASE_TTL_MILLIS, "owner")));
    for (Operation setting :
        List.of(
            new Operation.SetSchema("APP"),
            new Operation.SetLockTimeout(5),
            new Operation.PresentToken(JOB, 1L),
            new Operation.EndTransaction(true))) {
      assertEquals(new Outcome.Done(), core.perform(writer, setting));
    }
  }

  @Test
  void fenceIsInASnapshotAndEndsWithTheSession() {
    assertEquals(List.of(), fences());
    fence(JOB, token);
    assertEquals(
        List.of(new StateRecord.SessionFence(writer, new PresentedToken(JOB, token))), fences());
    StateMachine restored = new StateMachine(new FakeSqlStore());
    core.machine.copy().forEach(restored::restore);
    Session session = restored.state().session(writer);
    assertEquals(new PresentedToken(JOB, token), session == null ? null : session.fence());
    unfence();
    assertEquals(List.of(), fences());
    assertNull(core.machine.state().session(core.open()).fence());
  }

  private List<StateRecord> fences() {
    List<StateRecord> fences = new ArrayList<>();
    core.machine
        .copy()
        .forEach(
            piece -> {
              if (piece instanceof StateRecord.SessionFence) {
                fences.add(piece);
              }
            });
    return fences;
  }

  private void fenceTable() {
    core.perform(
        core.open(),
        new Operation.FenceTable(
            new TableName(null, "t"),
            new Operation.TableFence(JOB, FenceReading.HELD),
            null,
            true));
  }

  private Outcome fence(LockName lock, long under) {
    return core.perform(writer, new Operation.FenceSession(new PresentedToken(lock, under)));
  }

  private Outcome unfence() {
    return core.perform(writer, new Operation.FenceSession(null));
  }

  private void assertWritten(Operation.@Nullable StatementFence clause) {
    int before = written();
    assertInstanceOf(Outcome.Executed.class, write(clause));
    assertEquals(before + 1, written());
  }

  private void assertStale(Operation.@Nullable StatementFence clause) {
    int before = written();
    assertEquals(RefusalCode.TOKEN_STALE, refusal(write(clause)));
    assertEquals(before, written(), "I3");
  }

  private int written() {
    return core.store.written.getOrDefault("t", List.of()).size();
  }

  private Outcome write(Operation.@Nullable StatementFence clause) {
    return write(writer, clause);
  }

  private Outcome write(SessionId session, Operation.@Nullable StatementFence clause) {
    return core.perform(session, FakeSqlStore.write("WRITE t", "v", clause, true));
  }

  private static Operation.StatementFence clause(LockName lock, long token) {
    return new Operation.StatementFence(new PresentedToken(lock, token), false);
  }
}
