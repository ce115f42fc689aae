package dev.tollgate.core;

import static dev.tollgate.core.CoreDriver.refusal;
import static dev.tollgate.core.CoreDriver.token;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.FencingToken;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Notice;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.SessionId;
import java.util.List;
import org.junit.jupiter.api.Test;

class LockingTest {
  private final CoreDriver core = new CoreDriver();
  private final SessionId a = core.open();
  private final SessionId b = core.open();
  private final SessionId c = core.open();

  @Test
  void freeLockIsGrantedWithTheNextToken() {
    assertEquals(1, core.take(a, "x"));
    assertEquals(2, core.take(b, "y"));
  }

  @Test
  void reacquireByTheSameLeaseGivesTheSameToken() {
    long token = core.take(a, "x");
    assertEquals(token, core.take(a, "x"));
    assertEquals(token, core.machine.state().lastToken());
  }

  @Test
  void heldLockIsNotGrantedToAnotherLease() {
    core.take(a, "x");
    assertEquals(new Outcome.NotGranted(), core.acquire(b, "x", null, LockMode.EXCLUSIVE, 0));
  }

  @Test
  void waitersAreGrantedInTheOrderOfTheirRequests() {
    core.take(a, "x");
    assertEquals(new Outcome.Waiting(), core.acquire(b, "x", null));
    assertEquals(new Outcome.Waiting(), core.acquire(c, "x", null));
    assertTrue(core.release(a, "x"));
    assertEquals(2, token(core.completed(b)));
    assertNull(core.completed(c));
    assertTrue(core.release(b, "x"));
    assertEquals(3, token(core.completed(c)));
  }

  @Test
  void waitTellsTheLeaderHowLong() {
    core.take(a, "x");
    core.acquire(b, "x", null, LockMode.EXCLUSIVE, 1_234);
    assertTrue(
        core.notices.contains(new Notice.WaitStarted(b, core.lastSequence(b), 1_234)),
        core.notices.toString());
  }

  @Test
  void timedOutWaiterIsNeverGranted() {
    core.take(a, "x");
    core.acquire(b, "x", null);
    core.acquire(c, "x", null);
    core.apply(new Command.EndWait(b, core.lastSequence(b), Command.WaitEnd.TIMED_OUT));
    assertEquals(new Outcome.NotGranted(), core.completed(b));
    core.release(a, "x");
    assertNull(core.completed(b));
    assertEquals(2, token(core.completed(c)));
  }

  @Test
  void cancelledWaiterIsRefusedAndNeverGranted() {
    core.take(a, "x");
    core.acquire(b, "x", null);
    core.apply(new Command.EndWait(b, core.lastSequence(b), Command.WaitEnd.CANCELLED));
    assertEquals(RefusalCode.WAIT_CANCELLED, refusal(core.completed(b)));
    core.release(a, "x");
    assertNull(core.machine.state().lock(new LockName("x")));
  }

  @Test
  void endOfAWaitThatWasGrantedDoesNothing() {
    core.take(a, "x");
    core.acquire(b, "x", null);
    long waited = core.lastSequence(b);
    core.release(a, "x");
    assertEquals(
        new Outcome.Answered(false),
        core.apply(new Command.EndWait(b, waited, Command.WaitEnd.TIMED_OUT)));
    assertTrue(HeldLocks.holdsLock(core.machine.state(), new LockName("x"), 2));
  }

  @Test
  void expiredLeaseHandsItsLocksToTheNextWaitersInTheSameCommand() {
    LeaseId lease = core.lease(a);
    core.acquire(a, "x", lease);
    core.acquire(a, "y", lease);
    core.acquire(b, "y", null);
    core.acquire(c, "x", null);
    core.apply(new Command.Expire(List.of(), List.of(lease)));
    assertEquals(3, token(core.completed(c)), "x was granted first, so it is handed on first");
    assertEquals(4, token(core.completed(b)));
    assertTrue(core.notices.contains(new Notice.LeaseEnded(lease)));
  }

