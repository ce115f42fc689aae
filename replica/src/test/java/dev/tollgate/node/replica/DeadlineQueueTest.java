package dev.tollgate.node.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class DeadlineQueueTest {
  private final DeadlineQueue<String> queue = new DeadlineQueue<>();

  @Test
  void itemsAreReportedOnceInOrderOfTheirTime() {
    queue.add("late", 20, 0);
    queue.add("early", 10, 0);
    assertEquals(List.of(), queue.takeDue(9));
    assertEquals(List.of("early", "late"), queue.takeDue(20));
    assertEquals(List.of(), queue.takeDue(1_000));
  }

  @Test
  void itemThatWasPutOffIsNotDueAtItsOldTime() {
    queue.add("a", 10, 0);
    assertTrue(queue.putOff("a", 8));
    assertEquals(List.of(), queue.takeDue(17));
    assertEquals(List.of("a"), queue.takeDue(18));
  }

  @Test
  void puttingOffNeverBringsForward() {
    queue.add("a", 10, 100);
    queue.putOff("a", 50);
    assertEquals(5L, queue.remaining("a", 105));
  }

  @Test
  void reportedItemCannotBePutOff() {
    queue.add("a", 10, 0);
    queue.takeDue(10);
    assertFalse(queue.putOff("a", 10));
  }

  @Test
  void itemReportedInVainIsReportedAgain() {
    queue.add("a", 10, 0);
    queue.takeDue(10);
    queue.reportAgain("a", 30);
    assertEquals(List.of("a"), queue.takeDue(30));
  }

  @Test
  void removedItemIsForgotten() {
    queue.add("a", 10, 0);
    queue.remove("a");
    assertEquals(List.of(), queue.takeDue(10));
    assertFalse(queue.putOff("a", 0));
    assertNull(queue.remaining("a", 0));
    assertTrue(queue.isEmpty());
  }

  @Test
  void itemAddedAgainHasOnlyItsNewTime() {
    queue.add("a", 10, 0);
    queue.remove("a");
    queue.add("a", 50, 0);
    assertEquals(List.of(), queue.takeDue(10));
    assertEquals(List.of("a"), queue.takeDue(50));
  }
}
