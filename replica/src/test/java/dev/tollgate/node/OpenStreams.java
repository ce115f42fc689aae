package dev.tollgate.node;

import dev.tollgate.node.admin.HttpCalls;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** Connections whose answers have no end, and are not read beyond their first line. */
final class OpenStreams implements AutoCloseable {
  private final InetSocketAddress address;
  private final List<Socket> sockets = new ArrayList<>();

  OpenStreams(InetSocketAddress address, String request, int count) throws IOException {
    this.address = address;
    for (int i = 0; i < count; i++) {
      if (!openFurther(request)) {
        throw new IOException("stream " + i + " was refused");
      }
    }
  }

  /** True if the server sends a stream. */
  boolean openFurther(String request) throws IOException {
    Socket socket = HttpCalls.connect(address);
    if (status(socket, request).contains(" 200 ")) {
      sockets.add(socket);
      return true;
    }
    socket.close();
    return false;
  }

  /** The answer to a further request, or an empty text if it is a stream, which is closed. */
  String refusal(String request) throws IOException {
    try (Socket socket = HttpCalls.connect(address)) {
      String status = status(socket, request.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n"));
      return status.contains(" 200 ")
          ? ""
          : status + new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  private static String status(Socket socket, String request) throws IOException {
    socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
    StringBuilder line = new StringBuilder();
    int next = socket.getInputStream().read();
    while (next >= 0 && next != '\n') {
      line.append((char) next);
      next = socket.getInputStream().read();
    }
    return line.toString();
  }

  @Override
  public void close() throws IOException {
    for (Socket socket : sockets) {
      socket.close();
    }
  }
}
