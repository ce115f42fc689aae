package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.ClusterState;
import dev.tollgate.core.Lease;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.node.replica.Facts;
import dev.tollgate.node.replica.StateAccess;
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
  private final StateAccess state;

  LeaseRenewals(
      TimeKeeper timeKeeper,
      Leadership leadership,
      Workers workers,
      Facts facts,
      StateAccess state) {
    this.timeKeeper = requireNonNull(timeKeeper, "timeKeeper");
    this.leadership = requireNonNull(leadership, "leadership");
    this.workers = requireNonNull(workers, "workers");
    this.facts = requireNonNull(facts, "facts");
    this.state = requireNonNull(state, "state");
  }

  /** One call of renew_lease, and when it arrived. */
  private record Call(
      ReceivedStatement statement, LeaseId lease, String columnLabel, long arrivedNanos) {}

  /** Replies with the milliseconds that the lease has left from now on. */
  void renew(ReceivedStatement statement, LeaseId lease, String columnLabel) {
    Call call = new Call(statement, lease, columnLabel, timeKeeper.now());
    if (facts.isAdministrator(statement.session().user())) {
      renew(call);
    } else {
      state.ask(now -> renewOwn(call, now));
    }
  }

  /** Only its own user and administrators may keep a lease alive. */
  private void renewOwn(Call call, ClusterState now) {
    Lease lease = now.lease(call.lease);
    if (lease != null && !lease.user().equals(call.statement.session().user())) {
      call.statement.reply(
          new Reply.Failure(
              SqlState.RIGHT_MISSING,
              "lease " + call.lease + " is another user's: only that user can renew it"));
    } else {
      renew(call);
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
