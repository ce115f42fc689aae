package dev.tollgate.samples.torture;

import dev.tollgate.samples.torture.cluster.Access;
import dev.tollgate.samples.torture.cluster.Cluster;
import dev.tollgate.samples.torture.cluster.EncryptedAccess;
import dev.tollgate.samples.torture.cluster.Loopback;
import dev.tollgate.samples.torture.cluster.Namespaces;
import dev.tollgate.samples.torture.cluster.Network;
import dev.tollgate.samples.torture.cluster.Node;
import dev.tollgate.samples.torture.cluster.OpenAccess;
import dev.tollgate.samples.torture.cluster.SecureAccess;
import dev.tollgate.samples.torture.fault.FaultKind;
import dev.tollgate.samples.torture.fault.Injury;
import dev.tollgate.samples.torture.fault.Scene;
import dev.tollgate.samples.torture.fault.Schedule;
import dev.tollgate.samples.torture.history.AuditFiles;
import dev.tollgate.samples.torture.history.Checker;
import dev.tollgate.samples.torture.history.Disturbance;
import dev.tollgate.samples.torture.history.Evidence;
import dev.tollgate.samples.torture.history.History;
import dev.tollgate.samples.torture.history.Interruption;
import dev.tollgate.samples.torture.history.LedgerRow;
import dev.tollgate.samples.torture.history.TraceCheck;
import dev.tollgate.samples.torture.report.Tale;
import dev.tollgate.samples.torture.workload.ClientProcess;
import dev.tollgate.samples.torture.workload.Load;
import dev.tollgate.samples.torture.workload.Probe;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/** One run from the start of the first node to the verdict. */
final class Run implements Callable<Tale> {
  private static final List<String> RESOURCES = List.of("alpha", "beta", "gamma", "delta");

  /**
   * Longest wait for an answer after healing: more than the checker allows, so that it reports an
   * outage.
   */
  private static final long LONGEST_SILENCE_MILLIS = 30_000;

  private static final Duration CATCH_UP = Duration.ofSeconds(60);
  private static final int CLIENT_HOSTS = 2;

  private final Options options;
  private final Path directory;
  private final PrintStream out;
  private final long originNanos = System.nanoTime();
  private final History history = new History();
  private final List<Disturbance> disturbances = new ArrayList<>();
  private final List<String> incidents = new ArrayList<>();
  private final List<ClientProcess> clients = new ArrayList<>();

  Run(Options options, Path directory, PrintStream out) {
    this.options = options;
    this.directory = directory;
    this.out = out;
  }

  private long nanos() {
    return System.nanoTime() - originNanos;
  }

  @Override
  public Tale call() throws Exception {
    Network network = network();
    Access open =
        options.secure()
            ? new SecureAccess(options.home(), directory, network, options.nodes())
            : new OpenAccess();
    Access access = options.encrypted() ? new EncryptedAccess(open, directory) : open;
    Map<FaultKind, String> leftOut = new LinkedHashMap<>();
    for (FaultKind kind : options.faults()) {
      Optional<String> obstacle = kind.obstacle(network, access);
      if (obstacle.isPresent()) {
        leftOut.put(kind, obstacle.get());
        out.printf("left out: %s: %s%n", kind.word(), obstacle.get());
      }
    }
    boolean recordedDisks =
        options.faults().stream()
            .anyMatch(kind -> kind.needsRecordedDisks() && !leftOut.containsKey(kind));
    if (recordedDisks && options.faults().contains(FaultKind.DISK)) {
      leftOut.put(FaultKind.DISK, "a full disk has no place for the journal of a recorded one");
    }
    List<FaultKind> kinds =
        options.faults().stream().filter(kind -> !leftOut.containsKey(kind)).toList();
    if (kinds.isEmpty()) {
      throw new IOException("no fault is left: " + leftOut);
    }
    try (Cluster cluster =
        new Cluster(
            options.home(),
            directory,
            network,
            access,
            options.nodes(),
            kinds.contains(FaultKind.CLOCK),
            recordedDisks)) {
      cluster.createTables(Load.WRITERS);
      out.printf("%d nodes are ready%n", options.nodes());
      startClients(cluster);
      List<Probe.Leadership> leaderships =
          recordedDisks ? tortureUnderLoad(cluster, kinds) : torture(cluster, kinds);
      long endNanos = nanos();
      endClients();
      Evidence evidence = evidence(cluster, endNanos);
      return new Tale(
          options.command(),
          options.seed(),
          options.nodes(),
          leftOut.entrySet().stream()
              .map(entry -> entry.getKey().word() + ": " + entry.getValue())
              .toList(),
          leaderships,
          cluster.snapshots(),
          evidence,
          Checker.check(evidence));
    } finally {
      clients.forEach(ClientProcess::close);
      Files.write(directory.resolve("history.tsv"), history.lines());
    }
  }

