package dev.tollgate.node;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.SocketTimeoutException;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One connection to an admin address, whose answers have to be answers of HTTP/1.1 to the letter:
 * one sign too many or too few is an AssertionError. Not thread-safe.
 */
final class HttpTalk {
  private static final int MOST_BYTES = 16 << 20;
  private static final Pattern STATUS = Pattern.compile("HTTP/1\\.1 [1-5]\\d\\d [ -~]*");
  private static final Pattern HEADER = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]+: ?[\\t -~]*");
  private static final Pattern CHUNK = Pattern.compile("[0-9a-f]{1,7}");

  /**
   * An answer.
   *
   * @param headers by their names in lower case
   * @param closes whether the node says that it ends the connection
   */
  record Answer(int status, Map<String, String> headers, String body, boolean closes) {
    String header(String name) {
      return headers.getOrDefault(name, "");
    }
  }

  /** The connection was reset. */
  private static final class Reset extends IOException {
    private static final long serialVersionUID = 1;

    Reset(IOException cause) {
      super(cause);
    }
  }

  private final InputStream in;
  private final OutputStream out;
  private boolean ended;

  /**
   * @param in whose reads end within the patience of the test
   */
  HttpTalk(InputStream in, OutputStream out) {
    this.in = new BufferedInputStream(in);
    this.out = out;
  }

  /** Sends bytes as they are. The node may have ended the connection before. */
  void send(byte[] bytes) {
    try {
      if (!ended) {
        out.write(bytes);
        out.flush();
      }
    } catch (IOException e) {
      ended = true;
    }
  }

  /**
   * Reads one answer.
   *
   * @param method of its request
   * @return null if the connection has ended before an answer, or is reset within one
   */
  @Nullable Answer answer(String method) throws IOException {
    try {
      String status = line();
      return status == null ? null : answer(method, status);
    } catch (Reset e) {
      return null;
    }
  }

  private Answer answer(String method, String status) throws IOException {
    require(STATUS.matcher(status).matches(), "status line", status);
    Map<String, String> headers = new TreeMap<>();
    for (String line = wholeLine(); !line.isEmpty(); line = wholeLine()) {
      require(HEADER.matcher(line).matches(), "header", line);
      int colon = line.indexOf(':');
      String old =
          headers.put(
              line.substring(0, colon).toLowerCase(Locale.ROOT), line.substring(colon + 1).strip());
      require(old == null, "header that comes once", line);
    }
    int code = Integer.parseInt(status.substring(9, 12));
    String length = headers.get("content-length");
    boolean chunked = "chunked".equals(headers.get("transfer-encoding"));
    boolean interim = code < 200;
    require(interim || (length == null) == chunked, "length of a body", status + headers);
    require(length == null || length.matches("\\d{1,8}"), "length", String.valueOf(length));
    String body = "";
    if (chunked && !method.equals("HEAD")) {
      body = chunks();
    } else if (length != null && !method.equals("HEAD")) {
      body = new String(exactly(Integer.parseInt(length)), UTF_8);
    }
    boolean closes = "close".equalsIgnoreCase(headers.get("connection"));
    return new Answer(code, headers, body, closes);
  }

  private String chunks() throws IOException {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    while (true) {
      String size = wholeLine();
      require(CHUNK.matcher(size).matches(), "size of a chunk", size);
      int bytes = Integer.parseInt(size, 16);
      body.write(exactly(bytes));
      String end = wholeLine();
      require(end.isEmpty(), "end of a chunk", end);
      require(body.size() < MOST_BYTES, "short body", "");
      if (bytes == 0) {
        return body.toString(UTF_8);
      }
    }
  }

  /** Reads the head of an answer without an end, and its first bytes. */
  boolean beginsStream() throws IOException {
    String status = line();
    if (status == null || !status.startsWith("HTTP/1.1 200 ")) {
      return false;
    }
    for (String line = wholeLine(); !line.isEmpty(); line = wholeLine()) {
      require(HEADER.matcher(line).matches(), "header", line);
    }
    String size = wholeLine();
    require(CHUNK.matcher(size).matches(), "size of a chunk", size);
    return true;
  }

  /** Throws AssertionError unless the connection ends now, without a further byte. */
  void requireEnd() throws IOException {
    int next;
    try {
      next = read();
    } catch (Reset e) {
      return;
    }
    if (next >= 0) {
      byte[] more = new byte[Math.min(in.available(), 2_000)];
      int count = in.read(more);
      throw new AssertionError(
          "more than the answers: "
              + (char) next
              + new String(more, 0, Math.max(0, count), ISO_8859_1));
    }
  }

  private int read() throws IOException {
    try {
      return in.read();
    } catch (SocketTimeoutException e) {
      throw new AssertionError("neither an answer nor an end", e);
    } catch (IOException e) {
      throw new Reset(e);
    }
  }

  private byte[] exactly(int bytes) throws IOException {
    byte[] read;
    try {
      read = in.readNBytes(bytes);
    } catch (SocketTimeoutException e) {
      throw new AssertionError("a body of " + bytes + " bytes that does not come", e);
    } catch (IOException e) {
      throw new Reset(e);
    }
    require(read.length == bytes, "body of " + bytes + " bytes", new String(read, UTF_8));
    return read;
  }

  private String wholeLine() throws IOException {
    String line = line();
    require(line != null, "whole answer", "the end of the connection");
    return String.valueOf(line);
  }

  /** A line that ends as it should; null at the end of the connection. */
  private @Nullable String line() throws IOException {
    ByteArrayOutputStream line = new ByteArrayOutputStream();
    for (int next = read(); next != '\n'; next = read()) {
      if (next < 0) {
        require(line.size() == 0, "whole line", line.toString(ISO_8859_1));
        return null;
      }
      line.write(next);
      require(line.size() < 16_384, "short line", line.toString(ISO_8859_1));
    }
    String text = line.toString(ISO_8859_1);
    require(text.endsWith("\r"), "line that ends with CR and LF", text);
    return text.substring(0, text.length() - 1);
  }

  private static void require(boolean right, String what, String found) {
    if (!right) {
      throw new AssertionError("no " + what + ": " + found);
    }
  }
}
