package dev.tollgate.core;

import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RequestId;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * What locks should do, written as plainly as possible and apart from the product's code: lists
 * that are searched from end to end, strings for answers.
 */
public final class LockModel {
  private record Held(String lock, String lease, long token, boolean shared, boolean kept) {}

  /** A wait for one lock; a request for several locks has one for each. */
  private record Queued(
      String lock, String request, String lease, boolean shared, List<String> together) {}

  /** All holds of all locks in grant order, and all waits in request order. */
  private final List<Held> held = new ArrayList<>();

  private final List<Queued> queued = new ArrayList<>();

  /** The locks that each lease waits for, in the order in which it began to. */
  private final TreeMap<String, LinkedHashSet<String>> awaited = new TreeMap<>();

  private final TreeMap<String, Integer> permits = new TreeMap<>();
  private long token;

  /** Locks to settle once all has ended that ends together; null outside. */
  private @Nullable LinkedHashSet<String> postponed;

  /** Answers that waiting requests have got since they were last taken. */
  public final TreeMap<String, String> answers = new TreeMap<>();

  public String acquire(String request, String lock, String lease, boolean shared, boolean wait) {
    Optional<Held> mine = holdOf(lock, lease);
    if (mine.isPresent()) {
      return mine.get().shared && !shared ? "LOCK_UPGRADE" : "token " + mine.get().token;
    }
    if (next(lock).isEmpty() && compatible(lock, shared)) {
      return "token " + hold(lock, lease, shared);
    }
    if (!wait) {
      return "not granted";
    }
    enqueue(new Queued(lock, request, lease, shared, List.of()));
    return "waiting";
  }

  public String acquireAll(String request, List<String> locks, String lease, boolean wait) {
    boolean free = true;
    for (String lock : locks) {
      Optional<Held> mine = holdOf(lock, lease);
      if (mine.isPresent() && mine.get().shared) {
        return "LOCK_UPGRADE";
      }
      free &= mine.isPresent() || (next(lock).isEmpty() && compatible(lock, false));
    }
    if (free) {
      return "tokens " + holdAll(locks, lease);
    }
    if (!wait) {
      return "not granted";
    }
    locks.forEach(lock -> enqueue(new Queued(lock, request, lease, false, locks)));
    return "waiting";
  }

  public boolean isHeldBy(String lock, String lease) {
    return holdOf(lock, lease).isPresent();
  }

  public boolean holdsAnything(String lease) {
    return held.stream().anyMatch(h -> h.lease.equals(lease));
  }

  public boolean isWaiting(String request) {
    return queued.stream().anyMatch(q -> q.request.equals(request));
  }

  public boolean isWaitingFor(String request, String lease) {
    return queued.stream().anyMatch(q -> q.request.equals(request) && q.lease.equals(lease));
  }

  public int permits(String lock) {
    return permits.getOrDefault(lock, 1);
  }

  public boolean isDefined(String lock) {
    return permits.containsKey(lock);
  }

  public boolean release(String lock, String lease) {
    boolean did = held.removeIf(h -> h.lock.equals(lock) && h.lease.equals(lease));
    settle(List.of(lock));
    return did;
  }

  /** Releases a lock that this other lease keeps from then on. */
  public boolean releaseAndKeep(String lock, String lease, String keeper) {
    Optional<Held> mine = holdOf(lock, lease);
    if (mine.isPresent()) {
      held.remove(mine.get());
      held.add(new Held(lock, keeper, ++token, mine.get().shared, true));
      settle(List.of(lock));
    }
    return mine.isPresent();
  }

  public String transfer(String lock, String from, String to) {
    Optional<Held> mine = holdOf(lock, from);
    if (mine.isEmpty()) {
      return "not granted";
    }
    if (holdOf(lock, to).isPresent()) {
      return "LOCK_STATE";
    }
    held.remove(mine.get());
    long granted = hold(lock, to, mine.get().shared);
    settle(answerTwins(lock, to, granted, mine.get().shared));
    return "token " + granted;
  }

  public boolean forceRelease(String lock) {
    boolean did = held.removeIf(h -> h.lock.equals(lock));
    settle(List.of(lock));
    return did;
  }

