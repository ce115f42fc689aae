package dev.tollgate.node;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Environment;
import dev.tollgate.core.command.FeatureLevels;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.node.audit.AuditSettings;
import dev.tollgate.node.slow.SlowSettings;
import dev.tollgate.store.LocalEnvironment;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * How a node is set up.
 *
 * @param nodeId its name in the cluster
 * @param raft how the node takes part in the log; null for a node that keeps nothing
 * @param clientAddress the address for clients that the cluster is told; null if the node listens
 *     at that address
 * @param listenAddress where the node listens for clients; null if it opens no port
 * @param maxConnections clients that may be connected at a time
 * @param verifyInterval how often the replicas are compared while this node leads; zero for never
 * @param tls null for a node without TLS
 * @param environment the environment in which the node computes statements; always the same
 * @param audit where the node writes what auditors want to know; null for nowhere
 * @param slow from when on the node reports that something takes long
 * @param levels the feature levels that the node knows
 * @param adminAddress where the node serves metrics and health; null for nowhere
 */
public record NodeSettings(
    String nodeId,
    @Nullable RaftSettings raft,
    @Nullable String clientAddress,
    @Nullable InetSocketAddress listenAddress,
    int maxConnections,
    Duration verifyInterval,
    @Nullable NodeTls tls,
    Supplier<Environment> environment,
    @Nullable AuditSettings audit,
    SlowSettings slow,
    FeatureLevels levels,
    @Nullable InetSocketAddress adminAddress) {
  /** Connections that a node accepts by default. */
  public static final int MAX_CONNECTIONS = 20_000;

  /** How often the replicas are compared by default. */
  public static final Duration VERIFY_INTERVAL = Duration.ofMinutes(10);

  public NodeSettings {
    requireNonNull(nodeId, "nodeId");
    requireNonNull(environment, "environment");
    requireNonNull(slow, "slow");
    requireNonNull(levels, "levels");
    if (verifyInterval.isNegative()) {
      throw new IllegalArgumentException("verifyInterval: " + verifyInterval);
    }
    if (maxConnections < 1) {
      throw new IllegalArgumentException("maxConnections: " + maxConnections);
    }
  }

  /** Creates the settings of a node that computes in the environment of this process. */
  public NodeSettings(
      String nodeId,
      @Nullable RaftSettings raft,
      @Nullable String clientAddress,
      @Nullable InetSocketAddress listenAddress,
      int maxConnections,
      Duration verifyInterval) {
    this(
        nodeId,
        raft,
        clientAddress,
        listenAddress,
        maxConnections,
        verifyInterval,
        LocalEnvironment::get);
  }

  /** Creates the settings of a node that has no TLS, audit or admin address. */
  public NodeSettings(
      String nodeId,
      @Nullable RaftSettings raft,
      @Nullable String clientAddress,
      @Nullable InetSocketAddress listenAddress,
      int maxConnections,
      Duration verifyInterval,
      Supplier<Environment> environment) {
    this(
        nodeId,
        raft,
        clientAddress,
        listenAddress,
        maxConnections,
        verifyInterval,
        /* tls= */ null,
        environment,
        /* audit= */ null,
        SlowSettings.STANDARD,
        FeatureLevels.STANDARD,
        /* adminAddress= */ null);
  }

  /** Returns these settings with TLS, or without if {@code chosen} is null. */
  public NodeSettings withTls(@Nullable NodeTls chosen) {
    return with(chosen, audit, slow, levels, adminAddress);
  }

  /** Returns these settings for a node that is audited, or is not if {@code chosen} is null. */
  public NodeSettings withAudit(@Nullable AuditSettings chosen) {
    return with(tls, chosen, slow, levels, adminAddress);
  }

  /** Returns these settings for a node with an admin address, or without if it is null. */
  public NodeSettings withAdmin(@Nullable InetSocketAddress chosen) {
    return with(tls, audit, slow, levels, chosen);
  }

  /** Returns these settings for a node that reports other things as slow. */
  public NodeSettings withSlow(SlowSettings chosen) {
    return with(tls, audit, chosen, levels, adminAddress);
  }

  /** Returns these settings for a node that knows these levels, as one of another version. */
  NodeSettings withLevels(FeatureLevels chosen) {
    return with(tls, audit, slow, chosen, adminAddress);
  }

  private NodeSettings with(
      @Nullable NodeTls encryption,
      @Nullable AuditSettings auditing,
      SlowSettings slowness,
      FeatureLevels known,
      @Nullable InetSocketAddress admin) {
    return new NodeSettings(
        nodeId,
        raft,
        clientAddress,
        listenAddress,
        maxConnections,
        verifyInterval,
        encryption,
        environment,
        auditing,
        slowness,
        known,
        admin);
  }

  /** Returns the environment of this process; the first call takes some tenths of a second. */
  public static Environment localEnvironment() {
    return LocalEnvironment.get();
  }

  /** Returns the settings of a node in this JVM that only this JVM talks to. */
  public static NodeSettings embedded(String nodeId, @Nullable RaftSettings raft) {
    return new NodeSettings(nodeId, raft, null, null, MAX_CONNECTIONS, Duration.ZERO);
  }
}
