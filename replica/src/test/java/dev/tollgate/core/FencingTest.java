package dev.tollgate.core;

import static dev.tollgate.core.CoreDriver.refusal;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.FenceReading;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.PresentedToken;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TableName;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class FencingTest {
  private static final LockName JOB = new LockName("job");

  private final CoreDriver core = new CoreDriver();
  private final SessionId a = core.open();
  private final SessionId b = core.open();

  @Test
  void clauseWithTheHoldersTokenIsAccepted() {
    long token = core.take(a, "job");
    assertInstanceOf(Outcome.Executed.class, write(b, clause(token)));
    assertEquals(List.of("v"), core.store.written.get("t"));
  }

  @Test
  void clauseWithAnOldTokenChangesNothingEvenBeforeTheNewHolderWrites() {
    long old = core.take(a, "job");
    core.release(a, "job");
    core.take(b, "job");
    Outcome outcome = write(a, clause(old));
    assertEquals(RefusalCode.TOKEN_STALE, refusal(outcome));
    assertTrue(outcome.toString().contains("held under token 2"), outcome.toString());
    assertNull(core.store.written.get("t"));
  }

  @Test
  void clauseOnAFreeLockIsRefused() {
    long token = core.take(a, "job");
    core.release(a, "job");
    Outcome outcome = write(a, clause(token));
    assertTrue(outcome.toString().contains("nobody holds the lock"), outcome.toString());
  }

  @Test
  void tokenThatWasNeverIssuedIsRefusedAsSuch() {
    core.take(a, "job");
    for (long never : new long[] {0, -1, 2, Long.MAX_VALUE}) {
      Outcome outcome = write(a, clause(never));
      assertEquals(RefusalCode.TOKEN_STALE, refusal(outcome));
      assertTrue(outcome.toString().contains("was ever issued"), outcome.toString());
    }
  }

  @Test
  void sharedHolderMayNotWrite() {
    core.acquire(a, "job", null, LockMode.SHARED, 0);
    Outcome outcome = write(a, clause(1));
    assertTrue(outcome.toString().contains("shared mode"), outcome.toString());
  }

  @Test
  void fencedTableRefusesAWriterWithoutToken() {
    fence(FenceReading.HELD);
    core.take(a, "job");
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(write(b, null)));
    assertNull(core.store.written.get("t"));
  }

  @Test
  void ownLeaseOfTheHolderPresentsItsTokenByItself() {
    fence(FenceReading.HELD);
    core.take(a, "job");
    assertInstanceOf(Outcome.Executed.class, write(a, null));
  }

  @Test
  void ownLeaseThatTheClientDoesNotTrustPresentsNothing() {
    fence(FenceReading.HELD);
    core.take(a, "job");
    assertEquals(
        RefusalCode.TOKEN_MISSING,
        refusal(core.perform(a, FakeSqlStore.write("WRITE t", "v", null, false))));
  }

  @Test
  void writerLearnsHowItLostItsLock() {
    fence(FenceReading.HELD);
    assertMissing("the writer presented no token of it, and nobody holds the lock now");
    core.take(a, "job");
    core.perform(b, new Operation.ForceReleaseLock(JOB));
    assertMissing("force_release_lock took the lock from the writer's connection, and nobody");
    long token = core.take(b, "job");
    assertMissing(
        "took the lock from the writer's connection, and the lock is held under token " + token);
    core.release(b, "job");
    core.take(a, "job");
    core.release(a, "job");
    assertMissing("the writer presented no token of it, and nobody");
    core.take(a, "job");
    LeaseId own = core.machine.state().leases().iterator().next().id();
    core.apply(new Command.Expire(List.of(), List.of(own)));
    assertMissing("the lease of the writer's connection has ended while it held the lock");
  }

  private void assertMissing(String known) {
    Outcome outcome = write(a, null);
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(outcome));
    assertTrue(outcome.toString().contains(known), outcome.toString());
  }

  @Test
  void createdLeasePresentsNothingByItself() {
    fence(FenceReading.HELD);
    core.acquire(a, "job", core.lease(a));
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(write(a, null)));
  }

  @Test
  void tokenOfTheSessionIsPresentedWithEveryWrite() {
    fence(FenceReading.HELD);
    long token = core.take(a, "job");
    core.perform(b, new Operation.PresentToken(JOB, token));
    assertInstanceOf(Outcome.Executed.class, write(b, null));
    core.perform(b, new Operation.PresentToken(JOB, null));
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(write(b, null)));
  }

  @Test
  void statedTokenSpeaksBeforeTheOwnLease() {
    fence(FenceReading.HELD);
    core.take(a, "job");
    core.perform(a, new Operation.PresentToken(JOB, 77L));
    assertEquals(RefusalCode.TOKEN_STALE, refusal(write(a, null)));
  }

  @Test
  void clauseForAnotherLockDoesNotOpenTheTable() {
    fence(FenceReading.HELD);
    core.take(a, "job");
    long other = core.take(b, "other");
    Outcome outcome =
        write(
            b,
            new Operation.StatementFence(new PresentedToken(new LockName("other"), other), false));
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(outcome));
  }

  @Test
  void monotonicTableAcceptsAReleasedTokenUntilAHigherOneWrote() {
    fence(FenceReading.MONOTONIC);
    long first = core.take(a, "job");
    core.release(a, "job");
    assertInstanceOf(Outcome.Executed.class, write(a, monotonic(first)));
    long second = core.take(b, "job");
    assertInstanceOf(Outcome.Executed.class, write(a, monotonic(first)));
    assertInstanceOf(Outcome.Executed.class, write(b, null));
    assertEquals(RefusalCode.TOKEN_STALE, refusal(write(a, monotonic(first))));
    assertInstanceOf(Outcome.Executed.class, write(b, monotonic(second)));
    assertEquals(RefusalCode.TOKEN_STALE, refusal(write(a, monotonic(99))), "never issued");
  }

  @Test
  void failedWriteDoesNotRaiseTheHighestToken() {
    fence(FenceReading.MONOTONIC);
    long first = core.take(a, "job");
    core.release(a, "job");
    long second = core.take(b, "job");
    core.perform(b, FakeSqlStore.write("FAIL t", "v", monotonic(second), true));
    assertInstanceOf(Outcome.Executed.class, write(a, monotonic(first)));
  }

  @Test
  void monotonicClauseWithNothingToCompareIsRefused() {
    long token = core.take(a, "job");
    assertEquals(RefusalCode.FENCE_STATE, refusal(write(a, monotonic(token))));
  }

  @Test
  void everySetOfABatchIsFencedOnItsOwn() {
    long token = core.take(a, "job");
    Outcome outcome =
        core.perform(
            a,
            FakeSqlStore.batch(
                "WRITE t",
                List.of(
                    FakeSqlStore.set("1", clause(token)),
                    FakeSqlStore.set("2", clause(token + 5)),
                    FakeSqlStore.set("3", clause(token)))));
    List<Outcome> outcomes = ((Outcome.Batch) outcome).outcomes();
    assertEquals(RefusalCode.TOKEN_STALE, refusal(outcomes.get(1)));
    assertEquals(List.of("1", "3"), core.store.written.get("t"));
  }

  @Test
  void unfencedTableIsOpenAgain() {
    fence(FenceReading.HELD);
    core.perform(b, new Operation.UnfenceTable(new TableName(null, "t"), null, true));
    assertInstanceOf(Outcome.Executed.class, write(b, null));
    assertTrue(core.machine.state().fences().isEmpty());
  }

  @Test
  void lockTakenWithinSqlStandsAndFences() {
    core.perform(a, FakeSqlStore.write("LOCK job", "", null, true));
    fence(FenceReading.HELD);
    assertInstanceOf(Outcome.Executed.class, write(a, null));
  }

  @Test
  void rowNeedsTheTokenOfItsOwnLock() {
    fenceRows();
    core.take(a, "row-1");
    assertInstanceOf(Outcome.Executed.class, row(a, "row-1"));
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(row(a, "row-2")));
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(row(b, "row-1")));
    core.release(a, "row-1");
    Outcome free = row(a, "row-1");
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(free));
    assertTrue(
        free.toString().contains("a row of table t is fenced by lock 'row-1'"), free.toString());
    assertEquals(List.of("row-1"), core.store.written.get("t"));
    assertEquals(1, core.machine.state().fences().iterator().next().highestToken());
  }

  @Test
  void oldTokenOfARowIsStaleBeforeTheNewHolderWrites() {
    fenceRows();
    long old = core.take(a, "row-1");
    core.perform(a, new Operation.PresentToken(new LockName("row-1"), old));
    assertInstanceOf(Outcome.Executed.class, row(a, "row-1"));
    core.release(a, "row-1");
    core.take(b, "row-1");
    Outcome stale = row(a, "row-1");
    assertEquals(RefusalCode.TOKEN_STALE, refusal(stale));
    assertTrue(stale.toString().contains("held under token 2"), stale.toString());
    assertInstanceOf(Outcome.Executed.class, row(b, "row-1"));
  }

  @Test
  void clauseServesRowsOfItsLockAndMayServeNone() {
    fenceRows();
    long token = core.take(a, "job");
    for (Operation.StatementFence clause : List.of(clause(token), monotonic(token))) {
      assertInstanceOf(
          Outcome.Executed.class,
          core.perform(b, FakeSqlStore.write("WRITE t", "job", clause, true)));
      assertEquals(
          RefusalCode.TOKEN_MISSING,
          refusal(core.perform(b, FakeSqlStore.write("WRITE t", "row-1", clause, true))));
      assertInstanceOf(
          Outcome.Executed.class, core.perform(b, FakeSqlStore.write("EMPTY t", "", clause, true)));
    }
  }

  @Test
  void definitionNeedsTheTokensOfLocksThatSomebodyHolds() {
    fenceRows();
    for (String lock : List.of("row-1", "row-2")) {
      core.take(a, lock);
      assertInstanceOf(Outcome.Executed.class, row(a, lock));
    }
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(empty(b)));
    core.release(a, "row-1");
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(empty(b)));
    core.acquire(b, "row-1", null, LockMode.SHARED, 0);
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(empty(a)), "shared holders count, too");
    core.release(b, "row-1");
    assertInstanceOf(Outcome.Executed.class, empty(a));
  }

  private void fenceRows() {
    core.perform(
        core.open(),
        new Operation.FenceTable(
            new TableName(null, "t"), new Operation.RowFence("name"), null, true));
  }

  private Outcome row(SessionId session, String lock) {
    return core.perform(session, FakeSqlStore.write("WRITE t", lock, null, true));
  }

  private Outcome empty(SessionId session) {
    return core.perform(session, FakeSqlStore.write("EMPTY t", "", null, true));
  }

  private void fence(FenceReading reading) {
    core.perform(
        core.open(),
        new Operation.FenceTable(
            new TableName(null, "t"), new Operation.TableFence(JOB, reading), null, true));
  }

  private Outcome write(SessionId session, Operation.@Nullable StatementFence fence) {
    return core.perform(session, FakeSqlStore.write("WRITE t", "v", fence, true));
  }

  private static Operation.StatementFence clause(long token) {
    return new Operation.StatementFence(new PresentedToken(JOB, token), false);
  }

  private static Operation.StatementFence monotonic(long token) {
    return new Operation.StatementFence(new PresentedToken(JOB, token), true);
  }
}
