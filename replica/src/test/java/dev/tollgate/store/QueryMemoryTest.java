package dev.tollgate.store;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.h2.message.DbException;
import org.junit.jupiter.api.Test;

/** Which query is ended when memory runs short, and when. */
class QueryMemoryTest {
  private static final long SIZE = 900 << 20;
  private static final long MEGABYTE = 1 << 20;

  private final FixedHeap heap = new FixedHeap();
  private final MemoryWatch watch = new MemoryWatch(heap);
  private final QueryMemory memory = new QueryMemory(watch);

  private static final class FixedHeap implements MemoryWatch.Heap {
    volatile double used;
    volatile double live;
    volatile double afterCollection;
    final AtomicInteger collections = new AtomicInteger();

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
      return collections.get();
    }

    @Override
    public long sizeBytes() {
      return SIZE;
    }

    @Override
    public void collect() {
      used = live;
      afterCollection = live;
      collections.incrementAndGet();
    }
  }

  private static void assertEnded(Runnable look) {
    DbException e = assertThrows(DbException.class, look::run);
    assertEquals("53200", e.getSQLException().getSQLState());
  }

  @Test
  void queryThatHoldsMostIsEnded() {
    heap.used = 0.4;
    QueryMemory.Use small = memory.begin(0);
    QueryMemory.Use large = memory.begin(0);
    memory.holds(small, 100 * MEGABYTE);
    memory.holds(large, 150 * MEGABYTE);
    assertDoesNotThrow(() -> memory.holds(small, 140 * MEGABYTE));
    assertDoesNotThrow(() -> memory.holds(small, 149 * MEGABYTE));
    assertDoesNotThrow(() -> memory.requireRoomFor(large));
    heap.used = 0.3;
    memory.holds(small, 151 * MEGABYTE);
    memory.holds(small, 149 * MEGABYTE);
    heap.used = 0.4;
    QueryMemory.Use third = memory.begin(0);
    memory.holds(third, 2 * MEGABYTE);
    assertEnded(() -> memory.requireRoomFor(large));
    assertDoesNotThrow(() -> memory.requireRoomFor(small));
    assertDoesNotThrow(() -> memory.holds(small, 200 * MEGABYTE));
    large.close();
    assertEnded(() -> memory.holds(small, 301 * MEGABYTE));
    assertDoesNotThrow(() -> memory.requireRoomFor(third));
  }

  @Test
  void collectionThatCountedWhatALargeQueryHeldIsRepeated() {
    heap.used = 0.9;
    heap.afterCollection = 0.9;
    heap.live = 0.9;
    assertTrue(watch.isFuller(0.85));
    await().atMost(Duration.ofSeconds(20)).until(() -> heap.collections.get() == 1);
    heap.live = 0.2;
    memory.begin(0).close();
    assertTrue(watch.isFuller(0.85));
    assertEquals(1, heap.collections.get());
    QueryMemory.Use large = memory.begin(0);
    byte[] piece = new byte[(int) (60 * MEGABYTE)];
    assertEquals(0, piece[piece.length - 1]);
    large.close();
    assertTrue(watch.isFuller(0.85));
    await().atMost(Duration.ofSeconds(20)).until(() -> !watch.isFuller(0.85));
    assertEquals(2, heap.collections.get());
  }

  @Test
  void queriesMayHoldMoreWhileTheHeapHasRoom() {
    heap.used = 0.3;
    QueryMemory.Use use = memory.begin(0);
    assertTrue(memory.holds(use, 800 * MEGABYTE) > 800 * MEGABYTE);
  }

  @Test
  void resultThatWaitsToBeFetchedIsDroppedIfItHoldsMost() {
    heap.used = 0.5;
    AtomicBoolean dropped = new AtomicBoolean();
    QueryMemory.Use result = memory.begin(0);
    memory.holds(result, 200 * MEGABYTE);
    result.keep(() -> dropped.set(true));
    result.close();
    QueryMemory.Use query = memory.begin(0);
    memory.holds(query, 90 * MEGABYTE);
    assertFalse(dropped.get());
    memory.holds(query, 110 * MEGABYTE);
    assertTrue(dropped.get());
    memory.holds(query, 290 * MEGABYTE);
  }

  @Test
  void resultThatIsFetchedHoldsNothing() {
    heap.used = 0.5;
    QueryMemory.Use result = memory.begin(0);
    memory.holds(result, 200 * MEGABYTE);
    result.keep(() -> {});
    result.release();
    memory.holds(memory.begin(0), 290 * MEGABYTE);
  }

  @Test
  void largePieceIsRefusedBeforeTheJvmLooksForRoom() {
    QueryMemory.Use use = memory.begin(0);
    heap.used = 0.2;
    heap.live = 0.1;
    memory.requireRoomFor(use, 200 * MEGABYTE);
    assertEquals(0, heap.collections.get());
    heap.used = 0.8;
    memory.requireRoomFor(use, 200 * MEGABYTE);
    assertEquals(1, heap.collections.get(), "the piece fits in what is garbage");
    heap.used = 0.8;
    heap.live = 0.7;
    assertEnded(() -> memory.requireRoomFor(use, 200 * MEGABYTE));
    assertEquals(2, heap.collections.get());
    for (int i = 0; i < 100; i++) {
      assertEnded(() -> memory.requireRoomFor(use, 200 * MEGABYTE));
    }
    assertEquals(
        2, heap.collections.get(), "a heap that stays full is not collected for every piece");
    memory.requireRoomFor(use, 100 * MEGABYTE);
  }

  @Test
  void queryThatMayHaveEndedANodeGetsASmallShare() {
    QueryMemory.Use first = memory.begin(0);
    QueryMemory.Use again = memory.begin(1);
    heap.used = 0.4;
    memory.requireRoomFor(again, 50 * MEGABYTE);
    heap.used = 0.51;
    memory.requireRoomFor(again, MEGABYTE);
    memory.requireRoomFor(first, 50 * MEGABYTE);
    assertEnded(() -> memory.requireRoomFor(again, 10 * MEGABYTE));
    heap.used = 0.45;
    assertEnded(() -> memory.requireRoomFor(again, 50 * MEGABYTE));
  }

  @Test
  void queryUnderWhichTwoConnectionsWereLostDoesNotRun() {
    assertEnded(() -> memory.begin(2));
    assertEnded(() -> memory.begin(255));
  }
}
