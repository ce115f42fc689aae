package dev.tollgate.samples.torture.report;

import dev.tollgate.samples.torture.history.Action;
import dev.tollgate.samples.torture.history.Evidence;
import dev.tollgate.samples.torture.history.Operation;
import dev.tollgate.samples.torture.history.Outcome;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The time for which a client held a lock, as far as a picture can show it.
 *
 * @param untilNanos when the lock was released or, if the lease ended instead, the last moment
 *     before the next holder had the lock
 * @param believedNanos until when the client behaved as if it held the lock; not later than {@code
 *     untilNanos} unless the client was stopped or cut off
 */
record Hold(
    String resource,
    String client,
    long token,
    long fromNanos,
    long untilNanos,
    long believedNanos) {

  /** All holds, by resource and time. */
  static List<Hold> of(Evidence evidence) {
    Map<Long, Operation> last = new HashMap<>();
    Map<Long, Operation> release = new HashMap<>();
    for (Operation operation : evidence.operations()) {
      if (operation.token() == 0) {
        continue;
      }
      if (operation.is(Action.RELEASE, Outcome.DONE)) {
        release.put(operation.token(), operation);
      }
      if (!release.containsKey(operation.token()) && operation.hasReturned()) {
        last.put(operation.token(), operation);
      }
    }
    List<Operation> grants =
        evidence.operations().stream()
            .filter(operation -> operation.is(Action.ACQUIRE, Outcome.DONE))
            .sorted(Comparator.comparing(Operation::resource).thenComparingLong(Operation::value))
            .toList();
    List<Hold> holds = new ArrayList<>();
    for (int i = 0; i < grants.size(); i++) {
      Operation grant = grants.get(i);
      long next =
          i + 1 < grants.size() && grants.get(i + 1).resource().equals(grant.resource())
              ? grants.get(i + 1).returnedNanos()
              : evidence.endNanos();
      Operation released = release.get(grant.value());
      Operation lastCall = last.get(grant.value());
      long from = grant.returnedNanos();
      long until = Math.max(from, released == null ? next : released.returnedNanos());
      long believed = lastCall == null ? from : lastCall.returnedNanos();
      holds.add(new Hold(grant.resource(), grant.client(), grant.value(), from, until, believed));
    }
    return holds;
  }
}
