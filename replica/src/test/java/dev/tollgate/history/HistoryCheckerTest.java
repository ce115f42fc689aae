package dev.tollgate.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tollgate.history.ListTransaction.Append;
import dev.tollgate.history.ListTransaction.End;
import dev.tollgate.history.ListTransaction.Read;
import dev.tollgate.history.ListTransaction.Step;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Histories that no isolation level allows, and some that look bad and are not. */
class HistoryCheckerTest {
  private static final int X = 1;
  private static final int Y = 2;

  private final List<ListTransaction> history = new ArrayList<>();

  /** A transaction that overlaps with all others. */
  private void add(String name, boolean serializable, End end, Step... steps) {
    history.add(new ListTransaction(name, serializable, List.of(steps), end, 0, 1_000));
  }

  private void committed(String name, Step... steps) {
    add(name, false, End.COMMITTED, steps);
  }

  private void serializable(String name, Step... steps) {
    add(name, true, End.COMMITTED, steps);
  }

  /** A serializable transaction between two moments. */
  private void serializable(String name, long began, long ended, Step... steps) {
    history.add(new ListTransaction(name, true, List.of(steps), End.COMMITTED, began, ended));
  }

  private static Step append(int key, int value) {
    return new Append(key, value);
  }

  private static Step read(int key, Integer... values) {
    return new Read(key, List.of(values), false);
  }

  private static Step lock(int key, Integer... values) {
    return new Read(key, List.of(values), true);
  }

  private List<String> check(List<Integer> x, List<Integer> y) {
    return HistoryChecker.anomalies(history, Map.of(X, x, Y, y));
  }

  private void assertFine(List<Integer> x, List<Integer> y) {
    assertEquals(List.of(), check(x, y));
  }

  private void assertAnomaly(String expected, List<Integer> x, List<Integer> y) {
    assertEquals(List.of(expected), check(x, y));
  }

  @Test
  void oneAfterTheOtherIsFine() {
    serializable("T1", 0, 10, append(X, 1), append(Y, 2));
    serializable("T2", 20, 30, read(X, 1), append(X, 3), read(X, 1, 3), read(Y, 2));
    serializable("T3", 40, 50, lock(X, 1, 3), append(X, 4), append(X, 5));
    assertFine(List.of(1, 3, 4, 5), List.of(2));
  }

  @Test
  void dirtyWrite() {
    committed("T1", append(X, 1), append(Y, 11));
    committed("T2", append(X, 2), append(Y, 22));
    assertAnomaly("G0 (dirty write): T1 -WW-> T2 -WW-> T1", List.of(1, 2), List.of(22, 11));
  }

  @Test
  void abortedRead() {
    add("T1", false, End.ROLLED_BACK, append(X, 1));
    committed("T2", read(X, 1));
    assertAnomaly(
        "G1a (aborted read): T2 read [1] in list 1, and T1 was rolled back", List.of(), List.of());
  }

  @Test
  void whoIsRolledBackHimselfReadsNoDirtAllTheSame() {
    add("T1", false, End.ROLLED_BACK, append(X, 1));
    add("T2", false, End.ROLLED_BACK, read(X, 1));
    assertAnomaly(
        "G1a (aborted read): T2 read [1] in list 1, and T1 was rolled back", List.of(), List.of());
  }

  @Test
  void intermediateRead() {
    committed("T1", append(X, 1), append(X, 2));
    committed("T2", read(X, 1));
    assertAnomaly(
        "G1b (intermediate read): T2 read [1] in list 1, not all of T1", List.of(1, 2), List.of());
  }

  @Test
  void circularFlow() {
    committed("T1", append(X, 1), read(Y, 2));
    committed("T2", append(Y, 2), read(X, 1));
    assertAnomaly("G1c (circular flow): T1 -WR-> T2 -WR-> T1", List.of(1), List.of(2));
  }

  @Test
  void lostUpdate() {
    committed("T1", lock(X), append(X, 1));
    committed("T2", lock(X), append(X, 2));
    assertAnomaly(
        "lost update: T2 read [] in list 1 FOR UPDATE, and its value came to place 1",
        List.of(1, 2),
        List.of());
  }

  @Test
  void readSkewOfASerializableTransaction() {
    serializable("T1", append(X, 1), append(Y, 2));
    serializable("T2", read(X), read(Y, 2));
    assertAnomaly("G-single (read skew): T2 -RW-> T1 -WR-> T2", List.of(1), List.of(2));
  }

  @Test
  void readSkewOfAReadCommittedTransactionIsFine() {
    serializable("T1", append(X, 1), append(Y, 2));
    committed("T2", read(X), read(Y, 2));
    assertFine(List.of(1), List.of(2));
  }

