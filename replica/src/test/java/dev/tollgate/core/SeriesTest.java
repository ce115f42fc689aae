package dev.tollgate.core;

import static dev.tollgate.core.CoreDriver.refusal;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.FenceReading;
import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RefusalCode;
import dev.tollgate.core.command.SeriesEnd;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.TableName;
import dev.tollgate.core.command.TransactionScope;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Several statements as one operation. */
class SeriesTest {
  private final CoreDriver core = new CoreDriver();
  private final SessionId a = core.open();
  private final SessionId b = core.open();

  private static Operation.ExecuteSql part(String sql, TransactionScope scope) {
    Operation.ExecuteSql one =
        FakeSqlStore.statement(sql, List.of(FakeSqlStore.set("v", null)), scope);
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
        scope);
  }

  private static Operation series(SeriesEnd end, TransactionScope scope, String... texts) {
    return new Operation.ExecuteSeries(
        Arrays.stream(texts).map(sql -> part(sql, scope)).toList(), end);
  }

  private static Operation together(String... texts) {
    return series(SeriesEnd.RUN_ALL, TransactionScope.AUTOCOMMIT, texts);
  }

  private static Operation committing(String... texts) {
    return series(SeriesEnd.COMMIT, TransactionScope.READ_COMMITTED, texts);
  }

  private static List<String> kinds(Outcome outcome) {
    return assertInstanceOf(Outcome.Batch.class, outcome).outcomes().stream()
        .map(one -> one instanceof Outcome.Refused refused ? refused.code().name() : name(one))
        .toList();
  }

  private static String name(Outcome one) {
    return one instanceof Outcome.SqlFailed failed
        ? failed.sqlState()
        : one.getClass().getSimpleName();
  }

  private void begin(SessionId session, String sql) {
    core.perform(
        session,
        FakeSqlStore.statement(
            sql, List.of(FakeSqlStore.set("v", null)), TransactionScope.READ_COMMITTED));
  }

  @Test
  void statementsOutsideOfATransactionStandByThemselves() {
    assertEquals(
        List.of("Executed", "23505", "Executed"),
        kinds(core.perform(a, together("WRITE t", "FAIL t", "WRITE u"))));
    assertEquals(List.of("v"), core.store.written.get("u"));
    assertNull(core.machine.state().session(a).transaction());
  }

  @Test
  void seriesThatStopsRunsNothingAfterTheFailureAndCommitsNothing() {
    assertEquals(
        List.of("Executed", "23505"),
        kinds(core.perform(a, committing("WRITE t", "FAIL t", "WRITE u"))));
    assertNull(core.store.written.get("u"));
    assertNotNull(core.machine.state().session(a).transaction(), "is the client's to end");
    assertEquals(List.of(), core.store.ended);
  }

  @Test
  void seriesCommitsInTheSameCommand() {
    assertEquals(
        List.of("Executed", "Executed", "Done"),
        kinds(core.perform(a, committing("ROW r", "WRITE t"))));
    assertEquals(List.of("commit " + a), core.store.ended);
    assertNull(core.machine.state().session(a).transaction());
  }

  @Test
  void seriesThatIsSentAgainHasTheSameOutcomeAndNoEffect() {
    Outcome first = core.perform(a, committing("WRITE t", "WRITE t"));
    int executions = core.store.executions;
    Command again = new Command.Perform(a, core.lastSequence(a), committing("WRITE t", "WRITE t"));
    assertEquals(first, core.apply(again));
    assertEquals(executions, core.store.executions);
  }

  @Test
  void statementInTheMiddleWaitsForItsRowAndTheRestFollowsInTheEntryThatFreesIt() {
    begin(b, "ROW r");
    assertEquals(new Outcome.Waiting(), core.perform(a, committing("WRITE t", "ROW r", "WRITE u")));
    assertNull(core.store.written.get("u"));
    core.perform(b, new Operation.EndTransaction(true));
    assertEquals(List.of("Executed", "Executed", "Executed", "Done"), kinds(core.completed(a)));
    assertEquals(List.of("v"), core.store.written.get("t"), "once");
    assertEquals(List.of("commit " + b, "commit " + a), core.store.ended);
  }

  @Test
  void commitOfASeriesThatHasWaitedFreesTheNext() {
    SessionId c = core.open();
    begin(b, "ROW r");
    core.perform(a, committing("ROW r"));
    core.perform(c, together("ROW r", "WRITE t"));
    core.perform(b, new Operation.EndTransaction(false));
    assertEquals(List.of("Executed", "Done"), kinds(core.completed(a)));
    assertEquals(List.of("Executed", "Executed"), kinds(core.completed(c)));
  }

  @Test
  void waitThatEndsIsTheFailureOfItsStatement() {
    begin(b, "ROW r");
    core.perform(a, committing("WRITE t", "ROW r", "WRITE u"));
    core.apply(new Command.EndWait(a, core.lastSequence(a), Command.WaitEnd.TIMED_OUT));
    assertEquals(List.of("Executed", "HYT00"), kinds(core.completed(a)));
    assertNotNull(core.machine.state().session(a).transaction());
    core.perform(a, new Operation.EndTransaction(false));
    core.perform(a, together("WRITE t", "ROW r", "WRITE u"));
    core.apply(new Command.EndWait(a, core.lastSequence(a), Command.WaitEnd.CANCELLED));
    assertEquals(List.of("Executed", "WAIT_CANCELLED", "WAIT_CANCELLED"), kinds(core.completed(a)));
  }

  @Test
  void victimOfADeadlockIsTold() {
    begin(b, "ROW r");
    core.perform(a, series(SeriesEnd.STOP_AT_FAILURE, TransactionScope.READ_COMMITTED, "ROW s"));
    core.perform(a, committing("WRITE t", "ROW r"));
    begin(b, "ROW s");
    assertEquals(RefusalCode.TRANSACTION_LOST, refusal(core.completed(a)));
    assertTrue(core.store.ended.contains("rollback " + a));
  }

  @Test
  void eachStatementAndTheCommitAreFenced() {
    LockName job = new LockName("job");
    core.perform(
        b,
        new Operation.FenceTable(
            new TableName(null, "t"),
            new Operation.TableFence(job, FenceReading.HELD),
            null,
            true));
    assertEquals(
        List.of("Executed", "TOKEN_MISSING", "Executed"),
        kinds(core.perform(a, together("WRITE u", "WRITE t", "WRITE u"))));
    core.take(a, "job");
    core.perform(a, series(SeriesEnd.STOP_AT_FAILURE, TransactionScope.READ_COMMITTED, "WRITE t"));
    core.perform(b, new Operation.ForceReleaseLock(job));
    assertEquals(List.of("Executed", "TOKEN_STALE"), kinds(core.perform(a, committing("WRITE u"))));
    assertEquals(List.of("rollback " + a), core.store.ended);
    assertNull(core.machine.state().session(a).transaction());
  }

  @Test
  void noSeriesIsLongerThanTheLimitOrHasWhatIsNoChange() {
    TransactionScope scope = TransactionScope.AUTOCOMMIT;
    List<Operation.ExecuteSql> many =
        Collections.nCopies(Limits.SERIES_STATEMENTS + 1, part("WRITE t", scope));
    assertRefused(many, SeriesEnd.RUN_ALL);
    assertEquals(
        Limits.SERIES_STATEMENTS,
        new Operation.ExecuteSeries(many.subList(1, many.size()), SeriesEnd.RUN_ALL).count());
    assertRefused(List.of(), SeriesEnd.RUN_ALL);
    assertRefused(List.of(part("WRITE t", scope)), SeriesEnd.COMMIT);
    assertRefused(
        List.of(part("WRITE t", scope), part("WRITE t", TransactionScope.SERIALIZABLE)),
        SeriesEnd.RUN_ALL);
    assertRefused(
        List.of(FakeSqlStore.batch("WRITE t", List.of(FakeSqlStore.locked("v", "x")))),
        SeriesEnd.RUN_ALL);
  }

  @Test
  void onlyChangesWithOneSetEachAreInASeries() {
    Operation.ExecuteSql good = part("WRITE t", TransactionScope.AUTOCOMMIT);
    List<Operation.ParameterSet> one = good.parameterSets();
    assertRefused(List.of(varied(good, true, one, true, false)), SeriesEnd.RUN_ALL);
    assertRefused(List.of(varied(good, false, one, true, true)), SeriesEnd.RUN_ALL);
    assertRefused(List.of(varied(good, false, one, false, false)), SeriesEnd.RUN_ALL);
    List<Operation.ParameterSet> two = List.of(one.get(0), one.get(0));
    assertRefused(List.of(varied(good, false, two, true, false)), SeriesEnd.RUN_ALL);
  }

  private static Operation.ExecuteSql varied(
      Operation.ExecuteSql statement,
      boolean definition,
      List<Operation.ParameterSet> sets,
      boolean batch,
      boolean returnsRows) {
    return new Operation.ExecuteSql(
        statement.sql(),
        definition,
        statement.targets(),
        sets,
        batch,
        returnsRows,
        statement.keys(),
        0,
        null,
        true,
        statement.mode());
  }

  @Test
  void seriesThatWaitsCountsWithAllItsBytes() {
    begin(b, "ROW r");
    Operation.ExecuteSql big = part("WRITE " + "t".repeat(1 << 20), TransactionScope.AUTOCOMMIT);
    List<Operation.ExecuteSql> all = new ArrayList<>();
    all.add(part("ROW r", TransactionScope.AUTOCOMMIT));
    all.addAll(Collections.nCopies((int) (Limits.WAITING_STATEMENT_BYTES >> 21), big));
    Outcome outcome = core.perform(a, new Operation.ExecuteSeries(all, SeriesEnd.STOP_AT_FAILURE));
    assertEquals(List.of("LIMIT_REACHED"), kinds(outcome));
  }

  private static void assertRefused(List<Operation.ExecuteSql> statements, SeriesEnd end) {
    assertThrows(
        IllegalArgumentException.class, () -> new Operation.ExecuteSeries(statements, end));
  }
}