  /**
   * Gives a lock this many permits.
   *
   * @param isNew whether the lock must have no definition, or must have one
   */
  public String define(String lock, int number, boolean isNew) {
    long holders = held.stream().filter(h -> h.lock.equals(lock) && !h.shared).count();
    if (permits.containsKey(lock) == isNew || holders > number) {
      return "LOCK_STATE";
    }
    permits.put(lock, number);
    settle(List.of(lock));
    return "done";
  }

  public String dropDefinition(String lock) {
    long holders = held.stream().filter(h -> h.lock.equals(lock) && !h.shared).count();
    if (!permits.containsKey(lock) || holders > 1) {
      return "LOCK_STATE";
    }
    permits.remove(lock);
    return "done";
  }

  public void endLease(String lease) {
    List<String> changed = new ArrayList<>();
    for (String lock : List.copyOf(awaited.getOrDefault(lease, new LinkedHashSet<>()))) {
      for (Queued q : List.copyOf(queued)) {
        if (q.lock.equals(lock) && q.lease.equals(lease)) {
          answers.put(q.request, "LEASE_GONE");
          changed.addAll(dequeue(q.request));
        }
      }
    }
    settle(changed);
    for (Held h : List.copyOf(held)) {
      if (h.lease.equals(lease)) {
        held.remove(h);
        settle(List.of(h.lock));
      }
    }
  }

  public boolean endWait(String request, String answer) {
    List<String> changed = dequeue(request);
    if (changed.isEmpty()) {
      return false;
    }
    answers.put(request, answer);
    settle(changed);
    return true;
  }

  /** Ends several waits and leases before anything of theirs is granted to others. */
  public void endTogether(Runnable endings) {
    LinkedHashSet<String> changed = new LinkedHashSet<>();
    postponed = changed;
    endings.run();
    postponed = null;
    settle(List.copyOf(changed));
  }

  /** The locks that a request waits for. */
  public List<String> awaitedBy(String request) {
    return queued.stream().filter(q -> q.request.equals(request)).map(q -> q.lock).toList();
  }

  public boolean heldExclusively(String lock, long byToken) {
    return held.stream()
        .anyMatch(h -> h.lock.equals(lock) && h.token == byToken && !h.shared && !h.kept);
  }

  public Optional<Long> exclusiveToken(String lock, String lease) {
    return held.stream()
        .filter(h -> h.lock.equals(lock) && h.lease.equals(lease) && !h.shared)
        .map(Held::token)
        .findFirst();
  }

  public long lastToken() {
    return token;
  }

  private Optional<Held> holdOf(String lock, String lease) {
    return held.stream().filter(h -> h.lock.equals(lock) && h.lease.equals(lease)).findFirst();
  }

  private long hold(String lock, String lease, boolean shared) {
    held.add(new Held(lock, lease, ++token, shared, false));
    return token;
  }

  private List<Long> holdAll(List<String> locks, String lease) {
    List<Long> tokens = new ArrayList<>();
    for (String lock : locks) {
      tokens.add(holdOf(lock, lease).map(Held::token).orElseGet(() -> hold(lock, lease, false)));
    }
    return tokens;
  }

  private boolean compatible(String lock, boolean shared) {
    List<Held> holds = held.stream().filter(h -> h.lock.equals(lock)).toList();
    return holds.stream().allMatch(h -> h.shared == shared)
        && (shared || holds.size() < permits(lock));
  }

  private void enqueue(Queued q) {
    queued.add(q);
    awaited.computeIfAbsent(q.lease, lease -> new LinkedHashSet<>()).add(q.lock);
  }

  /** Ends the waits of a request; returns the locks that it waited for. */
  private List<String> dequeue(String request) {
    List<String> locks = new ArrayList<>();
    for (Queued q : List.copyOf(queued)) {
      if (q.request.equals(request)) {
        queued.remove(q);
        locks.add(q.lock);
        if (queued.stream().noneMatch(o -> o.lock.equals(q.lock) && o.lease.equals(q.lease))) {
          awaited.get(q.lease).remove(q.lock);
        }
      }
    }
    return locks;
  }

