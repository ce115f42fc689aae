package dev.tollgate.transport;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Bounds how many connections this process opens to one node at a time. When a leader ends,
 * thousands of sessions move at once, and a node accepts some after the other. The bound is for
 * each node, because attempts that a dead node holds up must not keep sessions from the others.
 * Thread-safe.
 */
final class Dials {
  /** Connections to one node for which TCP or Hello is under way; further ones wait in line. */
  static final int AT_A_TIME = 64;

  /** As many entries as a cluster has had addresses. */
  private final Map<String, Semaphore> nodes = new ConcurrentHashMap<>();

  /**
   * Waits for a turn, which {@link #leave} ends. An interrupt does not end the wait.
   *
   * @throws CrowdedException if there is none within this time
   */
  void enter(String address, Duration patience) throws CrowdedException {
    Semaphore places = places(address);
    if (!PatientWait.until(
        System.nanoTime() + patience.toNanos(),
        nanos -> places.tryAcquire(nanos, TimeUnit.NANOSECONDS))) {
      throw new CrowdedException(address, patience);
    }
  }

  void leave(String address) {
    places(address).release();
  }

  private Semaphore places(String address) {
    return nodes.computeIfAbsent(address, any -> new Semaphore(AT_A_TIME, true));
  }

  /** So many connections are being opened to a node that there was no turn; it may be healthy. */
  static final class CrowdedException extends IOException {
    private static final long serialVersionUID = 1L;

    CrowdedException(String address, Duration patience) {
      super(
          "this process is opening "
              + AT_A_TIME
              + " connections to "
              + address
              + ", and one more had no turn within "
              + patience.toMillis()
              + " ms");
    }
  }
}
