package dev.tollgate.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.tollgate.core.command.AuditEvent;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.FencingToken;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.LeaseKind;
import dev.tollgate.core.command.LockDefinition;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.PresentedToken;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TransactionScope;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What auditors are told of commands. */
class AuditEventsTest {
  private static final LockName JOB = new LockName("job");

  private final CoreDriver core = recording();
  private final SessionId a = core.open();
  private final SessionId b = core.open();

  private static CoreDriver recording() {
    CoreDriver driver = new CoreDriver();
    driver.machine.recordEvents();
    return driver;
  }

  private static AuditEvent.Party party(SessionId session) {
    return new AuditEvent.Party(session, "TOLLGATE", CoreDriver.CLIENT);
  }

  private static AuditEvent granted(
      SessionId by,
      String lock,
      LockMode mode,
      long token,
      long lease,
      LeaseKind kind,
      AuditEvent.GrantWay way) {
    return new AuditEvent.LockGranted(
        party(by),
        new LockName(lock),
        mode,
        new FencingToken(token),
        new LeaseId(lease),
        kind,
        way);
  }

  private static AuditEvent exclusive(
      SessionId by, long token, long lease, AuditEvent.GrantWay way) {
    return granted(by, "job", LockMode.EXCLUSIVE, token, lease, LeaseKind.OWN, way);
  }

  private static AuditEvent lost(
      AuditEvent.Party by, SessionId holder, long token, long lease, AuditEvent.LossReason reason) {
    return new AuditEvent.LockLost(
        by, party(holder), JOB, new FencingToken(token), new LeaseId(lease), reason);
  }

  @Test
  void nothingIsRecordedUnlessItIsTurnedOn() {
    CoreDriver silent = new CoreDriver();
    SessionId session = silent.open();
    silent.take(session, "job");
    assertEquals(List.of(), silent.events);
  }

  @Test
  void grantAtOnceAndAfterAWaitAreEvents() {
    core.take(a, "job");
    assertEquals(List.of(exclusive(a, 1, 1, AuditEvent.GrantWay.AT_ONCE)), core.events);
    core.acquire(b, "job", null);
    assertEquals(List.of(), core.events, "it waits");
    core.release(a, "job");
    assertEquals(List.of(exclusive(b, 2, 2, AuditEvent.GrantWay.AFTER_WAIT)), core.events);
    core.acquire(b, "job", null);
    assertEquals(List.of(), core.events, "the lease holds the lock already");
  }

  @Test
  void everySharedGrantIsAnEvent() {
    core.acquire(a, "job", null, LockMode.SHARED, 0);
    core.acquire(b, "job", null, LockMode.SHARED, 0);
    assertEquals(
        List.of(
            granted(b, "job", LockMode.SHARED, 2, 2, LeaseKind.OWN, AuditEvent.GrantWay.AT_ONCE)),
        core.events);
  }

  @Test
  void eachLockOfASetIsAnEvent() {
    core.perform(a, new Operation.AcquireLocks(List.of(JOB, new LockName("other")), null, 10_000));
    assertEquals(
        List.of(
            exclusive(a, 1, 1, AuditEvent.GrantWay.AT_ONCE),
            granted(
                a, "other", LockMode.EXCLUSIVE, 2, 1, LeaseKind.OWN, AuditEvent.GrantWay.AT_ONCE)),
        core.events);
  }

  @Test
  void lockOfATransactionIsAnEventAndSoIsItsLoss() {
    core.perform(a, new Operation.AcquireTransactionLock(JOB, 0, TransactionScope.READ_COMMITTED));
    assertEquals(
        List.of(
            granted(
                a,
                "job",
                LockMode.EXCLUSIVE,
                1,
                1,
                LeaseKind.TRANSACTION,
                AuditEvent.GrantWay.AT_ONCE)),
        core.events);
    long transaction = core.machine.state().transactions().iterator().next().id();
    core.apply(new Command.AbortTransaction(a, transaction, Command.AbortReason.AGE));
    assertEquals(
        List.of(lost(AuditEvent.Party.NOBODY, a, 1, 1, AuditEvent.LossReason.TRANSACTION_ABORTED)),
        core.events);
  }

  @Test
  void requestThatIsSentAgainIsNoSecondEvent() {
    Operation acquire = new Operation.AcquireLock(JOB, null, LockMode.EXCLUSIVE, 0);
    core.apply(new Command.Perform(a, 5, acquire));
    assertEquals(1, core.events.size());
    Outcome again = core.apply(new Command.Perform(a, 5, acquire));
    assertEquals(1, CoreDriver.token(again));
    assertEquals(List.of(), core.events);
  }

  @Test
  void forcedReleaseNamesTheHolderAndTheSessionThatForced() {
    core.take(a, "job");
    core.perform(b, new Operation.ForceReleaseLock(JOB));
    assertEquals(
        List.of(
            new AuditEvent.LockForced(
                party(b), party(a), JOB, new FencingToken(1), new LeaseId(1))),
        core.events);
    core.perform(b, new Operation.ForceReleaseLock(JOB));
    assertEquals(
        List.of(
            new AuditEvent.Administered(
                party(b), "force_release_lock", "job", result("LOCK_NOT_HELD"))),
        core.events);
  }

