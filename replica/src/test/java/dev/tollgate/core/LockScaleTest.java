package dev.tollgate.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.LogPosition;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TransactionScope;
import dev.tollgate.core.command.UserName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/**
 * What an operation costs does not grow with what others hold or wait for. Each test does so many
 * operations that one which examined all holders or all requests would take minutes.
 */
class LockScaleTest {
  private static final Duration ENOUGH = Duration.ofSeconds(30);
  private static final int MANY = Limits.HOLDERS_PER_LOCK;
  private static final int OPERATIONS = 200_000;
  private static final LockName CROWDED = new LockName("crowded");

  private final StateMachine machine = new StateMachine(new FakeSqlStore());
  private final List<Long> sequences = new ArrayList<>();
  private long logIndex;

  private Outcome apply(Command command) {
    logIndex++;
    return machine.apply(new LogPosition(logIndex, 0, logIndex * 1_000), command).outcome();
  }

  private SessionId open() {
    Command command = new Command.OpenSession(CoreDriver.CLIENT, 7, 60_000, 15_000);
    return ((Outcome.SessionOpened) apply(command)).session();
  }

  private Outcome perform(SessionId session, Operation operation) {
    int at = (int) session.value();
    while (sequences.size() <= at) {
      sequences.add(0L);
    }
    sequences.set(at, sequences.get(at) + 1);
    return apply(new Command.Perform(session, sequences.get(at), operation));
  }

  private LeaseId lease(SessionId session) {
    return ((Outcome.LeaseCreated) perform(session, new Operation.CreateLease(15_000, "o")))
        .lease();
  }

  private Outcome shared(SessionId session, LockName lock, LeaseId lease) {
    return perform(session, new Operation.AcquireLock(lock, lease, LockMode.SHARED, 0));
  }

  /** The leases of a session that hold the locks in shared mode, as many as may. */
  private List<LeaseId> crowd(SessionId session, List<LockName> locks) {
    List<LeaseId> leases = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      LeaseId lease = lease(session);
      leases.add(lease);
      locks.forEach(lock -> assertInstanceOf(Outcome.Granted.class, shared(session, lock, lease)));
    }
    return leases;
  }

  @Test
  void requestsForLocksWithManyHolders() {
    assertTimeoutPreemptively(
        ENOUGH,
        () -> {
          List<LockName> locks =
              IntStream.range(0, 9).mapToObj(i -> new LockName("crowded" + i)).toList();
          SessionId session = open();
          crowd(session, locks);
          Operation all = new Operation.AcquireLocks(locks, lease(session), 0);
          for (int i = 0; i < OPERATIONS; i++) {
            assertEquals(new Outcome.NotGranted(), perform(session, all));
          }
          machine.checkInvariants();
        });
  }

  @Test
  void holdsThatComeAndGoBesideManyOthers() {
    assertTimeoutPreemptively(
        ENOUGH,
        () -> {
          SessionId session = open();
          List<LeaseId> leases = crowd(session, List.of(CROWDED));
          LeaseId late = leases.get(MANY - 1);
          for (int i = 0; i < OPERATIONS; i++) {
            perform(session, new Operation.ReleaseLock(CROWDED, late, 0));
            assertInstanceOf(Outcome.Granted.class, shared(session, CROWDED, late));
          }
          for (LeaseId lease : leases) {
            apply(new Command.Expire(List.of(), List.of(lease)));
          }
          assertEquals(0, machine.state().holds());
        });
  }

  @Test
  void questionsAboutTokensOfManyHolders() {
    assertTimeoutPreemptively(
        ENOUGH,
        () -> {
          crowd(open(), List.of(CROWDED));
          for (int i = 0; i < 10 * OPERATIONS; i++) {
            assertEquals(
                new Outcome.Answered(true),
                machine.state().holdsLock(UserName.ANONYMOUS, CROWDED, MANY));
          }
        });
  }

  @Test
  void waitsThatEndBehindManyOthers() {
    assertTimeoutPreemptively(
        ENOUGH,
        () -> {
          SessionId holder = open();
          perform(holder, new Operation.AcquireLock(CROWDED, null, LockMode.EXCLUSIVE, 0));
          Operation wait = new Operation.AcquireLock(CROWDED, null, LockMode.EXCLUSIVE, 1_000);
          for (int i = 1; i < MANY; i++) {
            assertEquals(new Outcome.Waiting(), perform(open(), wait));
          }
          SessionId late = open();
          for (int i = 0; i < OPERATIONS; i++) {
            assertEquals(new Outcome.Waiting(), perform(late, wait));
          }
        });
  }

  @Test
  void transactionsThatWaitBehindManyRequestsForSeveralLocks() {
    assertTimeoutPreemptively(
        ENOUGH,
        () -> {
          List<LockName> locks =
              IntStream.range(0, 9).mapToObj(i -> new LockName("crowded" + i)).toList();
          crowd(open(), locks);
          Operation all = new Operation.AcquireLocks(locks, null, 60_000);
          for (int i = 0; i < 2_000; i++) {
            assertEquals(new Outcome.Waiting(), perform(open(), all));
          }
          for (int i = 0; i < 50; i++) {
            SessionId session = open();
            assertInstanceOf(
                Outcome.Granted.class, lockOfTransaction(session, new LockName("own" + i)));
            assertEquals(new Outcome.Waiting(), lockOfTransaction(session, locks.get(0)));
          }
          machine.checkInvariants();
        });
  }

  /** What a search costs is bounded; the wait ends by its timeout. */
  @Test
  void searchForADeadlockGivesUp() {
    assertTimeoutPreemptively(
        ENOUGH,
        () -> {
          List<LockName> locks =
              IntStream.range(0, Limits.LOCKS_AT_ONCE)
                  .mapToObj(i -> new LockName("crowded" + i))
                  .toList();
          SessionId a = open();
          SessionId b = open();
          LockName x = new LockName("x");
          assertInstanceOf(Outcome.Granted.class, lockOfTransaction(a, x));
          assertInstanceOf(Outcome.Granted.class, lockOfTransaction(b, locks.get(0)));
          Operation all = new Operation.AcquireLocks(locks, null, 60_000);
          for (int steps = 0; steps <= Limits.DEADLOCK_STEPS; steps += locks.size()) {
            assertEquals(new Outcome.Waiting(), perform(open(), all));
          }
          assertEquals(new Outcome.Waiting(), lockOfTransaction(a, locks.get(0)));
          assertEquals(
              new Outcome.Waiting(), lockOfTransaction(b, x), "not found to be a deadlock");
          apply(new Command.EndWait(b, sequences.get((int) b.value()), Command.WaitEnd.TIMED_OUT));
          assertEquals(2, machine.state().transactions().size());
        });
  }

  private Outcome lockOfTransaction(SessionId session, LockName lock) {
    return perform(
        session,
        new Operation.AcquireTransactionLock(lock, 10_000, TransactionScope.READ_COMMITTED));
  }
}
