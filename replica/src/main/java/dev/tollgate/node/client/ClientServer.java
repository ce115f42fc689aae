package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.UserName;
import dev.tollgate.log.CountedAddress;
import dev.tollgate.node.replica.Replica;
import dev.tollgate.tls.Certificates;
import dev.tollgate.tls.TlsSocket;
import dev.tollgate.wire.Frame;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.SqlState;
import dev.tollgate.wire.WireFormatException;
import dev.tollgate.wire.WireWriter;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.SimpleChannelInboundHandler;
import io.netty.channel.group.ChannelGroup;
import io.netty.channel.group.DefaultChannelGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.SocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.GlobalEventExecutor;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.nio.channels.ClosedChannelException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The port that clients connect to. */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel comes to exceptionCaught
public final class ClientServer implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(ClientServer.class);
  private static final int BACKLOG = 1024;
  private static final int EVENT_LOOPS = 2;
  private static final long DRAIN_POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

  /** Connections beyond the limit, strangers for the most part; others wait to be accepted. */
  private static final int REFUSED = 2 * Arrivals.LEAST_STRANGERS;

  /** How often connections are looked for whose time is over. */
  private static final long OVERDUE_MILLIS = 500;

  private final String nodeId;
  private final Arrivals arrivals;
  private final Function<ClientConnection.Link, ClientConnection> clients;
  private final Traffic traffic;
  private final Complaints complaints;
  private final Replica replica;
  private final @Nullable ClientTls tls;
  private final EventLoopGroup loops;
  private final ChannelGroup connections = new DefaultChannelGroup(GlobalEventExecutor.INSTANCE);
  private final Channel listener;

  /**
   * Begins to listen.
   *
   * @param maxConnections further connections are told so and closed
   * @param clients makes the node's side of a connection
   * @param traffic counts the replies that clients have not read
   * @param tls closed with this; null for a port without TLS
   * @param replica stops if an error says that this process is broken
   * @throws IOException if the server cannot listen on the address
   */
  ClientServer(
      String nodeId,
      InetSocketAddress address,
      int maxConnections,
      Function<ClientConnection.Link, ClientConnection> clients,
      Traffic traffic,
      Complaints complaints,
      @Nullable ClientTls tls,
      Replica replica)
      throws IOException {
    this.nodeId = requireNonNull(nodeId, "nodeId");
    this.arrivals =
        new Arrivals(
            nodeId,
            maxConnections,
            traffic.limits().connections(),
            user -> replica.facts().isAdministrator(new UserName(user)),
            System::nanoTime);
    this.clients = requireNonNull(clients, "clients");
    this.traffic = requireNonNull(traffic, "traffic");
    this.complaints = requireNonNull(complaints, "complaints");
    this.replica = requireNonNull(replica, "replica");
    this.tls = tls;
    loops =
        new MultiThreadIoEventLoopGroup(
            EVENT_LOOPS,
            new DefaultThreadFactory("tollgate-" + nodeId + "-client", /* daemon= */ true),
            NioIoHandler.newFactory());
    try {
      listener =
          new ServerBootstrap()
              .group(loops)
              .channel(NioServerSocketChannel.class)
              .option(ChannelOption.SO_BACKLOG, BACKLOG)
              .option(ChannelOption.SO_REUSEADDR, true)
              .childOption(ChannelOption.TCP_NODELAY, true)
              .childHandler(new Initializer())
              .handler(new AcceptLimit(maxConnections + Limits.ADMINISTRATOR_CONNECTIONS + REFUSED))
              .bind(address)
              .syncUninterruptibly()
              .channel();
      loops
          .next()
          .scheduleWithFixedDelay(
              arrivals::closeOverdue, OVERDUE_MILLIS, OVERDUE_MILLIS, TimeUnit.MILLISECONDS);
    } catch (Exception e) {
      // Netty rethrows what it met, even checked exceptions that it does not declare
      loops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
      throw new IOException(
          "cannot listen for clients on "
              + address.getHostString()
              + ":"
              + address.getPort()
              + ": "
              + e.getMessage(),
          e);
    }
  }

  /** The address where it listens, with the port that was chosen if port 0 was requested. */
  public InetSocketAddress address() {
    return (InetSocketAddress) listener.localAddress();
  }

  /** The connections of this port. */
  public ArrivalFigures figures() {
    return arrivals.figures();
  }

  /**
   * Takes no more connections, and closes each one as soon as nothing is due on it. A client then
   * knows that whatever it sends later was never taken. While this node leads, connections with
   * heartbeats stay open, so that no lease expires meanwhile.
   *
   * @param atMost longest time; the connections that are left then end with {@link #close}
   * @return how many of them still have something due
   */
  public int drain(Duration atMost) {
    listener.close().syncUninterruptibly();
    long deadline = System.nanoTime() + atMost.toNanos();
    int busy = busyConnections();
    while (busy > 0 && System.nanoTime() - deadline < 0) {
      LockSupport.parkNanos(DRAIN_POLL_NANOS);
      busy = busyConnections();
    }
    return busy;
  }

  /** Counts the connections of which it is not known yet that nothing is due. */
  private int busyConnections() {
    int busy = 0;
    for (Channel channel : connections) {
      ConnectionHandler handler = channel.pipeline().get(ConnectionHandler.class);
      if (handler != null && !handler.isDrained()) {
        handler.onLoop(handler::closeIfDone);
        busy++;
      }
    }
    return busy;
  }

  @Override
  public void close() {
    listener.close().syncUninterruptibly();
    connections.close().syncUninterruptibly();
    loops.shutdownGracefully(0, 2, TimeUnit.SECONDS).syncUninterruptibly();
    if (tls != null) {
      tls.close();
    }
  }

  private final class Initializer extends ChannelInitializer<SocketChannel> {
    @Override
    protected void initChannel(SocketChannel channel) {
      KeepAlive.configure(channel.config());
      if (tls != null) {
        channel.pipeline().addLast(new TlsGate(tls));
      }
      FrameCodec codec = new FrameCodec(traffic, arrivals);
      channel.pipeline().addLast(codec, new ConnectionHandler(channel, codec));
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      replica.stopIfClassesAreLost(cause);
      LOG.error("{}: a connection could not be taken", nodeId, cause);
      context.close();
    }
  }

  /** One client's channel. */
  private final class ConnectionHandler extends SimpleChannelInboundHandler<Frame>
      implements ClientConnection.Link {
    private final Channel channel;
    private final FrameCodec codec;
    private final ClientConnection connection;
    private final AtomicLong unread = new AtomicLong();

    /** Of the event loop: the client has reset the connection, as the end of a process may. */
    private boolean reset;

    /** Of the event loop: the network has given the connection up. */
    private boolean lost;

    /** Nothing is due, and nothing more is served, or heartbeats alone. */
    private volatile boolean drained;

    ConnectionHandler(Channel channel, FrameCodec codec) {
      this.channel = channel;
      this.codec = codec;
      this.connection = clients.apply(this);
    }

    @Override
    public void channelActive(ChannelHandlerContext context) {
      connections.add(channel);
      arrivals.connected(channel);
    }

    boolean isDrained() {
      return drained;
    }

    /** On the event loop, which has handed over every request that has come. */
    void closeIfDone() {
      // in this order: a reply is on its way to this thread before its request counts as answered
      boolean done = !codec.isWithinRequest() && connection.owesNothing() && unread.get() == 0;
      if (drained || !done) {
        return;
      }
      drained = true;
      if (!replica.isLeading() || !connection.keepsLeases()) {
        channel.config().setAutoRead(false);
        close();
      }
    }

    @Override
    public @Nullable String introduced(String user) {
      String noRoom = arrivals.introduced(channel, user);
      if (noRoom == null && !user.isEmpty()) {
        codec.introduced(new UserName(user));
      }
      return noRoom;
    }

    @Override
    protected void channelRead0(ChannelHandlerContext context, Frame frame) {
      connection.receive(frame);
    }

    @Override
    public void channelInactive(ChannelHandlerContext context) {
      arrivals.disconnected(channel);
      if (reset || !(lost || codec.isClosedHere())) {
        connection.left();
      } else {
        connection.disconnected();
      }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      Throwable reason = cause instanceof DecoderException ? cause.getCause() : cause;
      if (reason instanceof WireFormatException) {
        complaints.log(client(), "sent " + reason.getMessage());
        refuse(
            new Reply.Failure(
                SqlState.CONNECTION_REFUSED,
                "this port speaks the Tollgate protocol, and what came is not of it: "
                    + reason.getMessage()));
      } else if (reason instanceof IOException) {
        LOG.debug("{}: {} broke off", nodeId, client(), reason);
        reset |= isReset(reason);
        channel.close();
      } else {
        failed(cause);
      }
    }

    /**
     * False for a connection over which nothing comes any more: its client may be well. The Java
     * runtime says it so for a read, and leaves the words of the operating system for a write.
     */
    private static boolean isReset(@Nullable Throwable cause) {
      String words = cause == null ? null : cause.getMessage();
      return cause instanceof SocketException
          || (words != null && (words.contains("reset") || words.contains("Broken pipe")));
    }

    private void failed(Throwable cause) {
      replica.stopIfClassesAreLost(cause);
      LOG.error("{}: the connection of {} failed", nodeId, client(), cause);
      channel.close();
    }

    private void refuse(Reply.Failure why) {
      WireWriter body = new WireWriter();
      why.write(body);
      send(new Frame(why.type(), 0, 0, body.toByteArray()));
      close();
    }

    @Override
    public void send(Frame frame) {
      long bytes = (long) Protocol.HEADER_BYTES + frame.body().length;
      boolean reads = traffic.sends(bytes, unread.addAndGet(bytes));
      if (!reads) {
        complaints.log(
            client(), "has not read " + unread.get() + " bytes of answers, and is disconnected");
      }
      if (!onLoop(() -> write(frame, bytes, reads))) {
        unread.addAndGet(-bytes);
        traffic.sent(bytes);
      }
    }

    /**
     * Has the thread of this connection do something.
     *
     * @return false if there is no such thread: a node that stops ends its connections first, and
     *     then their threads
     */
    private boolean onLoop(Runnable work) {
      if (channel.eventLoop().inEventLoop()) {
        work.run();
        return true;
      }
      try {
        channel.eventLoop().execute(work);
        return true;
      } catch (RejectedExecutionException e) {
        LOG.debug("{}: {} gets no more answers", nodeId, client(), e);
        return false;
      }
    }

    private void write(Frame frame, long bytes, boolean reads) {
      if (!reads) {
        channel.close();
      }
      channel
          .writeAndFlush(frame)
          .addListener(
              (ChannelFuture written) -> {
                unread.addAndGet(-bytes);
                traffic.sent(bytes);
                if (!written.isSuccess()) {
                  // a closed channel says nothing new: the client may have ended the connection
                  lost |= !(written.cause() instanceof ClosedChannelException);
                  reset |= isReset(written.cause());
                  channel.close();
                }
              });
    }

    /** Reads no further requests of a client that does not read its replies. */
    @Override
    public void channelWritabilityChanged(ChannelHandlerContext context) {
      channel.config().setAutoRead(channel.isWritable());
    }

    @Override
    public void close() {
      onLoop(
          () ->
              channel
                  .writeAndFlush(Unpooled.EMPTY_BUFFER)
                  .addListener(ChannelFutureListener.CLOSE));
    }

    @Override
    public String client() {
      return String.valueOf(channel.remoteAddress());
    }

    @Override
    public String address() {
      return channel.remoteAddress() instanceof InetSocketAddress remote
          ? CountedAddress.of(remote.getAddress())
          : client();
    }

    @Override
    public @Nullable InetAddress remote() {
      return channel.remoteAddress() instanceof InetSocketAddress remote
          ? remote.getAddress()
          : null;
    }

    @Override
    public boolean isEncrypted() {
      return channel.pipeline().get(SslHandler.class) != null;
    }

    @Override
    public void expectToken() {
      codec.expectToken();
    }

    @Override
    public void trust() {
      codec.trust();
    }

    @Override
    public void later(Duration delay, Runnable work) {
      try {
        channel
            .eventLoop()
            .schedule(
                () -> {
                  try {
                    work.run();
                  } catch (RuntimeException | Error e) {
                    failed(e);
                  }
                },
                delay.toMillis(),
                TimeUnit.MILLISECONDS);
      } catch (RejectedExecutionException e) {
        LOG.debug("{}: {} comes too late, the node stops", nodeId, client(), e);
      }
    }

    @Override
    public byte @Nullable [] channelBinding() {
      SslHandler handler = channel.pipeline().get(SslHandler.class);
      X509Certificate own = handler == null ? null : TlsSocket.ownCertificate(handler.engine());
      return own == null ? null : Certificates.serverEndPoint(own);
    }

    @Override
    public boolean mayShowCertificate() {
      SslHandler handler = channel.pipeline().get(SslHandler.class);
      return handler != null && tls != null && tls.mayLogIn(handler);
    }

    @Override
    public @Nullable String certificateUser() {
      SslHandler handler = channel.pipeline().get(SslHandler.class);
      return handler == null || tls == null ? null : tls.userOf(handler, client());
    }
  }
}
