package dev.tollgate.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.tollgate.core.command.AuditEvent;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.FenceReading;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TableName;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What operators are told of commands. {@link CoreDriver} lets a millisecond pass at each. */
class LockTalliesTest {
  private static final LockName JOB = new LockName("job");

  private final LockTallies tallies = new LockTallies(0);
  private final CoreDriver core = counting(tallies);
  private final SessionId a = core.open();
  private final SessionId b = core.open();

  private static CoreDriver counting(LockTallies tallies) {
    CoreDriver driver = new CoreDriver();
    driver.machine.countIn(tallies);
    return driver;
  }

  private static long grants(LockTallies.Counts counts) {
    return counts.grants(AuditEvent.GrantWay.AT_ONCE)
        + counts.grants(AuditEvent.GrantWay.AFTER_WAIT)
        + counts.grants(AuditEvent.GrantWay.TRANSFER);
  }

  @Test
  void grantIsCountedByItsWayAndHoldWithItsTime() {
    core.take(a, "job");
    core.acquire(b, "job", null);
    core.release(a, "job");
    LockTallies.Counts counts = tallies.counts();
    assertEquals(1, counts.grants(AuditEvent.GrantWay.AT_ONCE));
    assertEquals(1, counts.grants(AuditEvent.GrantWay.AFTER_WAIT));
    assertEquals(1, counts.waits().total());
    assertEquals(1_000, counts.waits().sum(), "b waited for one command");
    assertEquals(1, counts.holds().total());
    assertEquals(2_000, counts.holds().sum(), "a held for two commands");
    assertEquals(0, counts.endedWaits());
  }

  @Test
  void transferIsAGrantAndEndsAHold() {
    LeaseId lease = core.lease(b);
    core.take(a, "job");
    core.perform(a, new Operation.TransferLock(JOB, null, lease));
    assertEquals(1, tallies.counts().grants(AuditEvent.GrantWay.TRANSFER));
    assertEquals(1, tallies.counts().holds().total());
  }

  @Test
  void setOfLocksIsSeveralGrantsAndOneWait() {
    core.take(a, "other");
    core.perform(b, new Operation.AcquireLocks(List.of(JOB, new LockName("other")), null, 10_000));
    assertEquals(2, core.machine.state().waits());
    core.release(a, "other");
    assertEquals(0, core.machine.state().waits());
    assertEquals(2, tallies.counts().grants(AuditEvent.GrantWay.AFTER_WAIT));
    assertEquals(1, tallies.counts().waits().total());
  }

  @Test
  void refusedRequestsAndRequestsSentAgainAreNoGrants() {
    core.take(a, "job");
    core.acquire(b, "job", null, LockMode.EXCLUSIVE, 0);
    Operation acquire = new Operation.AcquireLock(new LockName("x"), null, LockMode.EXCLUSIVE, 0);
    core.apply(new Command.Perform(a, 50, acquire));
    core.apply(new Command.Perform(a, 50, acquire));
    assertEquals(2, grants(tallies.counts()));
  }

  @Test
  void waitThatEndsWithoutAGrantIsCountedOnce() {
    core.take(a, "job");
    core.acquire(b, "job", null);
    core.apply(new Command.CloseSession(b));
    assertEquals(1, tallies.counts().endedWaits());
    assertEquals(0, tallies.counts().waits().total());
  }

  @Test
  void expiryCountsTheLeaseItsLocksAndTheirHolds() {
    core.take(a, "job");
    core.take(a, "other");
    core.apply(new Command.Expire(List.of(), List.of(new LeaseId(1))));
    core.take(b, "job");
    core.apply(new Command.Expire(List.of(b), List.of()));
    LockTallies.Counts counts = tallies.counts();
    assertEquals(1, counts.expiredLeases());
    assertEquals(1, counts.expiredSessions());
    assertEquals(2, counts.losses(AuditEvent.LossReason.LEASE_EXPIRED));
    assertEquals(1, counts.losses(AuditEvent.LossReason.SESSION_EXPIRED));
    assertEquals(3, counts.holds().total());
    core.apply(new Command.Expire(List.of(b), List.of(new LeaseId(1))));
    assertEquals(1, tallies.counts().expiredLeases(), "it had ended before");
  }

