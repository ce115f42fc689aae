package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

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
  private final MetricsPage metrics;
  private final ConsolePage console;

  private AdminAddress(AdminServer server, MetricsPage metrics, ConsolePage console) {
    this.server = requireNonNull(server, "server");
    this.metrics = requireNonNull(metrics, "metrics");
    this.console = requireNonNull(console, "console");
  }

  /**
   * Begins to listen.
   *
   * @param leaders is told of leaders as a listener of the replica
   * @param demand whether clients have to show certificates; null for an address without TLS
   * @param further pages beside those of this package
   * @throws IOException if the node cannot listen on the address
   */
  public static AdminAddress open(
      NodeParts node,
      LeaderChanges leaders,
      InetSocketAddress address,
      @Nullable CertificateDemand demand,
      AdminLimits limits,
      List<Route> further)
      throws IOException {
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
              tls(node, demand),
              limits,
              routes,
              new Doorkeeper(node.clients().passwordLogin(), node.replica().facts(), address)
                  ::decide,
              node.replica()::stopIfClassesAreLost,
              node.supervision());
      LOG.info(
          "{}: admin address at {}{}",
          node.nodeId(),
          demand == null ? "http://" : "https://",
          server.address());
      return new AdminAddress(server, metrics, console);
    } catch (IOException | RuntimeException e) {
      metrics.close();
      console.close();
      throw e;
    }
  }

  private static @Nullable AdminTls tls(NodeParts node, @Nullable CertificateDemand demand) {
    TlsCredentials credentials = node.credentials();
    return credentials == null || demand == null ? null : new AdminTls(credentials, demand);
  }

  /** The address where the node listens, with the port that was chosen if port 0 was requested. */
  public InetSocketAddress address() {
    return server.address();
  }

  @Override
  public void close() {
    console.close();
    server.close();
    metrics.close();
  }
}
