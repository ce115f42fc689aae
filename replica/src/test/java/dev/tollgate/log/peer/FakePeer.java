package dev.tollgate.log.peer;

import dev.tollgate.wire.WireWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Accepts one connection, sends some bytes whatever it is told, and reads only what a test reads.
 */
final class FakePeer implements AutoCloseable {
  private final ServerSocket listener = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
  private final CompletableFuture<Socket> connection = new CompletableFuture<>();

  FakePeer(byte[] bytes) throws IOException {
    Thread thread =
        new Thread(
            () -> {
              try {
                Socket socket = listener.accept();
                socket.getOutputStream().write(bytes);
                connection.complete(socket);
              } catch (IOException e) {
                connection.completeExceptionally(e);
              }
            },
            "fake-peer");
    thread.setDaemon(true);
    thread.start();
  }

  /** A node that says hello, and nothing after that. */
  static FakePeer silent() throws IOException {
    return new FakePeer(hello());
  }

  /** What a node says to one that it accepts. */
  static byte[] hello() {
    WireWriter noProof = new WireWriter().bytes(ClusterProof.drawNonce()).i64(1).i64(2).flag(false);
    byte[] challenge = Frame.of(Frame.Kind.CHALLENGE, 0, 0, noProof);
    byte[] done = Frame.of(Frame.Kind.DONE, 0, 0, new WireWriter(0));
    return ByteBuffer.allocate(Frame.PREFACE.length + challenge.length + done.length)
        .put(Frame.PREFACE)
        .put(challenge)
        .put(done)
        .array();
  }

  String address() {
    return "127.0.0.1:" + listener.getLocalPort();
  }

  void send(byte[] bytes) throws Exception {
    connection.get(30, TimeUnit.SECONDS).getOutputStream().write(bytes);
  }

  /** Reads at most this many bytes. */
  void read(int bytes) throws Exception {
    connection.get(30, TimeUnit.SECONDS).getInputStream().read(new byte[bytes]);
  }

  /** Says that nothing follows, once it is connected. */
  void hangUp() {
    connection.thenAccept(
        socket -> {
          try {
            socket.shutdownOutput();
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }

  @Override
  public void close() throws IOException {
    listener.close();
    connection.thenAccept(
        socket -> {
          try {
            socket.close();
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
  }
}
