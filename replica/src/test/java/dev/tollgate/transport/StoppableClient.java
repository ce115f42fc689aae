package dev.tollgate.transport;

import dev.tollgate.wire.Frame;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.WireFormatException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A client that is like a process of its own, whose frames a test holds: it stands still at a
 * moment of a statement, is paused with its heartbeats, loses its connections, or dies. Its URL is
 * {@link #URL}, whatever cluster it is a client of. Thread-safe.
 */
public final class StoppableClient {
  public static final String URL = "jdbc:tollgate:mem:stoppable";

  private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);

  /** Where the client stands still, once. */
  public enum Stop {
    /** The request with the statement has not left the client. */
    BEFORE_REQUEST,
    /** The reply has arrived at the host of the client, and the client has not read it. */
    BEFORE_REPLY,
    /** The client has read the reply, and sends no further statement. */
    BEFORE_NEXT,
    /** It does not. */
    NOWHERE
  }

  private final Supplier<@Nullable InetSocketAddress> leader;
  private final String statement;
  private final Stop stop;
  private final List<Channel> channels = new ArrayList<>();
  private final CompletableFuture<Void> stopped = new CompletableFuture<>();
  private final ClusterRegistry registry =
      new ClusterRegistry(Timekeeping.STANDARD, () -> List.of(new Nodes()));
  private boolean goesOn;
  private boolean paused;
  private boolean dead;

  /**
   * @param leader where the leader takes clients; null while there is none
   * @param statement a part of the text of the statement at which the client stops
   */
  public StoppableClient(
      Supplier<@Nullable InetSocketAddress> leader, String statement, Stop stop) {
    this.leader = leader;
    this.statement = statement;
    this.stop = stop;
  }

  /** What opens the sessions of this client. */
  public ClusterRegistry registry() {
    return registry;
  }

  /** Done once the client stands still. */
  public CompletableFuture<Void> stopped() {
    return stopped;
  }

  /** Ends the stop. */
  public synchronized void goOn() {
    goesOn = true;
    notifyAll();
  }

  /** From now on no frame leaves the client and none reaches it, and the network is silent. */
  public synchronized void pause() {
    paused = true;
  }

  public synchronized void resume() {
    paused = false;
    notifyAll();
  }

  /** The client sends nothing more, and its host closes its connections. */
  public synchronized void die() {
    dead = true;
    loseConnections();
  }

  /** Ends all connections, with what was on its way, and with the stop. */
  public synchronized void loseConnections() {
    goesOn = true;
    for (Channel channel : List.copyOf(channels)) {
      channel.lose();
    }
    notifyAll();
  }

  private final class Nodes implements EmbeddedNodeProvider {
    @Override
    public EmbeddedNode open(Path directory, @Nullable Path dataKeyFile) {
      throw new UnsupportedOperationException("a node of its own");
    }

    @Override
    public EmbeddedNode openInMemory(String name) {
      return new EmbeddedNode() {
        @Override
        public FrameChannel connect() throws IOException {
          return connectToLeader();
        }

        @Override
        public void close() {}
      };
    }
  }

  private FrameChannel connectToLeader() throws IOException {
    awaitLife();
    InetSocketAddress address = leader.get();
    if (address == null) {
      throw new IOException("nobody leads");
    }
    Channel channel =
        new Channel(
            SocketFrameChannel.connect(
                NodeAddress.parse(address.getHostString() + ":" + address.getPort()),
                CONNECT_TIMEOUT,
                new SendWatch(),
                Timekeeping.STANDARD));
    synchronized (this) {
      channels.add(channel);
    }
    return channel;
  }

  private synchronized void awaitLife() throws IOException {
    waitWhile(() -> paused && !dead);
    if (dead) {
      throw new IOException("this client is dead");
    }
  }

  /** The caller has the monitor. */
  private void waitWhile(BooleanSupplier stands) throws IOException {
    try {
      while (stands.getAsBoolean()) {
        wait();
      }
    } catch (InterruptedException e) {
      throw new IOException(e);
    }
  }

  /** Frames of one connection; the thread that holds one waits for the test. */
  private final class Channel implements FrameChannel {
    private final FrameChannel real;
    private boolean lost;

    /** The request with the statement, or -1 before there is one. */
    private long requestId = -1;

    private boolean answered;

    Channel(FrameChannel real) {
      this.real = real;
    }

    @Override
    public void send(Frame frame) throws IOException {
      awaitLife();
      boolean isIt = isOf(frame, statement);
      synchronized (StoppableClient.this) {
        if (isIt) {
          requestId = frame.requestId();
        }
        boolean here =
            stop == Stop.BEFORE_REQUEST
                ? isIt
                : stop == Stop.BEFORE_NEXT && answered && isOf(frame, "");
        if (here) {
          standStill();
        }
      }
      real.send(frame);
    }

    @Override
    public Optional<Frame> receive(Duration timeout) throws IOException {
      Optional<Frame> frame = real.receive(timeout);
      awaitLife();
      synchronized (StoppableClient.this) {
        if (lost) {
          throw new IOException("the connection is lost");
        }
        if (frame.isPresent() && frame.get().requestId() == requestId) {
          answered = true;
          if (stop == Stop.BEFORE_REPLY) {
            standStill();
          }
        }
      }
      return frame;
    }

    /** The caller has the monitor. */
    private void standStill() throws IOException {
      stopped.complete(null);
      waitWhile(() -> !goesOn && !lost);
      waitWhile(() -> paused && !lost);
      if (lost) {
        throw new IOException("the connection is lost");
      }
    }

    private void lose() {
      lost = true;
      real.close();
    }

    @Override
    public long arrivedBytes() {
      return real.arrivedBytes();
    }

    @Override
    public void close() {
      synchronized (StoppableClient.this) {
        channels.remove(this);
      }
      real.close();
    }
  }

  /** True for a request that executes a statement with this part. */
  private static boolean isOf(Frame frame, String part) {
    Request request;
    try {
      request = Request.read(frame);
    } catch (WireFormatException e) {
      throw new IllegalStateException(e);
    }
    if (request instanceof Request.Execute one) {
      return one.sql().contains(part);
    }
    return request instanceof Request.ExecuteSeries series
        && series.statements().stream().anyMatch(one -> one.sql().contains(part));
  }
}
