package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.wire.Frame;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.SqlState;
import dev.tollgate.wire.WireWriter;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.netty.handler.ssl.SslHandler;
import io.netty.util.concurrent.ScheduledFuture;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The first handler of a connection on a port that speaks TLS. Looks at the first byte: TLS gets
 * its handler, anything else a reply that says what to set. Until then a connection costs no more
 * than this object, and the handlers behind do not see it.
 */
@SuppressWarnings("FutureReturnValueIgnored") // what fails on a channel comes to its handler
final class TlsGate extends ByteToMessageDecoder {
  private static final int TLS_HANDSHAKE = 22;

  private final ClientTls tls;
  private long deadlineNanos;
  private @Nullable ScheduledFuture<?> deadline;

  TlsGate(ClientTls tls) {
    this.tls = requireNonNull(tls, "tls");
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    deadlineNanos = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(ClientTls.HANDSHAKE_MILLIS);
    deadline =
        context
            .executor()
            .schedule(
                () -> {
                  tls.log(client(context), "did not begin a TLS handshake in time");
                  context.close();
                },
                ClientTls.HANDSHAKE_MILLIS,
                TimeUnit.MILLISECONDS);
  }

  @Override
  protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out) {
    if (!in.isReadable()) {
      return;
    }
    if (in.getUnsignedByte(in.readerIndex()) == TLS_HANDSHAKE) {
      long left = TimeUnit.NANOSECONDS.toMillis(deadlineNanos - System.nanoTime());
      SslHandler handler = tls.handler(context.channel(), client(context), left);
      context.pipeline().addAfter(context.name(), "tls", handler);
      context.fireChannelActive();
      context.pipeline().remove(this);
      return;
    }
    in.skipBytes(in.readableBytes());
    tls.log(client(context), "came without TLS, and this port speaks TLS alone");
    context.writeAndFlush(refusal()).addListener(ChannelFutureListener.CLOSE);
  }

  /** In plain text: the client has shown that it reads nothing else. */
  private static ByteBuf refusal() {
    Reply.Failure why =
        new Reply.Failure(
            SqlState.CONNECTION_REFUSED,
            "this port speaks TLS, and the client does not: set sslMode=verify-full and"
                + " sslRootCert in the URL");
    WireWriter body = new WireWriter();
    why.write(body);
    Frame frame = new Frame(why.type(), 0, 0, body.toByteArray());
    WireWriter bytes = new WireWriter(Protocol.HEADER_BYTES + body.size() + Integer.BYTES);
    frame.writeHeader(bytes);
    bytes.raw(frame.body(), 0, frame.body().length);
    return Unpooled.wrappedBuffer(bytes.toByteArray());
  }

  @Override
  protected void handlerRemoved0(ChannelHandlerContext context) {
    cancel();
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) throws Exception {
    cancel();
    super.channelInactive(context);
  }

  private void cancel() {
    ScheduledFuture<?> scheduled = deadline;
    if (scheduled != null) {
      scheduled.cancel(false);
    }
  }

  private static String client(ChannelHandlerContext context) {
    return String.valueOf(context.channel().remoteAddress());
  }
}