  private Network network() throws IOException, InterruptedException {
    return options.ownNamespaces()
        ? new Namespaces(options.nodes() + CLIENT_HOSTS)
        : new Loopback(options.nodes());
  }

  private void startClients(Cluster cluster) throws IOException, InterruptedException {
    Random seeds = new Random(options.seed());
    String patience = "&lockWait=8s";
    ClientProcess.Setting setting =
        new ClientProcess.Setting(
            directory,
            cluster.url("lease=" + options.leaseSeconds() + "s" + patience),
            TimeUnit.SECONDS.toMillis(options.leaseSeconds()),
            originNanos,
            RESOURCES,
            history);
    for (int i = 0; i < options.clients(); i++) {
      int host = options.nodes() + i % CLIENT_HOSTS;
      clients.add(
          setting.start(
              "c" + (i + 1),
              host,
              cluster.network().on(host),
              seeds.nextLong(),
              cluster.access().client(i)));
    }
    for (ClientProcess client : clients) {
      client.awaitReady();
    }
    out.printf("%d clients are ready%n", clients.size());
  }

  private List<Probe.Leadership> tortureUnderLoad(Cluster cluster, List<FaultKind> kinds)
      throws IOException, InterruptedException {
    Load load = new Load(cluster.url("applicationName=load" + cluster.access().administrator()));
    try {
      return torture(cluster, kinds);
    } finally {
      load.close();
    }
  }

  /** Injects and heals faults until the time is over; returns which nodes led meanwhile. */
  private List<Probe.Leadership> torture(Cluster cluster, List<FaultKind> kinds)
      throws IOException, InterruptedException {
    try (Probe probe =
        new Probe(
            cluster.url("applicationName=probe" + cluster.access().client(0)),
            history,
            this::nanos)) {
      long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(options.seconds());
      probe.awaitAnswerSince(nanos(), LONGEST_SILENCE_MILLIS);
      Schedule schedule = new Schedule(options.seed(), kinds);
      while (true) {
        Schedule.Step step = schedule.next();
        long left = TimeUnit.NANOSECONDS.toMillis(end - System.nanoTime());
        if (left < step.peaceMillis() + step.faultMillis()) {
          TimeUnit.MILLISECONDS.sleep(Math.max(left, 0));
          break;
        }
        TimeUnit.MILLISECONDS.sleep(step.peaceMillis());
        suffer(cluster, step, probe);
        look(cluster);
      }
      probe.awaitAnswerSince(nanos(), LONGEST_SILENCE_MILLIS);
      return probe.leaderships();
    }
  }

