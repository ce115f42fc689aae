package dev.tollgate.node.login;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import javax.net.SocketFactory;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.SSLSocketFactory;

/**
 * Makes the sockets of one check. The handshake of TLS compares the name of the server with its
 * certificate: the JDK does, in every case. The check of the LDAP library lets an address of this
 * host have any certificate.
 */
final class DirectorySockets extends SSLSocketFactory {
  private static final String ALGORITHM = "LDAPS";
  private static final String[] PROTOCOLS = {"TLSv1.3", "TLSv1.2"};

  private final SSLSocketFactory tls;
  private final String host;
  private final OpenSockets sockets;
  private final int millis;

  /**
   * @param tls what makes connections to servers with trusted certificates
   * @param host the name that a certificate has to have
   * @param sockets is told of each socket before it connects
   * @param millis how long a connection, and each part of an answer, may take
   */
  DirectorySockets(SSLSocketFactory tls, String host, OpenSockets sockets, int millis) {
    this.tls = requireNonNull(tls, "tls");
    this.host = requireNonNull(host, "host");
    this.sockets = requireNonNull(sockets, "sockets");
    this.millis = millis;
  }

  /** Makes the connections on which TLS begins later. */
  SocketFactory plain() {
    return new SocketFactory() {
      @Override
      public Socket createSocket(InetAddress address, int port) throws IOException {
        return connect(address, port);
      }

      @Override
      public Socket createSocket(String name, int port) throws IOException {
        throw unused();
      }

      @Override
      public Socket createSocket(String name, int port, InetAddress from, int fromPort)
          throws IOException {
        throw unused();
      }

      @Override
      public Socket createSocket(InetAddress to, int port, InetAddress from, int fromPort)
          throws IOException {
        throw unused();
      }
    };
  }

  private static IOException unused() {
    return new IOException("the LDAP library opens sockets in another way than it did");
  }

  private Socket connect(InetAddress address, int port) throws IOException {
    Socket socket = new Socket();
    sockets.add(socket);
    try {
      socket.setSoTimeout(millis);
      socket.connect(new InetSocketAddress(address, port), millis);
      return socket;
    } catch (IOException e) {
      socket.close();
      throw e;
    }
  }

  /** TLS on a connection. Nothing is sent before the handshake has compared the name. */
  private Socket secured(Socket plain, int port) throws IOException {
    SSLSocket secured = (SSLSocket) tls.createSocket(plain, host, port, /* autoClose= */ true);
    SSLParameters parameters = secured.getSSLParameters();
    parameters.setEndpointIdentificationAlgorithm(ALGORITHM);
    parameters.setProtocols(PROTOCOLS);
    secured.setSSLParameters(parameters);
    return secured;
  }

  @Override
  public Socket createSocket(InetAddress address, int port) throws IOException {
    return secured(connect(address, port), port);
  }

  @Override
  public Socket createSocket(Socket plain, String name, int port, boolean autoClose)
      throws IOException {
    return secured(plain, port);
  }

  @Override
  public Socket createSocket(String name, int port) throws IOException {
    throw unused();
  }

  @Override
  public Socket createSocket(String name, int port, InetAddress from, int fromPort)
      throws IOException {
    throw unused();
  }

  @Override
  public Socket createSocket(InetAddress to, int port, InetAddress from, int fromPort)
      throws IOException {
    throw unused();
  }

  @Override
  public String[] getDefaultCipherSuites() {
    return tls.getDefaultCipherSuites();
  }

  @Override
  public String[] getSupportedCipherSuites() {
    return tls.getSupportedCipherSuites();
  }
}
