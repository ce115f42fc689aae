package dev.tollgate.transport;

import static java.util.Objects.requireNonNull;

import dev.tollgate.tls.NoTlsException;
import dev.tollgate.tls.TlsCredentials;
import dev.tollgate.tls.TlsException;
import dev.tollgate.tls.TlsMode;
import dev.tollgate.tls.TlsSettings;
import dev.tollgate.tls.TlsSocket;
import java.io.IOException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.net.InetAddress;
import java.net.Socket;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * How this process speaks TLS with the nodes of a cluster. The files are read with the first
 * connection, and again before later ones if they have changed. Thread-safe.
 */
final class ClusterTls {
  private static final Logger LOG = System.getLogger("dev.tollgate.transport");

  /** More nodes than a cluster has; beyond, each is asked again. */
  private static final int MOST_PLAIN = 1_000;

  private final TlsSettings settings;
  private @Nullable TlsCredentials credentials;

  /** Nodes of {@link TlsMode#PREFER} that have shown that they speak no TLS. */
  private final Set<String> plain = ConcurrentHashMap.newKeySet();

  ClusterTls(TlsSettings settings) {
    this.settings = requireNonNull(settings, "settings");
  }

  /**
   * Shakes hands with a node; returns null if connections are not to be encrypted.
   *
   * @throws TlsException if the node and the settings of this side do not fit
   */
  @Nullable TlsSocket secure(Socket socket, NodeAddress node, Duration timeout) throws IOException {
    boolean prefers = settings.mode() == TlsMode.PREFER;
    if (settings.mode() == TlsMode.DISABLE
        || (prefers && (isThisHost(socket) || plain.contains(node.toString())))) {
      return null;
    }
    TlsCredentials current = credentials();
    current.refreshIfDue();
    try {
      return TlsSocket.handshake(
          socket,
          current.clientEngine(settings.mode(), node.host(), node.port()),
          node.toString(),
          Math.max(1, timeout.toMillis()));
    } catch (NoTlsException e) {
      if (prefers) {
        throw e;
      }
      throw new TlsException(
          e.getMessage()
              + ": set sslMode=disable in the URL, or start the nodes with --tls-certificate",
          e);
    }
  }

  /**
   * Notes that a node has just shown that it has no TLS: {@link #secure} does no more for it if it
   * may be spoken to without. Several connections may note the same node at once. No login goes to
   * such a node, see {@link #isUnverified}.
   *
   * @return false if the node may not be spoken to without TLS
   */
  boolean doWithout(NodeAddress node) {
    if (settings.mode() != TlsMode.PREFER) {
      return false;
    }
    if (plain.size() >= MOST_PLAIN) {
      plain.clear();
    }
    plain.add(node.toString());
    return true;
  }

  /** See {@link FrameChannel#isUnverified}. */
  boolean isUnverified(Socket socket, @Nullable TlsSocket secured) {
    return secured == null
        ? settings.mode() == TlsMode.PREFER && !isThisHost(socket)
        : !settings.verifies();
  }

  /** What goes to this host, nobody on a network can read. */
  private static boolean isThisHost(Socket socket) {
    InetAddress other = socket.getInetAddress();
    return other != null && other.isLoopbackAddress();
  }

  private synchronized TlsCredentials credentials() throws TlsException {
    TlsCredentials read = credentials;
    if (read == null) {
      try {
        read = new TlsCredentials(settings.files(), settings.minVersion(), new Log());
      } catch (IOException e) {
        throw new TlsException(
            "the files of sslRootCert, sslCert, sslKey or sslKeyStore: " + e.getMessage(), e);
      }
      credentials = read;
    }
    return read;
  }

  private static final class Log implements TlsCredentials.Listener {
    @Override
    public void reloaded(String what) {
      LOG.log(Level.INFO, "TLS: {0}", what);
    }

    @Override
    public void warned(String what) {
      LOG.log(Level.WARNING, "TLS: {0}", what);
    }

    @Override
    public void failed(String why) {
      LOG.log(Level.ERROR, "TLS: changed files are not used: {0}", why);
    }
  }
}
