/**
 * How a session reaches the cluster. The package finds the leader, sends a request again until its
 * outcome is known, and proves with heartbeats that leases are alive.
 *
 * <p>From the outside in: {@link dev.tollgate.transport.ClusterRegistry} opens a {@link
 * dev.tollgate.transport.ClusterSession}, which sends its requests through a {@code SessionLink}.
 * The link finds nodes with a {@code NodeFinder}. It talks to one node at a time over a {@code
 * NodeConnection} on a {@link dev.tollgate.transport.FrameChannel}. One {@code ControlLink} per
 * process and cluster carries the heartbeats of all sessions.
 *
 * <p>This package uses no SQL types and not H2: a node may be built on other classes of the same
 * name.
 */
@NullMarked
package dev.tollgate.transport;

import org.jspecify.annotations.NullMarked;
