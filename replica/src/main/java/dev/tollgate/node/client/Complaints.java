package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Log lines about clients that do not behave. Anybody who reaches the port can cause them, so a
 * flood of them does not fill the disk: after {@value #AT_ONCE} lines there is one line in a
 * second, which counts those left out. Those are logged at level DEBUG. Thread-safe.
 */
final class Complaints {
  private static final Logger LOG = LoggerFactory.getLogger(Complaints.class);

  /** Lines for which there is room at once. */
  static final int AT_ONCE = 20;

  /** In this time there is room for another line. */
  private static final long LINE_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final String nodeId;
  private final LongSupplier nanoTime;
  private long fullNanos;
  private long leftOut;

  Complaints(String nodeId, LongSupplier nanoTime) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.nanoTime = requireNonNull(nanoTime, "nanoTime");
    this.fullNanos = nanoTime.getAsLong();
  }

  /** Logs what a client did, or counts it. */
  void log(String client, String what) {
    long others = roomForLine();
    if (others < 0) {
      LOG.debug("{}: {} {}", nodeId, client, what);
    } else if (others == 0) {
      LOG.warn("{}: {} {}", nodeId, client, what);
    } else {
      LOG.warn(
          "{}: {} {} (and {} such lines about clients were left out)",
          nodeId,
          client,
          what,
          others);
    }
  }

  /** Takes room for a line; returns how many were left out before it, or -1 without room. */
  private synchronized long roomForLine() {
    long now = nanoTime.getAsLong();
    // from this moment on all lines have room again
    long full = Math.max(fullNanos - now, 0) + LINE_NANOS;
    if (full > AT_ONCE * LINE_NANOS) {
      leftOut++;
      return -1;
    }
    fullNanos = now + full;
    long before = leftOut;
    leftOut = 0;
    return before;
  }
}