  @Test
  void locksThatExpireAreEventsAndThoseThatAreReleasedAreNot() {
    core.take(a, "job");
    core.release(a, "job");
    assertEquals(List.of(), core.events);
    core.take(a, "job");
    core.acquire(b, "job", null);
    core.apply(new Command.Expire(List.of(), List.of(new LeaseId(1))));
    assertEquals(
        List.of(
            lost(AuditEvent.Party.NOBODY, a, 2, 1, AuditEvent.LossReason.LEASE_EXPIRED),
            exclusive(b, 3, 2, AuditEvent.GrantWay.AFTER_WAIT)),
        core.events);
    core.apply(new Command.Expire(List.of(b), List.of()));
    assertEquals(
        List.of(lost(AuditEvent.Party.NOBODY, b, 3, 2, AuditEvent.LossReason.SESSION_EXPIRED)),
        core.events);
    core.apply(new Command.CloseSession(a));
    assertEquals(List.of(), core.events);
  }

  @Test
  void revocationNamesTheSessionThatRevoked() {
    LeaseId lease = core.lease(a);
    core.acquire(a, "job", lease);
    core.perform(b, new Operation.RevokeLease(lease));
    assertEquals(
        List.of(lost(party(b), a, 1, lease.value(), AuditEvent.LossReason.LEASE_REVOKED)),
        core.events);
  }

  @Test
  void lockThatIsOnlyKeptIsNeitherGrantedNorLost() {
    core.take(a, "job");
    core.perform(a, new Operation.ReleaseLock(JOB, null, 5_000));
    assertEquals(List.of(), core.events);
    core.apply(new Command.Expire(List.of(), List.of(new LeaseId(2))));
    assertEquals(List.of(), core.events);
  }

  @Test
  void handedOverLockIsAGrant() {
    LeaseId lease = core.lease(b);
    core.take(a, "job");
    core.perform(a, new Operation.TransferLock(JOB, null, lease));
    assertEquals(
        List.of(
            granted(
                a,
                "job",
                LockMode.EXCLUSIVE,
                2,
                lease.value(),
                LeaseKind.CLIENT,
                AuditEvent.GrantWay.TRANSFER)),
        core.events);
  }

  @Test
  void refusedWriteNamesTheTokenAndTheLock() {
    long token = core.take(a, "job");
    core.release(a, "job");
    Outcome refused =
        core.perform(
            a,
            FakeSqlStore.write(
                "WRITE t",
                "v",
                new Operation.StatementFence(new PresentedToken(JOB, token), false),
                true));
    assertInstanceOf(Outcome.Refused.class, refused);
    assertEquals(
        List.of(new AuditEvent.WriteRefused(party(a), RefusalCode.TOKEN_STALE, null, JOB, token)),
        core.events);
  }

  @Test
  void definitionsOfLocksAreEventsWithTheirOutcome() {
    LockDefinition two = new LockDefinition(JOB, 2);
    core.perform(a, new Operation.DefineLock(two, false));
    assertEquals(administered("create_lock", "job permits 2", "DONE"), core.events);
    core.perform(a, new Operation.DefineLock(two, false));
    assertEquals(administered("create_lock", "job permits 2", "REFUSED LOCK_STATE"), core.events);
    core.perform(a, new Operation.ChangeLock(new LockDefinition(JOB, 3), false));
    assertEquals(administered("alter_lock", "job permits 3", "DONE"), core.events);
    core.perform(a, new Operation.DropLock(JOB, false));
    assertEquals(administered("drop_lock", "job", "DONE"), core.events);
    core.perform(a, new Operation.DropLock(JOB, true));
    assertEquals(administered("drop_lock", "job", "NOTHING_TO_DO"), core.events);
  }

  private static AuditEvent.Result result(String kindAndCode) {
    int space = kindAndCode.indexOf(' ');
    return new AuditEvent.Result(
        AuditEvent.Result.Kind.valueOf(space < 0 ? kindAndCode : kindAndCode.substring(0, space)),
        space < 0 ? null : kindAndCode.substring(space + 1));
  }

  private List<AuditEvent> administered(String action, String object, String outcome) {
    return List.of(new AuditEvent.Administered(party(a), action, object, result(outcome)));
  }

  @Test
  void definitionsAreEvents() {
    assertDefined("CREATE TABLE T1 ( A INT )", "DONE");
    assertDefined("FAIL T1", "FAILED 23505");
    assertDefined("GRANT SELECT ON T1 TO BILLING", "DONE");
  }

  private void assertDefined(String sql, String outcome) {
    core.perform(a, FakeSqlStore.definition(sql));
    assertEquals(List.of(new AuditEvent.Defined(party(a), sql, result(outcome))), core.events);
  }
}
