package dev.tollgate.contract;

import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.LockClient;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

/**
 * A process whose threads take locks and are interrupted while they wait, hold and release. Prints
 * how often a lock was granted, a wait ended by an interrupt, and a call failed.
 */
final class InterruptedTakers {
  private static final int THREADS = 32;
  private static final int LOCKS = 8;
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final AtomicInteger grants = new AtomicInteger();
  private final AtomicInteger interrupts = new AtomicInteger();
  private final AtomicInteger failures = new AtomicInteger();
  private final LockClient client;
  private final int wanted;

  private InterruptedTakers(LockClient client, int wanted) {
    this.client = client;
    this.wanted = wanted;
  }

  /**
   * @param arguments URL, grants to wait for, whether the threads are virtual, and a seed
   */
  public static void main(String[] arguments) throws Exception {
    boolean virtual = Boolean.parseBoolean(arguments[2]);
    Random random = new Random(Long.parseLong(arguments[3]));
    try (LockClient client = LockClient.connect(arguments[0])) {
      InterruptedTakers takers = new InterruptedTakers(client, Integer.parseInt(arguments[1]));
      long begin = System.nanoTime();
      List<Thread> threads =
          IntStream.range(0, THREADS)
              .mapToObj(i -> thread(virtual, () -> takers.take("lock" + i % LOCKS)))
              .toList();
      while (threads.stream().anyMatch(Thread::isAlive)) {
        threads.get(random.nextInt(THREADS)).interrupt();
        Thread.sleep(5);
      }
      System.out.printf(
          "%d grants, %d interrupts, %d failures, %d ms%n",
          takers.grants.get(),
          takers.interrupts.get(),
          takers.failures.get(),
          Duration.ofNanos(System.nanoTime() - begin).toMillis());
    }
  }

  /** Java 17 compiles this. */
  private static Thread thread(boolean virtual, Runnable work) {
    if (virtual) {
      try {
        return (Thread)
            Thread.class.getMethod("startVirtualThread", Runnable.class).invoke(null, work);
      } catch (ReflectiveOperationException e) {
        throw new IllegalStateException(e);
      }
    }
    Thread thread = new Thread(work);
    thread.start();
    return thread;
  }

  private void take(String name) {
    while (grants.get() < wanted) {
      try {
        Optional<HeldLock> lock = client.tryAcquire(name, PATIENCE);
        if (lock.isEmpty()) {
          throw new IllegalStateException("nobody released " + name);
        }
        grants.incrementAndGet();
        lock.get().close();
      } catch (InterruptedException e) {
        interrupts.incrementAndGet();
      } catch (RuntimeException e) {
        failures.incrementAndGet();
        e.printStackTrace();
      }
    }
  }
}
