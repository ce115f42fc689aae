package dev.tollgate.core;

import static dev.tollgate.core.CoreDriver.refusal;
import static dev.tollgate.core.CoreDriver.token;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.FenceReading;
import dev.tollgate.core.command.FencingToken;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.LeaseKind;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.LockDefinition;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Notice;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.PresentedToken;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TableName;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Locks with permits, several locks at once, locks that are kept, and locks handed over. */
class LockKindsTest {
  private final CoreDriver core = new CoreDriver();
  private final SessionId a = core.open();
  private final SessionId b = core.open();
  private final SessionId c = core.open();

  @Test
  void asManyHoldALockAsItHasPermits() {
    assertEquals(answered(true), create("pool", 2));
    assertEquals(1, core.take(a, "pool"));
    assertEquals(2, core.take(b, "pool"));
    assertEquals(new Outcome.Waiting(), core.acquire(c, "pool", null));
    assertTrue(core.release(a, "pool"));
    assertEquals(3, token(core.completed(c)));
    assertTrue(HeldLocks.holdsLock(core.machine.state(), new LockName("pool"), 2));
    assertFalse(HeldLocks.holdsLock(core.machine.state(), new LockName("pool"), 1));
  }

  @Test
  void leaseTakesOnePermitHoweverOftenItAsks() {
    create("pool", 2);
    assertEquals(core.take(a, "pool"), core.take(a, "pool"));
    core.take(b, "pool");
    assertEquals(new Outcome.NotGranted(), tryAcquire(c, "pool"));
  }

  @Test
  void sharedAndExclusiveHoldersOfALockWithPermitsExcludeEachOther() {
    create("pool", 2);
    core.take(a, "pool");
    assertEquals(new Outcome.NotGranted(), core.acquire(b, "pool", null, LockMode.SHARED, 0));
    core.release(a, "pool");
    core.acquire(b, "pool", null, LockMode.SHARED, 0);
    assertEquals(new Outcome.NotGranted(), tryAcquire(a, "pool"));
  }

