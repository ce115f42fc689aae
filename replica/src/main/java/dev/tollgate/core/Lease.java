package dev.tollgate.core;

import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A live lease and what it holds. Read it through {@link ClusterState}; only the core changes it.
 */
public final class Lease {
  private final LeaseId id;
  private final String owner;
  private final long ttlMillis;
  private final long createdMicros;
  private final @Nullable SessionId creator;
  private final boolean own;

  /** In the order in which the locks were granted: they are handed on in this order. */
  private final LinkedHashSet<LockName> held = new LinkedHashSet<>(4);

  /** Locks in whose queue a request on behalf of this lease stands. */
  private final LinkedHashSet<LockName> awaited = new LinkedHashSet<>(4);

  Lease(
      LeaseId id,
      String owner,
      long ttlMillis,
      long createdMicros,
      @Nullable SessionId creator,
      boolean own) {
    this.id = id;
    this.owner = owner;
    this.ttlMillis = ttlMillis;
    this.createdMicros = createdMicros;
    this.creator = creator;
    this.own = own;
  }

  Lease(StateRecord.LeaseState state) {
    this(
        state.id(),
        state.owner(),
        state.ttlMillis(),
        state.createdMicros(),
        state.creator(),
        state.own());
    held.addAll(state.held());
    awaited.addAll(state.awaited());
  }

  StateRecord.LeaseState state() {
    return new StateRecord.LeaseState(
        id, owner, ttlMillis, createdMicros, creator, own, List.copyOf(held), List.copyOf(awaited));
  }

  public LeaseId id() {
    return id;
  }

  /** Whatever the creator wanted to be known as. */
  public String owner() {
    return owner;
  }

  public long ttlMillis() {
    return ttlMillis;
  }

  /** Log time of its creation, microseconds since 1970. */
  public long createdMicros() {
    return createdMicros;
  }

  /** The session that created it; it may be gone by now, unless the lease is its own. */
  public @Nullable SessionId creator() {
    return creator;
  }

  /** True for a session's own lease, which ends with the session. */
  public boolean isOwn() {
    return own;
  }

  /** The locks it holds, in the order of their grants. */
  public Set<LockName> held() {
    return Collections.unmodifiableSet(held);
  }

  void nowHolds(LockName lock) {
    held.add(lock);
  }

  void noLongerHolds(LockName lock) {
    held.remove(lock);
  }

  Set<LockName> awaited() {
    return Collections.unmodifiableSet(awaited);
  }

  void nowAwaits(LockName lock) {
    awaited.add(lock);
  }

  void noLongerAwaits(LockName lock) {
    awaited.remove(lock);
  }
}
