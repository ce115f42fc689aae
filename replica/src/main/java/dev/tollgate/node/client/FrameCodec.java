package dev.tollgate.node.client;

import dev.tollgate.wire.Frame;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.WireFormatException;
import dev.tollgate.wire.WireReader;
import dev.tollgate.wire.WireWriter;
import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageCodec;
import java.util.List;

/**
 * Frames on a Netty channel. A length that the protocol does not allow is refused before anything
 * is kept; the first frame of a connection, which comes from a stranger, may only be small.
 */
final class FrameCodec extends ByteToMessageCodec<Frame> {
  private static final int LENGTH_BYTES = 4;

  private boolean first = true;

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
    int most = first ? Protocol.MAX_HELLO_BYTES : Protocol.MAX_FRAME_BYTES;
    if (length < Protocol.HEADER_BYTES || length > most) {
      in.skipBytes(in.readableBytes());
      throw new WireFormatException("a frame of " + Integer.toUnsignedString(length) + " bytes");
    }
    if (in.readableBytes() < LENGTH_BYTES + length) {
      return;
    }
    first = false;
    in.skipBytes(LENGTH_BYTES);
    byte[] bytes = new byte[length];
    in.readBytes(bytes);
    out.add(Frame.read(new WireReader(bytes)));
  }
}
