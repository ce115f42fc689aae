package dev.tollgate.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.LogPosition;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.SessionId;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A command that an operator has had skipped is refused, and changes nothing else. */
class SkippedCommandsTest {
  private static final LockName JOB = new LockName("job");

  private final CoreDriver driver = new CoreDriver();
  private final SessionId session = driver.open();

  private static Operation take() {
    return new Operation.AcquireLock(JOB, null, LockMode.EXCLUSIVE, 0);
  }

  private List<StateRecord> skips() {
    List<StateRecord> skips = new ArrayList<>();
    for (StateRecord piece : driver.machine.copy()) {
      if (piece instanceof StateRecord.SkippedCommand) {
        skips.add(piece);
      }
    }
    return skips;
  }

  @Test
  void commandIsRefusedAndSoItIsWhenItComesAgain() {
    LogPosition next = new LogPosition(driver.machine.position().logIndex() + 1, 3, 1);
    Command.Perform command = new Command.Perform(session, 1, take());
    Outcome skipped = driver.machine.skip(next, command).outcome();
    Outcome.Refused refused = assertInstanceOf(Outcome.Refused.class, skipped);
    assertEquals(RefusalCode.SKIPPED, refused.code());
    assertEquals(
        refused,
        driver.machine.apply(new LogPosition(next.logIndex() + 1, 0, 1), command).outcome());
    assertNull(HeldLocks.lockToken(driver.machine.state(), JOB));
    driver.machine.checkInvariants();
    assertEquals(List.of(new StateRecord.SkippedCommand(next.logIndex(), 3)), skips());
    Command.Perform later = new Command.Perform(session, 2, take());
    assertInstanceOf(
        Outcome.Granted.class,
        driver.machine.apply(new LogPosition(next.logIndex() + 2, 0, 1), later).outcome());
  }

  @Test
  void sessionThatWaitsGoesOnWaiting() {
    SessionId holder = driver.open();
    driver.perform(holder, take());
    long index = driver.machine.position().logIndex();
    Command.Perform waits =
        new Command.Perform(
            session, 1, new Operation.AcquireLock(JOB, null, LockMode.EXCLUSIVE, 10_000));
    driver.machine.apply(new LogPosition(index + 1, 0, 1), waits);
    driver.machine.skip(new LogPosition(index + 2, 0, 1), new Command.Perform(session, 2, take()));
    driver.machine.checkInvariants();
    assertInstanceOf(
        Outcome.Waiting.class,
        driver.machine.apply(new LogPosition(index + 3, 0, 1), waits).outcome());
  }

  @Test
  void copiesHaveWhatWasSkipped() {
    driver.machine.skip(
        new LogPosition(driver.machine.position().logIndex() + 1, 0, 1),
        new Command.CloseSession(session));
    StateMachine restored = new StateMachine(new FakeSqlStore());
    driver.machine.copy().forEach(restored::restore);
    List<StateRecord> copied = new ArrayList<>();
    restored.copy().forEach(copied::add);
    assertEquals(1, skips().size());
    assertEquals(skips().get(0), copied.get(copied.size() - 1));
  }
}
