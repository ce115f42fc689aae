package dev.tollgate.log.ratis;

import static dev.tollgate.log.ratis.RatisInternals.field;
import static java.util.Objects.requireNonNull;

import org.apache.ratis.server.raftlog.RaftLog;
import org.apache.ratis.server.raftlog.segmented.SegmentedRaftLog;
import org.apache.ratis.util.AwaitToRun;

/**
 * The thread of Ratis that evicts segments from the cache of the log (SegmentedRaftLog of Ratis
 * 3.3.0). A log that is closed waits for the end of this thread while it holds its write lock. If
 * the thread waits for that lock then, neither ever ends. So this class ends the thread first.
 */
final class CacheEviction {
  private final AwaitToRun thread;

  private CacheEviction(AwaitToRun thread) {
    this.thread = requireNonNull(thread, "thread");
  }

  /**
   * Returns the thread of an open log.
   *
   * @throws ReflectiveOperationException if this Ratis is not the version that this class was
   *     written for
   */
  static CacheEviction of(RaftLog log) throws ReflectiveOperationException {
    return new CacheEviction((AwaitToRun) field(SegmentedRaftLog.class, "cacheEviction").get(log));
  }

  /** Waits for the end of the thread; the log evicts nothing afterwards. */
  void end() {
    thread.close();
  }
}
