package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

import dev.tollgate.node.client.CertificateLogin;
import dev.tollgate.node.client.OneHandshake;
import dev.tollgate.tls.CertificateDemand;
import dev.tollgate.tls.TlsCredentials;
import io.netty.handler.ssl.SslHandler;
import java.util.concurrent.TimeUnit;

/**
 * The TLS of the admin address: each connection gets an engine from the credentials of the node, so
 * it follows their files as the port for clients does.
 */
final class AdminTls {
  private final TlsCredentials credentials;
  private final CertificateDemand demand;
  private final CertificateLogin logins;

  AdminTls(TlsCredentials credentials, CertificateDemand demand, CertificateLogin logins) {
    this.credentials = requireNonNull(credentials, "credentials");
    this.demand = requireNonNull(demand, "demand");
    this.logins = requireNonNull(logins, "logins");
  }

  /** Whether the certificates of clients are logins. */
  CertificateLogin logins() {
    return logins;
  }

  /** Makes the handler of one connection. */
  SslHandler handler() {
    SslHandler handler = new OneHandshake(credentials.serverEngine(demand, /* nodesOnly= */ false));
    handler.setHandshakeTimeoutMillis(TimeUnit.SECONDS.toMillis(AdminLimits.SILENCE_SECONDS));
    return handler;
  }
}
