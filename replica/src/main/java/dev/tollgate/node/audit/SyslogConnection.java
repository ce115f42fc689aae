package dev.tollgate.node.audit;

import static java.util.Objects.requireNonNull;

import dev.tollgate.tls.TlsSocket;
import java.io.BufferedOutputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A connection to a syslog server. Its end is the receipt for what was sent: the server has to
 * answer a close_notify with one of its own (RFC 5425, 4.4), which it does behind all that came
 * before. The end of the bytes alone is none: whoever stands on the way can make it. One thread
 * uses it; another one closes it if a step takes too long.
 */
final class SyslogConnection implements Closeable {
  private static final Logger LOG = LoggerFactory.getLogger(SyslogConnection.class);

  /** A server has nothing to say: what it says within a look is read up to here. */
  private static final int MOST_SAID_BYTES = 4 << 10;

  /** Reports that the server has not answered the end of a connection in time. */
  static final class UnansweredException extends IOException {
    private static final long serialVersionUID = 1L;

    UnansweredException(String how) {
      super(
          "the server has not answered the end of the connection "
              + how
              + " by a close_notify, which is the receipt for the lines (RFC 5425, section 4.4)");
    }
  }

  private final SyslogSettings settings;
  private final Duration step;
  private final Socket plain = new Socket();
  private @Nullable TlsSocket secured;
  private @Nullable OutputStream out;
  private volatile long deadlineNanos;
  private volatile boolean timed;

  /**
   * @param step longest time for the TCP connection, for a part of the TLS handshake, for a write
   */
  SyslogConnection(SyslogSettings settings, Duration step) {
    this.settings = requireNonNull(settings, "settings");
    this.step = requireNonNull(step, "step");
  }

  /** Connects, and checks the certificate of the server. */
  void open() throws IOException {
    begin(step.multipliedBy(2));
    plain.connect(new InetSocketAddress(settings.host(), settings.port()), (int) step.toMillis());
    plain.setSoTimeout((int) step.toMillis());
    SSLEngine engine = settings.context().createSSLEngine(settings.host(), settings.port());
    engine.setUseClientMode(true);
    SSLParameters parameters = engine.getSSLParameters();
    parameters.setEndpointIdentificationAlgorithm("HTTPS");
    engine.setSSLParameters(parameters);
    TlsSocket opened = TlsSocket.handshake(plain, engine, "the server", step.toMillis());
    secured = opened;
    out = new BufferedOutputStream(opened.out());
    timed = false;
  }

  void write(byte[] frame) throws IOException {
    begin(step);
    requireNonNull(out, "out").write(frame);
    timed = false;
  }

  void flush() throws IOException {
    begin(step);
    requireNonNull(out, "out").flush();
    timed = false;
  }

  /**
   * Looks for a while whether the server ends the connection.
   *
   * @throws IOException if it does: lines that it has not read are lost with the connection
   */
  void requireOpen(Duration within) throws IOException {
    try {
      if (read(within) < 0) {
        throw new EOFException("the server has ended the connection");
      }
    } catch (SocketTimeoutException e) {
      // nothing is as it should be
    }
  }

  private int read(Duration within) throws IOException {
    plain.setSoTimeout((int) Math.max(1, within.toMillis()));
    return secured().in().read(new byte[MOST_SAID_BYTES]);
  }

  private TlsSocket secured() {
    return requireNonNull(secured, "secured");
  }

  /**
   * Ends the connection, and returns once the server has read all of it.
   *
   * @throws UnansweredException if the server does not say so in time
   */
  void end(Duration within) throws IOException {
    flush();
    begin(within.plus(step));
    secured().endOutput();
    long end = System.nanoTime() + within.toNanos();
    try {
      for (long left = within.toNanos(); left > 0; left = end - System.nanoTime()) {
        if (read(Duration.ofNanos(left)) < 0) {
          if (!secured().isEndedByOther()) {
            throw new UnansweredException("but has cut it, or somebody on the way has,");
          }
          return;
        }
      }
    } catch (SocketTimeoutException e) {
      // as if the time had passed between two reads
    } finally {
      timed = false;
    }
    throw new UnansweredException("within " + within.toMillis() + " ms");
  }

  private void begin(Duration within) {
    deadlineNanos = System.nanoTime() + within.toNanos();
    timed = true;
  }

  /** Breaks the connection off if a step of it is late: a write has no time limit of its own. */
  void closeIfLate() {
    if (timed && System.nanoTime() - deadlineNanos > 0) {
      close();
    }
  }

  /** Ends a step that is under way by an exception. Does not wait, as the end of TLS might. */
  @Override
  public void close() {
    try {
      plain.close();
    } catch (IOException e) {
      LOG.debug("the connection to the syslog server did not end cleanly", e);
    }
  }
}
