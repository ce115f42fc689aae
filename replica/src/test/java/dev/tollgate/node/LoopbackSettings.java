package dev.tollgate.node;

import dev.tollgate.log.RaftSettings;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The settings of nodes that tests run in their own process. */
public final class LoopbackSettings {
  private LoopbackSettings() {}

  /**
   * Clients come to any free port of this machine, and replicas are compared only when asked.
   *
   * @param raft null for a node that keeps its log in memory
   */
  public static NodeSettings of(String nodeId, @Nullable RaftSettings raft) {
    return new NodeSettings(
        nodeId,
        raft,
        null,
        new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
        NodeSettings.MAX_CONNECTIONS,
        Duration.ZERO);
  }
}
