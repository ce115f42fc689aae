package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.CountedAddress;
import dev.tollgate.tls.CertificateDemand;
import dev.tollgate.tls.TlsCredentials;
import dev.tollgate.tls.TlsException;
import dev.tollgate.tls.TlsSocket;
import io.netty.channel.Channel;
import io.netty.handler.ssl.SslHandler;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedChannelException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * TLS at the port for clients. Signatures and checks of certificates take milliseconds, so threads
 * of their own compute them, and not the event loops. Thread-safe.
 */
final class ClientTls implements AutoCloseable {
  /** How long a client may take from its connection to the end of the handshake. */
  static final long HANDSHAKE_MILLIS = 5_000;

  private static final int THREADS = 2;
  private static final long IDLE_SECONDS = 10;

  private final TlsCredentials credentials;
  private final CertificateDemand demand;
  private final CertificateLogin logins;
  private final ThreadPoolExecutor threads;

  /** Of the addresses: one that floods the port leaves every second turn to others. */
  private final FairTurns<String> turns;

  private final Complaints complaints;

  /**
   * @param demand whether clients have to show certificates
   * @param logins whether certificates are logins
   * @param most handshakes that wait for a thread; one per connection, so more cannot come
   */
  ClientTls(
      TlsCredentials credentials,
      CertificateDemand demand,
      CertificateLogin logins,
      int most,
      ThreadFactory factory,
      Complaints complaints) {
    this.credentials = requireNonNull(credentials, "credentials");
    this.demand = requireNonNull(demand, "demand");
    this.logins = requireNonNull(logins, "logins");
    this.threads =
        new ThreadPoolExecutor(
            THREADS, THREADS, IDLE_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), factory);
    this.turns = new FairTurns<>(threads, THREADS, THREADS, most, address -> false);
    this.threads.allowCoreThreadTimeOut(true);
    this.complaints = requireNonNull(complaints, "complaints");
  }

  /** Makes the handler of one connection. */
  SslHandler handler(Channel channel, String client, long leftMillis) {
    String address = addressOf(channel);
    SslHandler handler =
        new OneHandshake(
            credentials.serverEngine(demand, /* nodesOnly= */ false),
            task -> compute(channel, address, task));
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

  /** Where a connection comes from, as addresses are counted. */
  static String addressOf(Channel channel) {
    return channel.remoteAddress() instanceof InetSocketAddress from
        ? CountedAddress.of(from.getAddress())
        : "";
  }

  private void compute(Channel channel, String address, Runnable task) {
    Runnable ifOpen =
        () -> {
          if (channel.isActive()) {
            task.run();
          }
        };
    if (!turns.run(address, ifOpen)) {
      throw new RejectedExecutionException(
          "as many handshakes wait as may, or half as many of one address");
    }
  }

  /** True if a client whose handshake is over has a certificate, and certificates are logins. */
  boolean mayLogIn(SslHandler handler) {
    return logins.isOn() && TlsSocket.peerCertificate(handler.engine()) != null;
  }

  /** The user of a client that logs in by its certificate; null if that logs nobody in. */
  @Nullable String userOf(SslHandler handler, String client) {
    String refusal = logins.refusalOf(handler.engine());
    if (refusal != null) {
      log(client, refusal);
    }
    return logins.userOf(handler.engine());
  }

  private void failed(String client, Throwable cause) {
    log(client, "made no TLS connection: " + why(cause));
  }

  private static String why(Throwable cause) {
    if (cause instanceof SSLException failure) {
      return String.valueOf(TlsException.of(failure, "the client").getMessage());
    }
    return cause instanceof ClosedChannelException
        ? "the client closed the connection"
        : cause.toString();
  }

  void log(String client, String what) {
    complaints.log(client, what);
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
