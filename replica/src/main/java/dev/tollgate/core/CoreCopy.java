package dev.tollgate.core;

import dev.tollgate.core.command.ClusterIdentity;
import dev.tollgate.core.command.Computing;
import dev.tollgate.core.command.FeatureLevels;
import dev.tollgate.core.command.LockDefinition;
import dev.tollgate.core.command.PresentedToken;
import dev.tollgate.core.command.TransactionLimits;
import dev.tollgate.core.command.UniqueId;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;

/**
 * The core's state between two commands, readable while the state machine goes on. Making a copy
 * costs a record for each lease and session, but only a reference for each lock. There may be a
 * million locks, and nothing is applied meanwhile.
 *
 * <p>Immutable: any thread that has received it may read it.
 */
public final class CoreCopy implements Iterable<StateRecord> {
  private final List<StateRecord> beforeLocks;
  private final List<Lock> locks;
  private final List<StateRecord> afterLocks;

  /**
   * @param locks locks that are no longer changed
   */
  private CoreCopy(List<StateRecord> beforeLocks, List<Lock> locks, List<StateRecord> afterLocks) {
    this.beforeLocks = beforeLocks;
    this.locks = locks;
    this.afterLocks = afterLocks;
  }

  static CoreCopy of(ReplicatedState state) {
    List<StateRecord> first = new ArrayList<>();
    first.add(
        new StateRecord.Counters(
            state.current().position(),
            state.sessions().lastId(),
            state.leases().lastId(),
            state.locks().lastToken(),
            state.fences().lastId(),
            state.transactions().lastId()));
    state
        .nodes()
        .addresses()
        .forEach((id, address) -> first.add(new StateRecord.NodeAddress(id, address)));
    state.leases().all().forEach(lease -> first.add(lease.state()));
    for (Lease lease : state.leases().all()) {
      if (lease.isSilenceRecorded()) {
        first.add(lease.silence());
      }
    }
    state.sessions().all().forEach(session -> first.add(session.state()));
    for (Session session : state.sessions().all()) {
      PresentedToken fence = session.fence();
      if (fence != null) {
        first.add(new StateRecord.SessionFence(session.id(), fence));
      }
    }
    for (LockDefinition definition : state.locks().definitions().all()) {
      first.add(new StateRecord.DefinedLock(definition));
    }
    return new CoreCopy(first, state.locks().copy(), afterLocks(state));
  }

  private static List<StateRecord> afterLocks(ReplicatedState state) {
    Agreement agreement = state.agreement();
    List<StateRecord> last = new ArrayList<>();
    state.waiting().copy().forEach(statement -> last.addAll(statement.state()));
    state.fences().all().forEach(fence -> last.add(fence.state()));
    ReplicaCheck check = agreement.check();
    if (check != null) {
      last.add(check.state());
    }
    last.add(new StateRecord.Randomness(agreement.randomSeed()));
    last.add(new StateRecord.Digest(state.digest().value()));
    if (!agreement.computing().equals(Computing.ANYWHERE)) {
      last.add(new StateRecord.ComputingState(agreement.computing()));
    }
    TransactionLimits limits = state.transactions().limits();
    if (!limits.equals(TransactionLimits.STANDARD)) {
      last.add(new StateRecord.LimitsState(limits));
    }
    ClusterIdentity identity = state.nodes().identity();
    if (!identity.equals(ClusterIdentity.NONE)) {
      last.add(new StateRecord.Identity(identity));
    }
    if (agreement.featureLevel() != FeatureLevels.FIRST) {
      last.add(new StateRecord.FeatureLevelState(agreement.featureLevel()));
    }
    last.addAll(agreement.skipped());
    state.users().all().forEach(account -> last.add(new StateRecord.UserState(account)));
    UniqueId secret = state.users().secret();
    if (secret != null) {
      last.add(new StateRecord.LoginSecret(secret, state.users().lastNumber()));
    }
    state.rights().all().forEach(right -> last.add(new StateRecord.RightState(right)));
    return last;
  }

  /**
   * Returns the records, always in the same order: a lease or a session comes before records that
   * refer to it.
   */
  @Override
  public Iterator<StateRecord> iterator() {
    Iterator<StateRecord> before = beforeLocks.iterator();
    Iterator<Lock> lock = locks.iterator();
    Iterator<StateRecord> after = afterLocks.iterator();
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return before.hasNext() || lock.hasNext() || after.hasNext();
      }

      @Override
      public StateRecord next() {
        if (before.hasNext()) {
          return before.next();
        }
        return lock.hasNext() ? lock.next().state() : after.next();
      }
    };
  }
}