  /** The wait that is to get a lock: one for several locks does not need those that it has. */
  private Optional<Queued> next(String lock) {
    return queued.stream()
        .filter(q -> q.lock.equals(lock))
        .filter(q -> q.together.isEmpty() || holdOf(lock, q.lease).isEmpty())
        .findFirst();
  }

  private boolean grantable(Queued q) {
    return q.together.isEmpty()
        ? compatible(q.lock, q.shared)
        : q.together.stream()
            .allMatch(
                lock ->
                    holdOf(lock, q.lease).isPresent()
                        || (next(lock).orElseThrow().request.equals(q.request)
                            && compatible(lock, false)));
  }

  private void settle(List<String> locks) {
    if (postponed != null) {
      postponed.addAll(locks);
      return;
    }
    List<String> changed = new ArrayList<>(locks);
    while (!changed.isEmpty()) {
      String lock = changed.remove(0);
      Optional<Queued> next = next(lock);
      while (next.isPresent() && grantable(next.get())) {
        changed.addAll(grant(next.get()));
        next = next(lock);
      }
    }
  }

  private List<String> grant(Queued q) {
    List<String> changed = new ArrayList<>(dequeue(q.request));
    if (q.together.isEmpty()) {
      long granted = hold(q.lock, q.lease, q.shared);
      answers.put(q.request, "token " + granted);
      changed.addAll(answerTwins(q.lock, q.lease, granted, q.shared));
    } else {
      List<Long> tokens = holdAll(q.together, q.lease);
      answers.put(q.request, "tokens " + tokens);
      for (int i = 0; i < tokens.size(); i++) {
        changed.addAll(answerTwins(q.together.get(i), q.lease, tokens.get(i), false));
      }
    }
    return changed;
  }

  private List<String> answerTwins(String lock, String lease, long granted, boolean shared) {
    List<String> changed = new ArrayList<>(List.of(lock));
    for (Queued twin : List.copyOf(queued)) {
      if (twin.lock.equals(lock) && twin.lease.equals(lease)) {
        boolean upgrade = shared && !twin.shared;
        if (upgrade || twin.together.isEmpty()) {
          changed.addAll(dequeue(twin.request));
          answers.put(twin.request, upgrade ? "LOCK_UPGRADE" : "token " + granted);
        } else {
          changed.addAll(twin.together);
        }
      }
    }
    return changed;
  }

  /** Every lock with its holders and its queue, in the way {@link #describe(ClusterState)} does. */
  public String describe() {
    TreeMap<String, String> byLock = new TreeMap<>();
    for (Held h : held) {
      String hold = h.token + (h.shared ? "s" : "x") + (h.kept ? "k" : "");
      byLock.merge(h.lock, hold, (x, y) -> x + "," + y);
    }
    for (Queued q : queued) {
      byLock.merge(q.lock, "<" + q.request + (q.shared ? "s" : "x"), (x, y) -> x + y);
    }
    return byLock.toString();
  }

  public static String describe(ClusterState state) {
    TreeMap<String, String> byLock = new TreeMap<>();
    for (Lock lock : state.locks()) {
      String mode = lock.mode() == LockMode.SHARED ? "s" : "x";
      String holds =
          lock.holds().stream()
              .map(h -> h.token() + mode + (h.onlyKeeps() ? "k" : ""))
              .collect(Collectors.joining(","));
      String waits =
          lock.waiters().stream()
              .map(w -> "<" + name(w.request()) + (w.mode() == LockMode.SHARED ? "s" : "x"))
              .collect(Collectors.joining());
      byLock.put(lock.name().value(), holds + waits);
    }
    return byLock.toString();
  }

  static String name(RequestId request) {
    return request.session() + "/" + request.sequence();
  }

  static String describe(Outcome outcome) {
    if (outcome instanceof Outcome.Granted granted) {
      return "token " + granted.token();
    }
    if (outcome instanceof Outcome.GrantedAll granted) {
      return "tokens " + granted.tokens();
    }
    if (outcome instanceof Outcome.Refused refused) {
      return refused.code().toString();
    }
    if (outcome instanceof Outcome.Waiting) {
      return "waiting";
    }
    if (outcome instanceof Outcome.NotGranted) {
      return "not granted";
    }
    return Objects.toString(outcome);
  }
}
