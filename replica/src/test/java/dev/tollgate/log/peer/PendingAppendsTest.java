package dev.tollgate.log.peer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class PendingAppendsTest {
  private static final long MOST_BYTES = 32L << 20;

  private final PendingAppends pending = new PendingAppends();

  private void accept() {
    pending.add(1, 1, 1);
    assertTrue(pending.remove(1));
  }

  /** Whether the entries follow those of the follower is not known yet. */
  @Test
  void oneRequestIsUnderWayUntilTheFollowerHasAcceptedOne() {
    assertFalse(pending.isFull());
    pending.add(1, 1, 1);
    assertTrue(pending.isFull());
    assertFalse(pending.remove(2), "of a request that is not under way");
    assertTrue(pending.isFull());
    assertTrue(pending.remove(1));
    pending.add(2, 2, 1);
    assertFalse(pending.isFull());
    pending.clear();
    assertEquals(0, pending.count());
    pending.add(3, 2, 1);
    assertTrue(pending.isFull(), "it begins anew");
  }

  @Test
  void numberOfRequestsIsBounded() {
    accept();
    for (int i = 1; i <= PendingAppends.MOST; i++) {
      assertFalse(pending.isFull(), i + " requests");
      pending.add(i, i, 1);
    }
    assertTrue(pending.isFull());
    assertEquals(PendingAppends.MOST, pending.count());
    assertTrue(pending.remove(3));
    assertFalse(pending.isFull());
    assertEquals(1, pending.firstIndex());
  }

  @Test
  void bytesAreBounded() {
    accept();
    pending.add(1, 1, MOST_BYTES - 1);
    assertFalse(pending.isFull());
    pending.add(2, 2, 1);
    assertTrue(pending.isFull());
    assertTrue(pending.remove(1));
    assertFalse(pending.isFull());
    assertEquals(2, pending.firstIndex());
    pending.add(3, 3, MOST_BYTES);
    pending.clear();
    accept();
    assertFalse(pending.isFull());
  }
}
