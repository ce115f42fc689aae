package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsExchange;
import com.sun.net.httpserver.HttpsServer;
import dev.tollgate.log.Supervision;
import dev.tollgate.log.entry.LoggedError;
import dev.tollgate.tls.Certificates;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The admin address of a node: takes requests, admits their senders, and sends the answers of the
 * routes. Thread-safe.
 *
 * <p>A request takes one of {@link AdminLimits#threads} threads from its first byte to its last:
 * the JDK's server reads and writes with blocking calls. Others wait for a thread. A connection has
 * at most one request, so at most {@link AdminLimits#CONNECTIONS} wait. A client that sends or
 * reads slowly is cut off: the JDK's server times the head of a request, and {@link SlowClients}
 * times the rest.
 */
final class AdminServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(AdminServer.class);
  private static final int BACKLOG = 64;
  private static final long IDLE_SECONDS = 30;

  static {
    // the JDK reads these once, when the first server of the process is made
    setUnlessSet("jdk.httpserver.maxConnections", AdminLimits.CONNECTIONS);
    setUnlessSet("sun.net.httpserver.maxIdleConnections", AdminLimits.CONNECTIONS);
    setUnlessSet("sun.net.httpserver.idleInterval", AdminLimits.SILENCE_SECONDS);
    setUnlessSet("sun.net.httpserver.maxReqTime", AdminLimits.SILENCE_SECONDS);
    setUnlessSet("sun.net.httpserver.maxReqHeaders", AdminLimits.HEADERS);
    setUnlessSet("sun.net.httpserver.maxReqHeaderSize", AdminLimits.HEAD_BYTES);
  }

  private static void setUnlessSet(String property, int value) {
    if (System.getProperty(property) == null) {
      System.setProperty(property, String.valueOf(value));
    }
  }

  private final String nodeId;
  private final AdminLimits limits;
  private final RouteTable routes;
  private final Admission admission;
  private final FatalErrors errors;
  private final SlowClients slow;
  private final AnswerSender sender;
  private final ThreadPoolExecutor threads;
  private final HttpServer server;

  /** Says who may use a route: {@link Doorkeeper#decide}. */
  interface Admission {
    Doorkeeper.Decision decide(
        Audience audience, boolean changes, Doorkeeper.Credentials credentials);
  }

  /** Stops the replica if an error says that this process is broken. */
  interface FatalErrors {
    /** Returns true if it did. */
    boolean stopIfBroken(Throwable error);
  }

  /**
   * Begins to listen.
   *
   * @param tls null for an address without TLS
   * @throws IOException if the server cannot listen on the address
   */
  AdminServer(
      String nodeId,
      InetSocketAddress address,
      @Nullable AdminTls tls,
      AdminLimits limits,
      List<Route> routes,
      Admission admission,
      FatalErrors errors,
      Supervision supervision)
      throws IOException {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.limits = requireNonNull(limits, "limits");
    this.routes = new RouteTable(routes);
    this.admission = requireNonNull(admission, "admission");
    this.errors = requireNonNull(errors, "errors");
    this.server = bind(address, tls);
    this.slow = new SlowClients(nodeId, supervision);
    this.sender = new AnswerSender(limits, slow);
    this.threads =
        new ThreadPoolExecutor(
            limits.threads(),
            limits.threads(),
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(2 * AdminLimits.CONNECTIONS),
            supervision.threads("tollgate-" + nodeId + "-admin"));
    threads.allowCoreThreadTimeOut(true);
    server.setExecutor(exchange -> threads.execute(() -> run(exchange)));
    server.createContext("/", this::handle);
    server.start();
  }

  private static HttpServer bind(InetSocketAddress address, @Nullable AdminTls tls)
      throws IOException {
    try {
      if (tls == null) {
        return HttpServer.create(address, BACKLOG);
      }
      HttpsServer server = HttpsServer.create(address, BACKLOG);
      server.setHttpsConfigurator(tls);
      return server;
    } catch (IOException e) {
      throw new IOException(
          "cannot listen on the admin address "
              + address.getHostString()
              + ":"
              + address.getPort()
              + ": "
              + e.getMessage(),
          e);
    }
  }

  /** The address where it listens, with the port that was chosen if port 0 was requested. */
  InetSocketAddress address() {
    return server.getAddress();
  }

  /** An error of the JDK's server must not end the node as an error of a thread of its own does. */
  private void run(Runnable exchange) {
    try {
      exchange.run();
    } catch (RuntimeException | Error e) {
      var unused = unexpected(e);
    }
  }

  private void handle(HttpExchange exchange) {
    try (exchange) {
      sender.send(exchange, answer(exchange));
    } catch (IOException e) {
      LOG.debug("{}: a client of the admin address broke off", nodeId, e);
    } catch (RuntimeException | Error e) {
      var unused = unexpected(e);
    }
  }

  private Answer unexpected(Throwable bug) {
    if (!errors.stopIfBroken(bug)) {
      LOG.error("{}: a page of the admin address failed", nodeId, LoggedError.of(bug));
    }
    return Answer.text(
        Answer.FAILED,
        "an error in Tollgate, which the log of the node describes: "
            + bug.getClass().getSimpleName());
  }

  private Answer answer(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().getRawPath();
    String asked = exchange.getRequestMethod();
    String method = asked.equals("HEAD") ? "GET" : asked;
    if (path == null) {
      return Answer.text(Answer.NOT_FOUND, "there is nothing here");
    }
    Route route = routes.find(method, path);
    if (route == null) {
      return missing(path);
    }
    Headers headers = exchange.getRequestHeaders();
    Doorkeeper.Decision decision =
        admission.decide(
            route.audience(),
            !method.equals("GET"),
            new Doorkeeper.Credentials(
                exchange.getRemoteAddress().getAddress(), certified(exchange), headers::getFirst));
    Caller caller = decision.caller();
    if (caller == null) {
      return requireNonNull(decision.refusal());
    }
    byte[] body = body(exchange);
    if (body == null) {
      return Answer.text(
          Answer.TOO_LARGE,
          "the body of the request has more than " + limits.requestBytes() + " bytes");
    }
    String query = exchange.getRequestURI().getRawQuery();
    AdminRequest request =
        new AdminRequest(
            method,
            path,
            route.rest(path),
            query == null ? "" : query,
            body,
            caller,
            exchange.getRemoteAddress().getAddress(),
            headers::getFirst);
    try {
      return route.page().answer(request);
    } catch (RuntimeException | Error e) {
      return unexpected(e);
    }
  }

  private Answer missing(String path) {
    var methods = routes.methods(path);
    return methods.isEmpty()
        ? Answer.text(Answer.NOT_FOUND, "there is nothing here")
        : Answer.text(Answer.METHOD_NOT_ALLOWED, "this page takes " + String.join(", ", methods))
            .with("Allow", String.join(", ", methods));
  }

  /** The user that the client's certificate names, which was checked; null without one. */
  private static @Nullable String certified(HttpExchange exchange) {
    if (!(exchange instanceof HttpsExchange https)) {
      return null;
    }
    try {
      Certificate[] shown = https.getSSLSession().getPeerCertificates();
      return shown.length > 0 && shown[0] instanceof X509Certificate certificate
          ? Certificates.user(certificate)
          : null;
    } catch (SSLPeerUnverifiedException e) {
      return null;
    }
  }

  /** Reads the body of a request; null if it is too long. */
  private byte @Nullable [] body(HttpExchange exchange) throws IOException {
    byte[] read =
        slow.within(
            limits.bodyTime(),
            () -> exchange.getRequestBody().readNBytes(limits.requestBytes() + 1));
    return read.length > limits.requestBytes() ? null : read;
  }

  /** Ends what is under way, and the port. */
  @Override
  public void close() {
    slow.close();
    server.stop(0);
    threads.shutdown();
  }
}