  @Test
  void forcedReleaseIsNoLossWithALease() {
    core.take(a, "job");
    core.perform(b, new Operation.ForceReleaseLock(JOB));
    core.perform(b, new Operation.ForceReleaseLock(JOB));
    assertEquals(1, tallies.counts().forced());
    assertEquals(0, tallies.counts().losses(AuditEvent.LossReason.LEASE_REVOKED));
    assertEquals(1, tallies.counts().holds().total());
  }

  @Test
  void lockThatIsOnlyKeptIsNeitherGrantedNorHeld() {
    core.take(a, "job");
    core.perform(a, new Operation.ReleaseLock(JOB, null, 5_000));
    core.apply(new Command.Expire(List.of(), List.of(new LeaseId(2))));
    LockTallies.Counts counts = tallies.counts();
    assertEquals(1, grants(counts));
    assertEquals(1, counts.holds().total());
    assertEquals(0, counts.losses(AuditEvent.LossReason.LEASE_EXPIRED));
  }

  @Test
  void refusedWriteIsCountedByTheTableThatDemandedAToken() {
    core.perform(
        a,
        new Operation.FenceTable(
            new TableName(null, "t"),
            new Operation.TableFence(JOB, FenceReading.HELD),
            null,
            true));
    refuse();
    refuse();
    core.take(a, "job");
    assertEquals(List.of(new LockTallies.TableCount("t", 2)), tallies.counts().refusedWrites());
  }

  private void refuse() {
    assertInstanceOf(
        Outcome.Refused.class, core.perform(b, FakeSqlStore.write("WRITE t", "v", null, true)));
  }

  @Test
  void tablesBeyondTheLimitAreCountedTogether() {
    LockTallies many = new LockTallies(0);
    many.begin(1);
    for (int i = 0; i < Limits.TALLIED_TABLES + 5; i++) {
      many.refusedWrite(new TableName("PUBLIC", "T" + i));
    }
    many.refusedWrite(new TableName("PUBLIC", "T7"));
    List<LockTallies.TableCount> tables = many.counts().refusedWrites();
    assertEquals(Limits.TALLIED_TABLES + 1, tables.size());
    assertEquals(new LockTallies.TableCount("PUBLIC.T7", 2), tables.get(7));
    assertEquals(
        new LockTallies.TableCount(LockTallies.OTHER_TABLES, 5), tables.get(tables.size() - 1));
  }

  /** A node that starts applies the end of its log a second time. */
  @Test
  void commandsOlderThanTheProcessAreNotCounted() {
    LockTallies late = new LockTallies(1_005_000);
    CoreDriver driver = counting(late);
    SessionId session = driver.open();
    driver.take(session, "one");
    driver.take(session, "two");
    driver.release(session, "two");
    assertEquals(0, grants(late.counts()));
    driver.take(session, "three");
    assertEquals(1, grants(late.counts()));
    driver.apply(new Command.Expire(List.of(), List.of(new LeaseId(1))));
    assertEquals(2, late.counts().holds().total(), "what is held ends in this process");
  }

  @Test
  void stateIsTheSameWhateverIsCounted() {
    List<List<StateRecord>> states = new ArrayList<>();
    for (long from : new long[] {0, Long.MAX_VALUE}) {
      CoreDriver driver = counting(new LockTallies(from));
      SessionId first = driver.open();
      SessionId second = driver.open();
      driver.take(first, "job");
      driver.acquire(second, "job", null);
      driver.perform(second, new Operation.ForceReleaseLock(JOB));
      driver.take(first, "other");
      driver.apply(new Command.Expire(List.of(), List.of(new LeaseId(1))));
      List<StateRecord> records = new ArrayList<>();
      driver.machine.copy().forEach(records::add);
      states.add(records);
    }
    assertEquals(states.get(0), states.get(1));
  }
}
