package dev.tollgate.samples.torture.history;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Writes down what a run might have looked like. Times are milliseconds. */
public final class RunOnPaper {
  private static final long LEASE_MILLIS = 6_000;
  private static final long PROBE_MILLIS = 100;

  private final List<Operation> operations = new ArrayList<>();
  private final List<Interruption> interruptions = new ArrayList<>();
  private final List<Disturbance> disturbances = new ArrayList<>();
  private final List<LedgerRow> ledger = new ArrayList<>();
  private final Map<String, List<LedgerRow>> copies = new HashMap<>();
  private final Map<String, String> checks = new HashMap<>();
  private final List<String> broken = new ArrayList<>();
  private final List<String> incidents = new ArrayList<>();
  private @Nullable AuditComparison audit;
  private final Map<String, Integer> numbers = new HashMap<>();
  private long endMillis = 60_000;

  private static long nanos(long millis) {
    return TimeUnit.MILLISECONDS.toNanos(millis);
  }

  private Operation add(
      String client,
      Action action,
      String resource,
      long token,
      long sequence,
      long from,
      long until,
      Outcome outcome,
      long value,
      String state) {
    int number = numbers.merge(client, 1, Integer::sum);
    Operation operation =
        Operation.invoked(client, number, action, resource, token, sequence, nanos(from))
            .returned(nanos(until), outcome, value, state);
    operations.add(operation);
    return operation;
  }

  public RunOnPaper grant(String client, String resource, long token, long from, long until) {
    add(client, Action.ACQUIRE, resource, 0, 0, from, until, Outcome.DONE, token, "");
    return this;
  }

  /** Asked for the lock, and was told that nobody can say whether its lease is alive. */
  public RunOnPaper distrusted(String client, String resource, long from, long until) {
    add(client, Action.ACQUIRE, resource, 0, 0, from, until, Outcome.REFUSED, 0, "55T01");
    return this;
  }

  /** Waited for nothing. */
  public RunOnPaper miss(String client, String resource, long from, long until) {
    add(client, Action.ACQUIRE, resource, 0, 0, from, until, Outcome.NOTHING, 0, "");
    return this;
  }

  public RunOnPaper check(String client, String resource, long value, long from, long until) {
    add(client, Action.CHECK, resource, 0, 0, from, until, Outcome.DONE, value, "");
    return this;
  }

  /** A write that was acknowledged and is in the ledger. */
  public RunOnPaper write(
      String client, String resource, long token, long sequence, long from, long until) {
    return row(
        add(client, Action.WRITE, resource, token, sequence, from, until, Outcome.DONE, 0, ""),
        token);
  }

  /** One that is there and whose client does not know it. */
  public RunOnPaper unknownWrite(
      String client, String resource, long token, long sequence, long from, long until) {
    return row(
        add(
            client,
            Action.WRITE,
            resource,
            token,
            sequence,
            from,
            until,
            Outcome.UNKNOWN,
            0,
            "08007"),
        token);
  }

  /** A write that was answered in this way and left nothing. */
  public RunOnPaper answeredWrite(
      String client,
      String resource,
      long token,
      long sequence,
      long from,
      long until,
      Outcome outcome,
      String state) {
    add(client, Action.WRITE, resource, token, sequence, from, until, outcome, 0, state);
    return this;
  }

  public RunOnPaper refusedWrite(
      String client, String resource, long token, long sequence, long from, long until) {
    return answeredWrite(client, resource, token, sequence, from, until, Outcome.REFUSED, "23T01");
  }

  public RunOnPaper release(
      String client, String resource, long token, long from, long until, Outcome outcome) {
    add(client, Action.RELEASE, resource, token, 0, from, until, outcome, 0, "");
    return this;
  }

  private RunOnPaper row(Operation write, long held) {
    ledger.add(
        new LedgerRow(
            ledger.size() + 1L,
            write.resource(),
            write.sequence(),
            write.token(),
            held,
            write.client(),
            write.number()));
    return this;
  }

  /** The last call of this client is in the ledger, where the lock was held under this token. */
  public RunOnPaper lastIsThere(String client, long held) {
    return row(
        operations.stream()
            .filter(one -> one.client().equals(client))
            .reduce((one, other) -> other)
            .orElseThrow(),
        held);
  }

  /** The first row of the ledger once more, under this client's name. */
  public RunOnPaper rowAgain(String client) {
    LedgerRow first = ledger.get(0);
    ledger.add(
        new LedgerRow(
            ledger.size() + 1L,
            first.resource(),
            first.sequence(),
            first.token(),
            first.held(),
            client,
            first.operation()));
    return this;
  }

  public RunOnPaper interrupted(String client, Interruption.Cause cause, long from, long until) {
    interruptions.add(new Interruption(client, cause, nanos(from), nanos(until)));
    return this;
  }

  public RunOnPaper fault(String kind, String node, boolean leavesQuorum, long from, long healed) {
    disturbances.add(
        new Disturbance(
            kind, kind + " of " + node, Set.of(node), leavesQuorum, nanos(from), nanos(healed)));
    return this;
  }

  /** Probes that are answered all the time from here to there. */
  public RunOnPaper answers(long from, long until) {
    for (long at = from; at < until; at += PROBE_MILLIS) {
      add("probe", Action.PROBE, "", 0, 0, at, at + 10, Outcome.DONE, 0, "");
    }
    return this;
  }

  /** This node has all rows but the last. */
  public RunOnPaper lags(String node) {
    copies.put(node, List.copyOf(ledger.subList(0, ledger.size() - 1)));
    return this;
  }

  public RunOnPaper verdict(String node, String verdict) {
    checks.put(node, verdict);
    return this;
  }

  /** The nodes have audit files, which differ in this, or in nothing. */
  public RunOnPaper audited(String... differences) {
    audit = new AuditComparison(4, 12, 0, Map.of("lock_granted", 4L), List.of(differences));
    return this;
  }

  public RunOnPaper promiseBroken(String text) {
    broken.add(text);
    return this;
  }

  public RunOnPaper incident(String text) {
    incidents.add(text);
    return this;
  }

  public RunOnPaper ends(long millis) {
    endMillis = millis;
    return this;
  }

  public Evidence evidence() {
    for (String node : List.of("n1", "n2", "n3")) {
      copies.putIfAbsent(node, ledger);
      checks.putIfAbsent(node, "EQUAL");
    }
    return new Evidence(
        nanos(LEASE_MILLIS),
        nanos(endMillis),
        operations,
        interruptions,
        disturbances,
        ledger,
        copies,
        checks,
        audit,
        new TraceCheck(0, broken),
        incidents);
  }
}
