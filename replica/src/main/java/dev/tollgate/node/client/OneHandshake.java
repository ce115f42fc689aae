package dev.tollgate.node.client;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.ssl.SslHandler;
import java.util.List;
import java.util.concurrent.Executor;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLException;

/**
 * TLS with one handshake. TLS 1.2 lets a client begin another one on a connection: its certificate
 * would not be the one that has logged in, and each costs the node a signature. So a record of a
 * handshake after the first one ends the connection. TLS 1.3 has no such records then.
 */
public final class OneHandshake extends SslHandler {
  private static final int HANDSHAKE_RECORD = 22;

  /** Computes what takes long on the event loop. */
  public OneHandshake(SSLEngine engine) {
    super(engine);
  }

  OneHandshake(SSLEngine engine, Executor tasks) {
    super(engine, tasks);
  }

  /** The bytes begin with a record, because a part of one is left in place until it is whole. */
  @Override
  protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out)
      throws SSLException {
    if (handshakeFuture().isSuccess()
        && in.isReadable()
        && in.getUnsignedByte(in.readerIndex()) == HANDSHAKE_RECORD) {
      in.skipBytes(in.readableBytes());
      var unused = context.close();
      return;
    }
    super.decode(context, in, out);
  }
}
