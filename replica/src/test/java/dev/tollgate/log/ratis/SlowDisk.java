package dev.tollgate.log.ratis;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.turbo.TurboFilter;
import ch.qos.logback.core.spi.FilterReply;
import dev.tollgate.log.SyncedFiles;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.LoggerFactory;
import org.slf4j.Marker;

/**
 * Disks that take their time for each sync: of the log, and of each file that Tollgate syncs. Such
 * a sync is logged at debug level before it begins, and its thread is held in that call.
 */
final class SlowDisk extends TurboFilter implements AutoCloseable {
  private static final String LOG_OF_RATIS =
      "org.apache.ratis.server.raftlog.segmented.SegmentedRaftLogWorker";

  private final List<Path> nodes;
  private final long nanos;

  /**
   * @param nodes the directories of nodes, each named after its node
   */
  SlowDisk(List<Path> nodes, long syncMillis) {
    this.nodes = List.copyOf(nodes);
    this.nanos = TimeUnit.MILLISECONDS.toNanos(syncMillis);
  }

  /** Slows these disks down until this is closed. */
  void slowDown() {
    ((LoggerContext) LoggerFactory.getILoggerFactory()).addTurboFilter(this);
  }

  @Override
  public FilterReply decide(
      Marker marker, Logger logger, Level level, String format, Object[] params, Throwable cause) {
    if (isSync(logger.getName(), format, params)) {
      long end = System.nanoTime() + nanos;
      for (long left = nanos; left > 0; left = end - System.nanoTime()) {
        // an interrupt does not end a sync
        LockSupport.parkNanos(this, left);
      }
    }
    return FilterReply.NEUTRAL;
  }

  private boolean isSync(String logger, String format, Object[] params) {
    if (logger.equals(LOG_OF_RATIS) && "{}: flush {}".equals(format)) {
      String writer = params[0].toString();
      return nodes.stream().anyMatch(node -> writer.startsWith(node.getFileName() + "@"));
    }
    return logger.equals(SyncedFiles.class.getName())
        && "sync {}".equals(format)
        && nodes.stream().anyMatch(((Path) params[0])::startsWith);
  }

  @Override
  public void close() {
    ((LoggerContext) LoggerFactory.getILoggerFactory()).getTurboFilterList().remove(this);
  }
}
