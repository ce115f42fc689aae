package dev.tollgate.node.admin;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.CombinedChannelDuplexHandler;
import io.netty.handler.codec.DecoderResult;
import io.netty.handler.codec.http.HttpDecoderConfig;
import io.netty.handler.codec.http.HttpMessage;
import io.netty.handler.codec.http.HttpMethod;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.handler.codec.http.HttpResponse;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.codec.http.HttpStatusClass;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;

/**
 * Reads requests and writes answers, as Netty's {@code HttpServerCodec}. That one forgets
 * Content-Length where there is Transfer-Encoding too, and a proxy in front of the node may have
 * done otherwise (RFC 9112, section 6.1); here such a request is malformed.
 */
final class HttpCodec
    extends CombinedChannelDuplexHandler<HttpRequestDecoder, HttpResponseEncoder> {
  /** Of requests without an answer: an answer to HEAD has no body. */
  private final Queue<HttpMethod> methods = new ArrayDeque<>();

  HttpCodec(HttpDecoderConfig limits) {
    init(new Decoder(limits), new Encoder());
  }

  private final class Decoder extends HttpRequestDecoder {
    Decoder(HttpDecoderConfig limits) {
      super(limits);
    }

    @Override
    protected void decode(ChannelHandlerContext context, ByteBuf in, List<Object> out)
        throws Exception {
      int before = out.size();
      super.decode(context, in, out);
      for (Object message : out.subList(before, out.size())) {
        if (message instanceof HttpRequest request) {
          methods.add(request.method());
        }
      }
    }

    @Override
    protected void handleTransferEncodingChunkedWithContentLength(HttpMessage message) {
      super.handleTransferEncodingChunkedWithContentLength(message);
      message.setDecoderResult(
          DecoderResult.failure(
              new IllegalArgumentException("both Content-Length and Transfer-Encoding")));
    }
  }

  private final class Encoder extends HttpResponseEncoder {
    @Override
    protected boolean isContentAlwaysEmpty(HttpResponse answer) {
      if (answer.status().codeClass() == HttpStatusClass.INFORMATIONAL) {
        return true; // the answer to the request is still to come
      }
      return HttpMethod.HEAD.equals(methods.poll()) || super.isContentAlwaysEmpty(answer);
    }
  }
}
