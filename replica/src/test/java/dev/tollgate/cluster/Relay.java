package dev.tollgate.cluster;

import java.io.DataInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A port that hands bytes to another port until it is cut: then nothing gets through. The other
 * port is the same for all connections, or each names its own as clients of SOCKS 5 do.
 */
public final class Relay implements AutoCloseable {
  /** Finds out to which port of loopback a connection goes. */
  private interface Target {
    int of(Socket near) throws IOException;
  }

  private static final int SOCKS_VERSION = 5;
  private static final byte[] NO_LOGIN = {SOCKS_VERSION, 0};
  private static final byte[] CONNECTED = {SOCKS_VERSION, 0, 0, 1, 0, 0, 0, 0, 0, 0};

  /** Version, command, a reserved byte, kind of address, an address of IPv4. */
  private static final int BYTES_BEFORE_PORT = 8;

  private final ServerSocket server;
  private final Target target;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private volatile boolean cut;

  public Relay(int port, int target) throws IOException {
    this(port, near -> target);
  }

  private Relay(int port, Target target) throws IOException {
    this.server = new ServerSocket(port, 50, InetAddress.getLoopbackAddress());
    this.target = target;
    start(this::accept);
  }

  /** A proxy for a JVM, all of whose sockets go through it to ports of loopback. */
  static Relay ofSocks(int port) throws IOException {
    return new Relay(port, Relay::greet);
  }

  private static int greet(Socket near) throws IOException {
    DataInputStream in = new DataInputStream(near.getInputStream());
    in.readByte();
    in.skipNBytes(in.readUnsignedByte());
    near.getOutputStream().write(NO_LOGIN);
    in.skipNBytes(BYTES_BEFORE_PORT);
    int port = in.readUnsignedShort();
    near.getOutputStream().write(CONNECTED);
    return port;
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
        start(() -> join(near));
      }
    } catch (IOException e) {
      // closed
    }
  }

  private void join(Socket near) {
    try {
      Socket far = new Socket(InetAddress.getLoopbackAddress(), target.of(near));
      sockets.add(far);
      start(() -> pump(near, far));
      pump(far, near);
    } catch (IOException e) {
      // nobody listens at the target, or the client is gone
      close(near);
    }
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // it is of no use either way
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

  /** Ends the connections, of which bytes are missing, and lets new ones through. */
  void mend() throws IOException {
    endConnections();
    cut = false;
  }

  @Override
  public void close() throws IOException {
    server.close();
    endConnections();
  }
}
