package dev.tollgate.samples.torture.history;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Checks whether a run can have happened if Tollgate keeps its promises. The checker assumes
 * nothing that a client does not know. An operation that was never answered took effect at any
 * moment after it was sent, or not at all.
 */
public final class Checker {
  private static final long AVAILABLE_NANOS = TimeUnit.SECONDS.toNanos(5);

  /** SQLSTATE of a session that the cluster has ended. */
  private static final String SESSION_GONE = "08006";

  /** SQLSTATE of a lock function whose client could not prove that its lease is alive. */
  private static final String LEASE_GONE = "55T01";

  private final Evidence evidence;
  private final List<Violation> violations = new ArrayList<>();
  private final Map<String, List<Operation>> grants = new TreeMap<>();
  private final Map<Long, Operation> grantOf = new HashMap<>();

  private Checker(Evidence evidence) {
    this.evidence = evidence;
    for (Operation operation : evidence.operations()) {
      if (operation.is(Action.ACQUIRE, Outcome.DONE)) {
        grants.computeIfAbsent(operation.resource(), any -> new ArrayList<>()).add(operation);
      }
    }
    for (List<Operation> ofResource : grants.values()) {
      ofResource.sort(Comparator.comparingLong(Operation::returnedNanos));
    }
  }

  /** All violations in the order of time; empty if all rules hold. */
  public static List<Violation> check(Evidence evidence) {
    Checker checker = new Checker(evidence);
    checker.tokensAreGivenOnce();
    checker.tokensRiseInTime();
    checker.oneHolderByTheLog();
    checker.oneHolderByTheClock();
    checker.staleWritesAreRefused();
    checker.writesAreKept();
    checker.checksSeeWhatWasAcknowledged();
    checker.leasesLive();
    checker.replicasAreEqual();
    checker.auditsAreEqual();
    checker.clusterIsAvailable();
    for (String broken : evidence.traces().broken()) {
      checker.found(Rule.PROMISES_BETWEEN_NODES, evidence.endNanos(), broken);
    }
    for (String incident : evidence.incidents()) {
      checker.found(Rule.NODES_AS_EXPECTED, evidence.endNanos(), incident);
    }
    checker.violations.sort(Comparator.comparingLong(Violation::atNanos));
    return List.copyOf(checker.violations);
  }

  private void found(Rule rule, long atNanos, String text) {
    violations.add(new Violation(rule, atNanos, text));
  }

  private void auditsAreEqual() {
    AuditComparison audit = evidence.audit();
    if (audit != null) {
      audit
          .differences()
          .forEach(difference -> found(Rule.AUDITS_EQUAL, evidence.endNanos(), difference));
    }
  }

  private void tokensAreGivenOnce() {
    for (List<Operation> ofResource : grants.values()) {
      for (Operation grant : ofResource) {
        Operation before = grantOf.put(grant.value(), grant);
        if (before != null) {
          found(
              Rule.TOKEN_ONCE,
              grant.returnedNanos(),
              "token " + grant.value() + " went to " + before.name() + " and to " + grant.name());
        }
      }
    }
  }

  /** A grant that was requested after another grant had returned has a higher token. */
  private void tokensRiseInTime() {
    Map<Operation, Long> requested = requestedNanos();
    List<Operation> byReturn = new ArrayList<>(grantOf.values());
    byReturn.sort(Comparator.comparingLong(Operation::returnedNanos));
    List<Operation> byRequest = new ArrayList<>(byReturn);
    byRequest.sort(Comparator.comparingLong(grant -> requestedNanos(requested, grant)));
    int returned = 0;
    Operation highest = null;
    for (Operation grant : byRequest) {
      while (byReturn.get(returned).returnedNanos() < requestedNanos(requested, grant)) {
        Operation one = byReturn.get(returned++);
        highest = highest == null || one.value() > highest.value() ? one : highest;
      }
      if (highest != null && highest.value() > grant.value()) {
        found(
            Rule.TOKENS_RISE,
            grant.returnedNanos(),
            grant.name()
                + " got token "
                + grant.value()
                + " though "
                + highest.name()
                + " had got "
                + highest.value()
                + " before it asked");
      }
    }
  }

  private static long requestedNanos(Map<Operation, Long> requested, Operation grant) {
    return requested.getOrDefault(grant, grant.invokedNanos());
  }

