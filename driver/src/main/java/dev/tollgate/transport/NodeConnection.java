package dev.tollgate.transport;

import dev.tollgate.tls.TlsException;
import dev.tollgate.wire.Frame;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import dev.tollgate.wire.WireFormatException;
import dev.tollgate.wire.WireWriter;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * A connection to one node, which detects when the node falls silent. Any thread may send and
 * close; one thread at a time receives.
 */
final class NodeConnection implements AutoCloseable {
  /** A reply, or an event if the request id is 0. */
  record Arrival(long requestId, Reply reply) {}

  /** Stands for the term of a node that does not say it: no leader is known to be a later one. */
  private static final long TERM_NOT_SAID = Long.MAX_VALUE;

  /**
   * What is known of the node at the other end.
   *
   * @param nodeId null before Welcome
   * @param term at Welcome; before it, the latest of which this process knew
   * @param version of the protocol that both sides speak; 0 before Welcome
   */
  record Met(@Nullable String nodeId, long term, int version) {
    /** True if this is another node than that leader, and was met in an earlier term. */
    boolean isBefore(LeaderNews.Leader leader, String address) {
      boolean other =
          nodeId == null ? !address.equals(leader.address()) : !nodeId.equals(leader.nodeId());
      return other && term < leader.term();
    }
  }

  private final String address;
  private final FrameChannel channel;
  private final Timekeeping environment;
  private final AtomicLong lastRequestId = new AtomicLong();
  private final AtomicInteger repliesOwed = new AtomicInteger();
  private final AtomicLong quietSinceNanos = new AtomicLong();
  private volatile Met met;

  /** A node answers no pings meanwhile, and may hold back its answer for a while. */
  private volatile boolean loggingIn;

  private long pingSentNanos;
  private long arrivedBytes;

  /**
   * @param channel taken over
   * @param knownTerm the latest term in which this process knows a leader
   */
  NodeConnection(String address, FrameChannel channel, Timekeeping environment, long knownTerm) {
    this.address = address;
    this.channel = channel;
    this.environment = environment;
    this.met = new Met(null, knownTerm, 0);
    this.quietSinceNanos.set(environment.nanos());
    this.pingSentNanos = quietSinceNanos.get() - 1;
  }

  /** A connection, and the node's reply to hello. */
  record Opened(NodeConnection connection, Reply.Welcome welcome) {}

  /**
   * Sends hello, and authenticates if the node requires that; the caller closes the connection if
   * this fails.
   *
   * @param timeout the longest time for each reply
   * @throws RefusedException if the node rejects this client, or the other side is not a node
   */
  Opened greet(Request.Hello hello, ClientLogin login, Duration timeout) throws IOException {
    try {
      Reply reply = ask(hello, timeout);
      if (reply instanceof Reply.Failure failure) {
        throw new RefusedException(address, failure);
      }
      if (reply instanceof Reply.LoginRequired required && isIn(required.version(), hello)) {
        loggingIn = true;
        reply = login.run(this, required, timeout);
        loggingIn = false;
      }
      if (!(reply instanceof Reply.Welcome welcome) || !isIn(welcome.version(), hello)) {
        throw new IOException(address + " answered hello with " + reply);
      }
      long term = welcome.version() >= Protocol.LEADER_VERSION ? welcome.term() : TERM_NOT_SAID;
      met = new Met(welcome.nodeId(), term, welcome.version());
      return new Opened(this, welcome);
    } catch (TlsException e) {
      // with TLS 1.3 the node checks the certificate of a client after the client is done
      throw new RefusedException(
          address, new Reply.Failure(SqlState.CONNECTION_REFUSED, String.valueOf(e.getMessage())));
    } catch (ForeignProtocolException e) {
      throw new RefusedException(
          address,
          new Reply.Failure(
              SqlState.CONNECTION_REFUSED,
              e.getMessage() + "; is this the port for clients of a node?"));
    }
  }

  private static boolean isIn(int version, Request.Hello hello) {
    return version >= hello.minVersion() && version <= hello.maxVersion();
  }

  /** See {@link FrameChannel#channelBinding}. */
  byte @Nullable [] channelBinding() {
    return channel.channelBinding();
  }

  /** See {@link FrameChannel#isUnverified}. */
  boolean isUnverified() {
    return channel.isUnverified();
  }

  /** See {@link FrameChannel#isVerified}. */
  boolean isVerified() {
    return channel.isVerified();
  }

  String address() {
    return address;
  }

  /** What is known of the node. */
  Met met() {
    return met;
  }

  /** The version of the protocol that both sides speak. */
  int version() {
    return met.version();
  }

  /** Returns an id for the next request, so that its sender is ready when the reply arrives. */
  long newRequestId() {
    return lastRequestId.incrementAndGet();
  }

  /**
   * Sends a request that gets a reply, and that no connection had before.
   *
   * @param deadlineMillis as in {@link Frame}
   */
  void send(long requestId, Request request, int deadlineMillis) throws IOException {
    send(requestId, request, /* losses= */ 0, deadlineMillis);
  }

  /**
   * Sends a request that gets a reply.
   *
   * @param losses as in {@link Frame}; a node of an earlier version is not told
   * @param deadlineMillis as in {@link Frame}
   */
  void send(long requestId, Request request, int losses, int deadlineMillis) throws IOException {
    if (repliesOwed.getAndIncrement() == 0) {
      quietSinceNanos.set(environment.nanos());
    }
    long begun = environment.nanos();
    write(requestId, request, losses, deadlineMillis);
    // time spent sending is not silence; a send that returns at once proves nothing
    quietSinceNanos.addAndGet(environment.nanos() - begun);
  }

