package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.util.LinkedHashMap;
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

  private static final int FIRST_ERROR = 400;

  private final AdminLimits limits;
  private final Semaphore streams;

  AnswerSender(AdminLimits limits) {
    this.limits = requireNonNull(limits, "limits");
    this.streams = new Semaphore(limits.streams());
  }

  /** Sends an answer, or says that too many answers without an end are sent. */
  void send(HttpVisit visit, Answer answer) throws IOException {
    Answer.Stream stream = answer.stream();
    if (stream == null || visit.isHead()) {
      sendBytes(visit, answer);
    } else if (streams.tryAcquire()) {
      try {
        sendStream(visit, answer, stream);
      } finally {
        streams.release();
      }
    } else {
      sendBytes(
          visit,
          Answer.text(
              Answer.UNAVAILABLE,
              "this node already sends "
                  + limits.streams()
                  + " answers without an end, as many as it may: try again later"));
    }
  }

  private void sendBytes(HttpVisit visit, Answer answer) throws IOException {
    // an error is short: it is the unread rest of the request that takes time
    boolean isError = answer.status() >= FIRST_ERROR;
    visit.send(
        answer.status(),
        headers(answer),
        answer.bytes(),
        // what follows on this connection is the rest of the body
        answer.status() != Answer.TOO_LARGE,
        isError ? limits.errorTime() : limits.answerTime());
  }

  private void sendStream(HttpVisit visit, Answer answer, Answer.Stream stream) throws IOException {
    try (OutputStream out =
        new BufferedOutputStream(
            visit.stream(answer.status(), headers(answer), limits.streamTime()))) {
      stream.writeTo(out);
    }
  }

  private static Map<String, String> headers(Answer answer) {
    Map<String, String> headers = new LinkedHashMap<>(ALWAYS);
    headers.putAll(answer.headers());
    return headers;
  }
}
