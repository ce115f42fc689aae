package dev.tollgate.node;

import static java.util.Objects.requireNonNull;

import dev.tollgate.node.client.CertificateLogin;
import dev.tollgate.tls.CertificateDemand;
import dev.tollgate.tls.TlsCredentials;
import org.jspecify.annotations.Nullable;

/**
 * The TLS of a node.
 *
 * @param credentials with which it serves clients
 * @param clients whether clients have to show certificates; null for a port without TLS
 * @param peers with which nodes talk with each other, where both sides show certificates; null
 *     without TLS among nodes; may be those for clients
 * @param logins whether certificates of clients are logins
 */
public record NodeTls(
    TlsCredentials credentials,
    @Nullable CertificateDemand clients,
    @Nullable TlsCredentials peers,
    CertificateLogin logins) {
  public NodeTls {
    requireNonNull(credentials, "credentials");
    requireNonNull(logins, "logins");
  }

  /**
   * Creates the TLS of a node that trusts the same CAs everywhere, and takes no certificate for a
   * login.
   *
   * @param peers whether nodes talk over TLS with each other
   */
  public NodeTls(TlsCredentials credentials, @Nullable CertificateDemand clients, boolean peers) {
    this(credentials, clients, peers ? credentials : null, CertificateLogin.OFF);
  }

  /** Returns this TLS with other rules for certificates of clients. */
  public NodeTls withLogins(CertificateLogin chosen) {
    return new NodeTls(credentials, clients, peers, chosen);
  }

  /** Reads files that have changed. Does I/O. */
  void refresh() {
    credentials.refresh();
    if (peers != null && peers != credentials) {
      peers.refresh();
    }
    logins.refresh();
  }

  /** True if one set of CAs is trusted for nodes and for clients whose certificates are logins. */
  public boolean trustsOneCaForAll() {
    return logins.isOn() && peers == credentials;
  }

  /** Writes into the log of a node what becomes of its certificates. */
  public static TlsCredentials.Listener logged(String nodeId) {
    return new CredentialsReload.Log(nodeId);
  }
}
