package dev.tollgate.log.peer;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import org.apache.ratis.util.NetUtils;

/** Where sockets between nodes are made. Whatever encrypts them belongs here. */
final class PeerSockets {
  /** How long it may take until a node accepts a connection and says who it is. */
  static final int HELLO_MILLIS = 1_000;

  private static final int BACKLOG = 128;

  /** More than a log entry of many commands, so that a thread seldom waits for the network. */
  private static final int SEND_BUFFER_BYTES = 512 << 10;

  private PeerSockets() {}

  /**
   * Connects to host:port, whose name is resolved each time: a node may come back elsewhere. A read
   * then ends after {@link #HELLO_MILLIS}.
   */
  static void connect(Socket socket, String address) throws IOException {
    InetSocketAddress node;
    try {
      node = NetUtils.createSocketAddr(address);
    } catch (IllegalArgumentException e) {
      throw new IOException("'" + address + "' is no address", e);
    }
    if (node.isUnresolved()) {
      throw new IOException("the name " + node.getHostString() + " is not known");
    }
    configure(socket);
    socket.connect(node, HELLO_MILLIS);
  }

  /** Configures a socket that was accepted, or is to be connected. */
  static void configure(Socket socket) throws IOException {
    socket.setTcpNoDelay(true);
    socket.setKeepAlive(true);
    socket.setSendBufferSize(SEND_BUFFER_BYTES);
    socket.setSoTimeout(HELLO_MILLIS);
  }

  static ServerSocket listen(InetSocketAddress address) throws IOException {
    ServerSocket socket = new ServerSocket();
    try {
      // a node that is started again need not wait for connections of the process before it
      socket.setReuseAddress(true);
      socket.bind(address, BACKLOG);
      return socket;
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }
}
