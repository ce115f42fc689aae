package dev.tollgate.core;

import static dev.tollgate.core.CoreDriver.refusal;
import static dev.tollgate.core.CoreDriver.token;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.LogPosition;
import dev.tollgate.core.command.Notice;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TimeZoneName;
import dev.tollgate.core.command.UserName;
import java.util.List;
import org.junit.jupiter.api.Test;

class SessionsTest {
  private final CoreDriver core = new CoreDriver();
  private final SessionId a = core.open();
  private final SessionId b = core.open();

  @Test
  void resentWriteTakesEffectOnceAndGetsItsOutcomeAgain() {
    Command.Perform write =
        new Command.Perform(a, 1, FakeSqlStore.write("WRITE t", "v", null, true));
    Outcome first = core.apply(write);
    assertEquals(first, core.apply(write));
    assertEquals(List.of("v"), core.store.written.get("t"));
  }

  @Test
  void resentAcquireGetsItsTokenAgain() {
    Command.Perform acquire =
        new Command.Perform(
            a, 1, new Operation.AcquireLock(new LockName("x"), null, LockMode.EXCLUSIVE, 0));
    assertEquals(1, token(core.apply(acquire)));
    assertEquals(1, token(core.apply(acquire)));
    assertEquals(1, core.machine.state().lastToken());
  }

  @Test
  void resentAcquireThatStillWaitsKeepsItsPlace() {
    core.take(b, "x");
    Command.Perform acquire =
        new Command.Perform(
            a, 1, new Operation.AcquireLock(new LockName("x"), null, LockMode.EXCLUSIVE, 5_000));
    assertEquals(new Outcome.Waiting(), core.apply(acquire));
    assertEquals(new Outcome.Waiting(), core.apply(acquire));
    assertEquals(1, core.machine.state().lock(new LockName("x")).waiters().size());
  }

  @Test
  void resentAcquireAfterItsGrantGetsTheToken() {
    core.take(b, "x");
    core.acquire(a, "x", null);
    long sequence = core.lastSequence(a);
    core.release(b, "x");
    Command.Perform again =
        new Command.Perform(
            a,
            sequence,
            new Operation.AcquireLock(
                new LockName("x"), null, LockMode.EXCLUSIVE, CoreDriver.WAIT_MILLIS));
    assertEquals(2, token(core.apply(again)));
  }

  private Command.Perform acquire(String lock, long content) {
    return new Command.Perform(
        a, 1, new Operation.AcquireLock(new LockName(lock), null, LockMode.EXCLUSIVE, 9), content);
  }

  /** Of a request that computes the name of its lock, a later leader may make another operation. */
  @Test
  void repeatedRequestIsKnownByItsContentAndNotByItsOperation() {
    assertEquals(1, token(core.apply(acquire("x", 77))));
    assertEquals(1, token(core.apply(acquire("y", 77))));
    assertNull(core.machine.state().lock(new LockName("y")));
  }

  @Test
  void anotherRequestUnderAKnownNumberIsRefusedAndChangesNothing() {
    core.apply(acquire("x", 77));
    assertEquals(RefusalCode.SEQUENCE_REUSED, refusal(core.apply(acquire("y", 78))));
    assertNull(core.machine.state().lock(new LockName("y")));
    assertEquals(1, token(core.apply(acquire("x", 77))), "the first is known as before");
  }

  @Test
  void anotherRequestUnderTheNumberOfOneThatWaitsDoesNotEndTheWait() {
    core.take(b, "x");
    assertEquals(new Outcome.Waiting(), core.apply(acquire("x", 77)));
    assertEquals(RefusalCode.SEQUENCE_REUSED, refusal(core.apply(acquire("y", 78))));
    assertEquals(List.of(), core.notices);
    assertEquals(new Outcome.Waiting(), core.apply(acquire("x", 77)));
    core.release(b, "x");
    assertEquals(2, token(core.apply(acquire("x", 77))));
  }

  @Test
  void contentOfTheLastRequestComesBackFromASnapshot() {
    core.apply(acquire("x", 77));
    StateMachine restored = new StateMachine(core.store);
    core.machine.copy().forEach(restored::restore);
    assertEquals(77, restored.state().session(a).lastContent());
  }

  /** It is in no entry of a version before this one. */
  @Test
  void requestOfUnknownContentIsTakenForTheSame() {
    core.apply(acquire("x", Command.Perform.UNKNOWN_CONTENT));
    assertEquals(1, token(core.apply(acquire("x", 77))));
  }

