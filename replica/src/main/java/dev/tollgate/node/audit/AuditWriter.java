package dev.tollgate.node.audit;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.Supervision;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that writes audit lines. It looks for work in short intervals, so that handing work
 * over costs the apply thread no system call. What cannot be written stays in the queue and is
 * tried again.
 */
final class AuditWriter {
  private static final Logger LOG = LoggerFactory.getLogger(AuditWriter.class);

  private static final Duration LOOK = Duration.ofMillis(20);
  private static final Duration RETRY = Duration.ofMillis(500);

  /** What a crash of the machine may cost; a crash of the process costs nothing. */
  private static final long FORCE_NANOS = Duration.ofSeconds(1).toNanos();

  private static final long REPORT_NANOS = Duration.ofMinutes(1).toNanos();
  private static final Duration CLOSE_WITHIN = Duration.ofSeconds(5);
  private static final int EVENTS_AT_ONCE = 256;

  /** How often the log of the node has the hash of the last line, so that it is elsewhere too. */
  private static final long ANCHOR_NANOS = Duration.ofHours(1).toNanos();

  private final String nodeId;
  private final AuditStream stream;
  private final AuditTarget target;
  private final String directory;
  private final AuditQueue queue;
  private final List<LineShares> shares;
  private final Clock clock;
  private final CountDownLatch closing = new CountDownLatch(1);
  private final CountDownLatch ended = new CountDownLatch(1);

  /** The last event of the log that has a line. */
  private AuditPosition written = AuditPosition.NONE;

  /** The hash of the last line. */
  private String hash = "";

  private String anchoredHash = "";
  private long anchoredNanos;

  private boolean dirty;
  private long forcedNanos = System.nanoTime();
  private long failedSinceNanos;
  private long reportedNanos;
  private boolean failing;

