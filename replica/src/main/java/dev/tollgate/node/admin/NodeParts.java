package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.CommandPipeline;
import dev.tollgate.log.ReplicatedLog;
import dev.tollgate.log.Supervision;
import dev.tollgate.node.client.ArrivalFigures;
import dev.tollgate.node.client.ClientService;
import dev.tollgate.node.replica.Replica;
import dev.tollgate.node.replica.TimeKeeper;
import dev.tollgate.node.slow.StuckWatch;
import dev.tollgate.tls.TlsCredentials;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The parts of a node that the admin address shows.
 *
 * @param version of Tollgate
 * @param connections the port for clients
 * @param maxConnections connections of clients that the node accepts
 * @param credentials null for a node without TLS
 * @param stopping true once the node has been told to stop
 */
public record NodeParts(
    String nodeId,
    String version,
    Replica replica,
    ReplicatedLog log,
    CommandPipeline pipeline,
    TimeKeeper timeKeeper,
    StuckWatch stuck,
    ClientService clients,
    Supplier<ArrivalFigures> connections,
    int maxConnections,
    @Nullable TlsCredentials credentials,
    BooleanSupplier stopping,
    Supervision supervision) {
  public NodeParts {
    requireNonNull(nodeId, "nodeId");
    requireNonNull(version, "version");
    requireNonNull(replica, "replica");
    requireNonNull(log, "log");
    requireNonNull(pipeline, "pipeline");
    requireNonNull(timeKeeper, "timeKeeper");
    requireNonNull(stuck, "stuck");
    requireNonNull(clients, "clients");
    requireNonNull(connections, "connections");
    requireNonNull(stopping, "stopping");
    requireNonNull(supervision, "supervision");
  }
}
