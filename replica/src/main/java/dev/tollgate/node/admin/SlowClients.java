package dev.tollgate.node.admin;

import dev.tollgate.log.Supervision;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Ends reads and writes that take too long, by interrupting their threads: that closes the
 * connection below. Only reads and writes of a connection are timed. What a page computes is never
 * interrupted. Thread-safe.
 */
final class SlowClients implements AutoCloseable {
  private static final long CHECK_MILLIS = 100;

  /** A read or a write of a connection. */
  interface Transfer<T> {
    T run() throws IOException;
  }

  /** A transfer that is under way. */
  private static final class Watched {
    private final Thread thread = Thread.currentThread();
    private final long endNanos;
    private boolean done;
    private boolean late;

    Watched(long endNanos) {
      this.endNanos = endNanos;
    }

    synchronized void interruptIfLate(long now) {
      if (!done && !late && endNanos - now <= 0) {
        late = true;
        thread.interrupt();
      }
    }

    /** Takes back an interrupt that came after the transfer. */
    synchronized void end() {
      done = true;
      if (late) {
        var unused = Thread.interrupted();
      }
    }
  }

  private final Set<Watched> watched = ConcurrentHashMap.newKeySet();
  private final ScheduledExecutorService clock;
  private volatile boolean closed;

  SlowClients(String nodeId, Supervision supervision) {
    clock =
        Executors.newSingleThreadScheduledExecutor(
            supervision.threads("tollgate-" + nodeId + "-admin-clock"));
    var unused =
        clock.scheduleWithFixedDelay(
            supervision.repeated("timing clients of the admin address", this::check),
            CHECK_MILLIS,
            CHECK_MILLIS,
            TimeUnit.MILLISECONDS);
  }

  private void check() {
    long now = System.nanoTime();
    for (Watched transfer : watched) {
      transfer.interruptIfLate(closed ? transfer.endNanos : now);
    }
  }

  /**
   * Reads or writes within a time.
   *
   * @throws IOException if that fails, or the time is over
   */
  <T> T within(Duration limit, Transfer<T> transfer) throws IOException {
    Watched now = new Watched(System.nanoTime() + limit.toNanos());
    watched.add(now);
    try {
      if (closed) {
        throw new InterruptedIOException("the node stops");
      }
      return transfer.run();
    } finally {
      watched.remove(now);
      now.end();
    }
  }

  /** Ends all transfers. */
  @Override
  public void close() {
    closed = true;
    check();
    clock.shutdownNow();
  }
}