  AuditWriter(
      String nodeId,
      AuditStream stream,
      AuditTarget target,
      String directory,
      AuditQueue queue,
      List<LineShares> shares,
      Clock clock) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.stream = requireNonNull(stream, "stream");
    this.target = requireNonNull(target, "target");
    this.directory = requireNonNull(directory, "directory");
    this.queue = requireNonNull(queue, "queue");
    this.shares = List.copyOf(shares);
    this.clock = requireNonNull(clock, "clock");
  }

  /**
   * Opens the target, says there that the node starts, and begins to write.
   *
   * @throws IOException if that cannot be written
   */
  void start(Supervision supervision) throws IOException {
    AuditTarget.Progress found = target.open();
    // positions of another directory are those of another history, or of one told again
    if (!directory.isEmpty() && found.directory().equals(directory)) {
      written = found.position();
    }
    hash = target.append("", place("audit_started"));
    target.force();
    anchor();
    supervision.thread("tollgate-" + nodeId + "-audit-" + name(), this::run).start();
  }

  private String place(String event) {
    JsonLine line = new JsonLine(now(), event).text("directory", directory);
    written.appendTo(line);
    return line.text("node", nodeId).toString();
  }

  private String name() {
    return stream.name().toLowerCase(Locale.ROOT);
  }

  /** Has the log of the node say how far the lines go that are on the disk. */
  private void anchor() {
    anchoredNanos = System.nanoTime();
    if (!hash.equals(anchoredHash)) {
      anchoredHash = hash;
      LOG.info("{}: the last audit line of {} has the hash {}", nodeId, name(), hash);
    }
  }

  private long now() {
    return ChronoUnit.MICROS.between(Instant.EPOCH, clock.instant());
  }

  private void run() {
    try {
      long closeBy = Long.MAX_VALUE;
      boolean end = false;
      while (!end) {
        boolean closes = closing.getCount() == 0;
        if (closes && closeBy == Long.MAX_VALUE) {
          closeBy = System.nanoTime() + CLOSE_WITHIN.toNanos();
        }
        tellNumbers(closes);
        boolean idle = attempt();
        end = closes && ((idle && !failing) || System.nanoTime() - closeBy > 0);
        if (!end && idle) {
          pause(failing ? RETRY : LOOK);
        }
      }
      finish();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      ended.countDown();
    }
  }

  private void tellNumbers(boolean all) {
    for (LineShares share : shares) {
      for (LineShares.Sum sum : all ? share.takeAll() : share.takeDue(now())) {
        queue.offerOfNode(new AuditWork.OfNode(share.line(nodeId, now(), sum)));
      }
    }
  }

  private void pause(Duration time) throws InterruptedException {
    if (closing.await(time.toMillis(), TimeUnit.MILLISECONDS)) {
      // once it closes, waiting for that no longer takes time
      TimeUnit.MILLISECONDS.sleep(LOOK.toMillis());
    }
  }

  /** Writes what it can; returns true if there is nothing to do but wait. */
  private boolean attempt() {
    try {
      boolean wrote = writeFirst();
      wrote |= writeLoss();
      if (dirty && System.nanoTime() - forcedNanos > FORCE_NANOS) {
        force();
      }
      if (failing) {
        failing = false;
        LOG.info("{}: audit lines are written again", nodeId);
      }
      return !wrote;
    } catch (IOException e) {
      report(e);
      return true;
    }
  }

  private boolean writeFirst() throws IOException {
    List<AuditWork> works = queue.first(EVENTS_AT_ONCE);
    if (works.isEmpty()) {
      return false;
    }
    StringBuilder lines = new StringBuilder();
    AuditPosition last = written;
    for (AuditWork work : works) {
      last = work.appendTo(lines, last);
    }
    if (lines.length() > 0) {
      append(lines.toString());
    }
    written = last;
    queue.written(works.size());
    return true;
  }

  private boolean writeLoss() throws IOException {
    AuditQueue.Loss loss = queue.takeLoss();
    if (loss == null) {
      return false;
    }
    try {
      append(
          new JsonLine(now(), "audit_lost")
              .text("node", nodeId)
              .number("lost", loss.events())
              .number("first_index", indexOrNull(loss.firstIndex()))
              .number("last_index", indexOrNull(loss.lastIndex()))
              .toString());
      return true;
    } catch (IOException e) {
      queue.putBack(loss);
      throw e;
    }
  }

  private static @Nullable Long indexOrNull(long index) {
    return index == 0 ? null : (Long) index;
  }

  private void append(String lines) throws IOException {
    hash = target.append(place("audit_continued"), lines);
    dirty = true;
  }

  private void force() throws IOException {
    target.force();
    forcedNanos = System.nanoTime();
    dirty = false;
    if (forcedNanos - anchoredNanos > ANCHOR_NANOS) {
      anchor();
    }
  }

  private void report(IOException e) {
    long now = System.nanoTime();
    if (!failing) {
      failing = true;
      failedSinceNanos = now;
      reportedNanos = now - REPORT_NANOS;
    }
    if (now - reportedNanos >= REPORT_NANOS) {
      reportedNanos = now;
      LOG.error(
          "{}: audit lines cannot be written for {} s, and {} events wait: {}",
          nodeId,
          TimeUnit.NANOSECONDS.toSeconds(now - failedSinceNanos),
          queue.waitingEvents(),
          e.toString());
    }
  }

  private void finish() {
    int left = queue.waitingEvents();
    if (left > 0) {
      LOG.error("{}: stops with {} audit events that are not written", nodeId, left);
    }
    try {
      if (dirty) {
        target.force();
      }
      anchor();
      target.close();
    } catch (IOException e) {
      LOG.error("{}: the audit file did not close cleanly: {}", nodeId, e.toString());
    }
  }

  /** Waits some seconds until what is queued is written. */
  void close() {
    closing.countDown();
    try {
      if (!ended.await(CLOSE_WITHIN.toMillis() + 1_000, TimeUnit.MILLISECONDS)) {
        LOG.error(
            "{}: stops while the disk holds up {} audit events", nodeId, queue.waitingEvents());
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
