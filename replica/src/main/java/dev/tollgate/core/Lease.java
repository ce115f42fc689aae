package dev.tollgate.core;

import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.FencingToken;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.LeaseKind;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.UserName;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A live lease and the locks it holds. Read it through {@link ClusterState}; only the core changes
 * it.
 */
public final class Lease {
  private final LeaseId id;
  private final String owner;
  private final long ttlMillis;
  private final long createdMicros;
  private final @Nullable SessionId creator;
  private final LeaseKind kind;
  private final UserName user;
  private long remainingMillis;
  private long recordedRenewals;

  /** By token: in grant order, which is also the order in which the locks are handed on. */
  private NumberMap<LockName> held = NumberMap.empty();

  /** Locks in whose queue a request on behalf of this lease stands. */
  private final LinkedHashSet<LockName> awaited = new LinkedHashSet<>(4);

  Lease(
      LeaseId id,
      String owner,
      long ttlMillis,
      long createdMicros,
      @Nullable SessionId creator,
      LeaseKind kind,
      UserName user) {
    this.id = id;
    this.owner = owner;
    this.ttlMillis = ttlMillis;
    this.createdMicros = createdMicros;
    this.creator = creator;
    this.kind = kind;
    this.user = user;
    this.remainingMillis = ttlMillis;
  }

  Lease(StateRecord.LeaseState state) {
    this(
        state.id(),
        state.owner(),
        state.ttlMillis(),
        state.createdMicros(),
        state.creator(),
        state.kind(),
        state.user());
    // the restored locks say what the lease holds, and under which tokens
    awaited.addAll(state.awaited());
  }

  StateRecord.LeaseState state() {
    return new StateRecord.LeaseState(
        id,
        owner,
        ttlMillis,
        createdMicros,
        creator,
        kind,
        user,
        List.copyOf(held.values()),
        List.copyOf(awaited));
  }

  public LeaseId id() {
    return id;
  }

  /** The name that the creator gave to the owner. */
  public String owner() {
    return owner;
  }

  public long ttlMillis() {
    return ttlMillis;
  }

  /**
   * The least time that a new leader gives the lease: its ttl, or less once the log records that
   * the lease was not renewed.
   */
  public long remainingMillis() {
    return remainingMillis;
  }

  /** How many renewals the log records: each ends a recorded silence. */
  public long recordedRenewals() {
    return recordedRenewals;
  }

  boolean isSilenceRecorded() {
    return recordedRenewals > 0 || remainingMillis < ttlMillis;
  }

  StateRecord.LeaseSilence silence() {
    return new StateRecord.LeaseSilence(id, recordedRenewals, remainingMillis);
  }

  void restore(StateRecord.LeaseSilence state) {
    recordedRenewals = state.recordedRenewals();
    remainingMillis = state.remainingMillis();
  }

  /** Records a silence, unless the lease was renewed after the leader noticed the silence. */
  void silent(Command.SilentLease silence) {
    if (silence.recordedRenewals() == recordedRenewals) {
      remainingMillis = Math.min(remainingMillis, silence.remainingMillis());
    }
  }

  /** Ends a silence; a repeated record of the same renewal does nothing. */
  void renewed(Command.RecordRenewal renewal) {
    if (renewal.recordedRenewals() == recordedRenewals) {
      recordedRenewals++;
      remainingMillis = ttlMillis;
    }
  }

  /** Log time of the lease's creation, microseconds since 1970. */
  public long createdMicros() {
    return createdMicros;
  }

  /** The session that created the lease; it may have ended, unless the lease is its own lease. */
  public @Nullable SessionId creator() {
    return creator;
  }

  /** The user of the session that created the lease. */
  public UserName user() {
    return user;
  }

  public LeaseKind kind() {
    return kind;
  }

  /** True for a session's own lease, which ends with the session. */
  public boolean isOwn() {
    return kind == LeaseKind.OWN;
  }

  /** The locks that the lease holds, in grant order. They stay as they are now, at no cost. */
  public Collection<LockName> held() {
    return held.values();
  }

  /** Returns true if the lease holds or keeps a lock under this token. */
  public boolean holdsUnder(long token) {
    return held.get(token) != null;
  }

  void nowHolds(LockName lock, FencingToken token) {
    held = held.with(token.value(), lock);
  }

  void noLongerHolds(FencingToken token) {
    held = held.without(token.value());
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
