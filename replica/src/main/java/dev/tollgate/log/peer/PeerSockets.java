package dev.tollgate.log.peer;

import dev.tollgate.tls.CertificateDemand;
import dev.tollgate.tls.Certificates;
import dev.tollgate.tls.TlsCredentials;
import dev.tollgate.tls.TlsException;
import dev.tollgate.tls.TlsSocket;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.security.cert.X509Certificate;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.util.NetUtils;
import org.jspecify.annotations.Nullable;

/** Where sockets between nodes are made and encrypted. */
final class PeerSockets {
  /** How long it may take until a node accepts a connection and says who it is. */
  static final int HELLO_MILLIS = 1_000;

  /**
   * How long a TLS handshake may take in all. Longer than a hello: the first one of a process loads
   * hundreds of classes.
   */
  static final int HANDSHAKE_MILLIS = 2_000;

  private static final int BACKLOG = 128;

  /** More than a log entry of many commands, so that a thread seldom waits for the network. */
  private static final int SEND_BUFFER_BYTES = 512 << 10;

  private PeerSockets() {}

  /**
   * The two directions of a connection.
   *
   * @param node the node that the certificate of the other side names; null without TLS
   */
  record Streams(InputStream in, OutputStream out, @Nullable String node) {
    static Streams of(Socket socket) throws IOException {
      return new Streams(socket.getInputStream(), socket.getOutputStream(), null);
    }

    private static Streams of(TlsSocket tls) {
      X509Certificate certificate = tls.peerCertificate();
      return new Streams(
          tls.in(), tls.out(), certificate == null ? null : Certificates.node(certificate));
    }
  }

  /**
   * Connects to a node, and shakes hands.
   *
   * @param credentials null for a connection without TLS
   * @throws TlsException if the node cannot show that it is this peer
   */
  static Streams connect(Socket socket, RaftPeer peer, @Nullable TlsCredentials credentials)
      throws IOException {
    return connect(socket, peer, resolve(peer.getAddress()), credentials);
  }

  /**
   * Connects to a node at an address that {@link #resolve} has found, and shakes hands.
   *
   * @param credentials null for a connection without TLS
   * @throws TlsException if the node cannot show that it is this peer
   */
  static Streams connect(
      Socket socket, RaftPeer peer, InetSocketAddress node, @Nullable TlsCredentials credentials)
      throws IOException {
    connect(socket, node);
    if (credentials == null) {
      return Streams.of(socket);
    }
    Streams streams =
        Streams.of(
            TlsSocket.handshake(
                socket,
                credentials.peerEngine(node.getHostString(), node.getPort()),
                "the node at " + peer.getAddress(),
                HANDSHAKE_MILLIS));
    if (!peer.getId().toString().equals(streams.node())) {
      throw new TlsException(
          "the node at " + peer.getAddress() + " has the certificate of node " + streams.node());
    }
    return streams;
  }

  /** Shakes hands with a node that has connected. */
  static Streams accept(Socket socket, @Nullable TlsCredentials credentials) throws IOException {
    return credentials == null
        ? Streams.of(socket)
        : Streams.of(
            TlsSocket.handshake(
                socket,
                credentials.serverEngine(CertificateDemand.REQUIRED, /* nodesOnly= */ true),
                "the other node",
                HANDSHAKE_MILLIS));
  }

  /**
   * Resolves host:port, each time anew: a node may come back elsewhere.
   *
   * @throws IOException if that is no address, or its name is not known
   */
  static InetSocketAddress resolve(String address) throws IOException {
    InetSocketAddress node;
    try {
      node = NetUtils.createSocketAddr(address);
    } catch (IllegalArgumentException e) {
      throw new IOException("'" + address + "' is no address", e);
    }
    if (node.isUnresolved()) {
      throw new IOException("the name " + node.getHostString() + " is not known");
    }
    return node;
  }

  /** Connects to an address. A read then ends after {@link #HELLO_MILLIS}. */
  static void connect(Socket socket, InetSocketAddress node) throws IOException {
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
