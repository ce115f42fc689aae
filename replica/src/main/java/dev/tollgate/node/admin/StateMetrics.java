package dev.tollgate.node.admin;

import dev.tollgate.core.LockTallies;
import dev.tollgate.core.command.AuditEvent;
import dev.tollgate.node.replica.ReplicaFigures;
import io.prometheus.metrics.model.snapshots.Labels;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/** The metrics of the replicated state and of what was applied to it. */
final class StateMetrics {
  private StateMetrics() {}

  static void addState(MetricFamilies families, ReplicaFigures state, Duration age) {
    families
        .histogram(
            "tollgate_apply_seconds",
            "How long it took this node to apply an entry.",
            state.applyMicros(),
            MetricFamilies.MICROS)
        .gauge(
            "tollgate_apply_longest_seconds",
            "How long the slowest entry took since the start.",
            state.longestApplyMicros() / MetricFamilies.MICROS)
        .histogram(
            "tollgate_entry_commands",
            "Commands in an entry: the size of a group commit.",
            state.entrySizes(),
            1)
        .gauge(
            "tollgate_state_age_seconds",
            "How old the metrics of the state are, because a long entry is being applied.",
            age.toNanos() / MetricFamilies.NANOS)
        .gauge("tollgate_sessions", "Open sessions of clients.", state.sessions())
        .gauge("tollgate_leases", "Live leases.", state.leases())
        .gauge("tollgate_locks_held", "Holds of locks.", state.heldLocks())
        .gauge("tollgate_lock_waiters", "Places in queues of locks.", state.waits())
        .gauge("tollgate_fences", "Fenced tables.", state.fences())
        .gauge("tollgate_transactions_open", "Open transactions.", state.transactions())
        .gauge(
            "tollgate_transaction_oldest_seconds",
            "For how long the oldest open transaction has been open, in time of the log.",
            state.transactions() == 0
                ? 0
                : Math.max(0, state.logTimeMicros() - state.oldestTransactionMicros())
                    / MetricFamilies.MICROS)
        .gauge(
            "tollgate_statements_waiting",
            "Statements that wait for transactions to end, or for a lock.",
            state.waitingStatements())
        .gauge("tollgate_token_highest", "The highest fencing token so far.", state.lastToken());
  }

  static void addLocks(MetricFamilies families, LockTallies.Counts locks) {
    Map<Labels, Number> refused = new LinkedHashMap<>();
    long refusedInAll = 0;
    for (LockTallies.TableCount table : locks.refusedWrites()) {
      refused.put(Labels.of("table", table.table()), table.refused());
      refusedInAll += table.refused();
    }
    families
        .counters(
            "tollgate_lock_grants",
            "Grants of locks.",
            "way",
            AuditEvent.GrantWay.values(),
            locks::grants)
        .histogram(
            "tollgate_lock_wait_seconds",
            "How long granted requests had waited in a queue.",
            locks.waits(),
            MetricFamilies.MICROS)
        .counter(
            "tollgate_lock_waits_ended",
            "Requests that waited and were not granted.",
            locks.endedWaits())
        .histogram(
            "tollgate_lock_hold_seconds",
            "How long locks were held that are held no more.",
            locks.holds(),
            MetricFamilies.MICROS)
        .counters(
            "tollgate_locks_lost",
            "Locks that were lost with their lease.",
            "reason",
            AuditEvent.LossReason.values(),
            locks::losses)
        .counter("tollgate_locks_forced", "Holds that were ended by force.", locks.forced())
        .counter(
            "tollgate_leases_expired",
            "Leases that were not renewed in time.",
            locks.expiredLeases())
        .counter(
            "tollgate_sessions_expired",
            "Sessions that were not heard from in time.",
            locks.expiredSessions())
        // a metric of a table appears with its first refusal, and Prometheus sees no increase then
        .counter(
            "tollgate_writes_refused",
            "Writes and commits that a fence refused, because their token was stale or missing.",
            refusedInAll)
        .counters(
            "tollgate_table_writes_refused",
            "The refused writes and commits of each table.",
            refused);
  }
}
