package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.codec.DecoderException;
import io.netty.handler.codec.http.DefaultFullHttpResponse;
import io.netty.handler.codec.http.HttpContent;
import io.netty.handler.codec.http.HttpHeaderNames;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpResponseStatus;
import io.netty.handler.codec.http.HttpVersion;
import io.netty.handler.codec.http.LastHttpContent;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.util.ReferenceCountUtil;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * One connection of the admin address: hands over one request at a time, and goes on reading while
 * it is answered, because the end of what the client sends is the only sign that the client is
 * gone. What the client sends ahead waits; then its end is not seen. All methods run on the event
 * loop, and none of them waits.
 */
@SuppressWarnings("FutureReturnValueIgnored") // a channel closes whether its future is heard or not
final class HttpConnection extends ChannelInboundHandlerAdapter {
  private final AdminLimits limits;
  private final Consumer<HttpVisit> requests;
  private final Consumer<Throwable> errors;

  /** What came while a request was answered. */
  private final Deque<HttpObject> ahead = new ArrayDeque<>();

  private @Nullable ChannelHandlerContext context;
  private @Nullable HttpVisit visit;
  private @Nullable Future<?> deadline;
  private boolean bodyComes;
  private boolean closing;
  private boolean waits;

  /**
   * @param requests takes a request whose head has come; must not wait
   * @param errors is told what no client can cause
   */
  HttpConnection(AdminLimits limits, Consumer<HttpVisit> requests, Consumer<Throwable> errors) {
    this.limits = requireNonNull(limits, "limits");
    this.requests = requireNonNull(requests, "requests");
    this.errors = requireNonNull(errors, "errors");
  }

  @Override
  public void handlerAdded(ChannelHandlerContext added) {
    context = added;
  }

  @Override
  public void channelActive(ChannelHandlerContext context) {
    expectHead(context);
  }

  /** True while no request is under way, or the request waits for its body or to be admitted. */
  boolean isIdle() {
    return visit == null || bodyComes || waits;
  }

  /** Whether the request waits for its turn to be admitted. */
  void waits(boolean now) {
    waits = now;
  }

  private void expectHead(ChannelHandlerContext context) {
    closeAfter(context, TimeUnit.SECONDS.toMillis(AdminLimits.SILENCE_SECONDS));
  }

  private void closeAfter(ChannelHandlerContext context, long millis) {
    endDeadline();
    deadline = context.executor().schedule(() -> context.close(), millis, TimeUnit.MILLISECONDS);
  }

  private void endDeadline() {
    Future<?> running = deadline;
    if (running != null) {
      running.cancel(false);
      deadline = null;
    }
  }

  @Override
  public void channelRead(ChannelHandlerContext context, Object message) {
    if (visit != null && !bodyComes) {
      ahead.add((HttpObject) message);
      context.channel().config().setAutoRead(false);
    } else {
      take(context, (HttpObject) message);
    }
  }

  private void take(ChannelHandlerContext context, HttpObject message) {
    try {
      if (closing) {
        if (message instanceof LastHttpContent) {
          context.close();
        }
      } else if (message instanceof HttpRequest head) {
        begin(context, head);
      } else if (message instanceof HttpContent content && visit != null) {
        takeBody(context, content, visit);
      }
    } finally {
      ReferenceCountUtil.release(message);
    }
  }

  private void begin(ChannelHandlerContext context, HttpRequest head) {
    endDeadline();
    URI uri = uri(head);
    if (uri == null || head.headers().names().size() > AdminLimits.HEADERS) {
      boolean tooLong =
          uri != null || head.decoderResult().cause() instanceof TooLongHttpHeaderException;
      refuse(
          context,
          tooLong
              ? HttpResponseStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
              : HttpResponseStatus.BAD_REQUEST);
      return;
    }
    bodyComes = true;
    visit = new HttpVisit(this, context.channel(), head, uri, limits.requestBytes());
    // the body is not read before its sender is admitted
    context.channel().config().setAutoRead(false);
    requests.accept(visit);
  }

  private static @Nullable URI uri(HttpRequest head) {
    try {
      return head.decoderResult().isSuccess() && hasOneHost(head) ? new URI(head.uri()) : null;
    } catch (URISyntaxException e) {
      return null;
    }
  }

  /** As RFC 9112, section 3.2, demands: others might read another host. */
  private static boolean hasOneHost(HttpRequest head) {
    int hosts = head.headers().getAll(HttpHeaderNames.HOST).size();
    return hosts == 1 || (hosts == 0 && !head.protocolVersion().equals(HttpVersion.HTTP_1_1));
  }

  private void takeBody(ChannelHandlerContext context, HttpContent content, HttpVisit to) {
    if (!content.decoderResult().isSuccess()) {
      context.close();
      return;
    }
    ByteBuf bytes = content.content();
    boolean last = content instanceof LastHttpContent;
    bodyComes = !last;
    to.takeBody(bytes, last);
  }

  /** What is no request is refused in words that people read, and ends the connection. */
  private void refuse(ChannelHandlerContext context, HttpResponseStatus status) {
    byte[] words =
        (status + ": this is no request of HTTP/1.1 that a node reads\n")
            .getBytes(StandardCharsets.US_ASCII);
    DefaultFullHttpResponse refusal =
        new DefaultFullHttpResponse(HttpVersion.HTTP_1_1, status, Unpooled.wrappedBuffer(words));
    refusal.headers().set(HttpHeaderNames.CONTENT_TYPE, Answer.TEXT);
    refusal.headers().setInt(HttpHeaderNames.CONTENT_LENGTH, words.length);
    refusal.headers().set(HttpHeaderNames.CONNECTION, "close");
    context.writeAndFlush(refusal);
    endGently(context);
  }

  /** A request is answered: takes the next one, or ends the connection. */
  void answered(boolean goesOn) {
    ChannelHandlerContext context = this.context;
    if (context == null || !context.channel().isActive()) {
      return;
    }
    visit = null;
    if (!goesOn) {
      if (bodyComes) {
        endGently(context);
      } else {
        context.close();
      }
      return;
    }
    expectHead(context);
    while (visit == null && !ahead.isEmpty()) {
      take(context, ahead.remove());
    }
    while (visit != null && bodyComes && ahead.peek() instanceof HttpContent) {
      take(context, ahead.remove());
    }
    if (visit == null) {
      context.channel().config().setAutoRead(true);
    }
  }

  /**
   * Reads on for a moment and drops what comes: closing a connection with bytes that are not read
   * resets it, and the client might not see its answer.
   */
  private void endGently(ChannelHandlerContext context) {
    closing = true;
    closeAfter(context, limits.errorTime().toMillis());
    context.channel().config().setAutoRead(true);
  }

  @Override
  public void channelInactive(ChannelHandlerContext context) {
    endDeadline();
    ahead.forEach(ReferenceCountUtil::release);
    ahead.clear();
    HttpVisit now = visit;
    if (now != null) {
      now.presence().leave();
    }
  }

  @Override
  public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
    if (!(cause instanceof IOException) && !(cause instanceof DecoderException)) {
      errors.accept(cause);
    }
    context.close();
  }

  /** Runs work on the event loop of a channel; throws if the node stops. */
  static void onLoop(Channel channel, Runnable work) throws IOException {
    try {
      channel.eventLoop().execute(work);
    } catch (RejectedExecutionException e) {
      throw new IOException("the node stops", e);
    }
  }
}
