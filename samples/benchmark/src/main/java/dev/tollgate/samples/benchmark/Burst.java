package dev.tollgate.samples.benchmark;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * Clients that acquire and release locks of their own without pause for some time.
 *
 * @param cyclesPerSecond acquire and release pairs of all clients together
 * @param acquireMicros time of each acquire
 */
record Burst(double cyclesPerSecond, Histogram acquireMicros) {
  private static final long HIGHEST_MICROS = TimeUnit.SECONDS.toMicros(60);

  /** Runs a burst; the clients connect before its time begins. */
  static Burst run(Contender contender, int clients, double seconds, String lockPrefix)
      throws Exception {
    List<LockClient> connected = new ArrayList<>();
    ExecutorService threads = Executors.newFixedThreadPool(clients);
    try {
      CyclicBarrier start = new CyclicBarrier(clients);
      List<Future<Counted>> running = new ArrayList<>();
      for (int i = 0; i < clients; i++) {
        LockClient client = contender.connect();
        connected.add(client);
        String lock = lockPrefix + i;
        running.add(threads.submit(cycles(client, lock, start, seconds)));
      }
      Histogram all = new Histogram(HIGHEST_MICROS, 3);
      double perSecond = 0;
      for (Future<Counted> one : running) {
        Counted counted = one.get();
        all.add(counted.acquireMicros());
        perSecond += counted.cycles() / counted.seconds();
      }
      return new Burst(perSecond, all);
    } finally {
      threads.shutdownNow();
      for (LockClient client : connected) {
        client.disconnect();
      }
    }
  }

  private record Counted(long cycles, double seconds, Histogram acquireMicros) {}

  private static Callable<Counted> cycles(
      LockClient client, String lock, CyclicBarrier start, double seconds) {
    return () -> {
      Histogram acquireMicros = new Histogram(HIGHEST_MICROS, 3);
      start.await();
      long begin = System.nanoTime();
      long end = begin + (long) (seconds * 1e9);
      long cycles = 0;
      long now = begin;
      while (now < end) {
        client.acquire(lock);
        long acquired = System.nanoTime();
        acquireMicros.recordValue(
            Math.min(HIGHEST_MICROS, TimeUnit.NANOSECONDS.toMicros(acquired - now)));
        client.release(lock);
        now = System.nanoTime();
        cycles++;
      }
      return new Counted(cycles, (now - begin) / 1e9, acquireMicros);
    };
  }
}
