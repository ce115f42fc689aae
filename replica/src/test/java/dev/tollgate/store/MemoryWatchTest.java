package dev.tollgate.store;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A full heap is noticed, and nobody who asks pays for the collection that tells. */
@Timeout(30)
class MemoryWatchTest {
  private static final int ASKED = 1_000;

  private final SlowHeap heap = new SlowHeap();
  private final MemoryWatch watch = new MemoryWatch(heap);

  @AfterEach
  void end() {
    heap.mayEnd.countDown();
  }

  /** A heap whose collection takes as long as the test likes. */
  private static final class SlowHeap implements MemoryWatch.Heap {
    final CountDownLatch mayEnd = new CountDownLatch(1);
    final AtomicInteger begun = new AtomicInteger();
    final AtomicInteger ended = new AtomicInteger();
    volatile double used;
    volatile double afterCollection;
    volatile double garbageFree;

    @Override
    public double usedShare() {
      return used;
    }

    @Override
    public double usedAfterCollection() {
      return afterCollection;
    }

    @Override
    public long collections() {
      return ended.get();
    }

    @Override
    public long sizeBytes() {
      return 1 << 30;
    }

    @Override
    public void collect() {
      begun.incrementAndGet();
      try {
        mayEnd.await(20, TimeUnit.SECONDS);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      used = garbageFree;
      afterCollection = garbageFree;
      ended.incrementAndGet();
    }
  }

  @Test
  void nobodyWaitsForTheCollectionThatTellsWhetherTheHeapIsFull() {
    heap.used = 0.9;
    heap.afterCollection = 0.5;
    heap.garbageFree = 0.88;
    for (int i = 0; i < ASKED; i++) {
      assertFalse(watch.isFuller(0.85), "as far as is known");
    }
    heap.mayEnd.countDown();
    await().atMost(Duration.ofSeconds(20)).until(() -> heap.ended.get() == 1);
    assertTrue(watch.isFuller(0.85));
    assertEquals(1, heap.begun.get());
  }

  @Test
  void nobodyWaitsForTheCollectionThatTellsWhetherThereIsRoomAgain() {
    heap.used = 0.9;
    heap.afterCollection = 0.9;
    heap.garbageFree = 0.2;
    for (int i = 0; i < ASKED; i++) {
      assertTrue(watch.isFuller(0.85));
    }
    heap.mayEnd.countDown();
    await().atMost(Duration.ofSeconds(20)).until(() -> heap.ended.get() == 1);
    assertFalse(watch.isFuller(0.85));
  }

  @Test
  void nodeThatBeginsToLeadDoesNotBelieveAnEarlierCollection() throws Exception {
    heap.used = 0.9;
    heap.afterCollection = 0.9;
    heap.garbageFree = 0.2;
    assertEquals(
        "53200",
        assertThrows(SQLException.class, () -> watch.requireRoomFor("INSERT")).getSQLState());
    watch.forget();
    watch.requireRoomFor("INSERT");
    heap.mayEnd.countDown();
    await().atMost(Duration.ofSeconds(20)).until(() -> heap.ended.get() == 1);
    watch.requireRoomFor("INSERT");
  }

  @Test
  void nodeThatBeginsToLeadAndIsStillFullRefuses() {
    heap.used = 0.9;
    heap.afterCollection = 0.9;
    heap.garbageFree = 0.9;
    watch.forget();
    assertFalse(watch.isFuller(0.85));
    heap.mayEnd.countDown();
    await().atMost(Duration.ofSeconds(20)).until(() -> heap.ended.get() == 1);
    assertTrue(watch.isFuller(0.85));
  }

  @Test
  void whatAQueryHeldCountsUntilTheCollectionAfterItsEnd() {
    heap.used = 0.9;
    heap.afterCollection = 0.9;
    heap.garbageFree = 0.9;
    heap.mayEnd.countDown();
    assertTrue(watch.isFuller(0.85));
    await().atMost(Duration.ofSeconds(20)).until(() -> heap.ended.get() == 1);
    heap.garbageFree = 0.2;
    assertTrue(watch.isFuller(0.85));
    watch.doubt();
    assertTrue(watch.isFuller(0.85));
    await().atMost(Duration.ofSeconds(20)).until(() -> heap.ended.get() == 2);
    assertFalse(watch.isFuller(0.85));
  }

  @Test
  void heapThatStaysFullIsNotCollectedForEveryRequest() {
    heap.mayEnd.countDown();
    heap.used = 0.9;
    heap.afterCollection = 0.9;
    heap.garbageFree = 0.9;
    assertTrue(watch.isFuller(0.85));
    await().atMost(Duration.ofSeconds(20)).until(() -> heap.ended.get() == 1);
    long end = System.nanoTime() + MemoryWatch.STALE_NANOS / 2;
    for (int i = 0; i < ASKED && System.nanoTime() < end; i++) {
      assertTrue(watch.isFuller(0.85));
    }
    assertEquals(1, heap.begun.get());
  }
}
