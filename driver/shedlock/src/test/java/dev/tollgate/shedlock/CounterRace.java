package dev.tollgate.shedlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.tollgate.lock.LockClient;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;

/** Threads that count under two locks. A count that is lost, or too early, is two holders. */
final class CounterRace {
  private static final Duration AT_MOST = Duration.ofMinutes(5);

  /** Only the lock orders the accesses of the threads to this. */
  private static final class Counter {
    final String lock;
    volatile int count;
    volatile long askedNanos;
    volatile long token;

    Counter(String lock) {
      this.lock = lock;
    }
  }

  private final Supplier<String> url;
  private final Duration atLeast;
  private volatile boolean failed;
  private final List<Counter> counters = List.of(new Counter("first"), new Counter("second"));

  CounterRace(Supplier<String> url, Duration atLeast) {
    this.url = url;
    this.atLeast = atLeast;
  }

  /** Each thread counts so often, with a provider for every two threads. */
  void run(int threads, int counts) throws Exception {
    ExecutorService executor = Executors.newFixedThreadPool(threads);
    List<LockClient> clients = new ArrayList<>();
    try {
      List<Future<?>> running = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        if (i % 2 == 0) {
          clients.add(LockClient.connect(url.get()));
        }
        TollgateLockProvider provider = new TollgateLockProvider(clients.get(i / 2));
        int first = i;
        running.add(executor.submit(() -> count(provider, first, counts)));
      }
      for (Future<?> each : running) {
        each.get();
      }
    } finally {
      executor.shutdownNow();
      clients.forEach(LockClient::close);
    }
    assertEquals(threads * counts, counters.stream().mapToInt(each -> each.count).sum());
  }

  private void count(TollgateLockProvider provider, int first, int counts) {
    int done = 0;
    for (int turn = first; done < counts && !failed; turn++) {
      Counter counter = counters.get(turn % counters.size());
      long askedNanos = System.nanoTime();
      Optional<SimpleLock> granted =
          provider.lock(new LockConfiguration(Instant.now(), counter.lock, AT_MOST, atLeast));
      if (granted.isPresent()) {
        failed |= !countOne(counter, askedNanos, TollgateShedLock.currentToken());
        granted.get().unlock();
        done++;
      }
    }
    assertFalse(failed, "a lock was granted twice, or too early");
  }

  /** Returns false if what it finds can only be there if two have the lock. */
  @SuppressWarnings("NonAtomicVolatileUpdate") // two holders are to be seen
  private boolean countOne(Counter counter, long askedNanos, long token) {
    boolean later = token > counter.token;
    boolean afterAtLeast =
        counter.token == 0 || System.nanoTime() - counter.askedNanos >= atLeast.toNanos();
    counter.token = token;
    int before = counter.count;
    LockSupport.parkNanos(1_000);
    counter.count = before + 1;
    counter.askedNanos = askedNanos;
    return later && afterAtLeast;
  }
}
