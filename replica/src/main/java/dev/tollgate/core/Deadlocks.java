package dev.tollgate.core;

import dev.tollgate.core.command.LeaseKind;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.RequestId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Finds transactions that wait for each other: for rows, and for locks that transactions hold. A
 * lock of a lease may be released at any time, so nothing that waits for it is deadlocked.
 */
final class Deadlocks {
  private final SessionTable sessions;
  private final TransactionTable transactions;
  private final StatementQueue waiting;
  private final LockTable locks;

  Deadlocks(ReplicatedState state) {
    this.sessions = state.sessions();
    this.transactions = state.transactions();
    this.waiting = state.waiting();
    this.locks = state.locks();
  }

  /**
   * The youngest transaction whose end lets this transaction go on, if it waits for transactions
   * that wait for it; else null.
   */
  @Nullable Transaction youngestInDeadlock(Transaction own) {
    List<Transaction> reachable = reachableFrom(own);
    if (reachable.isEmpty() || !isStuck(own, reachable, null)) {
      return null;
    }
    TreeMap<Long, Transaction> byAge = new TreeMap<>();
    reachable.forEach(transaction -> byAge.put(transaction.id(), transaction));
    for (Transaction youngest : byAge.descendingMap().values()) {
      if (!isStuck(own, reachable, youngest)) {
        return youngest;
      }
    }
    return own;
  }

  /** The transactions that this one waits for, directly or not; empty unless it is one of them. */
  private List<Transaction> reachableFrom(Transaction own) {
    Set<Transaction> seen = new LinkedHashSet<>();
    Deque<Transaction> open = new ArrayDeque<>(awaitedBy(own));
    while (!open.isEmpty()) {
      Transaction next = open.removeFirst();
      if (seen.add(next)) {
        open.addAll(awaitedBy(next));
      }
    }
    return seen.contains(own) ? List.copyOf(seen) : List.of();
  }

  /**
   * Returns true if the transaction waits until one of the others ends that waits for it.
   *
   * @param ended a transaction to be taken for ended, or null
   */
  private boolean isStuck(
      Transaction own, List<Transaction> reachable, @Nullable Transaction ended) {
    Set<Transaction> stuck = new LinkedHashSet<>(reachable);
    if (ended != null) {
      stuck.remove(ended);
    }
    boolean fewer = true;
    while (fewer && stuck.contains(own)) {
      fewer = stuck.removeIf(transaction -> canGoOn(transaction, stuck));
    }
    return stuck.contains(own);
  }

  private boolean canGoOn(Transaction transaction, Set<Transaction> stuck) {
    Transaction holder = rowHolderBefore(transaction);
    if (holder != null) {
      return !stuck.contains(holder);
    }
    for (Need need : needs(transaction)) {
      for (LockName name : need.locks()) {
        Lock lock = locks.find(name);
        if (lock != null && !canBeGranted(lock, need.waiter().mode(), stuck)) {
          return false;
        }
      }
    }
    return true;
  }

  /** Returns true if enough holders are not stuck that a request of this mode could hold. */
  private boolean canBeGranted(Lock lock, LockMode mode, Set<Transaction> stuck) {
    int staying = 0;
    for (Hold hold : lock.holds()) {
      Transaction holder = transactionOf(hold);
      if (holder != null && stuck.contains(holder)) {
        staying++;
      }
    }
    return staying == 0
        || (lock.mode() == mode
            && (mode == LockMode.SHARED || staying < locks.definitions().permitsOf(lock.name())));
  }

  private Set<Transaction> awaitedBy(Transaction transaction) {
    Transaction row = rowHolderBefore(transaction);
    if (row != null) {
      return Set.of(row);
    }
    Set<Transaction> holders = new LinkedHashSet<>();
    for (Need need : needs(transaction)) {
      for (LockName name : need.locks()) {
        Lock lock = locks.find(name);
        for (Hold hold : lock == null ? List.<Hold>of() : lock.holds()) {
          Transaction holder = transactionOf(hold);
          if (holder != null) {
            holders.add(holder);
          }
        }
      }
    }
    return holders;
  }

  /** The transaction whose row the transaction's statement waits for, or null. */
  private @Nullable Transaction rowHolderBefore(Transaction transaction) {
    PendingStatement statement = waiting.of(transaction.session());
    return statement != null
            && statement.blocker() instanceof PendingStatement.Blocker.Holder holder
        ? transactions.find(holder.transaction())
        : null;
  }

  /** A request and the locks that it needs. */
  private record Need(Waiter waiter, List<LockName> locks) {}

  /**
   * The request with which the transaction's session waits for a lock, and the requests for several
   * locks that have to be granted before it. Other requests before it need nothing but the lock.
   */
  private Collection<Need> needs(Transaction transaction) {
    LockName name = awaitedLock(transaction);
    Lock lock = name == null ? null : locks.find(name);
    Session session = sessions.existing(transaction.session());
    RequestId request = new RequestId(session.id(), session.lastSequence());
    Waiter own = lock == null ? null : lock.waiterOf(request);
    if (name == null || own == null) {
      return List.of();
    }
    Map<RequestId, Need> needs = new LinkedHashMap<>();
    Deque<Need> open = new ArrayDeque<>();
    open.add(new Need(own, own.isForSeveral() ? own.together() : List.of(name)));
    while (!open.isEmpty()) {
      Need next = open.removeFirst();
      if (needs.putIfAbsent(next.waiter().request(), next) == null) {
        for (LockName each : next.locks()) {
          setsBefore(next.waiter(), each).forEach(set -> open.add(new Need(set, set.together())));
        }
      }
    }
    return needs.values();
  }

  /** The requests for several locks that stand before a request in the queue of a lock. */
  private List<Waiter> setsBefore(Waiter waiter, LockName name) {
    List<Waiter> sets = new ArrayList<>();
    Lock lock = locks.find(name);
    for (Waiter other : lock == null ? List.<Waiter>of() : lock.waiters()) {
      if (other.request().equals(waiter.request())) {
        break;
      }
      if (other.isForSeveral()) {
        sets.add(other);
      }
    }
    return sets;
  }

  private @Nullable LockName awaitedLock(Transaction transaction) {
    // before the statement is known to its session as waiting, it stands in the queue already
    PendingStatement statement = waiting.of(transaction.session());
    return statement == null
        ? sessions.existing(transaction.session()).awaited()
        : statement.awaitedLock();
  }

  private @Nullable Transaction transactionOf(Hold hold) {
    boolean ofTransaction = hold.lease().kind() == LeaseKind.TRANSACTION;
    return ofTransaction ? sessions.existing(hold.session()).transaction() : null;
  }
}
