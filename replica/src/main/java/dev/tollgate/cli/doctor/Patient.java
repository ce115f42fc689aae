package dev.tollgate.cli.doctor;

import static java.util.Objects.requireNonNull;

import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What a doctor has to know of a node.
 *
 * @param heap as the launcher takes it, such as {@code 1g}
 * @param clientListen where the node listens for clients
 * @param raftAddress where it listens for other nodes; null if it has none
 * @param peers the addresses of the nodes of the cluster, this one perhaps among them
 * @param snapshotLogBytes by how much the log grows between two snapshots
 * @param runs whether the node runs now
 * @param url a running cluster to ask; null for none
 * @param login the properties of the user as whom that cluster is asked
 */
public record Patient(
    String nodeId,
    Path data,
    String heap,
    int maxConnections,
    InetSocketAddress clientListen,
    @Nullable InetSocketAddress raftAddress,
    Map<String, String> peers,
    Duration electionTimeout,
    long snapshotLogBytes,
    BooleanSupplier runs,
    @Nullable String url,
    Properties login) {
  public Patient {
    requireNonNull(nodeId, "nodeId");
    requireNonNull(data, "data");
    requireNonNull(heap, "heap");
    requireNonNull(clientListen, "clientListen");
    peers = new TreeMap<>(peers);
    requireNonNull(electionTimeout, "electionTimeout");
    requireNonNull(runs, "runs");
    requireNonNull(login, "login");
  }
}
