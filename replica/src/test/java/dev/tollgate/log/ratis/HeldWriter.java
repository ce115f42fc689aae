package dev.tollgate.log.ratis;

import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.spi.FilterReply;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.slf4j.LoggerFactory;
import org.slf4j.Marker;

/**
 * Holds the thread that writes a node's log, as a slow disk does. Ratis logs each sync of the log
 * at debug level before it begins, and the thread is held in that call.
 */
public final class HeldWriter extends TurboFilter implements AutoCloseable {
  private static final Duration DEADLINE = Duration.ofSeconds(30);
  private static final String WRITER =
      "org.apache.ratis.server.raftlog.segmented.SegmentedRaftLogWorker";

  private final String nodeId;
  private final CountDownLatch held = new CountDownLatch(1);
  private final CountDownLatch released = new CountDownLatch(1);
  private final Error end;

  /** Holds the thread from its next sync on, until this is closed. */
  public HeldWriter(String nodeId) {
    this(nodeId, null);
  }

  /**
   * @param end is thrown by the writer when it is released, or null
   */
  HeldWriter(String nodeId, Error end) {
    this.nodeId = nodeId;
    this.end = end;
    ((LoggerContext) LoggerFactory.getILoggerFactory()).addTurboFilter(this);
  }

  @Override
  public FilterReply decide(
      Marker marker, Logger logger, Level level, String format, Object[] params, Throwable cause) {
    if (logger.getName().equals(WRITER)
        && "{}: flush {}".equals(format)
        && params[0].toString().startsWith(nodeId + "@")) {
      held.countDown();
      try {
        released.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      if (end != null) {
        throw end;
      }
    }
    return FilterReply.NEUTRAL;
  }

  /** Waits until the thread is held. */
  public void awaitHeld() {
    await().atMost(DEADLINE).until(() -> held.getCount() == 0);
  }

  @Override
  public void close() {
    released.countDown();
    ((LoggerContext) LoggerFactory.getILoggerFactory()).getTurboFilterList().remove(this);
  }
}