  @Test
  void eachHolderWritesUnderItsOwnToken() {
    create("pool", 2);
    fence("t", "pool");
    long first = core.take(a, "pool");
    core.take(b, "pool");
    assertInstanceOf(Outcome.Executed.class, write(a, null));
    assertInstanceOf(Outcome.Executed.class, write(b, null));
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(write(c, null)));
    core.release(a, "pool");
    assertEquals(RefusalCode.TOKEN_STALE, refusal(write(a, first)));
    assertInstanceOf(Outcome.Executed.class, write(b, null));
  }

  @Test
  void morePermitsLetWaitersIn() {
    core.take(a, "pool");
    core.acquire(b, "pool", null);
    core.acquire(c, "pool", null);
    create("pool", 2);
    assertEquals(2, token(core.completed(b)));
    assertNull(core.completed(c));
    assertEquals(answered(true), alter("pool", 3, false));
    assertEquals(3, token(core.completed(c)));
  }

  @Test
  void fewerPermitsThanHoldersAreRefused() {
    create("pool", 3);
    core.take(a, "pool");
    core.take(b, "pool");
    assertEquals(RefusalCode.LOCK_STATE, refusal(alter("pool", 1, false)));
    assertEquals(RefusalCode.LOCK_STATE, refusal(drop("pool", true)));
    assertEquals(answered(true), alter("pool", 2, false));
    assertEquals(new Outcome.NotGranted(), tryAcquire(c, "pool"));
    core.release(a, "pool");
    assertEquals(answered(true), drop("pool", false));
    assertEquals(new Outcome.NotGranted(), tryAcquire(c, "pool"));
  }

  @Test
  void definitionIsMadeOnceAndDroppedOnce() {
    create("pool", 2);
    assertEquals(RefusalCode.LOCK_STATE, refusal(create("pool", 3)));
    assertEquals(
        answered(false), core.perform(a, new Operation.DefineLock(definition("pool", 3), true)));
    assertEquals(List.of(definition("pool", 2)), core.machine.state().lockDefinitions());
    drop("pool", false);
    assertEquals(RefusalCode.LOCK_STATE, refusal(drop("pool", false)));
    assertEquals(answered(false), drop("pool", true));
    assertEquals(RefusalCode.LOCK_STATE, refusal(alter("pool", 3, false)));
    assertEquals(answered(false), alter("pool", 3, true));
  }

  @Test
  void severalLocksAreGrantedInOneEntryInTheOrderAsked() {
    assertEquals(tokens(1, 2, 3), all(a, "x", "z", "y"));
    assertEquals(2, HeldLocks.lockToken(core.machine.state(), new LockName("z")).value());
  }

  @Test
  void oneLockThatIsHeldHoldsAllBack() {
    core.take(b, "y");
    assertEquals(
        new Outcome.NotGranted(),
        core.perform(a, new Operation.AcquireLocks(names("x", "y"), null, 0)));
    assertEquals(2, core.take(c, "x"), "nothing was taken");
  }

  @Test
  void setThatWaitsIsGrantedWhenTheLastOfItsLocksIsReleased() {
    core.take(b, "y");
    core.take(c, "x");
    assertEquals(new Outcome.Waiting(), all(a, "x", "y"));
    core.release(b, "y");
    assertNull(core.completed(a));
    core.release(c, "x");
    assertEquals(tokens(3, 4), core.completed(a));
  }

  /** Without its place in each queue, requests for single locks would pass it by for ever. */
  @Test
  void setThatWaitsIsNotPassedByInAnyOfItsQueues() {
    core.take(b, "y");
    all(a, "x", "y");
    assertEquals(new Outcome.Waiting(), core.acquire(c, "x", null), "though x is free");
    core.release(b, "y");
    assertEquals(tokens(2, 3), core.completed(a));
    assertNull(core.completed(c));
    core.release(a, "x");
    assertEquals(4, token(core.completed(c)));
  }

  @Test
  void setsInOppositeOrderDoNotWaitForEachOther() {
    core.take(c, "x");
    all(a, "x", "y");
    all(b, "y", "x");
    core.release(c, "x");
    assertEquals(tokens(2, 3), core.completed(a));
    core.release(a, "x");
    assertNull(core.completed(b));
    core.release(a, "y");
    assertEquals(tokens(4, 5), core.completed(b));
  }

  @Test
  void setThatGivesUpMakesWayInEachQueue() {
    core.take(b, "y");
    all(a, "x", "y");
    core.acquire(c, "x", null);
    core.apply(new Command.EndWait(a, core.lastSequence(a), Command.WaitEnd.TIMED_OUT));
    assertEquals(new Outcome.NotGranted(), core.completed(a));
    assertEquals(2, token(core.completed(c)));
    assertNull(core.machine.state().session(a).awaited());
  }

  @Test
  void setKeepsTheTokensOfLocksThatItsLeaseHolds() {
    long x = core.take(a, "x");
    core.take(b, "y");
    all(a, "x", "y");
    core.release(b, "y");
    assertEquals(tokens(x, 3), core.completed(a));
  }

  @Test
  void setDoesNotTurnASharedHoldIntoAnExclusiveOne() {
    core.acquire(a, "x", null, LockMode.SHARED, 0);
    assertEquals(RefusalCode.LOCK_UPGRADE, refusal(all(a, "y", "x")));
    assertEquals(2, core.take(b, "y"));
  }

  @Test
  void endOfTheLeaseEndsTheWaitForAllLocksOnce() {
    core.take(b, "y");
    LeaseId lease = core.lease(a);
    core.perform(a, new Operation.AcquireLocks(names("x", "y"), lease, 1_000));
    core.acquire(c, "x", null);
    core.apply(new Command.Expire(List.of(), List.of(lease)));
    assertEquals(RefusalCode.LEASE_GONE, refusal(core.completed(a)));
    assertEquals(2, token(core.completed(c)));
    assertEquals(1, core.notices.stream().filter(n -> n.toString().contains("LEASE_GONE")).count());
  }

  @Test
  void keptLockIsGrantedToNobodyBeforeItsTimeIsOver() {
    core.take(a, "x");
    core.acquire(b, "x", null);
    assertEquals(answered(true), keep(a, "x", 30_000));
    assertNull(core.completed(b));
    assertEquals(new Outcome.NotGranted(), tryAcquire(a, "x"), "not even to its last holder");
    core.apply(new Command.Expire(List.of(), List.of(keeper())));
    assertEquals(3, token(core.completed(b)));
    assertNull(core.machine.state().lease(new LeaseId(3)), "the keeping lease is gone");
  }

  @Test
  void leaseThatKeepsALockIsTimedByTheLeaderAndRenewedByNobody() {
    core.take(a, "x");
    keep(a, "x", 30_000);
    assertTrue(
        core.notices.contains(new Notice.LeaseStarted(keeper(), 30_000, LeaseKind.KEEP, null)));
    LeaseId keeper = keeper();
    assertEquals(
        RefusalCode.LEASE_GONE, refusal(core.acquire(b, "y", keeper, LockMode.EXCLUSIVE, 0)));
    assertEquals(
        RefusalCode.LEASE_GONE,
        refusal(core.perform(b, new Operation.ReleaseLock(new LockName("x"), keeper, 0))));
    assertEquals(
        RefusalCode.LEASE_GONE, refusal(core.perform(b, new Operation.RevokeLease(keeper))));
    assertEquals(
        RefusalCode.LEASE_GONE,
        refusal(core.perform(b, new Operation.TransferLock(new LockName("x"), keeper, null))));
  }

  @Test
  void nobodyWritesUnderTheTokenOfAKeptLock() {
    fence("t", "x");
    long token = core.take(a, "x");
    keep(a, "x", 30_000);
    assertEquals(RefusalCode.TOKEN_MISSING, refusal(write(a, null)));
    assertEquals(RefusalCode.TOKEN_STALE, refusal(write(a, token)));
    assertEquals(RefusalCode.TOKEN_STALE, refusal(write(a, core.machine.state().lastToken())));
    assertFalse(
        HeldLocks.holdsLock(
            core.machine.state(), new LockName("x"), core.machine.state().lastToken()));
    assertNull(HeldLocks.lockToken(core.machine.state(), new LockName("x")));
  }

  @Test
  void forcedReleaseEndsAKeep() {
    core.take(a, "x");
    keep(a, "x", 30_000);
    core.perform(b, new Operation.ForceReleaseLock(new LockName("x")));
    assertEquals(1, core.machine.state().leases().size(), "only that of session a");
    core.take(b, "x");
  }

  @Test
  void keepOutlivesTheSessionThatAskedForIt() {
    core.take(a, "x");
    keep(a, "x", 30_000);
    core.apply(new Command.CloseSession(a));
    assertEquals(new Outcome.NotGranted(), tryAcquire(b, "x"));
  }

  @Test
  void keepTakesAPermitAndNoMore() {
    create("pool", 2);
    core.take(a, "pool");
    keep(a, "pool", 30_000);
    core.take(b, "pool");
    assertEquals(new Outcome.NotGranted(), tryAcquire(c, "pool"));
  }

  @Test
  void keepOfALockThatIsNotHeldDoesNothing() {
    core.take(a, "x");
    assertEquals(answered(false), keep(b, "x", 30_000));
    assertEquals(1, core.machine.state().leases().size());
  }

  @Test
  void lockIsHandedOverUnderANewTokenPastItsQueue() {
    long old = core.take(a, "x");
    core.acquire(c, "x", null);
    LeaseId to = core.lease(b);
    assertEquals(2, token(transfer(a, "x", null, to)));
    assertNull(core.completed(c));
    assertFalse(HeldLocks.holdsLock(core.machine.state(), new LockName("x"), old));
    core.perform(b, new Operation.ReleaseLock(new LockName("x"), to, 0));
    assertEquals(3, token(core.completed(c)));
  }

  @Test
  void receiverThatWaitsForTheLockHasItThen() {
    core.take(a, "x");
    LeaseId to = core.lease(b);
    core.acquire(b, "x", to);
    transfer(a, "x", null, to);
    assertEquals(2, token(core.completed(b)));
  }

  @Test
  void onlyTheHolderHandsOver() {
    core.take(a, "x");
    LeaseId to = core.lease(b);
    assertEquals(new Outcome.NotGranted(), transfer(b, "x", null, to));
    assertEquals(RefusalCode.LEASE_GONE, refusal(transfer(a, "x", null, new LeaseId(77))));
    assertEquals(1, HeldLocks.lockToken(core.machine.state(), new LockName("x")).value());
  }

  @Test
  void lockIsNotHandedToALeaseThatHoldsIt() {
    create("pool", 2);
    core.take(a, "pool");
    LeaseId to = core.lease(b);
    core.acquire(b, "pool", to);
    assertEquals(RefusalCode.LOCK_STATE, refusal(transfer(a, "pool", null, to)));
    assertEquals(2, core.machine.state().lock(new LockName("pool")).holds().size());
  }

  /** Handed on by a lease that it is not: its writes fail, and it learns why. */
  @Test
  void sessionWhoseLockAnotherHandedOnIsTold() {
    fence("t", "x");
    core.take(a, "x");
    LeaseId own = core.machine.state().session(a).ownLease().id();
    transfer(b, "x", own, null);
    Outcome.Refused refused = assertInstanceOf(Outcome.Refused.class, write(a, null));
    assertTrue(refused.message().contains("took the lock from"), refused.message());
  }

  @Test
  void allKindsComeBackFromASnapshot() {
    create("pool", 2);
    core.take(a, "x");
    keep(a, "x", 30_000);
    core.take(b, "pool");
    all(c, "pool", "x", "free");
    StateMachine restored = new StateMachine(core.store);
    core.machine.copy().forEach(restored::restore);
    restored.checkInvariants();
    assertEquals(LockModel.describe(core.machine.state()), LockModel.describe(restored.state()));
    assertEquals(records(core.machine.copy()), records(restored.copy()));
  }

  @Test
  void requestsBeyondTheMaximaAreNoOperations() {
    assertThrows(IllegalArgumentException.class, () -> definition("x", Limits.LOCK_PERMITS + 1));
    assertThrows(IllegalArgumentException.class, () -> definition("x", 0));
    assertThrows(
        IllegalArgumentException.class, () -> new Operation.AcquireLocks(List.of(), null, 0));
    assertThrows(
        IllegalArgumentException.class,
        () -> new Operation.AcquireLocks(names("x", "y", "x"), null, 0));
    List<LockName> tooMany =
        IntStream.rangeClosed(0, Limits.LOCKS_AT_ONCE)
            .mapToObj(i -> new LockName("l" + i))
            .toList();
    assertThrows(
        IllegalArgumentException.class, () -> new Operation.AcquireLocks(tooMany, null, 0));
    assertThrows(
        IllegalArgumentException.class,
        () -> new Operation.ReleaseLock(new LockName("x"), null, Limits.LOCK_KEEP_MAX_MILLIS + 1));
  }

  private static List<StateRecord> records(CoreCopy copy) {
    Stream.Builder<StateRecord> records = Stream.builder();
    copy.forEach(records::add);
    return records.build().toList();
  }

  private LeaseId keeper() {
    return core.machine.state().leases().stream()
        .filter(lease -> lease.kind() == LeaseKind.KEEP)
        .findFirst()
        .orElseThrow()
        .id();
  }

  private Outcome keep(SessionId session, String lock, long millis) {
    return core.perform(session, new Operation.ReleaseLock(new LockName(lock), null, millis));
  }

  private Outcome transfer(
      SessionId session, String lock, @Nullable LeaseId from, @Nullable LeaseId to) {
    return core.perform(session, new Operation.TransferLock(new LockName(lock), from, to));
  }

  private Outcome all(SessionId session, String... locks) {
    return core.perform(
        session, new Operation.AcquireLocks(names(locks), null, CoreDriver.WAIT_MILLIS));
  }

  private Outcome tryAcquire(SessionId session, String lock) {
    return core.acquire(session, lock, null, LockMode.EXCLUSIVE, 0);
  }

  private Outcome create(String lock, int permits) {
    return core.perform(a, new Operation.DefineLock(definition(lock, permits), false));
  }

  private Outcome alter(String lock, int permits, boolean lenient) {
    return core.perform(a, new Operation.ChangeLock(definition(lock, permits), lenient));
  }

  private Outcome drop(String lock, boolean lenient) {
    return core.perform(a, new Operation.DropLock(new LockName(lock), lenient));
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

  private Outcome write(SessionId session, @Nullable Long token) {
    return core.perform(
        session,
        FakeSqlStore.write(
            "WRITE t",
            "v",
            token == null
                ? null
                : new Operation.StatementFence(
                    new PresentedToken(lockOf("t"), token), /* monotonic= */ false),
            true));
  }

  private LockName lockOf(String table) {
    return core.machine.state().fences().stream()
        .filter(fence -> fence.table().name().equals(table))
        .findFirst()
        .orElseThrow()
        .lock();
  }

  private static LockDefinition definition(String lock, int permits) {
    return new LockDefinition(new LockName(lock), permits);
  }

  private static List<LockName> names(String... locks) {
    return Stream.of(locks).map(LockName::new).toList();
  }

  private static Outcome tokens(long... values) {
    return new Outcome.GrantedAll(Arrays.stream(values).mapToObj(FencingToken::new).toList());
  }

  private static Outcome answered(boolean answer) {
    return new Outcome.Answered(answer);
  }
}
