package dev.tollgate.history;

import dev.tollgate.history.Answer.Refused;
import dev.tollgate.history.Answer.Unknown;
import dev.tollgate.history.Answer.Value;
import dev.tollgate.history.CellRequest.Acquire;
import dev.tollgate.history.CellRequest.EndLease;
import dev.tollgate.history.CellRequest.OfLease;
import dev.tollgate.history.CellRequest.ReadToken;
import dev.tollgate.history.CellRequest.Revoke;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Whether what clients saw of locks, leases and registers can be explained: cell by cell, because a
 * history is linearizable if that of each object is (Herlihy and Wing, theorem 1), and the order of
 * the tokens of all locks together (invariant I2).
 *
 * <p>A lease touches several cells. It has its life in the history of each of them; that it ended
 * in all of them at the same moment is not checked.
 */
final class CellHistory {
  private final List<CellCall> calls;
  private final Map<Long, Long> leaseEnds;

  private CellHistory(List<CellCall> calls, Map<Long, Long> leaseEnds) {
    this.calls = calls;
    this.leaseEnds = leaseEnds;
  }

  /**
   * Checks a history.
   *
   * @param leaseEnds from when on each lease may end by itself, in nanoseconds: its ttl after the
   *     last renewal that was acknowledged was sent; those that may not are left out
   * @return what cannot be explained, empty if all can
   */
  static List<String> anomalies(List<CellCall> calls, Map<Long, Long> leaseEnds) {
    CellHistory history = new CellHistory(calls, leaseEnds);
    List<String> anomalies = new ArrayList<>();
    calls.stream()
        .map(CellCall::cell)
        .filter(cell -> cell != CellCall.ALL)
        .distinct()
        .sorted()
        .forEach(
            cell ->
                Linearizability.anomaly(Cell.INITIAL, history.operations(cell))
                    .ifPresent(
                        text -> anomalies.add("cell " + cell + ": nothing explains " + text)));
    anomalies.addAll(history.tokensOutOfOrder());
    return anomalies;
  }

  private List<Operation<Cell>> operations(int cell) {
    Set<Long> leases = new TreeSet<>();
    Set<Long> told = new TreeSet<>();
    for (CellCall call : calls) {
      if (call.request() instanceof OfLease request) {
        if (call.cell() == cell) {
          leases.add(request.lease());
        }
        if (call.answer() instanceof Refused || request instanceof Revoke) {
          told.add(request.lease());
        }
      }
    }
    List<Operation<Cell>> operations = new ArrayList<>();
    for (CellCall call : calls) {
      boolean here =
          call.cell() == cell
              || (call.cell() == CellCall.ALL
                  && call.request() instanceof OfLease request
                  && leases.contains(request.lease()));
      if (here && (call.request().changes() || !call.isUnanswered())) {
        operations.add(call.operation());
      }
    }
    leases.retainAll(leaseEnds.keySet());
    for (long lease : leases) {
      long from = leaseEnds.get(lease);
      CellRequest end = new EndLease(lease, told.contains(lease));
      operations.add(new CellCall("time", cell, end, new Unknown(), from, from).operation());
    }
    return operations;
  }

  /** What is known of one token. */
  private static final class Grant {
    /** No grant was before this call was sent; null if nobody was told that it was granted. */
    CellCall earliest;

    /** The grant was before this call was answered. */
    CellCall told;

    void grantedTo(CellCall call) {
      if (earliest == null || call.sentNanos() < earliest.sentNanos()) {
        earliest = call;
      }
    }

    void toldBy(CellCall call) {
      if (told == null || call.answeredNanos() < told.answeredNanos()) {
        told = call;
      }
    }
  }

  /** Tokens that two locks have, and those that are lower than one that was told before. */
  private List<String> tokensOutOfOrder() {
    List<String> anomalies = new ArrayList<>();
    TreeMap<Long, Grant> grants = new TreeMap<>();
    // may have been granted what a later call of the same lease was told
    List<CellCall> unanswered = calls.stream().filter(CellCall::isUnanswered).toList();
    for (CellCall call : calls) {
      boolean tells = call.request() instanceof Acquire || call.request() instanceof ReadToken;
      if (tells && call.answer() instanceof Value token) {
        Grant grant = grants.computeIfAbsent(token.number(), number -> new Grant());
        grant.toldBy(call);
        if (grant.told.cell() != call.cell()) {
          anomalies.add("token of two locks: " + grant.told + " and " + call);
        }
        if (call.request() instanceof Acquire acquire) {
          grant.grantedTo(call);
          unanswered.stream()
              .filter(other -> other.cell() == call.cell())
              .filter(
                  other ->
                      other.request() instanceof Acquire request
                          && request.lease() == acquire.lease())
              .forEach(grant::grantedTo);
        }
      }
    }
    Grant earlier = null;
    for (Grant grant : grants.descendingMap().values()) {
      if (earlier != null
          && grant.earliest != null
          && earlier.told.answeredNanos() < grant.earliest.sentNanos()) {
        anomalies.add("token that goes back: " + grant.earliest + " after " + earlier.told);
      }
      if (earlier == null || grant.told.answeredNanos() < earlier.told.answeredNanos()) {
        earlier = grant;
      }
    }
    return anomalies;
  }
}
