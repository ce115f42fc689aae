package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.LeaseId;
import dev.tollgate.node.replica.Facts;
import dev.tollgate.node.replica.TimeKeeper;
import dev.tollgate.store.schema.LockAnswers;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.SqlState;

/**
 * Renews leases for calls of renew_lease. Like a heartbeat, a renewal is acknowledged once this
 * node has proven that it leads. Thread-safe; nothing here waits.
 */
final class LeaseRenewals {
  private final TimeKeeper timeKeeper;
  private final Leadership leadership;
  private final Workers workers;
  private final Facts facts;

  LeaseRenewals(TimeKeeper timeKeeper, Leadership leadership, Workers workers, Facts facts) {
    this.timeKeeper = requireNonNull(timeKeeper, "timeKeeper");
    this.leadership = requireNonNull(leadership, "leadership");
    this.workers = requireNonNull(workers, "workers");
    this.facts = requireNonNull(facts, "facts");
  }

  /** One call of renew_lease, and when it arrived. */
  private record Call(
      ReceivedStatement statement, LeaseId lease, String columnLabel, long arrivedNanos) {}

  /** Replies with the milliseconds that the lease has left from now on. */
  void renew(ReceivedStatement statement, LeaseId lease, String columnLabel) {
    Call call = new Call(statement, lease, columnLabel, timeKeeper.now());
    if (facts.mayRenew(statement.session().user(), lease)) {
      renew(call);
    } else {
      statement.reply(
          new Reply.Failure(
              SqlState.RIGHT_MISSING,
              "lease "
                  + lease
                  + " is another user's: only that user, an administrator or a user with MANAGE ON"
                  + " LOCKS can renew it"));
    }
  }

  private void renew(Call call) {
    LeaseId lease = call.lease;
    timeKeeper.renew(lease, call.arrivedNanos);
    leadership.prove(leads -> acknowledge(leads, call));
  }

  private void acknowledge(boolean leads, Call call) {
    ReceivedStatement statement = call.statement;
    LeaseId lease = call.lease;
    switch (leads ? timeKeeper.renew(lease, call.arrivedNanos) : TimeKeeper.Renewal.NOT_HERE) {
      case RENEWED ->
          statement.result(
              LockAnswers.resultOf(timeKeeper.remainingMillis(lease), call.columnLabel));
      case NOT_YET -> leadership.awaitEntry(still -> workers.chore(() -> acknowledge(still, call)));
      case GONE, WITHOUT_OWN_LEASE -> statement.reply(gone(lease));
      case NOT_HERE -> statement.reply(leadership.notLeader());
    }
  }

  private Reply gone(LeaseId lease) {
    boolean existed = facts.leaseExisted(lease);
    return new Reply.Failure(
        SqlState.LEASE_GONE,
        existed
            ? "lease " + lease + " has expired or was revoked, its locks are released"
            : "lease " + lease + " was never created");
  }
}
