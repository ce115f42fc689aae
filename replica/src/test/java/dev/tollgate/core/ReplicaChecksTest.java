package dev.tollgate.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.ReplicaCheck.Verdict;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.LogPosition;
import dev.tollgate.core.command.Notice;
import dev.tollgate.core.command.Operation;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.StateChecksum;
import dev.tollgate.core.command.TransactionScope;
import dev.tollgate.snapshot.StateCodec;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** What the nodes make of each other's checksums. */
class ReplicaChecksTest {
  private static final List<String> THREE = List.of("n1", "n2", "n3");

  private final CoreDriver core = new CoreDriver();

  private static StateChecksum sum(String total) {
    return new StateChecksum(
        total, new TreeMap<>(Map.of("locks", 1L, "table T", (long) total.hashCode())));
  }

  private long verify(List<String> nodes) {
    assertEquals(new Outcome.Answered(true), core.apply(new Command.VerifyReplicas(nodes)));
    return last().logIndex();
  }

  private boolean report(String node, long index, String total) {
    Outcome outcome = core.apply(new Command.ReportChecksum(node, index, sum(total)));
    return ((Outcome.Answered) outcome).answer();
  }

  private ReplicaCheck last() {
    return core.machine.state().lastCheck();
  }

  private List<Verdict> verdicts() {
    return last().nodes().stream().map(last()::verdictOn).toList();
  }

  @Test
  void majorityDecides() {
    long index = verify(THREE);
    assertEquals(List.of(Verdict.NO_ANSWER, Verdict.NO_ANSWER, Verdict.NO_ANSWER), verdicts());
    assertTrue(report("n3", index, "b"));
    assertEquals(List.of(new Notice.ReplicaReported("n3", index)), core.notices);
    assertEquals(List.of(Verdict.NO_ANSWER, Verdict.NO_ANSWER, Verdict.UNDECIDED), verdicts());
    assertFalse(last().hasDifferences());
    assertTrue(report("n1", index, "a"));
    assertEquals(List.of(Verdict.DIFFERS, Verdict.NO_ANSWER, Verdict.DIFFERS), verdicts());
    assertNull(last().majority());
    assertFalse(last().isComplete());
    assertTrue(report("n2", index, "a"));
    assertEquals(List.of(Verdict.EQUAL, Verdict.EQUAL, Verdict.DIFFERS), verdicts());
    assertEquals(sum("a"), last().majority());
    assertTrue(last().isComplete());
    assertEquals(List.of("table T"), sum("a").differencesFrom(sum("b")));
  }

  @Test
  void majorityIsOfAllNodesAndNotOfThoseThatAnswer() {
    long index = verify(List.of("n1", "n2", "n3", "n4", "n5"));
    report("n1", index, "a");
    report("n2", index, "a");
    assertNull(last().majority());
    assertEquals(Verdict.UNDECIDED, last().verdictOn("n1"));
    report("n3", index, "b");
    assertNull(last().majority());
    report("n4", index, "a");
    assertEquals(Verdict.DIFFERS, last().verdictOn("n3"));
    assertEquals(Verdict.EQUAL, last().verdictOn("n1"));
    assertEquals(Verdict.NO_ANSWER, last().verdictOn("n5"));
  }

  @Test
  void halfOfTheNodesIsNoMajority() {
    long index = verify(List.of("n1", "n2"));
    report("n1", index, "a");
    report("n2", index, "b");
    assertNull(last().majority());
    assertTrue(last().hasDifferences());
    assertEquals(List.of(Verdict.DIFFERS, Verdict.DIFFERS), verdicts());
  }

  @Test
  void nodeAloneIsItsOwnMajority() {
    long index = verify(List.of("n1"));
    report("n1", index, "a");
    assertEquals(List.of(Verdict.EQUAL), verdicts());
  }

  @Test
  void onlyAnswersToTheLastCheckByThoseAskedCount() {
    long first = verify(THREE);
    long second = verify(THREE);
    assertFalse(report("n1", first, "a"));
    assertFalse(report("n4", second, "a"));
    assertEquals(List.of(), core.notices);
    assertEquals(Map.of(), last().reports());
    assertTrue(report("n1", second, "a"));
    assertTrue(report("n1", second, "b"), "a node that computes again corrects itself");
    assertEquals(sum("b"), last().reports().get("n1"));
  }

  @Test
  void secondCheckOfAnEntryIsTheFirst() {
    LogPosition at = new LogPosition(1_000, 0, 1);
    LogPosition next = new LogPosition(1_000, 1, 1);
    Command verify = new Command.VerifyReplicas(THREE);
    assertEquals(new Outcome.Answered(true), core.machine.apply(at, verify).outcome());
    assertEquals(new Outcome.Answered(false), core.machine.apply(next, verify).outcome());
    assertEquals(1_000, last().logIndex());
  }

  @Test
  void checkSurvivesARestart() throws Exception {
    long index = verify(THREE);
    report("n1", index, "a");
    report("n3", index, "b");
    StateMachine restored = new StateMachine(new FakeSqlStore());
    for (StateRecord piece : core.machine.copy()) {
      WireWriter bytes = new WireWriter();
      int kind = StateCodec.write(bytes, piece);
      restored.restore(StateCodec.read(kind, new WireReader(bytes.toByteArray())));
    }
    Command report = new Command.ReportChecksum("n2", index, sum("a"));
    restored.apply(new LogPosition(5_000, 0, 1), report);
    core.apply(report);
    assertEquals(last().reports(), restored.state().lastCheck().reports());
    assertEquals(Verdict.DIFFERS, restored.state().lastCheck().verdictOn("n3"));
  }

  @Test
  void stateIsCopiedWhileATransactionIsOpen() {
    SessionId session = core.open();
    core.perform(session, new Operation.BeginTransaction(TransactionScope.READ_COMMITTED));
    assertFalse(core.machine.isCopyable());
    List<StateRecord> pieces = new ArrayList<>();
    core.machine.copyWithoutTransactions().forEach(pieces::add);
    assertTrue(
        pieces.stream()
            .anyMatch(
                piece -> piece instanceof StateRecord.SessionState s && s.id().equals(session)));
  }
}
