package dev.tollgate.node.audit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import dev.tollgate.log.Supervision;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.BooleanSupplier;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends audit lines to a syslog server over TLS (RFC 5424, RFC 5425), as a copy that whoever takes
 * this node over cannot alter. A thread of its own sends; nothing waits for it. A line that finds
 * the queue full is not sent, and counted: the server is told how many. RFC 5425 has no receipts,
 * so lines that were under way when a connection broke may be missing too. Thread-safe.
 */
final class SyslogSender {
  private static final Logger LOG = LoggerFactory.getLogger(SyslogSender.class);

  /** Facility 13, log audit; severity 6, informational. */
  private static final String PRIORITY_AND_VERSION = "<110>1 ";

  private static final int CONNECT_MILLIS = 5_000;
  private static final long RETRY_MILLIS = 1_000;
  private static final long CLOSE_MILLIS = 2_000;
  private static final long REPORT_NANOS = Duration.ofMinutes(1).toNanos();

  private final String nodeId;
  private final SyslogSettings settings;
  private final int most;
  private final Clock clock;
  private final String process = String.valueOf(ProcessHandle.current().pid());
  private final Deque<String> waiting = new ArrayDeque<>();
  private boolean closing;
  private boolean ended;
  private long lost;
  private long lostInAll;
  private @Nullable Socket socket;
  private long reportedNanos = System.nanoTime() - REPORT_NANOS;
  private boolean failing;

  SyslogSender(String nodeId, SyslogSettings settings, Clock clock) {
    this(nodeId, settings, Limits.SYSLOG_LINES, clock);
  }

  SyslogSender(String nodeId, SyslogSettings settings, int most, Clock clock) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.settings = requireNonNull(settings, "settings");
    this.most = most;
    this.clock = requireNonNull(clock, "clock");
  }

  void start(Supervision supervision) {
    supervision.thread("tollgate-" + nodeId + "-syslog", this::run).start();
  }

  /** Sends whole lines as soon as the server takes them; never waits. */
  void offer(String lines) {
    long before = lostLines();
    synchronized (this) {
      lines.lines().forEach(this::offerLine);
      notifyAll();
    }
    if (lostLines() > before && mayReport()) {
      LOG.error(
          "{}: audit lines are not sent to the syslog server {}:{}, {} so far, because {} of them"
              + " wait, as many as may: see to the server. The audit file has them",
          nodeId,
          settings.host(),
          settings.port(),
          lostLines(),
          most);
    }
  }

  private void offerLine(String line) {
    if (waiting.size() < most) {
      waiting.addLast(line);
    } else {
      lost++;
      lostInAll++;
    }
  }

  /** True once a minute. */
  private synchronized boolean mayReport() {
    boolean may = System.nanoTime() - reportedNanos >= REPORT_NANOS;
    if (may) {
      reportedNanos = System.nanoTime();
    }
    return may;
  }

  /** How many lines were not sent because too many waited. */
  synchronized long lostLines() {
    return lostInAll;
  }

  private void run() {
    try {
      OutputStream out = null;
      boolean goesOn = true;
      while (goesOn) {
        try {
          String line = awaitLine(out);
          if (line == null) {
            return;
          }
          if (out == null) {
            out = connect();
          }
          out.write(frame(line));
          sent();
        } catch (IOException e) {
          disconnect();
          out = null;
          report(e);
          goesOn = awaitRetry();
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } finally {
      disconnect();
      synchronized (this) {
        ended = true;
        notifyAll();
      }
    }
  }

  /** The first line, which stays until {@link #sent}; null if there are no more, and none come. */
  private @Nullable String awaitLine(@Nullable OutputStream out)
      throws InterruptedException, IOException {
    synchronized (this) {
      if (!waiting.isEmpty() || lost > 0) {
        return next();
      }
    }
    if (out != null) {
      out.flush();
    }
    synchronized (this) {
      while (waiting.isEmpty() && lost == 0) {
        if (closing) {
          return null;
        }
        wait();
      }
      return next();
    }
  }

  private String next() {
    if (lost > 0 && waiting.size() < most) {
      long count = lost;
      lost = 0;
      waiting.addFirst(
          new JsonLine(ChronoUnit.MICROS.between(Instant.EPOCH, clock.instant()), "syslog_lost")
              .text("node", nodeId)
              .number("lost", count)
              .toString()
              .trim());
    }
    return waiting.getFirst();
  }

  private void sent() {
    synchronized (this) {
      waiting.removeFirst();
    }
    if (failing) {
      failing = false;
      LOG.info("{}: the syslog server takes audit lines again", nodeId);
    }
  }

  private OutputStream connect() throws IOException {
    Socket plain = new Socket();
    synchronized (this) {
      socket = plain;
    }
    plain.connect(new InetSocketAddress(settings.host(), settings.port()), CONNECT_MILLIS);
    plain.setSoTimeout(CONNECT_MILLIS);
    SSLSocket secured =
        (SSLSocket)
            settings
                .sockets()
                .createSocket(plain, settings.host(), settings.port(), /* autoClose= */ true);
    SSLParameters parameters = secured.getSSLParameters();
    parameters.setEndpointIdentificationAlgorithm("HTTPS");
    secured.setSSLParameters(parameters);
    secured.startHandshake();
    synchronized (this) {
      socket = secured;
    }
    return new BufferedOutputStream(secured.getOutputStream());
  }

  private void disconnect() {
    Socket old;
    synchronized (this) {
      old = socket;
      socket = null;
    }
    if (old != null) {
      try {
        old.close();
      } catch (IOException e) {
        LOG.debug("{}: the connection to the syslog server did not end cleanly", nodeId, e);
      }
    }
  }

  private void report(IOException e) {
    failing = true;
    if (mayReport()) {
      LOG.error(
          "{}: audit lines do not reach the syslog server {}:{}, and {} were not sent so far: {}",
          nodeId,
          settings.host(),
          settings.port(),
          lostLines(),
          e.toString());
    }
  }

  /** Waits for the next attempt; false if there is none, because the node stops. */
  private synchronized boolean awaitRetry() {
    try {
      awaitAtMost(RETRY_MILLIS, () -> closing);
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
    int left;
    synchronized (this) {
      closing = true;
      notifyAll();
      try {
        awaitAtMost(CLOSE_MILLIS, () -> ended);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      left = ended ? 0 : waiting.size();
    }
    if (left > 0) {
      LOG.error("{}: stops with {} audit lines that were not sent to syslog", nodeId, left);
    }
    // a thread that writes to a server that does not read ends so
    disconnect();
  }
}
