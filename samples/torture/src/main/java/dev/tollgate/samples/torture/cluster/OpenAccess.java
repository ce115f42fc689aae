package dev.tollgate.samples.torture.cluster;

import java.sql.Connection;
import java.util.List;
import java.util.Optional;

/** Nodes that serve everybody, in plain text. */
public final class OpenAccess implements Access {
  /** These nodes have no TLS, and a driver would try it first. */
  private static final String WITHOUT_TLS = "&sslMode=disable";

  private static final String WHY = "it needs --secure";

  @Override
  public List<String> options(String node) {
    return List.of("--insecure");
  }

  @Override
  public String administrator() {
    return WITHOUT_TLS;
  }

  @Override
  public String client(int number) {
    return WITHOUT_TLS;
  }

  @Override
  public void admitClients(Connection administrator) {
    // they may do everything
  }

  @Override
  public Optional<String> obstacleToRotation() {
    return Optional.of(WHY);
  }

  @Override
  public void replaceCertificates() {
    throw new UnsupportedOperationException(WHY);
  }

  @Override
  public void awaitCertificate(Node node) {
    throw new UnsupportedOperationException(WHY);
  }

  @Override
  public boolean isAudited() {
    return false;
  }
}
