package dev.tollgate.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** When a grant may be trusted without asking the leader for it. */
class WatchedLocksTest {
  private final Object connection = new Object();
  private final WatchedLocks locks = new WatchedLocks(3);
  private final List<Long> lost = new ArrayList<>();

  private LockWatch watch(long token) {
    return new LockWatch(locks, token, () -> lost.add(token), locks::forget);
  }

  private WatchedLocks.Added add(long token, long requestedNanos) {
    return locks.add(watch(token), connection, requestedNanos);
  }

  @Test
  void lockThatWasRequestedBeforeTheLeaseWasWatchedIsAskedFor() {
    assertEquals(WatchedLocks.Added.UNKNOWN, add(1, 10));
    locks.watchedOn(connection, 20);
    assertEquals(WatchedLocks.Added.UNKNOWN, add(2, 19));
    assertEquals(WatchedLocks.Added.WATCHED, add(3, 20));
    locks.watchedOn(connection, 30);
    assertEquals(WatchedLocks.Added.WATCHED, add(4, 21), "it was watched before");
    assertEquals(WatchedLocks.Added.UNKNOWN, locks.add(watch(5), new Object(), 40));
    assertEquals(WatchedLocks.Added.UNKNOWN, locks.add(watch(6), null, 40));
  }

  @Test
  void lossThatComesBeforeTheGrantIsRemembered() {
    locks.watchedOn(connection, 20);
    assertNull(locks.takeLost(7));
    assertEquals(WatchedLocks.Added.LOST, add(7, 30));
    assertEquals(WatchedLocks.Added.WATCHED, add(8, 30));
  }

  @Test
  void lockBelowAForgottenLossIsAskedFor() {
    locks.watchedOn(connection, 20);
    for (long token = 1; token <= WatchedLocks.REMEMBERED + 1; token++) {
      assertNull(locks.takeLost(token));
    }
    assertEquals(WatchedLocks.Added.UNKNOWN, add(1, 30), "its loss is forgotten");
    assertEquals(WatchedLocks.Added.LOST, add(2, 30));
    assertEquals(WatchedLocks.Added.WATCHED, add(WatchedLocks.REMEMBERED + 2, 30));
  }

  @Test
  void watchThatWasClosedIsNotTold() {
    LockWatch watch = watch(1);
    locks.add(watch, connection, 10);
    locks.add(watch(2), connection, 10);
    assertSame(watch, locks.all().get(0));
    watch.close();
    watch.lost();
    locks.takeAll().forEach(LockWatch::lost);
    assertEquals(List.of(2L), lost);
  }
}
