package dev.tollgate.node.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class DeadlineQueueTest {
  private static final long SEED = 16;

  private final DeadlineQueue<String> queue = new DeadlineQueue<>();

  @Test
  void itemsAreReportedOnceInOrderOfTheirTime() {
    queue.add("late", 20, 0);
    queue.add("early", 10, 0);
    assertEquals(List.of(), queue.removeDue(9));
    assertEquals(List.of("early", "late"), queue.removeDue(20));
    assertEquals(List.of(), queue.removeDue(1_000));
  }

  @Test
  void itemThatWasPutOffIsNotDueAtItsOldTime() {
    queue.add("a", 10, 0);
    assertTrue(queue.putOff("a", 8));
    assertEquals(List.of(), queue.removeDue(17));
    assertEquals(List.of("a"), queue.removeDue(18));
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
    queue.removeDue(10);
    assertFalse(queue.putOff("a", 10));
  }

  @Test
  void itemReportedInVainIsReportedAgain() {
    queue.add("a", 10, 0);
    queue.removeDue(10);
    queue.reportAgain("a", 30);
    assertEquals(List.of("a"), queue.removeDue(30));
  }

  @Test
  void removedItemIsForgotten() {
    queue.add("a", 10, 0);
    queue.remove("a");
    assertEquals(List.of(), queue.removeDue(10));
    assertFalse(queue.putOff("a", 0));
    assertNull(queue.remaining("a", 0));
    assertTrue(queue.isEmpty());
  }

  @Test
  void itemAddedAgainHasOnlyItsNewTime() {
    queue.add("a", 10, 0);
    queue.remove("a");
    queue.add("a", 50, 0);
    assertEquals(List.of(), queue.removeDue(10));
    assertEquals(List.of("a"), queue.removeDue(50));
  }

  /** 24 h leases that were created and revoked at 200 a second stayed until the next day. */
  @Test
  void whatIsRemovedTakesNoRoom() {
    for (int i = 0; i < 100_000; i++) {
      queue.add("lease " + i, 1_000_000, i);
      queue.putOff("lease " + i, i + 1);
      queue.remove("lease " + i);
    }
    assertEquals(0, queue.queued());
  }

  @Test
  void whatIsPutOffAddedAgainOrReportedStandsInTheQueueOnce() {
    for (int i = 0; i < 1_000; i++) {
      queue.add("a", 10, i);
      queue.putOff("a", i);
      queue.removeDue(i);
    }
    assertEquals(1, queue.queued());
    assertEquals(List.of("a"), queue.removeDue(1_009));
    assertEquals(0, queue.queued());
    queue.reportAgain("a", 1_010);
    queue.reportAgain("a", 1_011);
    assertEquals(1, queue.queued());
    queue.remove("a");
    assertEquals(0, queue.queued());
  }

  /** Against the simplest thing that could be right. */
  @Test
  void randomUseGivesWhatAListWouldGive() {
    Random random = new Random(SEED);
    Map<String, Long> due = new TreeMap<>();
    for (long now = 0; now < 20_000; now++) {
      String key = "k" + random.nextInt(50);
      int period = 1 + key.hashCode() % 97;
      switch (random.nextInt(3)) {
        case 0 -> {
          queue.add(key, period, now);
          due.put(key, now + period);
        }
        case 1 -> {
          queue.remove(key);
          due.remove(key);
        }
        default -> {
          boolean there = due.containsKey(key);
          assertEquals(there, queue.putOff(key, now), "seed " + SEED);
          if (there) {
            due.merge(key, now + period, Math::max);
          }
        }
      }
      List<String> taken = new ArrayList<>(queue.removeDue(now));
      taken.forEach(queue::remove);
      taken.sort(null);
      long moment = now;
      List<String> expected =
          due.entrySet().stream()
              .filter(e -> e.getValue() <= moment)
              .map(Map.Entry::getKey)
              .toList();
      assertEquals(expected, taken, "seed " + SEED + " at " + now);
      expected.forEach(due::remove);
      assertEquals(due.size(), queue.queued(), "seed " + SEED + " at " + now);
    }
  }
}
