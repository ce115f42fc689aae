package dev.tollgate.cluster;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A port that hands bytes to another port until it is cut: then nothing gets through. */
public final class Relay implements AutoCloseable {
  private final ServerSocket server;
  private final int target;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private volatile boolean cut;

  public Relay(int port, int target) throws IOException {
    this.server = new ServerSocket(port, 50, InetAddress.getLoopbackAddress());
    this.target = target;
    start(this::accept);
  }

  private static void start(Runnable task) {
    Thread thread = new Thread(task, "relay");
    thread.setDaemon(true);
    thread.start();
  }

  private void accept() {
    try {
      while (true) {
        Socket near = server.accept();
        sockets.add(near);
        Socket far = new Socket(InetAddress.getLoopbackAddress(), target);
        sockets.add(far);
        start(() -> pump(near, far));
        start(() -> pump(far, near));
      }
    } catch (IOException e) {
      // closed
    }
  }

  private void pump(Socket from, Socket to) {
    try (from;
        to) {
      InputStream in = from.getInputStream();
      OutputStream out = to.getOutputStream();
      byte[] bytes = new byte[8 << 10];
      for (int count = in.read(bytes); count >= 0; count = in.read(bytes)) {
        if (!cut) {
          out.write(bytes, 0, count);
        }
      }
    } catch (IOException e) {
      // one side has closed its connection
    }
  }

  /** Ends all connections, as a proxy does that is loaded anew. */
  public void endConnections() throws IOException {
    for (Socket socket : sockets) {
      socket.close();
    }
    sockets.clear();
  }

  /** Connections stay open, and say nothing any more. */
  void cut() {
    cut = true;
  }

  @Override
  public void close() throws IOException {
    server.close();
    endConnections();
  }
}
