package dev.tollgate.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Notice;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TransactionScope;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Transactions that lock rows and locks, statements that take a lock for themselves, and ordinary
 * requests for locks, at random. Every invariant holds after every command, every wait has an end
 * once nobody holds anything, and no transaction waits for another that waits for it.
 */
class RandomStatementLocksTest {
  private static final int ROUNDS = 60;
  private static final int COMMANDS = 150;

  @ParameterizedTest(name = "seed {0}")
  @ValueSource(longs = {1, 2, 3, 4})
  void everyWaitHasAnEnd(long seed) {
    Run run = new Run(seed);
    for (int round = 0; round < ROUNDS; round++) {
      for (int i = 0; i < COMMANDS; i++) {
        run.step();
      }
      run.letGo();
    }
    assertTrue(run.deadlocks > ROUNDS / 4, "deadlocks: " + run.deadlocks);
    assertTrue(run.ranAfterWaiting > ROUNDS / 2, "ran after waiting: " + run.ranAfterWaiting);
  }

  private static final class Run {
    private final CoreDriver core = new CoreDriver();
    private final Random random;
    private final List<SessionId> sessions = new ArrayList<>();
    private int deadlocks;
    private int ranAfterWaiting;

    Run(long seed) {
      random = new Random(seed);
      for (int i = 0; i < 6; i++) {
        sessions.add(core.open());
      }
    }

    void step() {
      SessionId id = sessions.get(random.nextInt(sessions.size()));
      Session session = core.machine.state().session(id);
      if (session.awaited() != null || session.isBlocked()) {
        if (random.nextInt(20) == 0) {
          apply(new Command.EndWait(id, core.lastSequence(id), Command.WaitEnd.TIMED_OUT));
        }
        return;
      }
      boolean open = session.transaction() != null;
      Outcome outcome =
          switch (random.nextInt(10)) {
            case 0 -> perform(id, new Operation.EndTransaction(random.nextInt(4) != 0));
            case 1, 2 -> perform(id, inTransaction(id));
            case 3 -> perform(id, transactionLock());
            case 4, 5 -> open ? perform(id, transactionLock()) : perform(id, lockedBy());
            case 6 -> perform(id, new Operation.AcquireLocks(someLocks(), null, 1_000));
            case 7 -> core.acquire(id, someLock(), null);
            case 8 -> perform(id, new Operation.ReleaseLock(new LockName(someLock()), null, 0));
            default -> open ? perform(id, inTransaction(id)) : perform(id, lockedBy());
          };
      count(outcome);
    }

    private Operation inTransaction(SessionId session) {
      return FakeSqlStore.statement(
          "ROW r" + random.nextInt(4),
          List.of(FakeSqlStore.set(session.toString(), null)),
          TransactionScope.READ_COMMITTED);
    }

    private Operation transactionLock() {
      return new Operation.AcquireTransactionLock(
          new LockName(someLock()), 1_000, TransactionScope.READ_COMMITTED);
    }

    private Operation lockedBy() {
      String sql = random.nextBoolean() ? "WRITE t" : "ROW r" + random.nextInt(4);
      return FakeSqlStore.statement(
          sql, List.of(FakeSqlStore.locked("v", someLock())), TransactionScope.AUTOCOMMIT);
    }

    private String someLock() {
      return "l" + random.nextInt(3);
    }

    private List<LockName> someLocks() {
      List<LockName> names =
          new ArrayList<>(List.of(new LockName("l0"), new LockName("l1"), new LockName("l2")));
      Collections.shuffle(names, random);
      return names.subList(0, 2);
    }

    private Outcome perform(SessionId session, Operation operation) {
      return core.perform(session, operation);
    }

    private void apply(Command command) {
      core.apply(command);
      count(null);
    }

    private void count(Outcome outcome) {
      deadlocks += isDeadlock(outcome) ? 1 : 0;
      for (Notice notice : core.notices) {
        if (notice instanceof Notice.Completed done) {
          deadlocks += isDeadlock(done.outcome()) ? 1 : 0;
          ranAfterWaiting += done.outcome() instanceof Outcome.Executed ? 1 : 0;
        }
      }
      assertNoneWaitsForItself();
    }

    private static boolean isDeadlock(Outcome outcome) {
      return outcome instanceof Outcome.Refused refused
          && refused.code() == RefusalCode.TRANSACTION_LOST
          && refused.message().contains("deadlock");
    }

    /** Rolls back who runs, not who waits: then those who wait must be able to go on. */
    private void assertNoneWaitsForItself() {
      List<Transaction> open = List.copyOf(core.machine.state().transactions());
      boolean somebodyRuns =
          open.isEmpty()
              || open.stream()
                  .map(transaction -> core.machine.state().session(transaction.session()))
                  .anyMatch(session -> !session.isBlocked() && session.awaited() == null);
      boolean leasesHold =
          core.machine.state().locks().stream()
              .flatMap(lock -> lock.holds().stream())
              .anyMatch(hold -> hold.lease().isOwn());
      assertTrue(
          somebodyRuns || leasesHold,
          () ->
              "transactions wait for each other: "
                  + open.stream()
                      .map(
                          t ->
                              t.id()
                                  + " "
                                  + core.machine.state().session(t.session()).awaited()
                                  + " "
                                  + core.machine.state().session(t.session()).isBlocked())
                      .toList()
                  + LockModel.describe(core.machine.state()));
    }

    /** Ends all transactions that run and all leases, until nobody waits. */
    void letGo() {
      for (int i = 0; i < 10; i++) {
        for (SessionId id : sessions) {
          Session session = core.machine.state().session(id);
          Lease own = session.ownLease();
          if (own != null) {
            core.apply(new Command.ReleaseOwnLease(id));
          }
          if (session.awaited() == null && !session.isBlocked()) {
            core.perform(id, new Operation.EndTransaction(true));
          }
        }
      }
      for (SessionId id : sessions) {
        assertNull(core.machine.state().session(id).awaited());
        assertEquals(false, core.machine.state().session(id).isBlocked());
      }
      assertTrue(core.machine.state().locks().isEmpty(), "locks are left");
      assertTrue(core.machine.state().leases().isEmpty(), "leases are left");
      assertTrue(core.machine.state().transactions().isEmpty(), "transactions are left");
    }
  }
}
