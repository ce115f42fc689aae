package dev.tollgate.node.audit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import dev.tollgate.log.Supervision;
import java.io.IOException;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends audit lines to a syslog server over TLS (RFC 5424, RFC 5425), as a copy that an attacker
 * who takes this node over cannot alter. A thread of its own sends; nothing waits for it. Each line
 * arrives at least once, as long as its file is there: lines are confirmed by the end of their
 * connection ({@link SyslogConnection}), and what is not confirmed is sent again. So a connection
 * ends when there is nothing to send for a moment, and after some seconds anyway. Thread-safe.
 */
final class SyslogSender {
  private static final Logger LOG = LoggerFactory.getLogger(SyslogSender.class);

  /** Facility 13, log audit; severity 6, informational. */
  private static final String PRIORITY_AND_VERSION = "<110>1 ";

  /** How long a connection waits for further lines: less than servers let one idle. */
  private static final Duration LINGER = Duration.ofMillis(500);

  /** A look whether the server has ended the connection, between two pieces. */
  private static final Duration LOOK = Duration.ofMillis(1);

  /** How long lines may wait for their confirmation while more of them come. */
  private static final Duration CONNECTION = Duration.ofSeconds(10);

  private static final Duration MOST_RETRY = Duration.ofSeconds(30);
  private static final Duration CLOSE = Duration.ofSeconds(2);
  private static final long WATCH_MILLIS = 500;
  private static final long REPORT_NANOS = Duration.ofMinutes(1).toNanos();

  /**
   * What does not depend on the settings of a node.
   *
   * @param step how long a server may take to take a part of the lines
   * @param answer how long a server may take to answer the end of a connection
   * @param retry the wait after the first failure, which doubles
   */
  record Times(Duration step, Duration answer, Duration retry) {
    static final Times STANDARD =
        new Times(Duration.ofSeconds(5), Duration.ofSeconds(5), Duration.ofSeconds(1));
  }

  private final String nodeId;
  private final SyslogSettings settings;
  private final Times times;
  private final Clock clock;
  private final String process = String.valueOf(ProcessHandle.current().pid());
  private @Nullable AuditBacklog backlog;
  private boolean woken;
  private boolean closing;
  private boolean ended;
  private volatile @Nullable SyslogConnection connection;
  private long reportedNanos = System.nanoTime() - REPORT_NANOS;
  private int failures;
  private int unanswered;

  SyslogSender(String nodeId, SyslogSettings settings, Clock clock) {
    this(nodeId, settings, Times.STANDARD, clock);
  }

