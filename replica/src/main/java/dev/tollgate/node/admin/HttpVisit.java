package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

import dev.tollgate.node.client.CertificateLogin;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.handler.codec.DateFormatter;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.DefaultHttpContent;
import io.netty.handler.codec.http.DefaultHttpResponse;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpUtil;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.ssl.SslHandler;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.Date;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One request, for the thread that answers it, which reads the body and sends the answer. Each read
 * and each write has its time; beyond it the connection is closed. One thread uses it beside the
 * event loop.
 */
@SuppressWarnings({
  "FutureReturnValueIgnored", // a channel closes whether its future is heard or not
  "JavaUtilDate" // Netty writes no other dates
})
final class HttpVisit {
  /** A client that reads slowly gets no more than this into buffers of the node. */
  private static final int PIECE_BYTES = 64 << 10;

  private final HttpConnection connection;
  private final Channel channel;
  private final HttpRequest head;
  private final URI uri;
  private final int mostBytes;
  private final Presence presence = new Presence();
  private final CountDownLatch bodyIsThere = new CountDownLatch(1);

  /** Of the event loop until the body is there. */
  private final ByteArrayOutputStream body = new ByteArrayOutputStream();

  private volatile boolean tooLong;

  HttpVisit(HttpConnection connection, Channel channel, HttpRequest head, URI uri, int mostBytes) {
    this.connection = requireNonNull(connection, "connection");
    this.channel = requireNonNull(channel, "channel");
    this.head = requireNonNull(head, "head");
    this.uri = requireNonNull(uri, "uri");
    this.mostBytes = mostBytes;
    presence.whenGone(bodyIsThere::countDown);
  }

  String method() {
    return head.method().name();
  }

  boolean isHead() {
    return method().equals("HEAD");
  }

  URI uri() {
    return uri;
  }

  @Nullable String header(String name) {
    return head.headers().get(name);
  }

  InetAddress from() {
    return ((InetSocketAddress) channel.remoteAddress()).getAddress();
  }

  /** The user that the client's certificate stands for, which was checked; null for none. */
  @Nullable String certified(CertificateLogin logins) {
    SslHandler handler = channel.pipeline().get(SslHandler.class);
    return handler == null ? null : logins.userOf(handler.engine());
  }

  Presence presence() {
    return presence;
  }

  /** On the event loop: takes a part of the body. */
  void takeBody(ByteBuf bytes, boolean last) {
    if (bodyIsThere.getCount() == 0) {
      return;
    }
    int taken = Math.min(bytes.readableBytes(), mostBytes + 1 - body.size());
    byte[] part = new byte[taken];
    bytes.readBytes(part);
    body.write(part, 0, taken);
    tooLong = body.size() > mostBytes;
    if (last || tooLong) {
      bodyIsThere.countDown();
    }
  }

  /** Whether the head says that a body follows. */
  boolean announcesBody() {
    return HttpUtil.isTransferEncodingChunked(head) || HttpUtil.getContentLength(head, 0L) > 0;
  }

