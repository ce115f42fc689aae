package dev.tollgate.core;

import static dev.tollgate.core.CoreDriver.refusal;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Computing;
import dev.tollgate.core.command.Environment;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TransactionScope;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** With what statements are computed, as part of the replicated state. */
class ComputingTest {
  private final CoreDriver core = new CoreDriver();
  private final SessionId a = core.open();
  private final SessionId b = core.open();

  private static Environment environment(String timeZones) {
    return new Environment(
        new TreeMap<>(Map.of("numbers", "1", "time zones", timeZones)), "Java " + timeZones);
  }

  private Outcome write(SessionId session, String sql) {
    return core.perform(session, FakeSqlStore.write(sql, "v", null, true));
  }

  @Test
  void versionsAreNotCompared() {
    Environment same = new Environment(environment("1").fingerprints(), "another version");
    assertTrue(environment("1").computesLike(same));
    assertFalse(environment("1").computesLike(environment("2")));
    assertEquals(List.of("time zones"), environment("1").differences(environment("2")));
    assertEquals(
        List.of("numbers", "time zones"),
        environment("1")
            .differences(new Environment(new TreeMap<>(Map.of("letters", "1")), ""))
            .stream()
            .filter(part -> !part.equals("letters"))
            .toList());
  }

  @Test
  void anEnvironmentHasLimits() {
    Map<String, String> parts =
        IntStream.rangeClosed(0, Limits.ENVIRONMENT_PARTS)
            .boxed()
            .collect(Collectors.toMap(i -> "part " + i, i -> "1"));
    assertThrows(
        IllegalArgumentException.class, () -> new Environment(new TreeMap<>(parts), "Java"));
    String tooLong = "x".repeat(Limits.ENVIRONMENT_CHARS + 1);
    assertThrows(
        IllegalArgumentException.class,
        () -> new Environment(new TreeMap<>(Map.of("part", "1")), tooLong));
  }

  @Test
  void whileTheEnvironmentChangesLocksWorkAndStatementsAreRefused() {
    core.apply(new Command.AdoptEnvironment(environment("1")));
    assertTrue(write(a, "WRITE t") instanceof Outcome.Executed);
    core.apply(new Command.PauseStatements());
    assertEquals(RefusalCode.ENVIRONMENT_CHANGES, refusal(write(a, "WRITE t")));
    assertEquals(1, core.take(a, "x"));
    assertEquals(List.of("v"), core.store.written.get("t"));
    core.apply(new Command.AdoptEnvironment(environment("2")));
    assertTrue(write(a, "WRITE t") instanceof Outcome.Executed);
    assertEquals(environment("2"), core.machine.state().computing().environment());
  }

  @Test
  void aStatementThatWaitedForATransactionIsRefusedWhenItsTurnComesMeanwhile() {
    core.perform(a, new Operation.BeginTransaction(TransactionScope.SERIALIZABLE));
    assertEquals(new Outcome.Waiting(), write(b, "WRITE t"));
    core.apply(new Command.PauseStatements());
    core.perform(a, new Operation.EndTransaction(true));
    assertEquals(RefusalCode.ENVIRONMENT_CHANGES, refusal(core.completed(b)));
    assertEquals(null, core.store.written.get("t"));
  }

  @Test
  void aCopyHasTheEnvironmentAndThePause() {
    assertEquals(Computing.ANYWHERE, restored().computing());
    core.apply(new Command.AdoptEnvironment(environment("1")));
    assertEquals(Computing.in(environment("1")), restored().computing());
    core.apply(new Command.PauseStatements());
    assertEquals(Computing.PAUSED, restored().computing());
  }

  private ClusterState restored() {
    StateMachine machine = new StateMachine(new FakeSqlStore());
    core.machine.copy().forEach(machine::restore);
    return machine.state();
  }
}