  /**
   * When each grant was requested first. A request that is answered with 55T01 may have been
   * granted all the same: the client had to take its lease for expired, and the cluster did not
   * (docs/protocol.md). The next request then returns the token of that grant.
   */
  private Map<Operation, Long> requestedNanos() {
    Map<Operation, Long> requested = new HashMap<>();
    Map<String, Operation> unsure = new HashMap<>();
    List<Operation> inOrder = new ArrayList<>(evidence.operations());
    inOrder.sort(Comparator.comparingLong(Operation::invokedNanos));
    for (Operation operation : inOrder) {
      String register = operation.client() + " " + operation.resource();
      if (operation.is(Action.ACQUIRE, Outcome.DONE)) {
        Operation before = unsure.remove(register);
        requested.put(operation, before == null ? operation.invokedNanos() : before.invokedNanos());
      } else if (operation.is(Action.ACQUIRE, Outcome.REFUSED)
          && operation.state().equals(LEASE_GONE)) {
        unsure.putIfAbsent(register, operation);
      } else if (operation.action() == Action.ACQUIRE || operation.action() == Action.RELEASE) {
        unsure.remove(register);
      }
    }
    return requested;
  }

  /** In log order the writes of one holder stand together, and each has the token of the holder. */
  private void oneHolderByTheLog() {
    Map<String, LedgerRow> last = new HashMap<>();
    for (LedgerRow row : evidence.ledger()) {
      LedgerRow before = last.put(row.resource(), row);
      if (row.held() != row.token()) {
        found(
            Rule.ONE_HOLDER,
            timeOf(row),
            describe(row) + " took effect where the lock was held under " + row.held());
      }
      if (before != null && before.token() > row.token()) {
        found(
            Rule.ONE_HOLDER,
            timeOf(row),
            describe(row) + " comes after " + describe(before) + " in the log");
      }
      if (row.sequence() != (before == null ? 0 : before.sequence()) + 1) {
        found(
            Rule.ONE_HOLDER,
            timeOf(row),
            describe(row)
                + " was written without knowledge of "
                + (before == null ? "the empty register" : describe(before)));
      }
    }
  }

  private static String describe(LedgerRow row) {
    return row.resource()
        + "="
        + row.sequence()
        + " by "
        + row.client()
        + "#"
        + row.operation()
        + " under "
        + row.token();
  }

  private long timeOf(LedgerRow row) {
    return evidence.operations().stream()
        .filter(one -> one.client().equals(row.client()) && one.number() == row.operation())
        .mapToLong(Operation::invokedNanos)
        .findFirst()
        .orElse(evidence.endNanos());
  }

  /**
   * The time for which a client certainly held a lock: from its grant to its last successful call.
   */
  private record Hold(Operation grant, long untilNanos) {
    long fromNanos() {
      return grant.returnedNanos();
    }
  }

  private void oneHolderByTheClock() {
    Map<Long, Long> succeeded = new HashMap<>();
    for (Operation operation : evidence.operations()) {
      if (operation.token() > 0 && operation.outcome() == Outcome.DONE) {
        succeeded.merge(operation.token(), operation.invokedNanos(), Math::max);
      }
    }
    for (List<Operation> ofResource : grants.values()) {
      Hold longest = null;
      for (Operation grant : ofResource) {
        Hold hold = new Hold(grant, succeeded.getOrDefault(grant.value(), 0L));
        if (hold.untilNanos() <= hold.fromNanos()) {
          continue;
        }
        if (longest != null && longest.untilNanos() > hold.fromNanos()) {
          found(
              Rule.ONE_HOLDER,
              hold.fromNanos(),
              longest.grant().name()
                  + " held token "
                  + longest.grant().value()
                  + " for another "
                  + TimeUnit.NANOSECONDS.toMicros(longest.untilNanos() - hold.fromNanos())
                  + " us when "
                  + grant.name()
                  + " had got "
                  + grant.value());
        }
        if (longest == null || hold.untilNanos() > longest.untilNanos()) {
          longest = hold;
        }
      }
    }
  }

