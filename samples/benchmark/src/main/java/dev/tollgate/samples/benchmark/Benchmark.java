package dev.tollgate.samples.benchmark;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Measures locks of several systems in one run. Rounds are interleaved, A B A B, because a
 * machine's speed drifts: what counts is the ratio within a round.
 */
@Command(
    name = "benchmark",
    description = "Locks side by side, rounds interleaved.",
    mixinStandardHelpOptions = true,
    showDefaultValues = true)
final class Benchmark implements Callable<Integer> {
  private static final int[] CLIENTS = {1, 64};

  @Option(names = "--tollgate", required = true, description = "JDBC URL")
  private String tollgateUrl;

  @Option(names = "--etcd", description = "http://host:port,...")
  private @Nullable String etcdEndpoints;

  @Option(names = "--seconds", defaultValue = "3", description = "Length of a burst")
  private double seconds;

  @Option(names = "--rounds", defaultValue = "5", description = "Bursts of each kind that count")
  private int rounds;

  @Option(
      names = "--warm-up",
      defaultValue = "20",
      description = "Seconds with each number of clients before anything counts")
  private double warmUpSeconds;

  private Benchmark() {}

  public static void main(String[] arguments) {
    System.exit(new CommandLine(new Benchmark()).execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    List<Contender> contenders = new ArrayList<>();
    contenders.add(new Tollgate(tollgateUrl));
    if (etcdEndpoints != null) {
      contenders.add(new Etcd(etcdEndpoints));
    }
    for (int clients : CLIENTS) {
      measure(contenders, clients);
    }
    for (Contender contender : contenders) {
      contender.close();
    }
    return 0;
  }

  private void measure(List<Contender> contenders, int clients) throws Exception {
    System.out.printf(
        "%n%d %s, each with a lock of its own%n", clients, clients == 1 ? "client" : "clients");
    for (Contender contender : contenders) {
      System.out.printf("  warming up %s%n", contender.name());
      Burst.run(contender, clients, warmUpSeconds, "warm-up-" + clients + "-");
    }
    Map<String, List<Burst>> bursts = new LinkedHashMap<>();
    for (int round = 1; round <= rounds; round++) {
      for (Contender contender : contenders) {
        Burst burst = Burst.run(contender, clients, seconds, "bench-" + clients + "-");
        bursts.computeIfAbsent(contender.name(), name -> new ArrayList<>()).add(burst);
        System.out.printf(
            "  round %d %-10s %8.0f cycles/s   acquire p50 %6d us  p99 %7d us%n",
            round,
            contender.name(),
            burst.cyclesPerSecond(),
            burst.acquireMicros().getValueAtPercentile(50),
            burst.acquireMicros().getValueAtPercentile(99));
      }
    }
    bursts.forEach(Benchmark::summarize);
    List<Burst> own = bursts.get(contenders.get(0).name());
    for (Contender peer : contenders.subList(1, contenders.size())) {
      compare(contenders.get(0).name(), own, peer.name(), bursts.get(peer.name()));
    }
  }

  private static void summarize(String name, List<Burst> bursts) {
    System.out.printf(
        "  %-10s median %8.0f cycles/s   acquire p50 %6.0f us  p99 %7.0f us%n",
        name,
        median(bursts.stream().mapToDouble(Burst::cyclesPerSecond).toArray()),
        median(
            bursts.stream().mapToDouble(b -> b.acquireMicros().getValueAtPercentile(50)).toArray()),
        median(
            bursts.stream()
                .mapToDouble(b -> b.acquireMicros().getValueAtPercentile(99))
                .toArray()));
  }

  private static void compare(
      String name, @Nullable List<Burst> own, String peer, @Nullable List<Burst> others) {
    if (own == null || others == null) {
      return;
    }
    double[] throughput = new double[own.size()];
    double[] latency = new double[own.size()];
    for (int i = 0; i < throughput.length; i++) {
      throughput[i] = own.get(i).cyclesPerSecond() / others.get(i).cyclesPerSecond();
      latency[i] =
          (double) own.get(i).acquireMicros().getValueAtPercentile(50)
              / others.get(i).acquireMicros().getValueAtPercentile(50);
    }
    System.out.printf(
        "  %s / %s: cycles/s x %.2f (%.2f to %.2f), acquire p50 x %.2f (%.2f to %.2f)%n",
        name,
        peer,
        median(throughput),
        min(throughput),
        max(throughput),
        median(latency),
        min(latency),
        max(latency));
  }

  private static double median(double[] values) {
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    int middle = sorted.length / 2;
    return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
  }

  private static double min(double[] values) {
    return Arrays.stream(values).min().orElse(Double.NaN);
  }

  private static double max(double[] values) {
    return Arrays.stream(values).max().orElse(Double.NaN);
  }
}
