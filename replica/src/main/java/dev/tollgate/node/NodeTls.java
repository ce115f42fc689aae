package dev.tollgate.node;

import static java.util.Objects.requireNonNull;

import dev.tollgate.tls.CertificateDemand;
import dev.tollgate.tls.TlsCredentials;
import org.jspecify.annotations.Nullable;

/**
 * The TLS of a node.
 *
 * @param credentials one for clients and for other nodes
 * @param clients whether clients have to show certificates; null for a port without TLS
 * @param peers whether nodes talk over TLS with each other, where both sides show certificates
 */
public record NodeTls(
    TlsCredentials credentials, @Nullable CertificateDemand clients, boolean peers) {
  public NodeTls {
    requireNonNull(credentials, "credentials");
  }

  /** Writes into the log of a node what becomes of its certificates. */
  public static TlsCredentials.Listener logged(String nodeId) {
    return new CredentialsReload.Log(nodeId);
  }
}
