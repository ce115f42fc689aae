package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

import dev.tollgate.node.client.CertificateLogin;
import dev.tollgate.tls.CertificateDemand;
import dev.tollgate.tls.TlsCredentials;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a node serves at its admin address, put together. Further pages are further routes. Nothing
 * here is loaded in a process without an admin address. Thread-safe.
 */
public final class AdminAddress implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(AdminAddress.class);

  private final AdminServer server;
  private final InetSocketAddress configured;
  private final boolean encrypted;
  private final MetricsPage metrics;
  private final ConsolePage console;

  private AdminAddress(
      AdminServer server,
      InetSocketAddress configured,
      boolean encrypted,
      MetricsPage metrics,
      ConsolePage console) {
    this.server = requireNonNull(server, "server");
    this.configured = requireNonNull(configured, "configured");
    this.encrypted = encrypted;
    this.metrics = requireNonNull(metrics, "metrics");
    this.console = requireNonNull(console, "console");
  }

  /**
   * Begins to listen.
   *
   * @param leaders is told of leaders as a listener of the replica
   * @param demand whether clients have to show certificates; null for an address without TLS
   * @param certificates whether certificates are logins
   * @param further pages beside those of this package
   * @throws IOException if the node cannot listen on the address
   */
  public static AdminAddress open(
      NodeParts node,
      LeaderChanges leaders,
      InetSocketAddress address,
      @Nullable CertificateDemand demand,
      CertificateLogin certificates,
      AdminLimits limits,
      List<Route> further)
      throws IOException {
    AdminTls tls = tls(node, demand, certificates);
    Readiness readiness = new Readiness(node);
    FigureReader figures =
        new FigureReader(node, readiness, leaders, FigureReader.PATIENCE, System::nanoTime);
    MetricsPage metrics = new MetricsPage(figures::read);
    ConsolePage console = new ConsolePage(node, readiness, ConsoleLimits.STANDARD);
    List<Route> routes = new ArrayList<>();
    routes.addAll(metrics.routes());
    routes.addAll(new HealthPages(node, readiness).routes());
    routes.addAll(new DebugPages(node, figures).routes());
    routes.addAll(further);
    routes.addAll(console.routes());
    try {
      AdminServer server =
          new AdminServer(
              node.nodeId(),
              address,
              tls,
              limits,
              routes,
              new Doorkeeper(
                  node.clients().passwordLogin(),
                  node.clients().liveLogins(),
                  node.replica().facts(),
                  node.replica().audit(),
                  address),
              node.replica()::stopIfClassesAreLost,
              node.supervision());
      // without the slash that stands for a host that was not looked up
      String listening = server.address().toString().replaceFirst("^.*/", "");
      LOG.info("{}: admin address at {}{}", node.nodeId(), scheme(tls != null), listening);
      return new AdminAddress(server, address, tls != null, metrics, console);
    } catch (IOException | RuntimeException e) {
      metrics.close();
      console.close();
      throw e;
    }
  }

  private static @Nullable AdminTls tls(
      NodeParts node, @Nullable CertificateDemand demand, CertificateLogin certificates) {
    TlsCredentials credentials = node.credentials();
    return credentials == null || demand == null
        ? null
        : new AdminTls(credentials, demand, certificates);
  }

  /** The address where the node listens, with the port that was chosen if port 0 was requested. */
  public InetSocketAddress address() {
    return server.address();
  }

  /**
   * Where others reach this address, without a path.
   *
   * @param clientAddress host and port that clients were told; null if they were told none
   * @return null if this address listens everywhere, and the host is not known
   */
  public @Nullable String url(@Nullable String clientAddress) {
    return url(configured, address().getPort(), encrypted, clientAddress);
  }

  /** An address that listens everywhere has the host of the address for clients. */
  static @Nullable String url(
      InetSocketAddress configured, int port, boolean encrypted, @Nullable String clientAddress) {
    String host = configured.getHostString();
    if (configured.getAddress() != null && configured.getAddress().isAnyLocalAddress()) {
      host =
          clientAddress == null
              ? ""
              : clientAddress.substring(0, Math.max(0, clientAddress.lastIndexOf(':')));
    }
    if (host.isEmpty()) {
      return null;
    }
    boolean bare = host.indexOf(':') >= 0 && !host.startsWith("[");
    return scheme(encrypted) + (bare ? "[" + host + "]" : host) + ":" + port;
  }

  private static String scheme(boolean encrypted) {
    return encrypted ? "https://" : "http://";
  }

  @Override
  public void close() {
    console.close();
    server.close();
    metrics.close();
  }
}
