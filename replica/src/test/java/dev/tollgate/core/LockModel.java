package dev.tollgate.core;

import dev.tollgate.core.command.LockMode;
import dev.tollgate.core.command.Outcome;
import dev.tollgate.core.command.RequestId;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * What locks should do, written as plainly as possible and apart from the product's code: lists
 * that are searched from end to end, strings for answers.
 */
public final class LockModel {
  private record Held(String lock, String lease, long token, boolean shared) {}

  private record Queued(String lock, String request, String lease, boolean shared) {}

  /** All holds of all locks in grant order, and all waits in request order. */
  private final List<Held> held = new ArrayList<>();

  private final List<Queued> queued = new ArrayList<>();
  private long token;

  /** Answers that waiting requests have got since they were last taken. */
  public final TreeMap<String, String> answers = new TreeMap<>();

  public String acquire(String request, String lock, String lease, boolean shared, boolean wait) {
    Optional<Held> mine =
        held.stream().filter(h -> h.lock.equals(lock) && h.lease.equals(lease)).findFirst();
    if (mine.isPresent()) {
      return mine.get().shared && !shared ? "LOCK_UPGRADE" : "token " + mine.get().token;
    }
    boolean queue = queued.stream().anyMatch(q -> q.lock.equals(lock));
    if (!queue && compatible(lock, shared)) {
      held.add(new Held(lock, lease, ++token, shared));
      return "token " + token;
    }
    if (!wait) {
      return "not granted";
    }
    queued.add(new Queued(lock, request, lease, shared));
    return "waiting";
  }

  public boolean release(String lock, String lease) {
    boolean did = held.removeIf(h -> h.lock.equals(lock) && h.lease.equals(lease));
    settle(lock);
    return did;
  }

  public boolean forceRelease(String lock) {
    boolean did = held.removeIf(h -> h.lock.equals(lock));
    settle(lock);
    return did;
  }

  public void endLease(String lease) {
    List<Queued> waits = queued.stream().filter(q -> q.lease.equals(lease)).toList();
    queued.removeAll(waits);
    for (Queued q : waits) {
      answers.put(q.request, "LEASE_GONE");
      settle(q.lock);
    }
    for (Held h : List.copyOf(held)) {
      if (h.lease.equals(lease)) {
        held.remove(h);
        settle(h.lock);
      }
    }
  }

  public boolean endWait(String request, String answer) {
    for (Queued q : List.copyOf(queued)) {
      if (q.request.equals(request)) {
        queued.remove(q);
        answers.put(request, answer);
        settle(q.lock);
        return true;
      }
    }
    return false;
  }

  public boolean heldExclusively(String lock, long byToken) {
    return held.stream().anyMatch(h -> h.lock.equals(lock) && h.token == byToken && !h.shared);
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

  private boolean compatible(String lock, boolean shared) {
    return held.stream().filter(h -> h.lock.equals(lock)).allMatch(h -> h.shared && shared);
  }

  private void settle(String lock) {
    while (true) {
      Optional<Queued> head = queued.stream().filter(q -> q.lock.equals(lock)).findFirst();
      if (head.isEmpty() || !compatible(lock, head.get().shared)) {
        return;
      }
      Queued granted = head.get();
      queued.remove(granted);
      held.add(new Held(lock, granted.lease, ++token, granted.shared));
      answers.put(granted.request, "token " + token);
      for (Queued twin : List.copyOf(queued)) {
        if (twin.lock.equals(lock) && twin.lease.equals(granted.lease)) {
          queued.remove(twin);
          boolean upgrade = granted.shared && !twin.shared;
          answers.put(twin.request, upgrade ? "LOCK_UPGRADE" : "token " + token);
        }
      }
    }
  }

  /** Every lock with its holders and its queue, in the way {@link #describe(ClusterState)} does. */
  public String describe() {
    TreeMap<String, String> byLock = new TreeMap<>();
    for (Held h : held) {
      byLock.merge(h.lock, h.token + (h.shared ? "s" : "x"), (x, y) -> x + "," + y);
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
          lock.holds().stream().map(h -> h.token() + mode).collect(Collectors.joining(","));
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
