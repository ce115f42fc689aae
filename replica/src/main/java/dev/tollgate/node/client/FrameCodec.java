package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.UserName;
import dev.tollgate.wire.Frame;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.WireFormatException;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelPromise;
import io.netty.handler.codec.ByteToMessageCodec;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Frames on a Netty channel. A length that the protocol does not allow is refused before anything
 * is kept. A stranger may send only small frames, until {@link #trust}. While a later frame arrives
 * over a slow network, the client is told so. It waits for the reply, and sees only that the bytes
 * left its process. The bytes of large requests count toward a limit of the node before they have
 * all arrived. A request beyond the limit is answered at once, and the rest of its bytes are
 * dropped.
 */
final class FrameCodec extends ByteToMessageCodec<Frame> {
  private static final int LENGTH_BYTES = 4;

  /** What a client that speaks TLS begins with: a handshake of version 3. */
  private static final int TLS_HANDSHAKE = 0x1603;

  private static final byte[] NO_BODY = {};
  private static final long SIGN_OF_LIFE_NANOS =
      TimeUnit.MILLISECONDS.toNanos(Protocol.SIGN_OF_LIFE_MILLIS);

  /**
   * A request that goes on brings so many bytes within the time that a connection may be silent.
   */
  private static final int PROGRESS_BYTES = 1_024;

  private final Traffic traffic;
  private final Arrivals arrivals;
  private UserName user = UserName.ANONYMOUS;
  private boolean trusted;
  private boolean tokenExpected;
  private boolean incomplete;
  private long saidNanos;

  /** Bytes of the incomplete request when its deadline began. */
  private int seenBytes;

  /** Bytes of the incomplete request that {@link Traffic} has counted. */
  private int heldBytes;

  /** Bytes of a refused request that are still to come. */
  private int unwantedBytes;

  private boolean closedHere;

  FrameCodec(Traffic traffic, Arrivals arrivals) {
    this.traffic = requireNonNull(traffic, "traffic");
    this.arrivals = requireNonNull(arrivals, "arrivals");
  }

  /** The client has proved that it is this user. Called on the event loop. */
  void introduced(UserName name) {
    user = name;
  }

  /** The client is known: its next frames may be large. Called on the event loop. */
  void trust() {
    trusted = true;
  }

  /** The client may log in by a token, which is longer than hello. Called on the event loop. */
  void expectToken() {
    tokenExpected = true;
  }

  /** True if the rest of a request is still to come. Called on the event loop. */
  boolean isWithinRequest() {
    return seenBytes > 0 || unwantedBytes > 0;
  }

  @Override
  protected void encode(ChannelHandlerContext context, Frame frame, ByteBuf out) {
    WireWriter header = new WireWriter(LENGTH_BYTES + Protocol.HEADER_BYTES);
    frame.writeHeader(header);
    out.ensureWritable(header.size() + frame.body().length);
    out.writeBytes(header.array(), 0, header.size());
    out.writeBytes(frame.body());
  }

  @Override
  protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
    if (unwantedBytes > 0) {
      drop(context, in);
      return;
    }
    if (in.readableBytes() < LENGTH_BYTES) {
      awaitMore(context, in);
      return;
    }
    int length = in.getInt(in.readerIndex());
    int most =
        trusted
            ? Protocol.MAX_FRAME_BYTES
            : tokenExpected ? Protocol.MAX_TOKEN_FRAME_BYTES : Protocol.MAX_HELLO_BYTES;
    if (length < Protocol.HEADER_BYTES || length > most) {
      boolean tls = !trusted && length >>> Short.SIZE == TLS_HANDSHAKE;
      in.skipBytes(in.readableBytes());
      if (tls) {
        throw new WireFormatException(
            "TLS, which this port does not speak: set sslMode=disable in the URL, or start the node"
                + " with --tls-certificate");
      }
      throw new WireFormatException("a frame of " + Integer.toUnsignedString(length) + " bytes");
    }
    if (in.readableBytes() < LENGTH_BYTES + length) {
      sayThatBytesCome(context);
      awaitMore(context, in);
      hold(context, in, length);
      return;
    }
    incomplete = false;
    complete(context);
    in.skipBytes(LENGTH_BYTES);
    byte[] bytes = new byte[length];
    in.readBytes(bytes);
    out.add(Frame.read(new WireReader(bytes)));
  }

  private void awaitMore(ChannelHandlerContext context, ByteBuf in) {
    int bytes = in.readableBytes();
    if (trusted && bytes > 0 && (seenBytes == 0 || bytes - seenBytes >= PROGRESS_BYTES)) {
      seenBytes = bytes;
      arrivals.requestGoesOn(context.channel());
    }
  }

  private void complete(ChannelHandlerContext context) {
    if (seenBytes > 0) {
      seenBytes = 0;
      arrivals.requestIsComplete(context.channel());
    }
    release();
  }

  private void release() {
    if (heldBytes > 0) {
      traffic.releases(user, heldBytes);
      heldBytes = 0;
    }
  }

  /** Counts what has come of a large request, or refuses the request. */
  private void hold(ChannelHandlerContext context, ByteBuf in, int length) {
    int more = in.readableBytes() - heldBytes;
    if (more < ClientLimits.SMALL_REQUEST_BYTES) {
      return;
    }
    Reply.Failure full = traffic.holds(user, more);
    if (full == null) {
      heldBytes += more;
      return;
    }
    release();
    Frame request = Frame.read(new WireReader(headerOf(in)));
    WireWriter body = new WireWriter();
    full.write(body);
    send(context, new Frame(full.type(), request.requestId(), 0, body.toByteArray()));
    unwantedBytes = LENGTH_BYTES + length;
    drop(context, in);
  }

  private static byte[] headerOf(ByteBuf in) {
    byte[] header = new byte[Protocol.HEADER_BYTES];
    in.getBytes(in.readerIndex() + LENGTH_BYTES, header);
    return header;
  }

  private void drop(ChannelHandlerContext context, ByteBuf in) {
    int bytes = Math.min(in.readableBytes(), unwantedBytes);
    in.skipBytes(bytes);
    unwantedBytes -= bytes;
    if (unwantedBytes == 0) {
      incomplete = false;
      complete(context);
    } else if (bytes > 0) {
      arrivals.requestGoesOn(context.channel());
    }
  }

  /** True if this node has closed the connection, and not the client. Called on the event loop. */
  boolean isClosedHere() {
    return closedHere;
  }

  /**
   * Whatever closes the channel at this side comes by here; the end of the stream does not. An
   * answer that was on its way at that end comes by as well, since it cannot be written.
   */
  @Override
  public void close(ChannelHandlerContext context, ChannelPromise promise) throws Exception {
    closedHere |= context.channel().isActive();
    super.close(context, promise);
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) throws Exception {
    super.channelInactive(context);
    release();
  }

  @SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel comes to its handler
  private static void send(ChannelHandlerContext context, Frame frame) {
    // by the channel, because the frame has to pass this codec
    context.channel().writeAndFlush(frame, context.channel().voidPromise());
  }

  private void sayThatBytesCome(ChannelHandlerContext context) {
    long now = System.nanoTime();
    if (!incomplete) {
      incomplete = true;
      saidNanos = now;
    } else if (trusted && now - saidNanos >= SIGN_OF_LIFE_NANOS) {
      saidNanos = now;
      send(context, new Frame(new Reply.Ok().type(), 0, 0, NO_BODY));
    }
  }
}
