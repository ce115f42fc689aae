package dev.tollgate.core;

import dev.tollgate.core.command.LeaseKind;
import dev.tollgate.core.command.Notice;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RequestId;

/**
 * The whole replicated state except the database. It changes only while a command is applied or a
 * snapshot is restored; {@link ClusterState} shows it to others.
 *
 * @param current the command that is being applied, or was applied last
 * @param audit what auditors want to know of that command; no part of the state
 * @param digest of what all commands so far have done
 */
record ReplicatedState(
    CurrentCommand current,
    SessionTable sessions,
    LeaseTable leases,
    LockTable locks,
    LockGrants grants,
    FenceTable fences,
    TransactionTable transactions,
    StatementQueue waiting,
    NodeTable nodes,
    Agreement agreement,
    UserTable users,
    RightTable rights,
    EventRecorder audit,
    EffectDigest digest) {

  /** The state before the first command. */
  static ReplicatedState empty(Capacity capacity) {
    CurrentCommand current = new CurrentCommand();
    SessionTable sessions = new SessionTable(capacity);
    LockTable locks = new LockTable(capacity);
    TransactionTable transactions = new TransactionTable(capacity);
    StatementQueue waiting = new StatementQueue(capacity, transactions);
    EventRecorder audit = new EventRecorder(sessions, locks);
    LockGrants grants =
        new LockGrants(
            locks,
            capacity,
            audit,
            new LockGrants.Listener() {
              @Override
              public void completed(RequestId request, Outcome outcome) {
                PendingStatement statement = waiting.of(request.session());
                if (statement != null) {
                  waiting.lockGranted(statement);
                  return;
                }
                sessions.existing(request.session()).finish(outcome);
                current.tell(new Notice.Completed(request.session(), request.sequence(), outcome));
              }

              @Override
              public void dropped(Hold hold) {
                // a session learns what its own lease has lost from its next statement
                if (hold.lease().kind() == LeaseKind.CLIENT) {
                  current.tell(new Notice.HoldEnded(hold.lease().id(), hold.token()));
                }
              }
            });
    return new ReplicatedState(
        current,
        sessions,
        new LeaseTable(capacity),
        locks,
        grants,
        new FenceTable(),
        transactions,
        waiting,
        new NodeTable(),
        new Agreement(),
        new UserTable(),
        new RightTable(),
        audit,
        new EffectDigest());
  }

  /**
   * Checks all invariants between two commands; takes time in proportion to the state.
   *
   * @throws IllegalStateException naming what is broken
   */
  void checkInvariants() {
    locks.checkInvariants();
    leases.checkInvariants(locks);
    sessions.checkInvariants(leases, locks);
    waiting.checkBytes();
    transactions.checkInvariants(sessions);
    waiting.checkWaits();
    users.checkInvariants();
  }
}
