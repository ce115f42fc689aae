package dev.tollgate.node.admin;

import dev.tollgate.log.KeyUse;
import dev.tollgate.log.LogClock;
import dev.tollgate.log.LogFigures;
import dev.tollgate.log.LogStatus;
import dev.tollgate.log.PipelineFigures;
import dev.tollgate.node.client.ArrivalFigures;
import dev.tollgate.node.client.AuthenticationListener;
import dev.tollgate.node.client.ClientFigures;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The metrics of a node, all from one reading of its {@link Figures}. docs/operations.md says what
 * each means. Labels have few values: constants, the data keys of this node, members of the cluster
 * up to {@link AdminLimits#LABELED_MEMBERS}, and tables with refused writes up to {@link
 * dev.tollgate.core.command.Limits#TALLIED_TABLES}.
 */
final class NodeMetrics {
  private NodeMetrics() {}

  static MetricSnapshots of(Figures now) {
    MetricFamilies families = new MetricFamilies();
    addNode(families, now.node());
    addRaft(families, now.status(), now.node());
    addClocks(families, now.clocks());
    addPipeline(families, now.pipeline());
    StateMetrics.addState(families, now.replica(), now.age());
    StateMetrics.addLocks(families, now.replica().locks());
    addDisk(families, now.log());
    addKeys(families, now.log().keys());
    addClients(families, now.clients());
    addConnections(families, now.connections(), now.node());
    return families.all();
  }

  private static void addNode(MetricFamilies families, NodeFigures node) {
    families
        .gauges(
            "tollgate_node",
            "Always 1; the labels name the node and the version of Tollgate.",
            Map.of(Labels.of("node", node.nodeId(), "version", node.version()), 1))
        .gauge("tollgate_ready", "1 if /health/ready says so, else 0.", node.ready() ? 1 : 0)
        .gauge(
            "tollgate_failed", "1 if the node has stopped serving, else 0.", node.failed() ? 1 : 0)
        .gauge(
            "tollgate_apply_under_way_seconds",
            "For how long the entry that is being applied has been under way; 0 if there is none.",
            node.applyingMillis() / MetricFamilies.MILLIS)
        .gauge(
            "tollgate_disk_hung_seconds",
            "For how long the disk of the log has been hanging; 0 if it works.",
            node.diskHungMillis() / MetricFamilies.MILLIS)
        .counter(
            "tollgate_audit_lost_events",
            "Audit events that were lost, because the disk did not keep up.",
            node.lostAuditEvents())
        .counter(
            "tollgate_audit_unsent_lines",
            "Audit lines that were deleted before the syslog server had confirmed them.",
            node.unsentAuditLines())
        .counter(
            "tollgate_stuck_holds",
            "Holds of locks that lasted longer than the hold warning, counted by the leader.",
            node.stuckHolds())
        .counter(
            "tollgate_stuck_waits",
            "Waits for locks that lasted longer than the wait warning, counted by the leader.",
            node.stuckWaits());
    Instant expiry = node.certificateExpiry();
    if (expiry != null) {
      families.gauge(
          "tollgate_certificate_expiry_timestamp_seconds",
          "When the certificate of the node expires, seconds since 1970.",
          expiry.toEpochMilli() / MetricFamilies.MILLIS);
    }
  }

  private static void addRaft(MetricFamilies families, LogStatus status, NodeFigures node) {
    Map<Labels, Number> lags = new LinkedHashMap<>();
    Map<Labels, Number> silences = new LinkedHashMap<>();
    Map<Labels, Number> losses = new LinkedHashMap<>();
    for (LogStatus.Member member : status.members()) {
      if (lags.size() == AdminLimits.LABELED_MEMBERS) {
        break;
      }
      Labels labels = Labels.of("member", member.nodeId());
      if (status.role() == LogStatus.Role.LEADER) {
        losses.put(labels, member.lostEntries() ? 1 : 0);
      }
      if (member.appliedIndex() >= 0) {
        lags.put(labels, Math.max(0, status.knownCommitIndex() - member.appliedIndex()));
      }
      if (member.silentMillis() != null) {
        silences.put(labels, member.silentMillis() / MetricFamilies.MILLIS);
      }
    }
    families
        .gauge(
            "tollgate_leader",
            "1 if this node is the leader, and has applied its log; else 0.",
            node.leading() ? 1 : 0)
        .gauge(
            "tollgate_leader_known",
            "1 if this node knows a leader, else 0.",
            status.leaderId() == null ? 0 : 1)
        .counter(
            "tollgate_leader_changes",
            "How often another leader has taken over, or the same one in another term.",
            node.leaderChanges())
        .gauge("tollgate_term", "The term of Raft in which this node is.", status.term())
        .gauge("tollgate_members", "Nodes of the cluster.", status.members().size())
        .gauge(
            "tollgate_commit_index",
            "Up to where this node knows the log to be committed.",
            status.commitIndex())
        .gauge(
            "tollgate_applied_index",
            "Up to where this node has applied the log.",
            status.lastAppliedIndex())
        .gauges(
            "tollgate_member_lag_entries",
            "How many committed entries a member has not applied, as far as this node knows.",
            lags)
        .gauges(
            "tollgate_member_silence_seconds",
            "For how long this node has not heard from a member to which it listens.",
            silences)
        .gauges(
            "tollgate_member_lost_entries",
            "1 if a member lacks entries that it has acknowledged to this leader, else 0.",
            losses);
  }

  private static void addClocks(MetricFamilies families, LogClock.Look clocks) {
    Map<Labels, Number> ahead = new LinkedHashMap<>();
    clocks
        .aheadMicros()
        .forEach(
            (node, micros) -> {
              if (ahead.size() < AdminLimits.LABELED_MEMBERS) {
                ahead.put(Labels.of("member", node), micros / MetricFamilies.MICROS);
              }
            });
    families
        .gauge(
            "tollgate_clocks_agree",
            "1 if the clocks of a majority agree, as far as this node has read them; else 0.",
            clocks.agreed() ? 1 : 0)
        .gauges(
            "tollgate_clock_ahead_seconds",
            "By how much the clock of a member is ahead of the time that this node would stamp.",
            ahead)
        .gauge(
            "tollgate_log_time_ahead_seconds",
            "By how much the time of the log is ahead of that time, and so stands still.",
            clocks.logAheadMicros() / MetricFamilies.MICROS);
  }

  private static void addPipeline(MetricFamilies families, PipelineFigures pipeline) {
    families
        .histogram(
            "tollgate_commit_seconds",
            "From the proposal of an entry until the leader has applied it.",
            pipeline.commits(),
            MetricFamilies.MICROS)
        .counter(
            "tollgate_commits_lost",
            "Entries that this node proposed and did not apply as leader.",
            pipeline.unapplied())
        .gauge(
            "tollgate_queued_commands",
            "Commands that wait for the next entry.",
            pipeline.queuedCommands())
        .gauge("tollgate_queued_bytes", "Bytes of these commands.", pipeline.queuedBytes())
        .gauge(
            "tollgate_queued_proofs",
            "Reads and renewals that wait until an entry is applied.",
            pipeline.barriers())
        .counter(
            "tollgate_refused_commands",
            "Commands that were refused because too many waited.",
            pipeline.refused());
  }

  private static void addDisk(MetricFamilies families, LogFigures disk) {
    families
        .gauge("tollgate_log_bytes", "Bytes of the Raft log on disk.", disk.logBytes())
        .gauge("tollgate_log_segments", "Files of the Raft log.", disk.segments())
        .gauge(
            "tollgate_log_bytes_since_snapshot",
            "By how much the log has grown since the last snapshot.",
            disk.bytesSinceSnapshot())
        .gauge("tollgate_snapshots", "Snapshots on disk.", disk.snapshots())
        .gauge("tollgate_snapshot_bytes", "Bytes of these snapshots.", disk.snapshotBytes())
        .gauge(
            "tollgate_snapshot_index",
            "The last entry that the newest snapshot covers.",
            disk.newestSnapshotIndex())
        .gauge(
            "tollgate_snapshot_timestamp_seconds",
            "When the newest snapshot was written, seconds since 1970; 0 without one.",
            disk.newestSnapshotMillis() / MetricFamilies.MILLIS)
        .counter("tollgate_snapshots_written", "Snapshots that were written.", disk.written())
        .counter(
            "tollgate_snapshots_interrupted",
            "Snapshots that made way for a definition.",
            disk.interrupted())
        .counter(
            "tollgate_snapshots_failed",
            "Snapshots that could not be written or read back.",
            disk.failed())
        .counter(
            "tollgate_snapshots_unreadable",
            "Snapshots that were written and could not be read back.",
            disk.unreadable())
        .gauge(
            "tollgate_snapshot_write_seconds",
            "How long it took to write the last snapshot.",
            disk.lastWriteMillis() / MetricFamilies.MILLIS)
        .gauge(
            "tollgate_snapshot_pause_seconds",
            "For how long the last snapshot held up the log.",
            disk.lastHeldMicros() / MetricFamilies.MICROS)
        .gauge(
            "tollgate_disk_usable_bytes",
            "Room that is left on the disk of the data directory.",
            disk.usableBytes())
        .gauge("tollgate_disk_bytes", "Size of that disk.", disk.diskBytes());
  }

  private static void addKeys(MetricFamilies families, List<KeyUse> keys) {
    if (keys.isEmpty()) {
      return;
    }
    Map<Labels, Number> used = new LinkedHashMap<>();
    for (KeyUse key : keys) {
      used.put(Labels.of("key", key.keyId(), "files", "log"), key.lastLogIndex() >= 0 ? 1 : 0);
      used.put(Labels.of("key", key.keyId(), "files", "snapshots"), key.snapshots() > 0 ? 1 : 0);
      used.put(Labels.of("key", key.keyId(), "files", "identity"), key.identity() ? 1 : 0);
    }
    families.gauges(
        "tollgate_data_key_in_use",
        "1 if files of this node are encrypted with a data key, else 0.",
        used);
  }

  private static void addClients(MetricFamilies families, ClientFigures clients) {
    Map<Labels, Number> queued = new LinkedHashMap<>();
    clients
        .queued()
        .forEach(
            (kind, count) ->
                queued.put(Labels.of("kind", kind.name().toLowerCase(Locale.ROOT)), count));
    families
        .counter("tollgate_requests", "Requests of clients.", clients.requests())
        .counter(
            "tollgate_requests_refused",
            "Requests that were refused because the node or their connection had too many.",
            clients.refusedRequests())
        .gauge(
            "tollgate_request_bytes",
            "Bytes of large requests without an answer.",
            clients.requestBytes())
        .gauge(
            "tollgate_unread_bytes",
            "Bytes of answers that clients have not read.",
            clients.unreadBytes())
        .gauge(
            "tollgate_requests_waiting",
            "Requests that wait for a lock, a row or a transaction, at the leader.",
            clients.waitingRequests())
        .gauge("tollgate_queries_running", "Queries that run.", clients.runningQueries())
        .gauge(
            "tollgate_transactions_held",
            "Transactions that wait to begin until a snapshot has begun.",
            clients.heldTransactions())
        .gauges("tollgate_work_queued", "Work that waits for a thread.", queued);
  }

  private static void addConnections(
      MetricFamilies families, ArrivalFigures connections, NodeFigures node) {
    families
        .gauge("tollgate_connections", "Connections of clients.", connections.clients())
        .gauge(
            "tollgate_connections_max",
            "Connections of clients that the node accepts.",
            node.maxConnections())
        .gauge(
            "tollgate_connections_new",
            "Connections that have not said hello or logged in.",
            connections.strangers())
        .counter(
            "tollgate_connections_refused",
            "Clients for which there was no room.",
            connections.refused())
        .counter(
            "tollgate_connections_closed",
            "Connections that the node closed because they were silent, or made room.",
            connections.closed())
        .counter("tollgate_logins", "Logins of users.", node.logins().done())
        .counters(
            "tollgate_logins_refused",
            "Logins that were refused.",
            "reason",
            AuthenticationListener.Reason.values(),
            node.logins()::refused);
  }
}
