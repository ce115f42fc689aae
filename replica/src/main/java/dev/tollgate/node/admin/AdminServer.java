package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.FairPlaces;
import dev.tollgate.log.Supervision;
import dev.tollgate.log.entry.LoggedError;
import dev.tollgate.node.client.CertificateLogin;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The admin address of a node: takes requests, admits their senders, and sends the answers of the
 * routes. Thread-safe.
 *
 * <p>A request takes one of {@link AdminLimits#threads} threads from its head to its last byte.
 * Others wait for a thread. A login that is delayed waits before that, and its connection makes
 * room for others as an idle one does. A connection has at most one request, so at most {@link
 * AdminLimits#CONNECTIONS} wait. A client that sends or reads slowly is cut off: {@link
 * HttpConnection} times the head of a request, and {@link HttpVisit} the rest.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a channel closes whether its future is heard or not
final class AdminServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(AdminServer.class);
  private static final int BACKLOG = 64;
  private static final long IDLE_SECONDS = 30;

  private final String nodeId;
  private final AdminLimits limits;
  private final RouteTable routes;
  private final Admission admission;
  private final FatalErrors errors;
  private final AnswerSender sender;
  private final CertificateLogin logins;
  private final ThreadPoolExecutor threads;
  private final EventLoopGroup loop;

  /** Of one event loop. A connection with a request under way keeps its place. */
  private final FairPlaces<SocketChannel> places =
      new FairPlaces<>(AdminLimits.CONNECTIONS, AdminServer::isIdle);

  private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
  private final Channel listener;

  /** Says who may use a route, and for how long: {@link Doorkeeper}. */
  interface Admission {
    Doorkeeper.Decision decide(
        Audience audience, boolean changes, Doorkeeper.Credentials credentials);

    /** Has the end of a caller's login told, until the returned action runs. */
    Runnable watch(Caller caller, Presence presence);
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
    this.sender = new AnswerSender(limits);
    this.threads =
        new ThreadPoolExecutor(
            limits.threads(),
            limits.threads(),
            IDLE_SECONDS,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(2 * AdminLimits.CONNECTIONS),
            supervision.threads("tollgate-" + nodeId + "-admin"));
    threads.allowCoreThreadTimeOut(true);
    loop =
        new MultiThreadIoEventLoopGroup(
            1, supervision.threads("tollgate-" + nodeId + "-admin-io"), NioIoHandler.newFactory());
    logins = tls == null ? CertificateLogin.OFF : tls.logins();
    listener = bind(address, tls);
  }

  private Channel bind(InetSocketAddress address, @Nullable AdminTls tls) throws IOException {
    try {
      return new ServerBootstrap()
          .group(loop)
          .channel(NioServerSocketChannel.class)
          .option(ChannelOption.SO_BACKLOG, BACKLOG)
          .option(ChannelOption.SO_REUSEADDR, true)
          .childOption(ChannelOption.TCP_NODELAY, true)
          .childOption(ChannelOption.SO_KEEPALIVE, true)
          .childHandler(new Initializer(tls))
          .bind(address)
          .syncUninterruptibly()
          .channel();
    } catch (Exception e) {
      // Netty rethrows what it met, even checked exceptions that it does not declare
      loop.shutdownGracefully(0, 1, TimeUnit.SECONDS);
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

  private static boolean isIdle(SocketChannel channel) {
    HttpConnection connection = channel.pipeline().get(HttpConnection.class);
    return connection == null || connection.isIdle();
  }

  private final class Initializer extends ChannelInitializer<SocketChannel> {
    private final @Nullable AdminTls tls;

    Initializer(@Nullable AdminTls tls) {
      this.tls = tls;
    }

    @Override
    protected void initChannel(SocketChannel channel) {
      HttpConnection connection =
          new HttpConnection(
              limits, request -> begin(request, /* waited= */ false), AdminServer.this::unexpected);
      InetSocketAddress from = channel.remoteAddress();
      SocketChannel loser = from == null ? channel : places.take(channel, from.getAddress());
      if (loser != null) {
        loser.close();
      }
      if (loser == channel) {
        return;
      }
      channel.closeFuture().addListener(closed -> places.giveBack(channel));
      connections.add(channel);
      if (tls != null) {
        channel.pipeline().addLast(tls.handler());
      }
      channel
          .pipeline()
          .addLast(
              new HttpCodec(
                  new HttpDecoderConfig()
                      .setMaxInitialLineLength(AdminLimits.HEAD_BYTES)
                      .setMaxHeaderSize(AdminLimits.HEAD_BYTES)),
              connection);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      var unused = unexpected(cause);
      context.close();
    }
  }

  private void begin(HttpVisit request, boolean waited) {
    try {
      threads.execute(() -> handle(request, waited));
    } catch (RejectedExecutionException e) {
      LOG.debug("{}: a request came while the node stopped", nodeId, e);
      request.abort();
    }
  }

  /** The address where it listens, with the port that was chosen if port 0 was requested. */
  InetSocketAddress address() {
    return (InetSocketAddress) listener.localAddress();
  }

  private void handle(HttpVisit request, boolean waited) {
    boolean answered = false;
    try (Visit visit = new Visit()) {
      Answer answer = answer(request, visit, waited);
      if (answer != null) {
        boolean json = isForScripts(request.uri().getRawPath());
        sender.send(request, json ? ErrorAnswer.inJson(answer) : answer);
      }
      answered = true;
    } catch (IOException e) {
      LOG.debug("{}: a client of the admin address broke off", nodeId, e);
    } catch (RuntimeException | Error e) {
      var unused = unexpected(e);
    } finally {
      if (!answered) {
        request.abort();
      }
    }
  }

  private static boolean isForScripts(@Nullable String path) {
    return path != null && path.startsWith(ErrorAnswer.PATHS);
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

  /** Answers a request; returns null if it waits to be looked at again. */
  private @Nullable Answer answer(HttpVisit exchange, Visit visit, boolean waited)
      throws IOException {
    String path = exchange.uri().getRawPath();
    String asked = exchange.method();
    String method = asked.equals("HEAD") ? "GET" : asked;
    if (path == null) {
      return Answer.text(Answer.NOT_FOUND, "there is nothing here");
    }
    Route route = routes.find(method, path);
    if (route == null) {
      return missing(path);
    }
    Doorkeeper.Decision decision =
        admission.decide(
            route.audience(),
            !method.equals("GET"),
            new Doorkeeper.Credentials(
                method + ' ' + path,
                exchange.from(),
                exchange.certified(logins),
                exchange::header,
                waited));
    Caller caller = decision.caller();
    Duration later = decision.later();
    if (later != null) {
      exchange.later(later, () -> begin(exchange, /* waited= */ true));
      return null;
    }
    if (caller == null) {
      return requireNonNull(decision.refusal());
    }
    if (method.equals("GET") && exchange.announcesBody()) {
      return Answer.text(Answer.BAD_REQUEST, "a request that only reads has no body here");
    }
    visit.watch(admission.watch(caller, exchange.presence()));
    Answer full = visit.enter(route.gate(), caller);
    if (full != null) {
      return full;
    }
    byte[] body = exchange.body(limits.bodyTime());
    if (body == null) {
      return Answer.text(
          Answer.TOO_LARGE,
          "the body of the request has more than " + limits.requestBytes() + " bytes");
    }
    String query = exchange.uri().getRawQuery();
    AdminRequest request =
        new AdminRequest(
            method,
            path,
            route.rest(path),
            query == null ? "" : query,
            body,
            caller,
            exchange.from(),
            exchange::header,
            exchange.presence());
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

  /** Ends what is under way, and the port. */
  @Override
  public void close() {
    if (loop.isShuttingDown()) {
      return;
    }
    listener.close().syncUninterruptibly();
    connections.close().syncUninterruptibly();
    loop.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
    threads.shutdown();
  }
}
