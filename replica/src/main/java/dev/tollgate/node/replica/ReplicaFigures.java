package dev.tollgate.node.replica;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.ClusterState;
import dev.tollgate.core.LockTallies;
import dev.tollgate.core.Tally;
import dev.tollgate.core.Transaction;
import dev.tollgate.core.command.LogPosition;

/**
 * What operators want to know of a replica, at one moment between two entries.
 *
 * @param logTimeMicros time of the last command in the log, microseconds since 1970
 * @param heldLocks holds of locks, those that are only kept among them
 * @param waits places in queues of locks
 * @param oldestTransactionMicros log time at which the oldest open transaction began; 0 without one
 * @param lastToken the highest token so far
 * @param applyMicros how long entries took
 * @param entrySizes how many commands entries had
 * @param longestApplyMicros how long the slowest entry took
 * @param locks what happened to locks
 */
public record ReplicaFigures(
    long logTimeMicros,
    int sessions,
    int leases,
    int heldLocks,
    int waits,
    int fences,
    int transactions,
    int waitingStatements,
    long oldestTransactionMicros,
    long lastToken,
    Tally.Count applyMicros,
    Tally.Count entrySizes,
    long longestApplyMicros,
    LockTallies.Counts locks) {
  public ReplicaFigures {
    requireNonNull(applyMicros, "applyMicros");
    requireNonNull(entrySizes, "entrySizes");
    requireNonNull(locks, "locks");
  }

  static ReplicaFigures of(
      ClusterState state, LogPosition last, ApplyTallies.Counts applied, LockTallies.Counts locks) {
    long oldest = 0;
    for (Transaction transaction : state.transactions()) {
      // in the order in which they began
      oldest = transaction.openedMicros();
      break;
    }
    return new ReplicaFigures(
        last.timeMicros(),
        state.sessions().size(),
        state.leases().size(),
        state.holds(),
        state.waits(),
        state.fences().size(),
        state.transactions().size(),
        state.waitingStatements(),
        oldest,
        state.lastToken(),
        applied.micros(),
        applied.sizes(),
        applied.longestMicros(),
        locks);
  }
}