  SyslogSender(String nodeId, SyslogSettings settings, Times times, Clock clock) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.settings = requireNonNull(settings, "settings");
    this.times = requireNonNull(times, "times");
    this.clock = requireNonNull(clock, "clock");
  }

  /**
   * Begins to send.
   *
   * @param file is open
   */
  void start(AuditSettings audit, AuditFile file, Supervision supervision) throws IOException {
    AuditBacklog opened = AuditBacklog.open(nodeId, audit, file, this::wake);
    synchronized (this) {
      backlog = opened;
    }
    String name = "tollgate-" + nodeId + "-syslog";
    supervision.thread(name, () -> run(opened)).start();
    supervision.thread(name + "-watch", this::watch).start();
  }

  private synchronized void wake() {
    woken = true;
    notifyAll();
  }

  /** How many lines were deleted with their file before the server had confirmed them. */
  long droppedLines() {
    AuditBacklog lines;
    synchronized (this) {
      lines = backlog;
    }
    return lines == null ? 0 : lines.droppedLines();
  }

  private void run(AuditBacklog lines) {
    try {
      boolean goesOn = true;
      while (goesOn) {
        try {
          goesOn = awaitLines(lines);
          if (goesOn) {
            deliver(lines);
            confirm(lines);
          }
        } catch (IOException e) {
          goesOn = failed(lines, e);
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      synchronized (this) {
        ended = true;
        notifyAll();
      }
    }
  }

  /** False if there are no lines, and none come because the node stops. */
  private boolean awaitLines(AuditBacklog lines) throws InterruptedException, IOException {
    while (!lines.hasNext()) {
      synchronized (this) {
        while (!woken && !closing) {
          wait();
        }
        if (!woken) {
          return false;
        }
        woken = false;
      }
    }
    return true;
  }

  private synchronized boolean isClosing() {
    return closing;
  }

  private void deliver(AuditBacklog lines) throws IOException {
    try (SyslogConnection server = new SyslogConnection(settings, times.step())) {
      connection = server;
      server.open();
      long until = System.nanoTime() + CONNECTION.toNanos();
      int sent = 0;
      AuditBacklog.Next next = lines.next();
      while (!next.lines().isEmpty()) {
        sent += write(server, next);
        boolean full =
            sent >= Limits.SYSLOG_UNCONFIRMED_LINES || System.nanoTime() - until > 0 || isClosing();
        boolean more = lines.hasNext();
        server.requireOpen(more || full ? LOOK : LINGER);
        if (full) {
          break;
        }
        next = lines.next();
      }
      server.end(times.answer());
    } finally {
      connection = null;
    }
  }

  private int write(SyslogConnection server, AuditBacklog.Next next) throws IOException {
    if (next.gap()) {
      server.write(frame(lost(next.lost())));
    }
    for (String line : next.lines()) {
      server.write(frame(line));
    }
    server.flush();
    return next.lines().size();
  }

  private String lost(long count) {
    return new JsonLine(ChronoUnit.MICROS.between(Instant.EPOCH, clock.instant()), "syslog_lost")
        .text("node", nodeId)
        .number("lost", count == 0 ? null : (Long) count)
        .toString()
        .trim();
  }

  private void confirm(AuditBacklog lines) {
    unanswered = 0;
    if (failures > 0) {
      failures = 0;
      LOG.info("{}: the syslog server takes audit lines again", nodeId);
    }
    try {
      lines.confirm();
    } catch (IOException e) {
      if (mayReport()) {
        LOG.error(
            "{}: the place up to which the syslog server has audit lines is not on the disk, so a"
                + " restart would send lines again: {}",
            nodeId,
            e.toString());
      }
    }
  }

  /** True once a minute. */
  private boolean mayReport() {
    boolean may = System.nanoTime() - reportedNanos >= REPORT_NANOS;
    if (may) {
      reportedNanos = System.nanoTime();
    }
    return may;
  }

  /** Waits for the next attempt; false if there is none, because the node stops. */
  private boolean failed(AuditBacklog lines, IOException why) {
    if (why instanceof SyslogConnection.UnansweredException
        && ++unanswered >= Limits.SYSLOG_UNANSWERED) {
      // a server that never answers would get the same lines for ever
      LOG.warn(
          "{}: the syslog server {}:{} took lines {} times and never answered the end of the"
              + " connection: they count as sent, and may be lost. RFC 5425, section 4.4, has"
              + " servers answer",
          nodeId,
          settings.host(),
          settings.port(),
          unanswered);
      confirm(lines);
      return !isClosing();
    }
    lines.rewind();
    failures++;
    if (mayReport()) {
      LOG.error(
          "{}: audit lines do not reach the syslog server {}:{}; the audit files keep them, and {}"
              + " were deleted there unsent so far: {}",
          nodeId,
          settings.host(),
          settings.port(),
          lines.droppedLines(),
          why.toString());
    }
    return awaitRetry();
  }

  private synchronized boolean awaitRetry() {
    long millis =
        Math.min(MOST_RETRY.toMillis(), times.retry().toMillis() << Math.min(failures - 1, 10));
    try {
      awaitAtMost(millis, () -> closing);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return false;
    }
    return !closing;
  }

  /** Waits until something is so that this object is notified of; the caller has the monitor. */
  private void awaitAtMost(long millis, BooleanSupplier met) throws InterruptedException {
    long until = System.nanoTime() + Duration.ofMillis(millis).toNanos();
    for (long left = millis; left > 0 && !met.getAsBoolean(); ) {
      wait(left);
      left = Duration.ofNanos(until - System.nanoTime()).toMillis();
    }
  }

  /** Ends connections that stand still. */
  private void watch() {
    try {
      while (true) {
        synchronized (this) {
          awaitAtMost(WATCH_MILLIS, () -> ended);
          if (ended) {
            return;
          }
        }
        SyslogConnection current = connection;
        if (current != null) {
          current.closeIfLate();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private byte[] frame(String line) {
    // {"time":"2026-11-24T11:05:22.000042Z", of which RFC 5424 has the form
    String time = line.substring(9, 36);
    String host = nodeId.chars().allMatch(c -> c > ' ' && c < 127) ? nodeId : "-";
    byte[] message =
        (PRIORITY_AND_VERSION + time + ' ' + host + " tollgate " + process + " audit - " + line)
            .getBytes(UTF_8);
    byte[] length = (message.length + " ").getBytes(UTF_8);
    byte[] frame = new byte[length.length + message.length];
    System.arraycopy(length, 0, frame, 0, length.length);
    System.arraycopy(message, 0, frame, length.length, message.length);
    return frame;
  }

  /** Sends what waits, as far as the server takes it within two seconds. */
  void close() {
    boolean all;
    synchronized (this) {
      closing = true;
      notifyAll();
      try {
        awaitAtMost(CLOSE.toMillis(), () -> ended);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      all = ended;
    }
    if (!all) {
      LOG.warn(
          "{}: stops before the syslog server has all audit lines: the next start sends the rest",
          nodeId);
    }
    SyslogConnection current = connection;
    if (current != null) {
      current.close();
    }
  }
}
