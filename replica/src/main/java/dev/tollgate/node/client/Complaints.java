package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.LineBudget;
import java.time.Duration;
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

  private final String nodeId;
  private final LineBudget lines;

  Complaints(String nodeId, LongSupplier nanoTime) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.lines = new LineBudget(AT_ONCE, Duration.ofSeconds(1), nanoTime);
  }

  /** Logs what a client did, or counts it. */
  void log(String client, String what) {
    long others = lines.take();
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
}
