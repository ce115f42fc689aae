package dev.tollgate.node.admin;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Base64;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** HTTP as bytes on sockets, so that a test can break its rules. */
public final class HttpCalls {
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private HttpCalls() {}

  /**
   * An answer.
   *
   * @param headers by their names in lower case
   */
  public record Reply(int status, Map<String, String> headers, String body) {
    public Reply {
      headers = Map.copyOf(headers);
    }
  }

  /** The value of the header Authorization for a user. */
  public static String basic(String user, String password) {
    return "Basic "
        + Base64.getEncoder()
            .encodeToString((user + ":" + password).getBytes(StandardCharsets.UTF_8));
  }

  public static Reply get(InetSocketAddress address, String path, String... headers)
      throws IOException {
    return call(address, "GET", path, "", headers);
  }

  /**
   * Sends one request on a connection of its own.
   *
   * @param headers names and values in turn; Host is this address if it is not among them
   */
  public static Reply call(
      InetSocketAddress address, String method, String path, String body, String... headers)
      throws IOException {
    try (Socket socket = connect(address)) {
      return call(
          socket.getInputStream(), socket.getOutputStream(), address, method, path, body, headers);
    }
  }

  /** Sends one request on a connection that the caller has opened, and will close. */
  public static Reply call(
      InputStream in,
      OutputStream out,
      InetSocketAddress address,
      String method,
      String path,
      String body,
      String... headers)
      throws IOException {
    StringBuilder head = new StringBuilder(method + " " + path + " HTTP/1.1\r\n");
    boolean host = false;
    for (int i = 0; i < headers.length; i += 2) {
      head.append(headers[i]).append(": ").append(headers[i + 1]).append("\r\n");
      host |= headers[i].equals("Host");
    }
    if (!host) {
      head.append("Host: 127.0.0.1:").append(address.getPort()).append("\r\n");
    }
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    head.append("Connection: close\r\nContent-Length: ").append(bytes.length).append("\r\n\r\n");
    out.write(head.toString().getBytes(StandardCharsets.UTF_8));
    out.write(bytes);
    out.flush();
    return read(in);
  }

  public static Socket connect(InetSocketAddress address) throws IOException {
    Socket socket = new Socket(address.getAddress(), address.getPort());
    socket.setSoTimeout((int) PATIENCE.toMillis());
    return socket;
  }

  /** Reads one answer, whose body ends with the connection or after Content-Length bytes. */
  public static Reply read(Socket socket) throws IOException {
    return read(socket.getInputStream());
  }

  private static Reply read(InputStream in) throws IOException {
    String[] head = head(in).split("\r\n", -1);
    Map<String, String> headers = new TreeMap<>();
    for (int i = 1; i < head.length; i++) {
      int colon = head[i].indexOf(':');
      headers.put(
          head[i].substring(0, colon).toLowerCase(Locale.ROOT),
          head[i].substring(colon + 1).trim());
    }
    String length = headers.get("content-length");
    byte[] body = length == null ? in.readAllBytes() : in.readNBytes(Integer.parseInt(length));
    return new Reply(
        Integer.parseInt(head[0].split(" ", -1)[1]),
        headers,
        new String(body, StandardCharsets.UTF_8));
  }

  private static String head(InputStream in) throws IOException {
    ByteArrayOutputStream read = new ByteArrayOutputStream();
    while (!read.toString(StandardCharsets.ISO_8859_1).endsWith("\r\n\r\n")) {
      int next = in.read();
      if (next < 0) {
        throw new IOException("the connection ended after: " + read);
      }
      read.write(next);
    }
    return read.toString(StandardCharsets.ISO_8859_1).strip();
  }
}
