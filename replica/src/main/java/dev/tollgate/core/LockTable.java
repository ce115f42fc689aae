package dev.tollgate.core;

import dev.tollgate.core.command.FencingToken;
import dev.tollgate.core.command.LeaseId;
import dev.tollgate.core.command.LeaseKind;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.Mixing;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RequestId;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.core.command.UserName;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The locks that are held or waited for, their holders and tokens, their queues, and their
 * definitions. {@link LockGrants} decides who gets a lock.
 *
 * <p>Every grant takes the next token of the one counter (I2). A hold whose lease only keeps the
 * lock ({@link LeaseKind#KEEP}) excludes others, but nobody holds the lock under its token.
 */
final class LockTable {
  /** Where a token would stand in the digest of a hold. */
  private static final long WAITS = 0;

  // odd numbers without a pattern, by which the parts of one change are told apart
  private static final long NAME = 0xA076_1D64_78BD_642FL;
  private static final long LEASE = 0xE703_7ED1_A0B4_28DBL;
  private static final long TOKEN = 0x8EBC_6AF0_9C88_C6E3L;
  private static final long SESSION = 0x5899_65CC_7537_4CC3L;

  /** In order of the first grant since each lock was last unused: the same on every replica. */
  private final Map<LockName, Lock> locks = new LinkedHashMap<>();

  private final LockDefinitions definitions = new LockDefinitions();
  private final Capacity capacity;
  private final UserShares shares;

  /** How many holds of a lock each user has, for the locks that have several. */
  private final Map<LockName, UserShares> crowds = new LinkedHashMap<>();

  private long lastToken;
  private int holds;
  private int waits;
  private int copies;
  private long changes;

  LockTable(Capacity capacity) {
    this.capacity = capacity;
    shares = new UserShares(capacity.holdsPerUser(), "held locks");
  }

  LockDefinitions definitions() {
    return definitions;
  }

  /** Returns a digest of the holds and waits that have changed since the last call, in order. */
  long takeChanges() {
    long taken = changes;
    changes = 0;
    return taken;
  }

  private void changed(LockName name, LeaseId lease, long what) {
    changes = Mixing.mix(changes, digestOf(name) + lease.value() * LEASE + what * TOKEN);
  }

  /** A text keeps its hash code, so the name is not read again. */
  private static long digestOf(LockName name) {
    return ((long) name.value().length() << 32 ^ name.value().hashCode()) * NAME;
  }

  /** Returns true if one more request of this mode can join the holders of the lock. */
  boolean admits(Lock lock, LockMode mode) {
    return lock.admits(mode, definitions.permitsOf(lock.name()));
  }

  /** How many holds there are of all locks. */
  int holds() {
    return holds;
  }

  /** How many places in queues are taken; a request for several locks takes one for each. */
  int waits() {
    return waits;
  }

  /** Why leases of this user cannot hold that many more locks, or null. */
  Outcome.@Nullable Refused full(UserName user, int more, String instead) {
    return shares.full(user, more, instead);
  }

  /** Why leases of this user cannot be one more shared holder of the lock, or null. */
  Outcome.@Nullable Refused crowded(LockName name, UserName user) {
    Lock lock = locks.get(name);
    if (lock == null || lock.mode() == LockMode.EXCLUSIVE) {
      return null;
    }
    String instead = "try again when some have released it";
    if (lock.holders() >= capacity.holdersPerLock()) {
      return Capacity.exceeded(
          "the number of " + sharedHolders(name) + " is", capacity.holdersPerLock(), instead);
    }
    UserShares crowd = crowds.get(name);
    return (crowd == null ? countedHolders(lock) : crowd).full(user, 1, instead);
  }

  private UserShares countedHolders(Lock lock) {
    UserShares counted =
        new UserShares(capacity.holdersPerLockAndUser(), sharedHolders(lock.name()));
    lock.holds().forEach(hold -> counted.add(hold.lease().user()));
    return counted;
  }

  private static String sharedHolders(LockName name) {
    return "leases that hold lock '" + name + "' in shared mode";
  }

  /** Counts a hold that the lock has got. A single one is not counted: most locks have no more. */
  private void countHolder(Lock lock, Hold hold) {
    UserShares crowd = crowds.get(lock.name());
    if (crowd != null) {
      crowd.add(hold.lease().user());
    } else if (lock.holders() > 1) {
      crowds.put(lock.name(), countedHolders(lock));
    }
  }

  private void uncountHolder(Lock lock, Hold hold) {
    UserShares crowd = crowds.get(lock.name());
    if (crowd != null && lock.holders() <= 1) {
      crowds.remove(lock.name());
    } else if (crowd != null) {
      crowd.remove(hold.lease().user());
    }
  }

  /** Returns true if a lease holds the lock under this token, exclusively or shared. */
  boolean isHeldUnder(LockName name, long token) {
    Lock lock = locks.get(name);
    return lock != null && lock.isHeldUnder(token);
  }

  /** Returns true if a lease holds the lock exclusively under this token. */
  boolean isHeldExclusively(LockName name, long token) {
    Lock lock = locks.get(name);
    return lock != null && lock.mode() == LockMode.EXCLUSIVE && isHeldUnder(name, token);
  }

  /** The oldest exclusive hold of the lock, or null; there may be others if it has permits. */
  @Nullable Hold exclusiveHold(LockName name) {
    Lock lock = locks.get(name);
    return lock == null || lock.mode() == LockMode.SHARED ? null : lock.oldestUse();
  }

  /** The exclusive hold of this lease, or null. */
  @Nullable Hold exclusiveHold(LockName name, @Nullable Lease lease) {
    Lock lock = locks.get(name);
    return lock == null || lease == null || lock.mode() == LockMode.SHARED
        ? null
        : lock.holdOf(lease);
  }

  /** The hold of this lease, or null. */
  @Nullable Hold holdOf(LockName name, Lease lease) {
    Lock lock = locks.get(name);
    return lock == null ? null : lock.holdOf(lease);
  }

  @Nullable Lock find(LockName name) {
    return locks.get(name);
  }

  /** Returns true if a lease holds the lock, or a lease keeps it. */
  boolean isHeld(LockName name) {
    Lock lock = locks.get(name);
    return lock != null && lock.isHeld();
  }

  Collection<Lock> all() {
    return Collections.unmodifiableCollection(locks.values());
  }

  /** Returns all locks as they are now, without later changes. Any thread may read them. */
  List<Lock> copy() {
    copies++;
    return new ArrayList<>(locks.values());
  }

  /** The lock with this name, for a change; it is made if it is unused. */
  Lock changeable(LockName name) {
    Lock lock = locks.get(name);
    if (lock != null && !lock.isSharedWithCopy(copies)) {
      return lock;
    }
    // an object that a copy shares with the table stays as it is
    Lock own = lock == null ? new Lock(name, copies) : new Lock(lock, copies);
    locks.put(name, own);
    return own;
  }

  void removeIfUnused(Lock lock) {
    if (lock.isUnused()) {
      locks.remove(lock.name());
    }
  }

  void restoreLastToken(long token) {
    lastToken = token;
  }

  void restore(StateRecord.LockState state, LeaseTable leases) {
    Lock lock = new Lock(state, leases, copies);
    locks.put(state.name(), lock);
    holds += lock.holders();
    for (Hold hold : lock.holds()) {
      shares.add(hold.lease().user());
      hold.lease().nowHolds(state.name(), hold.token());
    }
    Hold oldest = lock.oldestHold();
    if (oldest != null) {
      countHolder(lock, oldest);
    }
    waits += lock.waiters().size();
  }

  /** The highest token ever granted, 0 if none was. */
  long lastToken() {
    return lastToken;
  }

  /** Adds a hold under a new token; the holders must admit it. */
  FencingToken grant(Lock lock, Lease lease, LockMode mode, SessionId session, long nowMicros) {
    FencingToken token = new FencingToken(++lastToken);
    Hold hold = new Hold(lease, token, nowMicros, session);
    lock.add(hold, mode, definitions.permitsOf(lock.name()));
    holds++;
    countHolder(lock, hold);
    shares.add(lease.user());
    lease.nowHolds(lock.name(), token);
    changed(lock.name(), lease.id(), token.value());
    return token;
  }

  void drop(Lock lock, Hold hold) {
    lock.remove(hold);
    holds--;
    uncountHolder(lock, hold);
    shares.remove(hold.lease().user());
    hold.lease().noLongerHolds(hold.token());
    changed(lock.name(), hold.lease().id(), -hold.token().value());
  }

  void enqueue(Lock lock, Waiter waiter) {
    lock.enqueue(waiter);
    waits++;
    changed(lock.name(), waiter.lease().id(), WAITS);
  }

  /** Removes the waiter of a request from the queue, in which it must stand. */
  void removeWaiter(Lock lock, RequestId request) {
    lock.removeWaiter(request);
    waits--;
    changes = Mixing.mix(changes, digestOf(lock.name()) + request.session().value() * SESSION);
  }

  /** Returns true if a request that waits for several locks has its turn in each. */
  boolean isInTurnEverywhere(Waiter waiter) {
    for (LockName name : waiter.together()) {
      Lock lock = locks.get(name);
      boolean ready =
          lock != null
              && (lock.holdOf(waiter.lease()) != null
                  || (lock.isInTurn(waiter.request()) && admits(lock, waiter.mode())));
      if (!ready) {
        return false;
      }
    }
    return true;
  }

  /** Returns true if a request can be granted, which is next in line for this lock. */
  boolean isGrantable(Lock lock, Waiter next) {
    return next.isForSeveral() ? isInTurnEverywhere(next) : admits(lock, next.mode());
  }

  /**
   * Checks all invariants between two commands; takes time in proportion to the table.
   *
   * @throws IllegalStateException naming the broken invariant
   */
  void checkInvariants() {
    int counted = 0;
    int waiting = 0;
    List<UserName> users = new ArrayList<>(holds);
    for (Map.Entry<LockName, Lock> entry : locks.entrySet()) {
      entry.getValue().holds().forEach(hold -> users.add(hold.lease().user()));
      checkInvariants(entry.getKey(), entry.getValue());
      counted += entry.getValue().holders();
      waiting += entry.getValue().waiters().size();
    }
    for (LockName name : crowds.keySet()) {
      check(locks.containsKey(name), "holders of an unused lock are counted", name);
    }
    if (counted != holds) {
      throw new IllegalStateException(counted + " holds are counted as " + holds);
    }
    shares.checkInvariants(users);
    if (waiting != waits) {
      throw new IllegalStateException(waiting + " waits are counted as " + waits);
    }
  }

  private void checkInvariants(LockName name, Lock lock) {
    check(!lock.isUnused(), "an unused lock is kept", name);
    check(
        lock.mode() == LockMode.SHARED || lock.holders() <= definitions.permitsOf(name),
        "I1: held more often than it has permits",
        name);
    UserShares crowd = crowds.get(name);
    check((crowd != null) == (lock.holders() > 1), "holders of a user are not counted", name);
    if (crowd != null) {
      List<UserName> users = new ArrayList<>();
      lock.holds().forEach(hold -> users.add(hold.lease().user()));
      crowd.checkInvariants(users);
    }
    long previous = 0;
    for (Hold hold : lock.holds()) {
      check(hold.token().value() > previous, "I2: tokens out of order", name);
      check(hold.token().value() <= lastToken, "I2: token beyond the counter", name);
      check(hold.lease().holdsUnder(hold.token().value()), "a lease does not know its lock", name);
      check(hold.equals(lock.holdOf(hold.lease())), "a hold is not found by its lease", name);
      check(
          lock.isHeldUnder(hold.token().value()) != hold.onlyKeeps(),
          "a hold is not found by its token",
          name);
      previous = hold.token().value();
    }
    Waiter next = lock.next();
    check(next == null || !isGrantable(lock, next), "I9: a waiter that could hold waits", name);
    check(Objects.equals(lock.next(), firstInTurn(lock)), "the wrong request is next", name);
    Set<RequestId> seen = new LinkedHashSet<>();
    for (Waiter waiter : lock.waiters()) {
      check(seen.add(waiter.request()), "a request waits twice", name);
      check(lock.waitersOf(waiter.lease()).contains(waiter), "a wait is not its lease's", name);
      check(waiter.lease().awaited().contains(name), "a lease does not know its wait", name);
      check(
          waiter.isForSeveral()
              ? waiter.together().contains(name)
              : lock.holdOf(waiter.lease()) == null,
          "a holder waits for its own lock",
          name);
      for (LockName other : waiter.together()) {
        Lock found = locks.get(other);
        check(
            found != null && waiter.equals(found.waiterOf(waiter.request())),
            "a request for several locks waits in some",
            name);
      }
    }
  }

  private static @Nullable Waiter firstInTurn(Lock lock) {
    for (Waiter waiter : lock.waiters()) {
      if (!waiter.isForSeveral() || lock.holdOf(waiter.lease()) == null) {
        return waiter;
      }
    }
    return null;
  }

  private static void check(boolean holds, String broken, LockName name) {
    if (!holds) {
      throw new IllegalStateException(broken + ": lock '" + name + "'");
    }
  }
}