  @Test
  void operationBehindTheLastOneIsRefused() {
    core.perform(a, new Operation.SetSchema("APP"));
    core.perform(a, new Operation.SetSchema("PUBLIC"));
    Outcome late = core.apply(new Command.Perform(a, 1, new Operation.SetSchema("APP")));
    assertEquals(RefusalCode.SEQUENCE_PASSED, refusal(late));
    assertEquals("PUBLIC", core.machine.state().session(a).schema());
  }

  @Test
  void nextOperationGivesUpTheWaitBeforeIt() {
    core.take(b, "x");
    core.acquire(a, "x", null);
    long waiting = core.lastSequence(a);
    core.perform(a, new Operation.SetSchema("APP"));
    assertTrue(
        core.notices.stream()
            .anyMatch(
                notice ->
                    notice instanceof Notice.Completed done
                        && done.sequence() == waiting
                        && refusal(done.outcome()) == RefusalCode.WAIT_CANCELLED),
        core.notices.toString());
    core.release(b, "x");
    assertNull(core.machine.state().lock(new LockName("x")), "nobody waits any more");
  }

  @Test
  void closedSessionReleasesWhatItsOwnLeaseHeld() {
    core.take(a, "x");
    core.acquire(b, "x", null);
    assertEquals(new Outcome.Answered(true), core.apply(new Command.CloseSession(a)));
    assertEquals(2, token(core.completed(b)));
    assertEquals(new Outcome.Answered(false), core.apply(new Command.CloseSession(a)));
  }

  @Test
  void closedSessionLeavesCreatedLeasesAlone() {
    LeaseId lease = core.lease(a);
    core.acquire(a, "x", lease);
    core.apply(new Command.CloseSession(a));
    assertNotNull(core.machine.state().lock(new LockName("x")));
    assertNotNull(core.machine.state().lease(lease));
  }

  @Test
  void closedSessionNoLongerWaits() {
    core.take(a, "x");
    core.acquire(b, "x", null);
    core.apply(new Command.CloseSession(b));
    core.release(a, "x");
    assertTrue(core.machine.state().locks().isEmpty());
  }

  @Test
  void ownLeaseGivenUpReleasesItsLocksAndIsNoLoss() {
    core.take(a, "x");
    core.acquire(b, "x", null);
    assertEquals(new Outcome.Answered(true), core.apply(new Command.ReleaseOwnLease(a)));
    assertEquals(2, token(core.completed(b)));
    assertEquals(new Outcome.Answered(false), core.apply(new Command.ReleaseOwnLease(a)));
    assertEquals(3, core.take(a, "y"), "the next lock begins another lease");
    assertEquals(
        RefusalCode.SESSION_GONE,
        refusal(core.apply(new Command.ReleaseOwnLease(new SessionId(99)))));
  }

  @Test
  void expiredSessionIsRefused() {
    core.apply(new Command.Expire(List.of(a), List.of()));
    assertEquals(
        RefusalCode.SESSION_GONE, refusal(core.perform(a, new Operation.SetSchema("APP"))));
  }

  @Test
  void schemaHasToExist() {
    assertEquals(new Outcome.Done(), core.perform(a, new Operation.SetSchema("APP")));
    Outcome outcome = core.perform(a, new Operation.SetSchema("NOWHERE"));
    assertEquals("90079", ((Outcome.SqlFailed) outcome).sqlState());
    assertEquals("APP", core.machine.state().session(a).schema());
  }

  private static final TimeZoneName BERLIN = new TimeZoneName("Europe/Berlin");
  private static final TimeZoneName TOKYO = new TimeZoneName("Asia/Tokyo");

  private SessionId open(TimeZoneName zone) {
    Command.OpenSession opening =
        new Command.OpenSession(CoreDriver.CLIENT, 7, 60_000, 15_000, UserName.ANONYMOUS, 0, zone);
    return ((Outcome.SessionOpened) core.apply(opening)).session();
  }

  private static void assertZones(
      StateMachine machine, SessionId id, TimeZoneName now, TimeZoneName opening) {
    Session session = machine.state().session(id);
    assertEquals(now, session.timeZone());
    assertEquals(opening, session.openingTimeZone());
  }

