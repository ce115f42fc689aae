package dev.tollgate.node.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Transactions that have to wait for a snapshot. */
class TransactionGateTest {
  private final List<String> begun = new ArrayList<>();
  private final TransactionGate gate = new TransactionGate(2, Runnable::run, () -> true);

  @Test
  void noMoreThanSomeAreHeld() {
    gate.snapshotNeedsGap(true);
    assertTrue(enter("a"));
    assertTrue(enter("b"));
    assertFalse(enter("c"));
    assertEquals(List.of(), begun);
    gate.snapshotNeedsGap(false);
    assertEquals(List.of("a", "b"), begun);
    assertTrue(enter("d"));
    assertEquals(List.of("a", "b", "d"), begun);
  }

  @Test
  void withdrawnTransactionLeavesRoomAndNeverBegins() {
    gate.snapshotNeedsGap(true);
    Runnable withdrawn = () -> begun.add("withdrawn");
    gate.begin(withdrawn, refused -> {});
    assertTrue(enter("a"));
    assertTrue(gate.withdraw(withdrawn));
    assertFalse(gate.withdraw(withdrawn));
    assertTrue(enter("b"));
    gate.snapshotNeedsGap(false);
    assertEquals(List.of("a", "b"), begun);
  }

  /** Returns false if the transaction is told that it never begins. */
  private boolean enter(String name) {
    List<String> refusals = new ArrayList<>();
    gate.begin(() -> begun.add(name), refusals::add);
    return refusals.isEmpty();
  }
}
