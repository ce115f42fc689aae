package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.io.OutputStream;
import java.util.Map;
import java.util.concurrent.Semaphore;

/** Sends answers, each within its time; few of those that have no end at a time. Thread-safe. */
final class AnswerSender {
  /** What every answer says: nothing of it is kept, framed or loaded from elsewhere. */
  private static final Map<String, String> ALWAYS =
      Map.of(
          "Cache-Control", "no-store",
          "Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'",
          "X-Content-Type-Options", "nosniff");

  private final AdminLimits limits;
  private final SlowClients slow;
  private final Semaphore streams;

  AnswerSender(AdminLimits limits, SlowClients slow) {
    this.limits = requireNonNull(limits, "limits");
    this.slow = requireNonNull(slow, "slow");
    this.streams = new Semaphore(limits.streams());
  }

  /** Sends an answer, or says that too many answers without an end are sent. */
  void send(HttpExchange exchange, Answer answer) throws IOException {
    Answer.Stream stream = answer.stream();
    if (stream == null || exchange.getRequestMethod().equals("HEAD")) {
      sendBytes(exchange, answer);
    } else if (streams.tryAcquire()) {
      try {
        sendStream(exchange, answer, stream);
      } finally {
        streams.release();
      }
    } else {
      sendBytes(
          exchange,
          Answer.text(
              Answer.UNAVAILABLE,
              "this node already sends "
                  + limits.streams()
                  + " answers without an end, as many as it may: try again later"));
    }
  }

  private void sendBytes(HttpExchange exchange, Answer answer) throws IOException {
    writeHeaders(exchange, answer);
    byte[] bytes = answer.bytes();
    boolean empty = bytes.length == 0 || exchange.getRequestMethod().equals("HEAD");
    if (answer.status() == Answer.TOO_LARGE) {
      // what follows on this connection is the rest of the body
      exchange.getResponseHeaders().set("Connection", "close");
    }
    slow.within(
        limits.answerTime(),
        () -> {
          exchange.sendResponseHeaders(answer.status(), empty ? -1 : bytes.length);
          if (!empty) {
            exchange.getResponseBody().write(bytes);
          }
          exchange.getResponseBody().close();
          return true;
        });
  }

  private void sendStream(HttpExchange exchange, Answer answer, Answer.Stream stream)
      throws IOException {
    writeHeaders(exchange, answer);
    slow.within(
        limits.streamTime(),
        () -> {
          exchange.sendResponseHeaders(answer.status(), 0);
          return true;
        });
    OutputStream out = exchange.getResponseBody();
    stream.writeTo(new GuardedStream(out, slow, limits.streamTime()));
    slow.within(
        limits.streamTime(),
        () -> {
          out.close();
          return true;
        });
  }

  private static void writeHeaders(HttpExchange exchange, Answer answer) {
    Headers headers = exchange.getResponseHeaders();
    ALWAYS.forEach(headers::set);
    answer.headers().forEach(headers::set);
  }
}