  @Test
  void sessionHasTheTimeZoneItWasOpenedWithUntilItIsGivenAnother() {
    assertZones(core.machine, a, TimeZoneName.UTC, TimeZoneName.UTC);
    SessionId berlin = open(BERLIN);
    assertZones(core.machine, berlin, BERLIN, BERLIN);
    assertEquals(new Outcome.Done(), core.perform(berlin, new Operation.SetTimeZone(TOKYO)));
    assertZones(core.machine, berlin, TOKYO, BERLIN);
    assertZones(core.machine, a, TimeZoneName.UTC, TimeZoneName.UTC);
    StateMachine restored = new StateMachine(new FakeSqlStore());
    core.machine.copy().forEach(restored::restore);
    assertZones(restored, berlin, TOKYO, BERLIN);
    assertZones(restored, a, TimeZoneName.UTC, TimeZoneName.UTC);
    core.perform(berlin, new Operation.SetTimeZone(null));
    assertZones(core.machine, berlin, BERLIN, BERLIN);
  }

  @Test
  void namesOfTimeZonesAreBounded() {
    assertEquals(
        Limits.TIME_ZONE_CHARS,
        new TimeZoneName("x".repeat(Limits.TIME_ZONE_CHARS)).value().length());
    for (String name : List.of("", "x".repeat(Limits.TIME_ZONE_CHARS + 1), "\ud83d")) {
      assertThrows(IllegalArgumentException.class, () -> new TimeZoneName(name));
    }
  }

  @Test
  void presentedTokensAreLimited() {
    for (int i = 0; i < Limits.TOKENS_PER_SESSION; i++) {
      core.perform(a, new Operation.PresentToken(new LockName("l" + i), 1L));
    }
    assertEquals(
        RefusalCode.LIMIT_REACHED,
        refusal(core.perform(a, new Operation.PresentToken(new LockName("more"), 1L))));
    core.perform(a, new Operation.PresentToken(new LockName("l0"), null));
    assertEquals(
        new Outcome.Done(), core.perform(a, new Operation.PresentToken(new LockName("more"), 1L)));
  }

  @Test
  void timeNeverGoesBack() {
    StateMachine machine = new StateMachine(new FakeSqlStore());
    Command open = new Command.OpenSession(CoreDriver.CLIENT, 1, 60_000, 15_000);
    machine.apply(new LogPosition(1, 0, 5_000_000), open);
    machine.apply(new LogPosition(2, 0, 4_000_000), open);
    assertEquals(5_000_000, machine.position().timeMicros());
  }

  @Test
  void timeGoesBackOnlyToThatOfTheEntryThatResetsIt() {
    StateMachine machine = new StateMachine(new FakeSqlStore());
    Command open = new Command.OpenSession(CoreDriver.CLIENT, 1, 60_000, 15_000);
    Command reset = new Command.ResetLogTime();
    machine.apply(new LogPosition(1, 0, 5_000_000), open);
    long before = machine.digest();
    assertEquals(
        new Outcome.Answered(false),
        machine.apply(new LogPosition(2, 0, 0), reset).outcome(),
        "an entry without a time");
    assertEquals(5_000_000, machine.position().timeMicros());
    assertEquals(
        new Outcome.Answered(true),
        machine.apply(new LogPosition(3, 0, 4_000_000), reset).outcome());
    assertEquals(new LogPosition(3, 0, 4_000_000), machine.position());
    assertNotEquals(before, machine.digest());
    machine.apply(new LogPosition(3, 1, 4_000_000), open);
    machine.apply(new LogPosition(4, 0, 3_000_000), open);
    assertEquals(4_000_000, machine.position().timeMicros());
    assertEquals(
        new Outcome.Answered(false),
        machine.apply(new LogPosition(5, 0, 6_000_000), reset).outcome());
    assertEquals(6_000_000, machine.position().timeMicros());
    machine.checkInvariants();
  }

  @Test
  void logOrderIsChecked() {
    StateMachine machine = new StateMachine(new FakeSqlStore());
    Command open = new Command.OpenSession(CoreDriver.CLIENT, 1, 60_000, 15_000);
    machine.apply(new LogPosition(3, 0, 1), open);
    machine.apply(new LogPosition(3, 1, 1), open);
    assertThrows(IllegalStateException.class, () -> machine.apply(new LogPosition(3, 1, 1), open));
    assertThrows(IllegalStateException.class, () -> machine.apply(new LogPosition(2, 0, 1), open));
  }
}
