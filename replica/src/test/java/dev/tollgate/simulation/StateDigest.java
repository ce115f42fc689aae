package dev.tollgate.simulation;

import dev.tollgate.core.ClusterState;
import dev.tollgate.core.Fence;
import dev.tollgate.core.Hold;
import dev.tollgate.core.Lease;
import dev.tollgate.core.Lock;
import dev.tollgate.core.Session;
import dev.tollgate.core.Waiter;
import dev.tollgate.core.command.LockDefinition;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.PresentedToken;
import dev.tollgate.core.command.Right;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.UserAccount;
import org.jspecify.annotations.Nullable;

/**
 * All of the core's state but the secrets, which are not of the seed: as a number of 64 bits, by
 * which the nodes are compared after every entry, or as text for those who ask why two differ.
 */
final class StateDigest {
  private final @Nullable StringBuilder text;
  private long digest;

  private StateDigest(@Nullable StringBuilder text) {
    this.text = text;
  }

  static long of(ClusterState state) {
    StateDigest all = new StateDigest(null);
    all.addAll(state);
    return all.digest;
  }

  static String describe(ClusterState state) {
    StringBuilder text = new StringBuilder();
    new StateDigest(text).addAll(state);
    return text.toString();
  }

  private void add(long number) {
    if (text != null) {
      text.append(' ').append(number);
    }
    mix(number);
  }

  private void mix(long number) {
    // the finalizer of SplittableRandom: each bit of what came before changes half of the bits
    long mixed = (digest ^ number) * 0x9E3779B97F4A7C15L;
    mixed = (mixed ^ (mixed >>> 30)) * 0xBF58476D1CE4E5B9L;
    mixed = (mixed ^ (mixed >>> 27)) * 0x94D049BB133111EBL;
    digest = mixed ^ (mixed >>> 31);
  }

  private void add(@Nullable String value) {
    String shown = value == null ? "-" : value;
    if (text != null) {
      text.append(' ').append(shown);
    }
    mix(((long) shown.length() << 32) ^ shown.hashCode());
  }

  private void begin(String part) {
    if (text != null) {
      text.append('\n').append(part);
    }
    mix(part.charAt(0));
  }

  private void addAll(ClusterState state) {
    begin("counters");
    add(state.lastToken());
    add(state.featureLevel());
    add(state.transactionLimits().ageMillis());
    add(state.transactionLimits().idleMillis());
    state
        .nodes()
        .forEach(
            (node, address) -> {
              add(node);
              add(address);
            });
    state.users().forEach(this::add);
    state.rights().forEach(this::add);
    state.sessions().forEach(this::add);
    state.leases().forEach(this::add);
    for (LockDefinition definition : state.lockDefinitions()) {
      begin("definition");
      add(definition.lock().value());
      add(definition.permits());
    }
    state.locks().forEach(this::add);
    state.fences().forEach(this::add);
  }

  private void add(UserAccount account) {
    begin("user");
    add(account.name().value());
    add(account.administrator() ? 1 : 0);
    add(account.workLimit());
    add(account.locked() ? 1 : 0);
    add(account.validUntilMicros());
    add(account.number());
    account.verifiers().forEach(this::add);
  }

  private void add(Right right) {
    begin("right");
    add(right.kind().name());
    add(right.schema());
    add(right.object());
    add(right.grantee());
  }

  private void add(Session session) {
    begin("session");
    add(session.id().value());
    add(session.user().value());
    add(session.lastSequence());
    add(session.lastContent());
    add(session.openedMicros());
    add(session.ttlMillis());
    add(session.leaseTtlMillis());
    add(session.lockTimeoutMillis());
    add(session.schema());
    add(session.timeZone().value());
    add(session.openingTimeZone().value());
    LockName awaited = session.awaited();
    add(awaited == null ? null : awaited.value());
    add(session.lostTransaction());
    session
        .presented()
        .forEach(
            (lock, token) -> {
              add(lock.value());
              add(token);
            });
    PresentedToken fence = session.fence();
    add(fence == null ? null : fence.lock().value());
    add(fence == null ? 0 : fence.token());
    Lease own = session.ownLease();
    add(own == null ? 0 : own.id().value());
  }

  private void add(Lease lease) {
    begin("lease");
    add(lease.id().value());
    add(lease.owner());
    add(lease.ttlMillis());
    add(lease.remainingMillis());
    add(lease.recordedRenewals());
    add(lease.createdMicros());
    SessionId creator = lease.creator();
    add(creator == null ? 0 : creator.value());
    add(lease.kind().name());
    add(lease.user().value());
    lease.held().forEach(lock -> add(lock.value()));
  }

  private void add(Lock lock) {
    begin("lock");
    add(lock.name().value());
    add(lock.mode().name());
    for (Hold hold : lock.holds()) {
      begin("hold");
      add(hold.token().value());
      add(hold.sinceMicros());
      add(hold.lease().id().value());
      add(hold.session().value());
    }
    for (Waiter waiter : lock.waiters()) {
      begin("waiter");
      add(waiter.request().session().value());
      add(waiter.request().sequence());
      add(waiter.mode().name());
      add(waiter.lease().id().value());
      add(waiter.sinceMicros());
      add(waiter.waitMillis());
      waiter.together().forEach(name -> add(name.value()));
    }
  }

  private void add(Fence fence) {
    begin("fence");
    add(fence.id().value());
    add(fence.table().schema());
    add(fence.table().name());
    LockName lock = fence.lock();
    add(lock == null ? null : lock.value());
    add(fence.highestToken());
  }
}
