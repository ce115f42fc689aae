package dev.tollgate.samples.torture.cluster;

import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/** Who may connect to the nodes of a run, and how connections are protected. */
public interface Access {
  /** The options of this node that say so. */
  List<String> options(String node);

  /** What the administrator has in its URL, from {@code &} on; empty for nothing. */
  String administrator();

  /** What a client has in its URL, from {@code &} on; empty for nothing. */
  String client(int number);

  /** Lets the clients do what they have to do, once the tables are there, and no more. */
  void admitClients(Connection administrator) throws SQLException;

  /** Why certificates cannot be replaced here; empty if they can. */
  Optional<String> obstacleToRotation();

  /** Replaces the certificates and keys of all nodes and clients. */
  void replaceCertificates() throws IOException, InterruptedException;

  /**
   * Waits until this node shows its present certificate to new connections.
   *
   * @throws IOException if it does not within a few seconds
   */
  void awaitCertificate(Node node) throws IOException, InterruptedException;

  /** Whether each node writes an audit file. */
  boolean isAudited();
}