  private void staleWritesAreRefused() {
    Map<Long, Operation> released = new HashMap<>();
    for (Operation operation : evidence.operations()) {
      if (operation.is(Action.RELEASE, Outcome.DONE)) {
        released.put(operation.token(), operation);
      }
    }
    for (Operation write : evidence.operations()) {
      if (!write.is(Action.WRITE, Outcome.DONE)) {
        continue;
      }
      Operation grant = grantOf.get(write.token());
      if (grant == null || !grant.resource().equals(write.resource())) {
        found(
            Rule.NO_STALE_WRITE,
            write.invokedNanos(),
            write.name() + " was accepted and nobody was given that token");
        continue;
      }
      Operation release = released.get(write.token());
      if (release != null && release.returnedNanos() < write.invokedNanos()) {
        found(
            Rule.NO_STALE_WRITE,
            write.invokedNanos(),
            write.name() + " was accepted after " + release.name());
      }
      for (Operation later : grants.getOrDefault(write.resource(), List.of())) {
        if (later.returnedNanos() >= write.invokedNanos()) {
          break;
        }
        if (later.value() > write.token()) {
          found(
              Rule.NO_STALE_WRITE,
              write.invokedNanos(),
              write.name() + " was accepted after " + later.name() + " got " + later.value());
          break;
        }
      }
    }
  }

  private void writesAreKept() {
    Map<String, LedgerRow> rows = new HashMap<>();
    for (LedgerRow row : evidence.ledger()) {
      if (rows.put(row.client() + "#" + row.operation(), row) != null) {
        found(Rule.NO_WRITE_LOST, timeOf(row), describe(row) + " took effect twice");
      }
    }
    for (Operation write : evidence.operations()) {
      if (write.action() != Action.WRITE) {
        continue;
      }
      LedgerRow row = rows.remove(write.client() + "#" + write.number());
      if (row == null) {
        if (write.outcome() == Outcome.DONE) {
          found(
              Rule.NO_WRITE_LOST,
              write.returnedNanos(),
              write.name() + " was acknowledged and is not there");
        }
      } else if (write.outcome() != Outcome.DONE && write.outcome() != Outcome.UNKNOWN) {
        found(
            Rule.NO_WRITE_LOST,
            write.returnedNanos(),
            write.name() + " was answered with " + write.state() + " and is there");
      } else if (row.token() != write.token()
          || row.sequence() != write.sequence()
          || !row.resource().equals(write.resource())) {
        found(
            Rule.NO_WRITE_LOST,
            write.invokedNanos(),
            write.name() + " is there as " + describe(row));
      }
    }
    for (LedgerRow row : rows.values()) {
      found(Rule.NO_WRITE_LOST, evidence.endNanos(), describe(row) + " was written by nobody");
    }
  }

  /**
   * Reads are linearizable: a read shows what was acknowledged to any client before the read was
   * sent.
   */
  private void checksSeeWhatWasAcknowledged() {
    Map<String, List<Operation>> writes =
        evidence.operations().stream()
            .filter(operation -> operation.is(Action.WRITE, Outcome.DONE))
            .sorted(Comparator.comparingLong(Operation::returnedNanos))
            .collect(Collectors.groupingBy(Operation::resource));
    List<Operation> checks =
        evidence.operations().stream()
            .filter(operation -> operation.is(Action.CHECK, Outcome.DONE))
            .sorted(Comparator.comparingLong(Operation::invokedNanos))
            .toList();
    Map<String, Integer> seen = new HashMap<>();
    Map<String, Operation> highest = new HashMap<>();
    for (Operation check : checks) {
      List<Operation> ofResource = writes.getOrDefault(check.resource(), List.of());
      int next = seen.getOrDefault(check.resource(), 0);
      while (next < ofResource.size()
          && ofResource.get(next).returnedNanos() < check.invokedNanos()) {
        highest.merge(
            check.resource(),
            ofResource.get(next),
            (one, other) -> one.sequence() >= other.sequence() ? one : other);
        next++;
      }
      seen.put(check.resource(), next);
      Operation write = highest.get(check.resource());
      if (write != null && write.sequence() > check.value()) {
        found(
            Rule.NO_STALE_READ,
            check.invokedNanos(),
            check.name()
                + " saw "
                + check.value()
                + " though "
                + write.name()
                + " of "
                + write.sequence()
                + " was acknowledged");
      }
    }
  }

