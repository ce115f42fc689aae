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
  private final TransactionGate gate = new TransactionGate(2, Runnable::run);

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

  private boolean enter(String name) {
    return gate.enter(() -> begun.add(name));
  }
}
