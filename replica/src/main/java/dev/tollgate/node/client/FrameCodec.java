package dev.tollgate.node.client;

import dev.tollgate.wire.Frame;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.WireFormatException;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageCodec;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Frames on a Netty channel. A length that the protocol does not allow is refused before anything
 * is kept. A stranger may send only small frames, until {@link #trust}. While a later frame arrives
 * over a slow network, the client is told so. It waits for the reply, and sees only that the bytes
 * left its process.
 */
final class FrameCodec extends ByteToMessageCodec<Frame> {
  private static final int LENGTH_BYTES = 4;

  /** What a client that speaks TLS begins with: a handshake of version 3. */
  private static final int TLS_HANDSHAKE = 0x1603;

  private static final byte[] NO_BODY = {};
  private static final long SIGN_OF_LIFE_NANOS =
      TimeUnit.MILLISECONDS.toNanos(Protocol.SIGN_OF_LIFE_MILLIS);

  private boolean trusted;
  private boolean incomplete;
  private long saidNanos;

  /** The client is known: its next frames may be large. Called on the event loop. */
  void trust() {
    trusted = true;
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
    if (in.readableBytes() < LENGTH_BYTES) {
      return;
    }
    int length = in.getInt(in.readerIndex());
    int most = trusted ? Protocol.MAX_FRAME_BYTES : Protocol.MAX_HELLO_BYTES;
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
      return;
    }
    incomplete = false;
    in.skipBytes(LENGTH_BYTES);
    byte[] bytes = new byte[length];
    in.readBytes(bytes);
    out.add(Frame.read(new WireReader(bytes)));
  }

  @SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel comes to its handler
  private void sayThatBytesCome(ChannelHandlerContext context) {
    long now = System.nanoTime();
    if (!incomplete) {
      incomplete = true;
      saidNanos = now;
    } else if (trusted && now - saidNanos >= SIGN_OF_LIFE_NANOS) {
      saidNanos = now;
      Channel channel = context.channel();
      channel.writeAndFlush(new Frame(new Reply.Ok().type(), 0, 0, NO_BODY), channel.voidPromise());
    }
  }
}