  @Test
  void waiterWhoseLeaseEndsIsRefusedAndNeverGranted() {
    core.take(a, "x");
    LeaseId lease = core.lease(b);
    core.acquire(b, "x", lease);
    core.apply(new Command.Expire(List.of(), List.of(lease)));
    assertEquals(RefusalCode.LEASE_GONE, refusal(core.completed(b)));
    core.release(a, "x");
    assertNull(core.machine.state().lock(new LockName("x")));
  }

  @Test
  void revokedLeaseReleasesItsLocks() {
    LeaseId lease = core.lease(a);
    core.acquire(a, "x", lease);
    assertEquals(new Outcome.Answered(true), core.perform(b, new Operation.RevokeLease(lease)));
    assertEquals(2, core.take(c, "x"));
    assertEquals(new Outcome.Answered(false), core.perform(b, new Operation.RevokeLease(lease)));
  }

  @Test
  void unknownLeaseIsRefusedByName() {
    LeaseId never = new LeaseId(99);
    Outcome outcome = core.acquire(a, "x", never);
    assertEquals(RefusalCode.LEASE_GONE, refusal(outcome));
    assertTrue(outcome.toString().contains("lease 99 was never created"), outcome.toString());
    assertEquals(
        RefusalCode.LEASE_GONE, refusal(core.perform(a, new Operation.RevokeLease(never))));
  }

  @Test
  void expiredLeaseIsRefusedByName() {
    LeaseId lease = core.lease(a);
    core.apply(new Command.Expire(List.of(), List.of(lease)));
    Outcome outcome = core.acquire(a, "x", lease);
    assertEquals(RefusalCode.LEASE_GONE, refusal(outcome));
    assertTrue(outcome.toString().contains("has expired or was revoked"), outcome.toString());
  }

  @Test
  void releaseByAnotherLeaseIsAnsweredNo() {
    core.take(a, "x");
    assertFalse(core.release(b, "x"));
    assertTrue(HeldLocks.holdsLock(core.machine.state(), new LockName("x"), 1));
  }

  private List<Notice> holdsEnded() {
    return core.notices.stream().filter(Notice.HoldEnded.class::isInstance).toList();
  }

  @Test
  void leaseThatLivesOnTellsOfEachHoldThatItLoses() {
    LeaseId lease = core.lease(a);
    LeaseId other = core.lease(b);
    long first = token(core.acquire(a, "x", lease));
    core.perform(c, new Operation.ForceReleaseLock(new LockName("x")));
    assertEquals(List.of(new Notice.HoldEnded(lease, new FencingToken(first))), holdsEnded());
    long second = token(core.acquire(a, "x", lease));
    core.perform(c, new Operation.TransferLock(new LockName("x"), lease, other));
    assertEquals(List.of(new Notice.HoldEnded(lease, new FencingToken(second))), holdsEnded());
    core.perform(c, new Operation.ReleaseLock(new LockName("x"), other, 0));
    assertEquals(1, holdsEnded().size());
    core.acquire(a, "x", lease);
    core.perform(c, new Operation.ReleaseLock(new LockName("x"), lease, 1_000));
    assertEquals(1, holdsEnded().size());
    core.acquire(a, "y", lease);
    core.perform(c, new Operation.RevokeLease(lease));
    assertEquals(List.of(), holdsEnded(), "the end of the lease says it");
    core.take(a, "z");
    core.perform(c, new Operation.ForceReleaseLock(new LockName("z")));
    assertEquals(List.of(), holdsEnded(), "the session learns from its next statement");
  }