  private void suffer(Cluster cluster, Schedule.Step step, Probe probe)
      throws IOException, InterruptedException {
    Node leader =
        cluster.nodes().stream()
            .filter(node -> node.name().equals(probe.leader()))
            .findFirst()
            .orElse(cluster.nodes().get(0));
    Scene scene =
        new Scene(
            cluster,
            leader,
            List.of(options.nodes(), options.nodes() + 1),
            new Random(step.seed()));
    long from = nanos();
    Injury injury = step.kind().inflict(scene);
    out.printf("%7.2f s  %-9s  %s%n", from / 1e9, step.kind().word(), injury.detail());
    TimeUnit.MILLISECONDS.sleep(step.faultMillis());
    try {
      injury.healing().heal();
    } catch (IOException e) {
      incidents.add(injury.detail() + ": " + e.getMessage());
    }
    long healed = nanos();
    disturbances.add(
        new Disturbance(
            step.kind().word(),
            injury.detail(),
            injury.nodes(),
            injury.leavesQuorum(),
            from,
            healed));
    for (ClientProcess client : clients) {
      if (injury.isolatedHosts().contains(client.host())) {
        history.interrupted(
            new Interruption(client.name(), Interruption.Cause.CUT_OFF, from, healed));
      }
    }
    boolean answered = probe.awaitAnswerSince(healed, LONGEST_SILENCE_MILLIS);
    out.printf(
        "%7.2f s  healed     %s%n",
        healed / 1e9,
        answered
            ? String.format("answered %.2f s later", (nanos() - healed) / 1e9)
            : "NO ANSWER for " + LONGEST_SILENCE_MILLIS / 1000 + " s");
  }

  /** Notices damaged files and nodes that ended by themselves, which it starts again. */
  private void look(Cluster cluster) throws IOException {
    for (Node node : cluster.nodes()) {
      incidents.addAll(node.takeDamages());
      if (node.endedByItself()) {
        incidents.add(node.name() + " ended by itself with status " + node.exitStatus());
        node.start();
      }
    }
  }

  private void endClients() throws IOException, InterruptedException {
    long patienceSeconds = 3L * options.leaseSeconds() + 30;
    for (ClientProcess client : clients) {
      if (client.isAlive()) {
        client.end();
      }
    }
    for (ClientProcess client : clients) {
      int status = client.awaitEnd(patienceSeconds);
      if (status != 0) {
        incidents.add(client.name() + " ended with status " + status + ": see its .err file");
      }
    }
  }

  /** Returns what a node has; nothing if it serves nobody, which an incident tells. */
  private List<LedgerRow> copyOf(Cluster cluster, Node node, int rows) throws InterruptedException {
    try {
      return cluster.ledgerAt(node, rows, CATCH_UP);
    } catch (SQLException e) {
      incidents.add(node.name() + " did not answer at the end: " + e.getMessage());
      return List.of();
    }
  }

  private Evidence evidence(Cluster cluster, long endNanos)
      throws SQLException, IOException, InterruptedException {
    look(cluster);
    List<LedgerRow> ledger = cluster.ledger();
    Map<String, List<LedgerRow>> copies = new LinkedHashMap<>();
    for (Node node : cluster.nodes()) {
      copies.put(node.name(), copyOf(cluster, node, ledger.size()));
    }
    Map<String, String> checks = cluster.verifyReplicas();
    for (String missing : new LinkedHashSet<>(copies.keySet())) {
      checks.putIfAbsent(missing, "NOT ASKED");
    }
    Map<String, Path> audits = cluster.auditFiles();
    cluster.close();
    return new Evidence(
        TimeUnit.SECONDS.toNanos(options.leaseSeconds()),
        endNanos,
        history.operations(),
        history.interruptions(),
        disturbances,
        ledger,
        copies,
        checks,
        audits.isEmpty() ? null : AuditFiles.compareAll(audits, keyFiles(audits.keySet())),
        TraceCheck.of(cluster.traces()),
        incidents);
  }

  private Map<String, Path> keyFiles(Set<String> nodes) {
    Map<String, Path> files = new LinkedHashMap<>();
    if (options.encrypted()) {
      nodes.forEach(node -> files.put(node, EncryptedAccess.keyFile(directory, node)));
    }
    return files;
  }
}
