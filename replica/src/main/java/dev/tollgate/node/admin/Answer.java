package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The answer to a request: bytes, or a stream without a known end. Immutable. */
public final class Answer {
  /** Writes pieces of an answer until it throws or returns. */
  public interface Stream {
    /**
     * @param out each write and flush has its own deadline; throws once the client is gone or too
     *     slow, or the node stops
     */
    void writeTo(OutputStream out) throws IOException;
  }

  /** Text, as people and scripts read it. */
  public static final String TEXT = "text/plain; charset=utf-8";

  static final int OK = 200;
  static final int BAD_REQUEST = 400;
  static final int UNAUTHORIZED = 401;
  static final int FORBIDDEN = 403;
  static final int NOT_FOUND = 404;
  static final int METHOD_NOT_ALLOWED = 405;
  static final int TOO_LARGE = 413;
  static final int TOO_MANY = 429;
  static final int FAILED = 500;
  static final int UNAVAILABLE = 503;

  private final int status;
  private final Map<String, String> headers;
  private final byte[] bytes;
  private final @Nullable Stream stream;

  private Answer(int status, Map<String, String> headers, byte[] bytes, @Nullable Stream stream) {
    this.status = status;
    this.headers = headers;
    this.bytes = bytes;
    this.stream = stream;
  }

  /** An answer of one line, or of several that end with a line break. */
  public static Answer text(int status, String text) {
    return of(
        status, TEXT, (text.endsWith("\n") ? text : text + "\n").getBytes(StandardCharsets.UTF_8));
  }

  public static Answer of(int status, String contentType, byte[] bytes) {
    return new Answer(status, Map.of("Content-Type", contentType), bytes.clone(), null);
  }

  /** An answer whose end is not known, such as server-sent events. */
  public static Answer stream(String contentType, Stream stream) {
    requireNonNull(stream, "stream");
    return new Answer(OK, Map.of("Content-Type", contentType), new byte[0], stream);
  }

  /** This answer with a header more, or with another value for it. */
  public Answer with(String header, String value) {
    Map<String, String> more = new LinkedHashMap<>(headers);
    more.put(header, value);
    return new Answer(status, more, bytes, stream);
  }

  public int status() {
    return status;
  }

  Map<String, String> headers() {
    return headers;
  }

  byte[] bytes() {
    return bytes;
  }

  @Nullable Stream stream() {
    return stream;
  }
}
