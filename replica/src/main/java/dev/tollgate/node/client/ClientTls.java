package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.tls.CertificateDemand;
import dev.tollgate.tls.TlsCredentials;
import dev.tollgate.tls.TlsException;
import io.netty.handler.ssl.SslHandler;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import javax.net.ssl.SSLException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * TLS at the port for clients. Signatures and checks of certificates take milliseconds, so threads
 * of their own compute them, and not the event loops. Thread-safe.
 */
final class ClientTls implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ClientTls.class);

  /** How long a client may take from its connection to the end of the handshake. */
  static final long HANDSHAKE_MILLIS = 5_000;

  private static final int THREADS = 2;
  private static final long IDLE_SECONDS = 10;

  /** One line about clients that fail; further ones within a second are left out. */
  private static final long LOG_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final String nodeId;
  private final TlsCredentials credentials;
  private final CertificateDemand demand;
  private final ThreadPoolExecutor threads;
  private final AtomicLong loggedNanos = new AtomicLong(System.nanoTime() - LOG_NANOS);
  private final AtomicLong leftOut = new AtomicLong();

  /**
   * @param demand whether clients have to show certificates
   * @param most handshakes that wait for a thread; one per connection, so more cannot come
   */
  ClientTls(
      String nodeId,
      TlsCredentials credentials,
      CertificateDemand demand,
      int most,
      ThreadFactory factory) {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.credentials = requireNonNull(credentials, "credentials");
    this.demand = requireNonNull(demand, "demand");
    this.threads =
        new ThreadPoolExecutor(
            THREADS,
            THREADS,
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(most),
            factory);
    this.threads.allowCoreThreadTimeOut(true);
  }

  /** Makes the handler of one connection. */
  SslHandler handler(String client, long leftMillis) {
    SslHandler handler =
        new SslHandler(credentials.serverEngine(demand, /* nodesOnly= */ false), threads);
    handler.setHandshakeTimeoutMillis(Math.max(1, leftMillis));
    handler
        .handshakeFuture()
        .addListener(
            done -> {
              if (!done.isSuccess()) {
                failed(client, done.cause());
              }
            });
    return handler;
  }

  private void failed(String client, Throwable cause) {
    log(client, "the TLS handshake failed: " + why(cause));
  }

  private static String why(Throwable cause) {
    if (cause instanceof SSLException failure) {
      return String.valueOf(TlsException.of(failure, "the client").getMessage());
    }
    return cause instanceof ClosedChannelException
        ? "the client closed the connection"
        : cause.toString();
  }

  /** Logs why a client is not served, but not once for each of thousands. */
  void log(String client, String why) {
    long now = System.nanoTime();
    long last = loggedNanos.get();
    if (now - last >= LOG_NANOS && loggedNanos.compareAndSet(last, now)) {
      long others = leftOut.getAndSet(0);
      LOG.warn(
          "{}: {}: {}{}",
          nodeId,
          client,
          why,
          others == 0 ? "" : " (and " + others + " more clients since the last such line)");
    } else {
      leftOut.incrementAndGet();
      LOG.debug("{}: {}: {}", nodeId, client, why);
    }
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
