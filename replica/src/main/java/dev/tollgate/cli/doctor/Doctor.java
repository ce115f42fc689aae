package dev.tollgate.cli.doctor;

import static java.util.Objects.requireNonNull;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Runs one check after the other, so that none disturbs the measurements of another, and prints
 * what each found. A check that takes too long is left behind on its daemon thread.
 */
public final class Doctor {
  /** A node without data starts with less, and fails with its first larger statement. */
  public static final int LEAST_HEAP_MIB = 100;

  /** How long one check may take, beside the time for which it is told to measure. */
  static final Duration LIMIT = Duration.ofSeconds(10);

  private final List<Check> checks;
  private final Duration limit;
  private final PrintWriter out;

  Doctor(List<Check> checks, Duration limit, PrintWriter out) {
    this.checks = List.copyOf(checks);
    this.limit = requireNonNull(limit, "limit");
    this.out = requireNonNull(out, "out");
  }

  /**
   * Creates a doctor with every check.
   *
   * @param measuring how long pauses are measured
   */
  public static Doctor of(Patient patient, Duration measuring, PrintWriter out) {
    return new Doctor(
        List.of(
            new JavaCheck(Runtime.version().feature(), System.getProperty("java.vendor", "")),
            new MemoryCheck(patient.heap(), MemoryCheck.memoryBytes()),
            new DescriptorCheck(patient.maxConnections()),
            new DirectoryCheck(patient.data(), patient.snapshotLogBytes()),
            new DiskCheck(patient.data(), patient.electionTimeout()),
            new PauseCheck(measuring, patient.electionTimeout()),
            new PortCheck("client port", patient.clientListen(), patient.runs()),
            new PortCheck("peer port", patient.raftAddress(), patient.runs()),
            new PeerCheck(patient.nodeId(), patient.peers(), patient.electionTimeout()),
            new ClusterCheck(patient.url(), patient.login())),
        LIMIT.plus(measuring),
        out);
  }

  /**
   * Prints the findings, and a line with their number.
   *
   * @param first findings that are known already
   * @return true if none is a failure
   */
  public boolean examine(List<Finding> first) throws InterruptedException {
    Map<Finding.Level, Integer> counts = new EnumMap<>(Finding.Level.class);
    first.forEach(finding -> print(finding, counts));
    for (Check check : checks) {
      run(check).forEach(finding -> print(finding, counts));
    }
    int failures = counts.getOrDefault(Finding.Level.FAIL, 0);
    out.printf(
        "%d passed, %d to look at, %d failed%n",
        counts.getOrDefault(Finding.Level.PASS, 0),
        counts.getOrDefault(Finding.Level.WARN, 0),
        failures);
    out.flush();
    return failures == 0;
  }

  private void print(Finding finding, Map<Finding.Level, Integer> counts) {
    counts.merge(finding.level(), 1, Integer::sum);
    out.printf("%s  %-12s  %s%n", finding.level(), finding.subject(), finding.fact());
    if (finding.advice() != null) {
      out.printf("      %-12s  what to do: %s%n", "", finding.advice());
    }
  }

  private List<Finding> run(Check check) throws InterruptedException {
    FutureTask<List<Finding>> task = new FutureTask<>(check::run);
    Thread thread = new Thread(task, "tollgate-doctor-" + check.subject());
    thread.setDaemon(true);
    thread.start();
    try {
      return task.get(limit.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      task.cancel(true);
      return List.of(
          Finding.fail(
              check.subject(),
              "the check did not end within " + limit.toSeconds() + " s",
              "a node would wait as long: find out what does not answer"));
    } catch (ExecutionException e) {
      Throwable cause = e.getCause() == null ? e : e.getCause();
      String why = cause.getMessage() == null ? cause.toString() : cause.getMessage();
      List<Finding> findings = new ArrayList<>();
      findings.add(Finding.fail(check.subject(), "could not be checked: " + why, "mend that"));
      return findings;
    }
  }
}