  /** Sends a request that gets no reply. */
  void tell(Request request) throws IOException {
    write(newRequestId(), request, 0, 0);
  }

  private void write(long requestId, Request request, int losses, int deadlineMillis)
      throws IOException {
    WireWriter body = new WireWriter();
    request.write(body);
    int said = version() >= Protocol.LOSSES_VERSION ? losses : 0;
    Frame frame = new Frame(request.type(), said, requestId, deadlineMillis, body.toByteArray());
    if (frame.lengthBytes() > Protocol.MAX_FRAME_BYTES) {
      throw new OversizeException(frame.lengthBytes());
    }
    channel.send(frame);
  }

  /** The number of bytes that have arrived from the node; while it grows, the node is alive. */
  long arrivedBytes() {
    return channel.arrivedBytes();
  }

  /**
   * Detects that the node has closed an idle connection: a request sent on it would be lost
   * unnoticed. Costs a millisecond, so it is done only after some idle time.
   */
  void checkAfterIdling() throws IOException {
    long idleNanos = environment.nanos() - quietSinceNanos.get();
    if (repliesOwed.get() == 0 && idleNanos >= environment.timing().pingAfter().toNanos()) {
      receive(Duration.ofMillis(1));
    }
  }

  /**
   * Sends a request and waits for its reply, skipping other replies. A failure with request id 0 is
   * the node's last word, and counts as the reply.
   */
  Reply ask(Request request, Duration timeout) throws IOException {
    long requestId = newRequestId();
    send(requestId, request, 0);
    long deadline = environment.nanos() + timeout.toNanos();
    while (true) {
      Duration left = Duration.ofNanos(deadline - environment.nanos());
      if (left.isNegative() || left.isZero()) {
        throw new IOException(address + " did not answer within " + timeout.toMillis() + " ms");
      }
      Optional<Arrival> arrival = receive(left);
      if (arrival.isPresent() && answers(arrival.get(), requestId)) {
        return arrival.get().reply();
      }
    }
  }

  private static boolean answers(Arrival arrival, long requestId) {
    return arrival.requestId() == requestId
        || (arrival.requestId() == 0 && arrival.reply() instanceof Reply.Failure);
  }

  /**
   * Waits for the next reply or event; pings a silent node that owes a reply.
   *
   * @return empty if nothing has arrived, after this time at the latest
   * @throws IOException if the connection is broken, or the node has been silent for too long
   */
  Optional<Arrival> receive(Duration atMost) throws IOException {
    Duration wait = repliesOwed.get() > 0 ? shorter(atMost, untilSilenceMatters()) : atMost;
    InterruptibleCall.listenAgain();
    Optional<Frame> frame = channel.receive(wait);
    long bytes = channel.arrivedBytes();
    if (frame.isPresent() || bytes > arrivedBytes) {
      arrivedBytes = bytes;
      quietSinceNanos.set(environment.nanos());
    } else if (repliesOwed.get() > 0) {
      checkSilence();
    }
    return frame.isPresent() ? Optional.of(arrival(frame.get())) : Optional.empty();
  }

  private Arrival arrival(Frame frame) throws IOException {
    long requestId = frame.requestId();
    if (requestId > 0) {
      repliesOwed.decrementAndGet();
    }
    try {
      return new Arrival(requestId, Reply.read(frame));
    } catch (WireFormatException e) {
      throw new ForeignProtocolException(frame + ", which is no reply: " + e.getMessage(), e);
    }
  }

  private static Duration shorter(Duration a, Duration b) {
    return a.compareTo(b) < 0 ? a : b;
  }

  private boolean isPinged() {
    return pingSentNanos - quietSinceNanos.get() >= 0;
  }

  private Duration untilSilenceMatters() {
    Timing timing = environment.timing();
    Duration bound = loggingIn || isPinged() ? timing.deadAfter() : timing.pingAfter();
    Duration left = bound.minusNanos(environment.nanos() - quietSinceNanos.get());
    return left.isNegative() ? Duration.ZERO : left.plusMillis(1);
  }

  private void checkSilence() throws IOException {
    long now = environment.nanos();
    long quietNanos = now - quietSinceNanos.get();
    if (quietNanos >= environment.timing().deadAfter().toNanos()) {
      throw new IOException(address + " is silent for " + quietNanos / 1_000_000 + " ms");
    }
    if (quietNanos >= environment.timing().pingAfter().toNanos() && !isPinged() && !loggingIn) {
      pingSentNanos = now;
      // a negative id tells the reply to a ping apart from the replies that are owed
      write(-newRequestId(), new Request.Ping(), 0, 0);
    }
  }

  @Override
  public void close() {
    channel.close();
  }

  /** A reachable node rejected this client. */
  static class RefusedException extends IOException {
    private static final long serialVersionUID = 1L;
    private final transient Reply.Failure failure;

    RefusedException(String address, Reply.Failure failure) {
      super(address + ": " + failure.message());
      this.failure = failure;
    }

    Reply.Failure failure() {
      return failure;
    }

    /** True if the node may take this client a moment later: it does not know its users yet. */
    boolean isTemporary() {
      return failure.sqlState().equals(SqlState.NO_QUORUM.state());
    }
  }

  /** A request does not fit a frame; the connection is unchanged. */
  static final class OversizeException extends IOException {
    private static final long serialVersionUID = 1L;

    OversizeException(int lengthBytes) {
      super(
          "a statement with its parameters takes "
              + lengthBytes
              + " bytes; at most "
              + Protocol.MAX_FRAME_BYTES
              + " fit");
    }
  }
}
