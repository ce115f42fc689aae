package dev.tollgate.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.function.Function;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The search for an order, on a register of one number that is 0 at first. */
class LinearizabilityTest {
  private final List<Operation<Integer>> history = new ArrayList<>();

  private void write(int value, long invoked, long returned) {
    add("write " + value, invoked, returned, before -> Optional.of(value));
  }

  private void read(int value, long invoked, long returned) {
    add(
        "read " + value,
        invoked,
        returned,
        before -> before == value ? Optional.of(before) : Optional.empty());
  }

  /** A compare-and-set that was answered with yes. */
  private void swap(int from, int to, long invoked, long returned) {
    add(
        "swap " + from + " " + to,
        invoked,
        returned,
        before -> before == from ? Optional.of(to) : Optional.empty());
  }

  private void add(
      String name, long invoked, long returned, Function<Integer, Optional<Integer>> effect) {
    history.add(new Operation<>(name, invoked, returned, effect));
  }

  private void assertFine() {
    assertEquals(Optional.empty(), Linearizability.anomaly(0, history));
  }

  private void assertAnomaly(String expected) {
    assertEquals(Optional.of(expected), Linearizability.anomaly(0, history));
  }

  @Test
  void nothingIsFine() {
    assertFine();
  }

  @Test
  void readsDuringAWriteSeeTheOldThenTheNewValue() {
    write(1, 0, 100);
    read(0, 10, 20);
    read(1, 30, 40);
    read(1, 50, 60);
    assertFine();
  }

  @Test
  void readsDuringAWriteDoNotGoBack() {
    write(1, 0, 100);
    read(1, 10, 20);
    read(0, 30, 40);
    assertAnomaly("read 0 in 1 after [write 1, read 1]");
  }

  @Test
  void readAfterAWriteIsNotStale() {
    write(1, 0, 10);
    write(2, 20, 30);
    read(1, 40, 50);
    assertAnomaly("read 1 in 2 after [write 1, write 2]");
  }

  @Test
  void orderOfConcurrentWritesIsFree() {
    write(1, 0, 100);
    write(2, 0, 100);
    write(3, 0, 100);
    read(2, 110, 120);
    assertFine();
  }

  @Test
  void allReadersSeeOneOrder() {
    write(1, 0, 100);
    write(2, 0, 100);
    read(1, 10, 20);
    read(2, 30, 40);
    read(1, 50, 60);
    assertAnomaly("read 1 in 2 after [write 1, read 1, write 2, read 2]");
  }

  @Test
  void momentsThatAreEqualOverlap() {
    write(1, 0, 10);
    read(0, 10, 20);
    assertFine();
  }

  @Test
  void twoSwapsOfOneValue() {
    swap(0, 1, 0, 100);
    swap(0, 2, 0, 100);
    assertAnomaly("swap 0 2 in 1 after [swap 0 1]");
  }

  @Test
  void writeWithoutAnAnswerMayHaveHappened() {
    write(1, 0, Operation.NEVER);
    read(0, 10, 20);
    read(1, 30, 40);
    assertFine();
  }

  @Test
  void writeWithoutAnAnswerNeedNotHaveHappened() {
    write(1, 0, Operation.NEVER);
    read(0, 10, 20);
    read(0, 30, 40);
    assertFine();
  }

  @Test
  void writeWithoutAnAnswerHappensOnce() {
    write(1, 0, Operation.NEVER);
    write(2, 10, 20);
    read(1, 30, 40);
    write(3, 50, 60);
    read(1, 70, 80);
    assertAnomaly("read 1 in 3 after [write 2, write 1, read 1, write 3]");
  }

  @Test
  void writeWithoutAnAnswerHappensAfterItWasSent() {
    read(1, 0, 10);
    write(1, 20, Operation.NEVER);
    assertAnomaly("read 1 in 0 after []");
  }

  @Test
  void returnBeforeInvocationIsNoOperation() {
    assertThrows(IllegalArgumentException.class, () -> write(1, 10, 9));
  }

  @Test
  void longHistoryOfManyClientsIsExplainedSoon() {
    requireExplanation(6_000);
  }

  @Tag("nightly")
  @Test
  void longestHistoryOfManyClientsIsExplainedSoon() {
    requireExplanation(20_000);
  }

  private void requireExplanation(int moments) {
    Random random = new Random(1);
    int value = 0;
    for (int moment = 0; moment < moments; moment++) {
      int invoked = 10 * moment - random.nextInt(40);
      int returned = 10 * moment + random.nextInt(40);
      if (random.nextInt(500) == 0) {
        write(-moment, invoked, Operation.NEVER);
      }
      if (random.nextBoolean()) {
        value = moment;
        write(value, invoked, returned);
      } else {
        read(value, invoked, returned);
      }
    }
    assertFine();
  }

  /** Small histories, judged by trying all orders of all subsets. */
  @Test
  void agreesWithTryingEverything() {
    long seed = Long.getLong("tollgate.seed", System.nanoTime());
    Random random = new Random(seed);
    int fine = 0;
    int rounds = 20_000;
    for (int round = 0; round < rounds; round++) {
      history.clear();
      for (int i = 2 + random.nextInt(5); i > 0; i--) {
        long invoked = random.nextInt(20);
        long returned = random.nextInt(4) == 0 ? Operation.NEVER : invoked + 1 + random.nextInt(12);
        switch (random.nextInt(3)) {
          case 0 -> write(random.nextInt(3), invoked, returned);
          case 1 -> read(random.nextInt(3), invoked, returned);
          default -> swap(random.nextInt(3), random.nextInt(3), invoked, returned);
        }
      }
      boolean expected = hasOrder(0, new ArrayList<>(history));
      fine += expected ? 1 : 0;
      assertEquals(
          expected,
          Linearizability.anomaly(0, history).isEmpty(),
          () -> "-Dtollgate.seed=" + seed + ": " + history);
    }
    assertTrue(fine > rounds / 10 && fine < rounds * 9 / 10, fine + " of " + rounds + " are fine");
  }

  private static boolean hasOrder(int state, List<Operation<Integer>> rest) {
    if (rest.stream().noneMatch(Operation::isAnswered)) {
      return true;
    }
    long firstReturn =
        rest.stream().mapToLong(Operation::returnedNanos).min().orElse(Operation.NEVER);
    for (Operation<Integer> next : rest) {
      if (next.invokedNanos() <= firstReturn) {
        Optional<Integer> after = next.effect().apply(state);
        List<Operation<Integer>> others = new ArrayList<>(rest);
        others.remove(next);
        if (after.isPresent() && hasOrder(after.get(), others)) {
          return true;
        }
      }
    }
    return false;
  }
}
