package dev.tollgate.node.slow;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.Supervision;
import java.time.Duration;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs that an entry has been under way for too long, with the stack of the thread that applies it:
 * once, and again each time when that has lasted twice as long. Has a thread of its own, which
 * waits for nothing that the entry may have.
 */
public final class ApplyAlarm implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ApplyAlarm.class);
  private static final Duration TICK = Duration.ofSeconds(1);

  private final String nodeId;
  private final ApplyWatch watch;
  private final Supervision supervision;
  private final ScheduledExecutorService timer;

  private long loggedIndex = -1;
  private long againMillis;

  public ApplyAlarm(String nodeId, ApplyWatch watch, Supervision supervision) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.watch = requireNonNull(watch, "watch");
    this.supervision = requireNonNull(supervision, "supervision");
    this.timer =
        Executors.newSingleThreadScheduledExecutor(
            supervision.threads("tollgate-" + nodeId + "-apply-alarm"));
  }

  /** Starts to look. */
  public void start() {
    var unused =
        timer.scheduleWithFixedDelay(
            supervision.repeated("the look at the entry that is being applied", this::tick),
            TICK.toMillis(),
            TICK.toMillis(),
            TimeUnit.MILLISECONDS);
  }

  /** Looks once. */
  void tick() {
    ApplyWatch.UnderWay late = watch.late();
    if (late == null || (late.logIndex() == loggedIndex && late.millis() < againMillis)) {
      return;
    }
    loggedIndex = late.logIndex();
    againMillis = 2 * late.millis();
    LOG.warn(
        "{}: {}. What follows waits, and the node is not ready",
        nodeId,
        late.describe(),
        new StackOf(late.thread()));
  }

  /** Where a thread is. */
  private static final class StackOf extends Exception {
    private static final long serialVersionUID = 1L;

    StackOf(Thread thread) {
      super("thread " + thread.getName() + " is here");
      setStackTrace(thread.getStackTrace());
    }
  }

  @Override
  public void close() {
    timer.shutdown();
  }
}
