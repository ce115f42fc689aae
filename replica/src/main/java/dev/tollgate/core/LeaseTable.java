package dev.tollgate.core;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.LeaseKind;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.UserName;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The live leases, in order of creation. This table does not decide when a lease expires: the
 * leader keeps the deadlines and proposes {@link Command.Expire}.
 */
final class LeaseTable {
  private final Map<LeaseId, Lease> leases = new LinkedHashMap<>();
  private final int most;
  private final UserShares shares;
  private long lastId;

  LeaseTable(Capacity capacity) {
    most = capacity.leases();
    shares = new UserShares(capacity.leasesPerUser(), "live leases");
  }

  /** Why the session cannot create a further lease, or null. */
  Outcome.@Nullable Refused full(Session creator) {
    String instead = "revoke those that are not needed; view TOLLGATE.LEASES names them";
    return leases.size() < most
        ? shares.full(creator.user(), 1, instead)
        : Capacity.exceeded("the number of live leases is", most, instead);
  }

  Lease create(String owner, long ttlMillis, long nowMicros, Session creator, LeaseKind kind) {
    Lease lease =
        new Lease(
            new LeaseId(++lastId), owner, ttlMillis, nowMicros, creator.id(), kind, creator.user());
    leases.put(lease.id(), lease);
    shares.add(lease.user());
    return lease;
  }

  @Nullable Lease find(LeaseId id) {
    return leases.get(id);
  }

  void remove(Lease lease) {
    if (leases.remove(lease.id()) == null) {
      throw new IllegalStateException("no lease " + lease.id());
    }
    shares.remove(lease.user());
  }

  long lastId() {
    return lastId;
  }

  void restoreLastId(long id) {
    lastId = id;
  }

  void restore(StateRecord.LeaseState state) {
    Lease lease = new Lease(state);
    leases.put(state.id(), lease);
    shares.add(lease.user());
  }

  void restore(StateRecord.LeaseSilence state) {
    existing(state.lease()).restore(state);
  }

  Lease existing(LeaseId id) {
    Lease lease = leases.get(id);
    if (lease == null) {
      throw new IllegalStateException("no lease " + id);
    }
    return lease;
  }

  Collection<Lease> all() {
    return Collections.unmodifiableCollection(leases.values());
  }

  /**
   * Returns true if a lease with this id has existed: one that is gone has expired or was revoked.
   */
  boolean existed(LeaseId id) {
    return id.value() <= lastId;
  }

  void checkInvariants(LockTable locks) {
    List<UserName> users = new ArrayList<>(leases.size());
    leases.values().forEach(lease -> users.add(lease.user()));
    shares.checkInvariants(users);
    for (Lease lease : leases.values()) {
      if (lease.id().value() > lastId) {
        throw new IllegalStateException("lease " + lease.id() + " beyond the counter");
      }
      if (lease.remainingMillis() < 1 || lease.remainingMillis() > lease.ttlMillis()) {
        throw new IllegalStateException("lease " + lease.id() + " has too much or nothing left");
      }
      if (lease.kind() == LeaseKind.KEEP && lease.held().size() != 1) {
        throw new IllegalStateException("lease " + lease.id() + " keeps " + lease.held());
      }
      for (LockName name : lease.held()) {
        if (locks.holdOf(name, lease) == null) {
          throw new IllegalStateException("lease " + lease.id() + " does not hold '" + name + "'");
        }
      }
    }
  }
}