  /**
   * Reads the body; null if it is too long.
   *
   * @throws IOException if it does not come in time
   */
  byte @Nullable [] body(Duration limit) throws IOException {
    HttpConnection.onLoop(
        channel,
        () -> {
          if (HttpUtil.is100ContinueExpected(head)) {
            channel.writeAndFlush(
                new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.CONTINUE));
          }
          channel.config().setAutoRead(true);
        });
    try {
      if (!bodyIsThere.await(limit.toNanos(), TimeUnit.NANOSECONDS)) {
        channel.close();
        throw new IOException("the body did not come within " + limit.toMillis() + " ms");
      }
    } catch (InterruptedException e) {
      throw interrupted();
    }
    if (presence.isGone()) {
      throw new IOException("the client is gone");
    }
    return tooLong ? null : body.toByteArray();
  }

  private InterruptedIOException interrupted() {
    Thread.currentThread().interrupt();
    channel.close();
    return new InterruptedIOException("the node stops");
  }

  /**
   * Sends an answer and ends the request.
   *
   * @param goesOn whether a further request may follow on the connection
   */
  void send(int status, Map<String, String> headers, byte[] bytes, boolean goesOn, Duration limit)
      throws IOException {
    boolean keeps = goesOn && isRead() && HttpUtil.isKeepAlive(head);
    DefaultFullHttpResponse answer =
        new DefaultFullHttpResponse(
            HttpVersion.HTTP_1_1,
            HttpResponseStatus.valueOf(status),
            isHead() ? Unpooled.EMPTY_BUFFER : Unpooled.wrappedBuffer(bytes));
    setHeaders(answer, headers, keeps);
    answer.headers().setInt(HttpHeaderNames.CONTENT_LENGTH, bytes.length);
    await(channel.writeAndFlush(answer), limit);
    HttpConnection.onLoop(channel, () -> connection.answered(keeps));
  }

  private boolean isRead() {
    return !tooLong && (bodyIsThere.getCount() == 0);
  }

  private void setHeaders(HttpResponse answer, Map<String, String> headers, boolean keeps) {
    headers.forEach((name, value) -> answer.headers().set(name, value));
    answer.headers().set(HttpHeaderNames.DATE, DateFormatter.format(new Date()));
    if (!keeps) {
      answer.headers().set(HttpHeaderNames.CONNECTION, "close");
    }
  }

  /**
   * Begins an answer without an end.
   *
   * @param each how long the client may take to read one piece
   */
  OutputStream stream(int status, Map<String, String> headers, Duration each) throws IOException {
    DefaultHttpResponse answer =
        new DefaultHttpResponse(HttpVersion.HTTP_1_1, HttpResponseStatus.valueOf(status));
    setHeaders(answer, headers, /* keeps= */ false);
    HttpUtil.setTransferEncodingChunked(answer, true);
    await(channel.writeAndFlush(answer), each);
    return new Pieces(each);
  }

  private final class Pieces extends OutputStream {
    private final Duration each;

    Pieces(Duration each) {
      this.each = each;
    }

    @Override
    public void write(int value) throws IOException {
      write(new byte[] {(byte) value}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
      for (int done = 0; done < length; done += PIECE_BYTES) {
        int piece = Math.min(PIECE_BYTES, length - done);
        ByteBuf copy = Unpooled.copiedBuffer(bytes, from + done, piece);
        await(channel.writeAndFlush(new DefaultHttpContent(copy)), each);
      }
    }

    @Override
    public void close() throws IOException {
      await(channel.writeAndFlush(LastHttpContent.EMPTY_LAST_CONTENT), each);
      HttpConnection.onLoop(channel, () -> connection.answered(/* goesOn= */ false));
    }
  }

  private void await(ChannelFuture written, Duration limit) throws IOException {
    try {
      if (!written.await(limit.toNanos(), TimeUnit.NANOSECONDS)) {
        channel.close();
        throw new IOException("the client did not read within " + limit.toMillis() + " ms");
      }
    } catch (InterruptedException e) {
      throw interrupted();
    }
    if (!written.isSuccess()) {
      channel.close();
      throw new IOException("the client is gone", written.cause());
    }
  }

  /**
   * Does work after some time, on the event loop, unless the client is gone by then. Its connection
   * may be closed for another one meanwhile.
   */
  void later(Duration wait, Runnable work) throws IOException {
    HttpConnection.onLoop(
        channel,
        () -> {
          connection.waits(true);
          channel
              .eventLoop()
              .schedule(
                  () -> {
                    connection.waits(false);
                    if (channel.isActive()) {
                      work.run();
                    }
                  },
                  wait.toNanos(),
                  TimeUnit.NANOSECONDS);
        });
  }

  /** Ends the connection. */
  void abort() {
    channel.close();
  }
}
