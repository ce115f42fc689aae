package dev.tollgate.core;

import static dev.tollgate.core.CoreDriver.refusal;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.LockDefinition;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TransactionScope;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A definition and its mark: no outcome exists with one and not the other. */
class DefineMarkedTest {
  private final CoreDriver core = new CoreDriver();
  private final SessionId a = core.open();
  private final SessionId b = core.open();

  private static Operation.ExecuteSql mark(String sql) {
    Operation.ExecuteSql one =
        FakeSqlStore.statement(
            sql, List.of(FakeSqlStore.set("v", null)), TransactionScope.READ_COMMITTED);
    return new Operation.ExecuteSql(
        one.sql(),
        false,
        List.of(),
        one.parameterSets(),
        /* batch= */ true,
        false,
        one.keys(),
        0,
        null,
        true,
        TransactionScope.READ_COMMITTED);
  }

  private static Operation marked(String mark, String definition) {
    return new Operation.DefineMarked(List.of(mark(mark)), FakeSqlStore.definition(definition));
  }

  private static List<String> kinds(Outcome outcome) {
    return assertInstanceOf(Outcome.Batch.class, outcome).outcomes().stream()
        .map(
            one ->
                one instanceof Outcome.Refused refused
                    ? refused.code().name()
                    : one instanceof Outcome.SqlFailed failed
                        ? failed.sqlState()
                        : one.getClass().getSimpleName())
        .toList();
  }

  private void begin(SessionId session, String sql) {
    core.perform(
        session,
        FakeSqlStore.statement(
            sql, List.of(FakeSqlStore.set("v", null)), TransactionScope.READ_COMMITTED));
  }

  private void requireNoTransactionOf(SessionId session) {
    assertNull(core.machine.state().session(session).transaction());
    assertTrue(!core.store.transactions.containsKey(session), "no transaction in the store");
  }

  @Test
  void definitionAndMarkTakeEffectTogether() {
    Operation both = marked("WRITE m", "WRITE d");
    Outcome first = core.perform(a, both);
    assertEquals(List.of("Executed", "Executed", "Done"), kinds(first));
    assertEquals(List.of("commit " + a), core.store.ended);
    requireNoTransactionOf(a);
    int executions = core.store.executions;
    assertEquals(first, core.apply(new Command.Perform(a, core.lastSequence(a), both)));
    assertEquals(executions, core.store.executions, "sent again, it has no effect");
  }

  @Test
  void openTransactionIsCommittedFirst() {
    begin(a, "ROW r");
    core.perform(a, marked("WRITE m", "FAIL d"));
    assertEquals(List.of("commit " + a, "rollback " + a), core.store.ended);
    requireNoTransactionOf(a);
  }

  @Test
  void definitionThatFailsTakesItsMarkBack() {
    assertEquals(List.of("Executed", "23505"), kinds(core.perform(a, marked("WRITE m", "FAIL d"))));
    assertEquals(List.of("rollback " + a), core.store.ended);
    requireNoTransactionOf(a);
  }

  @Test
  void markThatFailsKeepsItsDefinitionFromRunning() {
    assertEquals(List.of("23505"), kinds(core.perform(a, marked("FAIL m", "WRITE d"))));
    assertNull(core.store.written.get("d"));
    assertEquals(List.of("rollback " + a), core.store.ended);
  }

  @Test
  void definitionThatWaitsHasWrittenNoMarkYet() {
    begin(b, "ROW r");
    assertInstanceOf(Outcome.Waiting.class, core.perform(a, marked("WRITE m", "ROW r")));
    assertEquals(List.of("rollback " + a), core.store.ended);
    requireNoTransactionOf(a);
    core.perform(b, new Operation.EndTransaction(true));
    assertEquals(List.of("rollback " + a, "commit " + b, "commit " + a), core.store.ended);
    assertEquals(
        List.of("Executed", "Executed", "Done"),
        kinds(core.machine.state().session(a).lastOutcome()));
  }

  @Test
  void markThatWaitsForItsRowRunsNothing() {
    begin(b, "ROW m");
    assertInstanceOf(Outcome.Waiting.class, core.perform(a, marked("ROW m", "WRITE d")));
    assertNull(core.store.written.get("d"));
    core.perform(b, new Operation.EndTransaction(false));
    assertEquals(List.of(""), core.store.written.get("d"));
  }

  @Test
  void waitThatIsEndedLeavesNeither() {
    begin(b, "ROW r");
    core.perform(a, marked("WRITE m", "ROW r"));
    core.apply(new Command.EndWait(a, core.lastSequence(a), Command.WaitEnd.CANCELLED));
    assertEquals(
        RefusalCode.WAIT_CANCELLED, refusal(core.machine.state().session(a).lastOutcome()));
    core.perform(b, new Operation.EndTransaction(true));
    assertEquals(List.of("rollback " + a, "commit " + b), core.store.ended);
  }

  @Test
  void sessionThatEndsDuringTheWaitLeavesNeither() {
    begin(b, "ROW r");
    core.perform(a, marked("WRITE m", "ROW r"));
    core.apply(new Command.CloseSession(a));
    core.perform(b, new Operation.EndTransaction(true));
    assertEquals(List.of("rollback " + a, "commit " + b), core.store.ended);
  }

  @Test
  void definitionOfTheTableOfItsMarkIsRefused() {
    assertEquals(List.of("Executed", "HYC00"), kinds(core.perform(a, marked("ROW m", "ROW m"))));
    assertEquals(List.of("rollback " + a), core.store.ended);
  }

  @Test
  void definitionsOfLocksHaveMarksToo() {
    Operation twoPermits =
        new Operation.DefineLock(new LockDefinition(new LockName("l"), 2), /* lenient= */ false);
    Operation both = new Operation.DefineMarked(List.of(mark("WRITE m")), twoPermits);
    assertEquals(List.of("Executed", "Answered", "Done"), kinds(core.perform(a, both)));
    assertEquals(List.of("Executed", "LOCK_STATE"), kinds(core.perform(a, both)));
    assertEquals(List.of("commit " + a, "rollback " + a), core.store.ended);
  }

  @Test
  void whatIsNoMarkOrNoDefinitionIsNotAccepted() {
    Operation.ExecuteSql mark = mark("WRITE m");
    Operation.ExecuteSql definition = FakeSqlStore.definition("WRITE d");
    assertThrows(
        IllegalArgumentException.class, () -> new Operation.DefineMarked(List.of(), definition));
    assertThrows(
        IllegalArgumentException.class,
        () -> new Operation.DefineMarked(List.of(definition), definition));
    assertThrows(
        IllegalArgumentException.class, () -> new Operation.DefineMarked(List.of(mark), mark));
    assertThrows(
        IllegalArgumentException.class,
        () -> new Operation.DefineMarked(List.of(mark), new Operation.EndTransaction(true)));
  }
}
