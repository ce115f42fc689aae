package dev.tollgate.core;

import dev.tollgate.core.command.TransactionScope;

/** Puts the records of a {@link CoreCopy} back into the state, and returns them. */
final class StateRestore implements StateRecord.Handler<StateRecord> {
  private final ReplicatedState state;

  /**
   * @param state a state to which nothing has been applied
   */
  StateRestore(ReplicatedState state) {
    this.state = state;
  }

  @Override
  public StateRecord counters(StateRecord.Counters record) {
    state.current().restore(record.position());
    state.sessions().restoreLastId(record.lastSession());
    state.leases().restoreLastId(record.lastLease());
    state.locks().restoreLastToken(record.lastToken());
    state.fences().restoreLastId(record.lastFence());
    state.transactions().restoreLastId(record.lastTransaction());
    return record;
  }

  @Override
  public StateRecord node(StateRecord.NodeAddress record) {
    state.nodes().restore(record);
    return record;
  }

  @Override
  public StateRecord identity(StateRecord.Identity record) {
    state.nodes().restore(record.identity());
    return record;
  }

  @Override
  public StateRecord lease(StateRecord.LeaseState record) {
    state.leases().restore(record);
    return record;
  }

  @Override
  public StateRecord silence(StateRecord.LeaseSilence record) {
    state.leases().restore(record);
    return record;
  }

  @Override
  public StateRecord session(StateRecord.SessionState record) {
    state.sessions().restore(record, state.leases());
    return record;
  }

  @Override
  public StateRecord sessionFence(StateRecord.SessionFence record) {
    state.sessions().existing(record.session()).setFence(record.fence());
    return record;
  }

  @Override
  public StateRecord waitingStatement(StateRecord.WaitingStatement record) {
    Session session = state.sessions().existing(record.session());
    PendingStatement statement =
        new PendingStatement(
            session, record.statement(), TransactionScope.AUTOCOMMIT, /* definition= */ false);
    record.done().forEach(statement::executed);
    statement.setLease(state.leases().existing(record.lease()));
    statement.waitFor(new PendingStatement.Blocker.LockTurn(record.lock()));
    state.waiting().add(statement);
    session.restorePending(statement);
    return record;
  }

  @Override
  public StateRecord definedLock(StateRecord.DefinedLock record) {
    state.locks().definitions().put(record.definition());
    return record;
  }

  @Override
  public StateRecord lock(StateRecord.LockState record) {
    state.locks().restore(record, state.leases());
    return record;
  }

  @Override
  public StateRecord randomness(StateRecord.Randomness record) {
    state.agreement().setRandomSeed(record.seed());
    return record;
  }

  @Override
  public StateRecord computing(StateRecord.ComputingState record) {
    state.agreement().setComputing(record.computing());
    return record;
  }

  @Override
  public StateRecord featureLevel(StateRecord.FeatureLevelState record) {
    state.agreement().raiseFeatureLevel(record.level());
    return record;
  }

  @Override
  public StateRecord limits(StateRecord.LimitsState record) {
    state.transactions().setLimits(record.limits());
    return record;
  }

  @Override
  public StateRecord fence(StateRecord.FenceState record) {
    state.fences().restore(record);
    return record;
  }

  @Override
  public StateRecord user(StateRecord.UserState record) {
    state.users().put(record.account());
    return record;
  }

  @Override
  public StateRecord loginSecret(StateRecord.LoginSecret record) {
    state.users().setSecret(record.secret());
    state.users().setLastNumber(record.lastUser());
    return record;
  }

  @Override
  public StateRecord right(StateRecord.RightState record) {
    state.rights().add(record.right());
    return record;
  }

  @Override
  public StateRecord skipped(StateRecord.SkippedCommand record) {
    state.agreement().skip(record);
    return record;
  }

  @Override
  public StateRecord digest(StateRecord.Digest record) {
    state.digest().restore(record.value());
    return record;
  }

  @Override
  public StateRecord check(StateRecord.CheckState record) {
    state.agreement().restore(record);
    return record;
  }
}
