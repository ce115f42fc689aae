package dev.tollgate.core;

import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.LockName;
import dev.tollgate.core.command.RequestId;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.Iterator;
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
 *
 * <p>The searches of one command together take a bounded number of steps ({@link
 * Limits#DEADLOCK_STEPS}), the same on every replica. A search that would take more finds no
 * deadlock: the wait ends by its own timeout, or with the transaction's age.
 */
final class Deadlocks {
  private final CurrentCommand current;
  private final SessionTable sessions;
  private final TransactionTable transactions;
  private final StatementQueue waiting;
  private final LockTable locks;

  Deadlocks(ReplicatedState state) {
    this.current = state.current();
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
    return new Search().youngestInDeadlock(own);
  }

  /** A lock in the mode in which a request needs it. */
  private record Need(LockName lock, LockMode mode) {}

  /**
   * What a transaction waits for: the end of another that holds its row, or to be granted locks.
   */
  private record Wait(@Nullable Transaction holder, Set<Need> needs) {}

  /** One search, during which the state does not change. */
  private final class Search {
    private final Map<Transaction, Wait> waits = new LinkedHashMap<>();

    @Nullable Transaction youngestInDeadlock(Transaction own) {
      List<Transaction> reachable = reachableFrom(own);
      if (reachable.isEmpty() || !isStuck(own, reachable, null) || !current.maySearch()) {
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

    /**
     * The transactions that this one waits for, directly or not; empty unless it is one of them.
     */
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
     * Returns true if the transaction waits until one of the others ends that waits for it, or if
     * there are no steps left to find out.
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
      if (!current.step()) {
        return false;
      }
      Wait wait = waitOf(transaction);
      if (wait.holder() != null) {
        return !stuck.contains(wait.holder());
      }
      for (Need need : wait.needs()) {
        Lock lock = locks.find(need.lock());
        if (!current.step() || (lock != null && !canBeGranted(lock, need.mode(), stuck))) {
          return false;
        }
      }
      return true;
    }

    /** Returns true if enough holders are not stuck that a request of this mode could hold. */
    private boolean canBeGranted(Lock lock, LockMode mode, Set<Transaction> stuck) {
      int staying = 0;
      for (Hold hold : lock.transactionHolds()) {
        if (!current.step()) {
          return false;
        }
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
      Wait wait = waitOf(transaction);
      if (wait.holder() != null) {
        return Set.of(wait.holder());
      }
      Set<Transaction> holders = new LinkedHashSet<>();
      for (Need need : wait.needs()) {
        Lock lock = locks.find(need.lock());
        for (Hold hold : lock == null ? List.<Hold>of() : lock.transactionHolds()) {
          Transaction holder = current.step() ? transactionOf(hold) : null;
          if (holder != null) {
            holders.add(holder);
          }
        }
      }
      return holders;
    }

    private Wait waitOf(Transaction transaction) {
      Wait known = waits.get(transaction);
      if (known == null) {
        Transaction holder = rowHolderBefore(transaction);
        known = new Wait(holder, holder == null ? needs(transaction) : Set.of());
        waits.put(transaction, known);
      }
      return known;
    }

    /**
     * What the request needs with which the transaction's session waits for a lock, and the
     * requests for several locks that have to be granted before it. Other requests before it need
     * nothing but the lock.
     */
    private Set<Need> needs(Transaction transaction) {
      LockName name = awaitedLock(transaction);
      Lock lock = name == null ? null : locks.find(name);
      Session session = sessions.existing(transaction.session());
      Waiter own =
          lock == null ? null : lock.waiterOf(new RequestId(session.id(), session.lastSequence()));
      if (name == null || own == null) {
        return Set.of();
      }
      Set<Need> needs = new LinkedHashSet<>();
      Set<RequestId> seen = new LinkedHashSet<>();
      Map<LockName, SetsOfQueue> queues = new LinkedHashMap<>();
      Deque<Waiter> open = new ArrayDeque<>();
      open.add(own);
      while (!open.isEmpty()) {
        Waiter next = open.removeFirst();
        for (LockName each : next.isForSeveral() ? next.together() : List.of(name)) {
          needs.add(new Need(each, next.mode()));
          Lock queue = current.step() ? locks.find(each) : null;
          if (queue != null) {
            for (Waiter set :
                queues.computeIfAbsent(each, unseen -> new SetsOfQueue(queue)).before(next)) {
              if (seen.add(set.request())) {
                open.add(set);
              }
            }
          }
        }
      }
      return needs;
    }
  }

  /** The requests for several locks in the queue of a lock, each of which is visited once. */
  private final class SetsOfQueue {
    private final Lock lock;
    private final Iterator<Waiter> rest;
    private @Nullable Waiter ahead;

    SetsOfQueue(Lock lock) {
      this.lock = lock;
      this.rest = lock.waitingSets().iterator();
      this.ahead = following();
    }

    private @Nullable Waiter following() {
      return rest.hasNext() ? rest.next() : null;
    }

    /** Those that stand before a request and have not been visited. */
    List<Waiter> before(Waiter waiter) {
      List<Waiter> found = new ArrayList<>(0);
      while (ahead != null && lock.isBefore(ahead.request(), waiter.request()) && current.step()) {
        found.add(ahead);
        ahead = following();
      }
      return found;
    }
  }

  /** The transaction whose row the transaction's statement waits for, or null. */
  private @Nullable Transaction rowHolderBefore(Transaction transaction) {
    PendingStatement statement = waiting.of(transaction.session());
    return statement != null
            && statement.blocker() instanceof PendingStatement.Blocker.Holder holder
        ? transactions.find(holder.transaction())
        : null;
  }

  private @Nullable LockName awaitedLock(Transaction transaction) {
    // before the statement is known to its session as waiting, it stands in the queue already
    PendingStatement statement = waiting.of(transaction.session());
    return statement == null
        ? sessions.existing(transaction.session()).awaited()
        : statement.awaitedLock();
  }

  private @Nullable Transaction transactionOf(Hold hold) {
    return sessions.existing(hold.session()).transaction();
  }
}