  @Test
  void forcedReleaseTakesTheLockFromItsHolder() {
    core.take(a, "x");
    core.acquire(b, "x", null);
    assertEquals(
        new Outcome.Answered(true),
        core.perform(c, new Operation.ForceReleaseLock(new LockName("x"))));
    assertEquals(2, token(core.completed(b)));
    LeaseId lease = new LeaseId(1);
    assertEquals(
        List.of(new Notice.LockTaken(new LockName("x"), lease, new FencingToken(1), 1)),
        core.notices.stream().filter(Notice.LockTaken.class::isInstance).toList());
    assertFalse(core.release(a, "x"), "a lost it");
    assertEquals(
        new Outcome.Answered(false),
        core.perform(c, new Operation.ForceReleaseLock(new LockName("free"))));
  }

  @Test
  void sharedHoldersHoldTogetherAndKeepAWriterOut() {
    assertEquals(1, token(core.acquire(a, "x", null, LockMode.SHARED, 0)));
    assertEquals(2, token(core.acquire(b, "x", null, LockMode.SHARED, 0)));
    assertEquals(new Outcome.NotGranted(), core.acquire(c, "x", null, LockMode.EXCLUSIVE, 0));
  }

  @Test
  void readerBehindAWaitingWriterWaitsToo() {
    core.acquire(a, "x", null, LockMode.SHARED, 0);
    assertEquals(new Outcome.Waiting(), core.acquire(b, "x", null));
    assertEquals(
        new Outcome.Waiting(), core.acquire(c, "x", null, LockMode.SHARED, CoreDriver.WAIT_MILLIS));
    core.release(a, "x");
    assertEquals(2, token(core.completed(b)));
    assertNull(core.completed(c));
  }

  @Test
  void readersBehindACancelledWriterAreGranted() {
    core.acquire(a, "x", null, LockMode.SHARED, 0);
    core.acquire(b, "x", null);
    core.acquire(c, "x", null, LockMode.SHARED, CoreDriver.WAIT_MILLIS);
    core.apply(new Command.EndWait(b, core.lastSequence(b), Command.WaitEnd.TIMED_OUT));
    assertEquals(2, token(core.completed(c)));
  }

  @Test
  void upgradeFromSharedToExclusiveIsRefused() {
    core.acquire(a, "x", null, LockMode.SHARED, 0);
    assertEquals(RefusalCode.LOCK_UPGRADE, refusal(core.acquire(a, "x", null)));
  }

  @Test
  void exclusiveHolderAskingForSharedKeepsItsToken() {
    long token = core.take(a, "x");
    assertEquals(token, token(core.acquire(a, "x", null, LockMode.SHARED, 0)));
  }

  @Test
  void twoRequestsOnBehalfOfOneLeaseGetOneToken() {
    LeaseId lease = core.lease(a);
    core.take(c, "x");
    core.acquire(a, "x", lease);
    core.acquire(b, "x", lease);
    core.release(c, "x");
    assertEquals(2, token(core.completed(a)));
    assertEquals(2, token(core.completed(b)));
  }

  @Test
  void freeLockLeavesNothingBehind() {
    core.take(a, "x");
    core.release(a, "x");
    assertTrue(core.machine.state().locks().isEmpty());
  }

  @Test
  void lostOwnLeaseIsToldOnceAndThenReplaced() {
    core.take(a, "x");
    LeaseId own = core.machine.state().leases().iterator().next().id();
    core.apply(new Command.Expire(List.of(), List.of(own)));
    Outcome told = core.acquire(a, "y", null);
    assertEquals(RefusalCode.LEASE_GONE, refusal(told));
    assertTrue(told.toString().contains("[x]"), told.toString());
    assertInstanceOf(Outcome.Granted.class, core.acquire(a, "y", null));
  }

  @Test
  void ownLeaseThatHeldNothingIsReplacedSilently() {
    core.take(a, "x");
    core.release(a, "x");
    LeaseId own = core.machine.state().leases().iterator().next().id();
    core.apply(new Command.Expire(List.of(), List.of(own)));
    assertInstanceOf(Outcome.Granted.class, core.acquire(a, "x", null));
  }
}
