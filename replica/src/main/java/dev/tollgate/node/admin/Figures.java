package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.LogClock;
import dev.tollgate.log.LogFigures;
import dev.tollgate.log.LogStatus;
import dev.tollgate.log.PipelineFigures;
import dev.tollgate.node.client.ArrivalFigures;
import dev.tollgate.node.client.ClientFigures;
import dev.tollgate.node.replica.ReplicaFigures;
import java.time.Duration;

/**
 * What one scrape shows.
 *
 * @param replica the state as it was some time ago
 * @param age how long ago; more than a moment while a long entry is being applied
 */
record Figures(
    NodeFigures node,
    LogStatus status,
    ReplicaFigures replica,
    Duration age,
    PipelineFigures pipeline,
    LogClock.Look clocks,
    LogFigures log,
    ClientFigures clients,
    ArrivalFigures connections) {
  Figures {
    requireNonNull(node, "node");
    requireNonNull(status, "status");
    requireNonNull(replica, "replica");
    requireNonNull(age, "age");
    requireNonNull(pipeline, "pipeline");
    requireNonNull(clocks, "clocks");
    requireNonNull(log, "log");
    requireNonNull(clients, "clients");
    requireNonNull(connections, "connections");
  }
}