  @Test
  void writeSkew() {
    serializable("T1", read(X), append(Y, 2));
    serializable("T2", read(Y), append(X, 1));
    assertAnomaly("G2 (write skew): T1 -RW-> T2 -RW-> T1", List.of(1), List.of(2));
  }

  @Test
  void writeSkewOfReadCommittedTransactionsIsFine() {
    committed("T1", read(X), append(Y, 2));
    committed("T2", read(Y), append(X, 1));
    assertFine(List.of(1), List.of(2));
  }

  @Test
  void staleRead() {
    serializable("T1", 0, 10, append(X, 1));
    serializable("T2", 20, 30, read(X));
    assertAnomaly("against real time: T1 -REAL_TIME-> T2 -RW-> T1", List.of(1), List.of());
  }

  @Test
  void readOfWhatIsNotYetAcknowledgedIsFine() {
    serializable("T1", 0, 25, append(X, 1));
    serializable("T2", 20, 30, read(X));
    serializable("T3", 20, 30, read(X, 1));
    assertFine(List.of(1), List.of());
  }

  @Test
  void orderAgainstRealTimeOverSeveralTransactions() {
    serializable("T1", 0, 10, append(X, 1), read(Y));
    serializable("T2", 5, 30, append(Y, 2));
    serializable("T3", 40, 50, append(X, 3));
    serializable("T4", 60, 70, read(X, 1, 3), read(Y));
    assertAnomaly("against real time: T2 -REAL_TIME-> T4 -RW-> T2", List.of(1, 3), List.of(2));
  }

  @Test
  void acknowledgedValueThatIsGone() {
    committed("T1", append(X, 1), append(X, 2));
    assertAnomaly("lost write: T1 appended [1, 2] to list 1: [1]", List.of(1), List.of());
  }

  @Test
  void valueOfARolledBackTransactionInTheEnd() {
    add("T1", false, End.ROLLED_BACK, append(X, 1));
    assertAnomaly("rolled back: 1 of T1 is in list 1", List.of(1), List.of());
  }

  @Test
  void valueThatIsThereTwice() {
    committed("T1", append(X, 1));
    assertEquals("duplicate: value 1 is in list 1 twice", check(List.of(1, 1), List.of()).get(0));
  }

  @Test
  void valueInTheWrongList() {
    committed("T1", append(X, 1), append(Y, 2));
    assertEquals("invention: nobody appended 2 to list 1", check(List.of(1, 2), List.of(2)).get(0));
  }

  @Test
  void valueThatNobodyAppended() {
    committed("T1", read(X, 9));
    assertAnomaly("invention: T1 read [9] in list 1, and nobody appended 9", List.of(), List.of());
  }

  @Test
  void ownValueThatIsNotSeen() {
    committed("T1", append(X, 1), read(X));
    assertAnomaly(
        "own writes: T1 read [] in list 1 after it had appended [1]", List.of(1), List.of());
  }

  @Test
  void listThatChangedItsOrder() {
    committed("T1", append(X, 1));
    committed("T2", append(X, 2));
    committed("T3", read(X, 2, 1));
    assertAnomaly(
        "incompatible order: T3 read [2, 1] in list 1, which became [1, 2]",
        List.of(1, 2),
        List.of());
  }

  @Test
  void commitWithoutAnAnswerMayHaveHappened() {
    add("T1", true, End.UNKNOWN, append(X, 1), append(Y, 2));
    serializable("T2", 2_000, 3_000, read(X));
    serializable("T3", 4_000, 5_000, read(X, 1));
    assertFine(List.of(1), List.of(2));
  }

  @Test
  void commitWithoutAnAnswerNeedNotHaveHappened() {
    add("T1", true, End.UNKNOWN, append(X, 1), append(Y, 2));
    serializable("T2", 2_000, 3_000, read(X), read(Y));
    assertFine(List.of(), List.of());
  }

  @Test
  void commitWithoutAnAnswerHappensAsAWhole() {
    add("T1", true, End.UNKNOWN, append(X, 1), append(Y, 2));
    assertAnomaly("torn transaction: T1 appended [2] to list 2: []", List.of(1), List.of());
  }

  @Test
  void commitWithoutAnAnswerThatWasSeenStays() {
    add("T1", true, End.UNKNOWN, append(X, 1));
    committed("T2", read(X, 1));
    assertEquals(
        "torn transaction: T1 appended [1] to list 1: []", check(List.of(), List.of()).get(0));
  }

  @Test
  void valuesSayWhoseTheyAre() {
    committed("T1", append(X, 1));
    committed("T2", append(X, 1));
    assertThrows(IllegalArgumentException.class, () -> check(List.of(1), List.of()));
  }
}
