package dev.tollgate.samples.torture.report;

import dev.tollgate.samples.torture.history.Action;
import dev.tollgate.samples.torture.history.AuditComparison;
import dev.tollgate.samples.torture.history.Availability;
import dev.tollgate.samples.torture.history.Disturbance;
import dev.tollgate.samples.torture.history.Evidence;
import dev.tollgate.samples.torture.history.Interruption;
import dev.tollgate.samples.torture.history.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/** The figures of a run. */
public final class Summary {
  private static final String STALE = "23T01";

  private final Tale tale;
  private final Evidence evidence;
  private final Availability availability;

  private Summary(Tale tale) {
    this.tale = tale;
    this.evidence = tale.evidence();
    this.availability = evidence.availability();
  }

  /**
   * What happened with one kind of fault.
   *
   * @param longestOutageNanos the longest outage that began or lasted while such a fault was in
   *     effect, or followed it
   * @param slowestReturnNanos the longest time from healing to the next answer
   */
  public record OfKind(int count, long longestOutageNanos, long slowestReturnNanos) {}

  public static Summary of(Tale tale) {
    return new Summary(tale);
  }

  private long count(Action action, Outcome outcome) {
    return evidence.operations().stream().filter(one -> one.is(action, outcome)).count();
  }

  /** Calls of clients, without probes. */
  public long operations() {
    return evidence.operations().stream().filter(one -> one.action() != Action.PROBE).count();
  }

  public long probes() {
    return count(Action.PROBE, Outcome.DONE);
  }

  public long grants() {
    return count(Action.ACQUIRE, Outcome.DONE);
  }

  /** Requests for a lock that returned without the lock. */
  public long misses() {
    return count(Action.ACQUIRE, Outcome.NOTHING);
  }

  public long writes() {
    return count(Action.WRITE, Outcome.DONE);
  }

  /** Writes that were refused because of their token. */
  public long staleWritesRefused() {
    return refused(true);
  }

  /** Writes that were refused because they presented no token. */
  public long bareWritesRefused() {
    return refused(false);
  }

  private long refused(boolean stale) {
    return evidence.operations().stream()
        .filter(one -> one.is(Action.WRITE, Outcome.REFUSED) && one.state().equals(STALE) == stale)
        .count();
  }

  public long unknown() {
    return evidence.operations().stream()
        .filter(one -> one.action() != Action.PROBE && one.outcome() == Outcome.UNKNOWN)
        .count();
  }

  public long interruptions(Interruption.Cause cause) {
    return evidence.interruptions().stream().filter(one -> one.cause() == cause).count();
  }

  /** How often the machine did not let a client run, stops on purpose not counted. */
  public long stalls() {
    return evidence.interruptions().stream()
        .filter(one -> one.cause() == Interruption.Cause.STALLED)
        .filter(
            one ->
                evidence.interruptions().stream()
                    .noneMatch(
                        other ->
                            other.cause() == Interruption.Cause.STOPPED
                                && other.client().equals(one.client())
                                && other.fromNanos() < one.untilNanos()
                                && other.untilNanos() > one.fromNanos()))
        .count();
  }

  public int leaderChanges() {
    return Math.max(0, tale.leaderships().size() - 1);
  }

  public long longestOutageNanos() {
    return availability.longestNanos();
  }

  public long slowestReturnNanos() {
    return evidence.disturbances().stream().mapToLong(this::returnNanos).max().orElse(0);
  }

  private long returnNanos(Disturbance disturbance) {
    return availability
        .answeredAfterNanos(disturbance.healedNanos())
        .orElse(evidence.endNanos() - disturbance.healedNanos());
  }

  private long outageNanos(Disturbance disturbance) {
    long answered = disturbance.healedNanos() + returnNanos(disturbance);
    return availability.outages().stream()
        .filter(
            outage ->
                outage.fromNanos() < answered && outage.untilNanos() > disturbance.fromNanos())
        .mapToLong(Availability.Outage::nanos)
        .max()
        .orElse(0);
  }

  /** What happened with each kind of fault, by the word of the kind. */
  public Map<String, OfKind> faults() {
    Map<String, OfKind> faults = new TreeMap<>();
    for (Disturbance disturbance : evidence.disturbances()) {
      faults.merge(
          disturbance.kind(),
          new OfKind(1, outageNanos(disturbance), returnNanos(disturbance)),
          (one, other) ->
              new OfKind(
                  one.count() + other.count(),
                  Math.max(one.longestOutageNanos(), other.longestOutageNanos()),
                  Math.max(one.slowestReturnNanos(), other.slowestReturnNanos())));
    }
    return faults;
  }

  /** For people and for scripts: a figure per line. */
  public String text() {
    List<String> lines = new ArrayList<>();
    lines.add(line("seed", tale.seed()));
    lines.add(line("operations", operations()));
    lines.add(line("locks granted", grants()));
    lines.add(line("locks not to be had", misses()));
    lines.add(line("writes accepted", writes()));
    lines.add(line("stale writes refused", staleWritesRefused()));
    lines.add(line("writes without a token refused", bareWritesRefused()));
    lines.add(line("outcomes unknown", unknown()));
    lines.add(line("clients stopped", interruptions(Interruption.Cause.STOPPED)));
    lines.add(line("clients stalled by the machine", stalls()));
    lines.add(line("clients cut off", interruptions(Interruption.Cause.CUT_OFF)));
    lines.add(line("changes of the leader", leaderChanges()));
    lines.add(line("snapshots written", tale.snapshots().written()));
    lines.add(line("snapshots restored at a start", tale.snapshots().restored()));
    lines.add(line("snapshots taken over from leader", tale.snapshots().takenOver()));
    lines.add(line("promises of nodes traced", evidence.traces().lines()));
    lines.add(line("probes answered", probes()));
    lines.add(line("longest outage", seconds(longestOutageNanos())));
    lines.add(line("slowest answer after healing", seconds(slowestReturnNanos())));
    faults()
        .forEach(
            (kind, of) ->
                lines.add(
                    line(
                        "fault " + kind,
                        of.count()
                            + " times, longest outage "
                            + seconds(of.longestOutageNanos())
                            + ", answered at most "
                            + seconds(of.slowestReturnNanos())
                            + " after healing")));
    AuditComparison audit = evidence.audit();
    if (audit != null) {
      lines.add(line("audited events of the log", audit.events()));
      audit.kinds().entrySet().stream()
          .sorted(Map.Entry.comparingByKey())
          .forEach(kind -> lines.add(line("audited " + kind.getKey(), kind.getValue())));
      lines.add(line("audit lines compared", audit.compared()));
      lines.add(line("audit lines in a known gap", audit.excused()));
    }
    for (String reason : tale.leftOut()) {
      lines.add(line("left out", reason));
    }
    return String.join("\n", lines) + "\n";
  }

  private static String line(String name, Object value) {
    return String.format(Locale.ROOT, "%-32s %s", name, value);
  }

  static String seconds(long nanos) {
    return String.format(Locale.ROOT, "%.2f s", nanos / 1e9);
  }
}
