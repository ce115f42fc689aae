/**
 * How a session reaches the cluster: finding the leader, sending a request again until its outcome
 * is known, and proving with heartbeats that leases are alive.
 *
 * <p>From the outside in: {@link dev.tollgate.transport.ClusterRegistry} opens a {@link
 * dev.tollgate.transport.ClusterSession}; that asks through a {@code SessionLink}, which finds
 * nodes by a {@code NodeFinder} and talks to one at a time over a {@code NodeConnection} on a
 * {@link dev.tollgate.transport.FrameChannel}. One {@code ControlLink} per process and cluster
 * carries the heartbeats of all sessions.
 *
 * <p>Nothing here knows a SQL type or H2: a node may be built on other classes of the same name.
 */
@NullMarked
package dev.tollgate.transport;

import org.jspecify.annotations.NullMarked;
