package dev.tollgate.node.audit;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What waits to be written, within a bound. Offering never waits for the disk: what finds the queue
 * full is lost, and counted. The events of a command are taken or lost as a whole: a command does
 * not lose its events because it has many, so one command may exceed the bound. Half of the room is
 * for events of the log alone, so that logins that fail by the thousand cannot displace them.
 * Thread-safe.
 */
final class AuditQueue {
  private static final Logger LOG = LoggerFactory.getLogger(AuditQueue.class);
  private static final long REPORT_NANOS = Duration.ofMinutes(1).toNanos();

  /**
   * Events that were lost in a row.
   *
   * @param firstIndex of the log, or 0 if none of them is of the log
   */
  record Loss(long events, long firstIndex, long lastIndex) {
    Loss and(Loss later) {
      return new Loss(
          events + later.events,
          firstIndex == 0 ? later.firstIndex : firstIndex,
          Math.max(lastIndex, later.lastIndex));
    }
  }

  private final String nodeId;
  private final int most;
  private final Deque<AuditWork> waiting = new ArrayDeque<>();
  private int events;
  private @Nullable Loss loss;
  private long lostEvents;
  private long reportedNanos;

  AuditQueue(String nodeId, int most) {
    this.nodeId = nodeId;
    this.most = most;
  }

  void offerOfLog(AuditWork work) {
    offer(work, most);
  }

  void offerOfNode(AuditWork work) {
    offer(work, most / 2);
  }

  private void offer(AuditWork work, int room) {
    boolean report;
    synchronized (this) {
      if (events < room) {
        waiting.addLast(work);
        events += work.events();
        return;
      }
      Loss lost = new Loss(work.events(), work.logIndex(), work.logIndex());
      loss = loss == null ? lost : loss.and(lost);
      report = lostEvents == 0 || System.nanoTime() - reportedNanos > REPORT_NANOS;
      lostEvents += work.events();
      if (report) {
        reportedNanos = System.nanoTime();
      }
    }
    if (report) {
      LOG.error(
          "{}: audit events are lost, {} so far, because {} of them wait for the audit file, as many"
              + " as may: see to its disk. The other nodes have those of the log",
          nodeId,
          lostEvents(),
          most);
    }
  }

  /** The first works, which stay in the queue until they are written; at most so many events. */
  synchronized List<AuditWork> first(int mostEvents) {
    List<AuditWork> found = new ArrayList<>();
    int count = 0;
    for (AuditWork work : waiting) {
      if (count > 0 && count + work.events() > mostEvents) {
        break;
      }
      found.add(work);
      count += work.events();
    }
    return found;
  }

  /** Makes room: so many of the first works have been written. */
  synchronized void written(int works) {
    for (int i = 0; i < works; i++) {
      events -= waiting.removeFirst().events();
    }
  }

  /** What was lost since this was last asked, or null. */
  synchronized @Nullable Loss takeLoss() {
    Loss taken = loss;
    loss = null;
    return taken;
  }

  /** Puts back a loss that could not be written. */
  synchronized void putBack(Loss taken) {
    loss = loss == null ? taken : taken.and(loss);
  }

  /** How many events wait. */
  synchronized int waitingEvents() {
    return events;
  }

  /** How many events were lost altogether. */
  synchronized long lostEvents() {
    return lostEvents;
  }
}