  /**
   * A client that could renew its lease all the time keeps what it holds. A loss has these causes:
   * the client did not run, it was cut off, or the cluster answered no client for two thirds of a
   * lease. Two thirds is the time from a heartbeat that just got through until the lease has
   * expired for the client.
   */
  private void leasesLive() {
    Map<Long, Operation> released = new HashMap<>();
    for (Operation operation : evidence.operations()) {
      if (operation.action() == Action.RELEASE) {
        released.putIfAbsent(operation.token(), operation);
      }
    }
    List<Availability.Outage> outages =
        evidence.availability().outages().stream()
            .filter(outage -> outage.nanos() >= evidence.leaseNanos() * 2 / 3)
            .toList();
    for (Operation operation : evidence.operations()) {
      Operation grant = grantOf.get(operation.token());
      Operation release = released.get(operation.token());
      boolean gaveItBack = release != null && release.invokedNanos() < operation.invokedNanos();
      if (grant == null
          || !tellsOfLoss(operation)
          || !grant.client().equals(operation.client())
          || gaveItBack) {
        continue;
      }
      long from = grant.invokedNanos();
      long until = operation.returnedNanos();
      boolean excused =
          evidence.interruptions().stream()
                  .anyMatch(
                      one ->
                          one.client().equals(operation.client())
                              && one.fromNanos() < until
                              && one.untilNanos() > from)
              || outages.stream()
                  .anyMatch(outage -> outage.fromNanos() < until && outage.untilNanos() > from);
      if (!excused) {
        found(
            Rule.NO_LEASE_LOST,
            until,
            operation.name()
                + " was answered "
                + operation.outcome()
                + " "
                + operation.state()
                + " "
                + TimeUnit.NANOSECONDS.toMillis(until - grant.returnedNanos())
                + " ms after the lock was granted, and nothing kept the client from renewing");
      }
    }
  }

  private static boolean tellsOfLoss(Operation operation) {
    return switch (operation.action()) {
      case WRITE, RELEASE ->
          operation.outcome() == Outcome.NOTHING
              || operation.outcome() == Outcome.REFUSED
              || operation.state().equals(SESSION_GONE);
      case ACQUIRE, CHECK, PROBE -> false;
    };
  }

  private void replicasAreEqual() {
    evidence
        .copies()
        .forEach(
            (node, rows) -> {
              if (!rows.equals(evidence.ledger())) {
                found(
                    Rule.REPLICAS_EQUAL,
                    evidence.endNanos(),
                    node + " has other rows: " + firstDifference(rows, evidence.ledger()));
              }
            });
    evidence
        .checks()
        .forEach(
            (node, verdict) -> {
              if (!verdict.equals("EQUAL")) {
                found(
                    Rule.REPLICAS_EQUAL,
                    evidence.endNanos(),
                    "verify_replicas() says of " + node + ": " + verdict);
              }
            });
  }

  private static String firstDifference(List<LedgerRow> rows, List<LedgerRow> ledger) {
    for (int i = 0; i < Math.min(rows.size(), ledger.size()); i++) {
      if (!rows.get(i).equals(ledger.get(i))) {
        return rows.get(i) + " in place of " + ledger.get(i);
      }
    }
    return rows.size() + " rows in place of " + ledger.size();
  }

  /**
   * Cuts an outage where faults began and where they were healed. Each part may take its five
   * seconds, except parts in which no majority was there to answer.
   */
  private void clusterIsAvailable() {
    if (evidence.availability().answeredAfterNanos(0).isEmpty()) {
      found(Rule.AVAILABLE, 0, "no probe was ever answered");
    }
    for (Availability.Outage outage : evidence.availability().outages()) {
      TreeSet<Long> cuts = new TreeSet<>();
      cuts.add(outage.fromNanos());
      cuts.add(outage.untilNanos());
      for (Disturbance disturbance : evidence.disturbances()) {
        cuts.add(
            Math.min(Math.max(disturbance.fromNanos(), outage.fromNanos()), outage.untilNanos()));
        cuts.add(
            Math.min(Math.max(disturbance.healedNanos(), outage.fromNanos()), outage.untilNanos()));
      }
      long from = cuts.pollFirst();
      for (long until : cuts) {
        long begin = from;
        boolean excused =
            evidence.disturbances().stream()
                .anyMatch(
                    one ->
                        !one.leavesQuorum()
                            && one.fromNanos() <= begin
                            && one.healedNanos() >= until);
        if (!excused && until - begin > AVAILABLE_NANOS) {
          found(
              Rule.AVAILABLE,
              begin,
              "no answer for "
                  + TimeUnit.NANOSECONDS.toMillis(until - begin)
                  + " ms, with a majority of the nodes there");
        }
        from = until;
      }
    }
  }
}
