package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

import dev.tollgate.node.client.LoginCounts;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * What a node says of itself.
 *
 * @param version of Tollgate
 * @param ready as /health/ready says
 * @param failed whether the node has stopped serving
 * @param applyingMillis how long the entry that is being applied has been under way; 0 if there is
 *     none
 * @param diskHungMillis for how long the disk of the log has been hanging; 0 if it works
 * @param leading whether the node is the leader and has applied its log
 * @param leaderChanges how often another leader has taken over
 * @param lostAuditEvents audit events that the disk could not keep up with
 * @param unsentAuditLines audit lines that were deleted before the syslog server had them
 * @param stuckHolds holds that lasted longer than the hold warning, as this node found as leader
 * @param stuckWaits waits that lasted longer than the wait warning, likewise
 * @param certificateExpiry when the certificate of the node expires; null without one
 * @param maxConnections connections of clients that the node accepts
 * @param logins counts the logins at this node, and goes on counting
 */
record NodeFigures(
    String nodeId,
    String version,
    boolean ready,
    boolean failed,
    long applyingMillis,
    long diskHungMillis,
    boolean leading,
    long leaderChanges,
    long lostAuditEvents,
    long unsentAuditLines,
    long stuckHolds,
    long stuckWaits,
    @Nullable Instant certificateExpiry,
    int maxConnections,
    LoginCounts logins) {
  NodeFigures {
    requireNonNull(nodeId, "nodeId");
    requireNonNull(version, "version");
    requireNonNull(logins, "logins");
  }
}
