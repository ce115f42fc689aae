package dev.tollgate.samples.benchmark;

import dev.tollgate.samples.benchmark.measure.Json;
import dev.tollgate.samples.benchmark.scenario.Running;
import dev.tollgate.samples.benchmark.scenario.Scenario;
import dev.tollgate.samples.benchmark.scenario.Stage;
import dev.tollgate.samples.benchmark.system.EmbeddedTollgate;
import dev.tollgate.samples.benchmark.system.Ensemble;
import dev.tollgate.samples.benchmark.system.Ground;
import dev.tollgate.samples.benchmark.system.Kind;
import dev.tollgate.samples.benchmark.system.LockClient;
import dev.tollgate.samples.benchmark.system.Peer;
import dev.tollgate.samples.benchmark.system.TollgateNodes;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import picocli.CommandLine;

/** Starts nodes of Tollgate and the systems to compare them with, and measures them in turns. */
public final class Benchmark implements Callable<Integer> {
  private static final Duration WARM_UP_LEASE = Duration.ofSeconds(60);
  private static final int WARM_UP_CLIENTS = 16;

  /** Divides the warm-up of systems that are not in Java: only their client has to warm up. */
  private static final int NATIVE_SHARE = 10;

  private final Options options;
  private final PrintStream out;
  private final List<Running> running = new ArrayList<>();

  private Benchmark(Options options, PrintStream out) {
    this.options = options;
    this.out = out;
  }

  /** Runs the benchmark; the exit status is 1 if anything failed that was started. */
  public static void main(String[] arguments) {
    Options options = new Options();
    CommandLine commandLine = new CommandLine(options);
    commandLine.setExecutionStrategy(
        parsed -> {
          Integer helped = CommandLine.executeHelpRequest(parsed);
          if (helped != null) {
            return helped;
          }
          try {
            return new Benchmark(options, System.out).call();
          } catch (Exception e) {
            throw new CommandLine.ExecutionException(commandLine, e.toString(), e);
          }
        });
    System.exit(commandLine.execute(arguments));
  }

  @Override
  public Integer call() throws Exception {
    long begin = System.nanoTime();
    // open to the user that PostgreSQL runs as
    Path directory =
        Files.createTempDirectory(
            "tollgate-benchmark",
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxr-xr-x")));
    Ground ground = new Ground(directory, options.firstPort(), options.home());
    List<Ensemble> servers = new ArrayList<>();
    try {
      start(ground, servers);
      warmUp();
      Stage stage = new Stage(running, directory, options.rounds(), options.seconds(), out);
      for (Scenario scenario : options.scenarios()) {
        out.printf("%n## %s: %s%n", scenario.word(), scenario.description());
        scenario.run(stage);
      }
      if (options.json().isPresent()) {
        Files.writeString(
            options.json().get(), Json.of(about(), stage.results()), StandardCharsets.UTF_8);
      }
      out.printf(
          "%nThe whole run took %d s.%n",
          TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begin));
      return stage.anyFailed() ? 1 : 0;
    } finally {
      for (Running one : running) {
        one.system().shutDown();
      }
      for (Ensemble ensemble : servers) {
        ensemble.stop();
      }
      delete(directory);
    }
  }

  private void start(Ground ground, List<Ensemble> servers) throws Exception {
    out.printf("starting tollgate: %s%n", options.nodes());
    add(
        options.nodes().isEmbedded()
            ? new EmbeddedTollgate(ground)
            : new TollgateNodes(ground, options.nodes().count(), options.heap()),
        servers);
    for (Peer peer : options.peers()) {
      Optional<String> obstacle = peer.obstacle(options.nodes().count());
      if (obstacle.isPresent()) {
        out.printf("left out: %s: %s%n", peer.word(), obstacle.get());
      } else {
        out.printf("starting %s%n", peer.word());
        add(peer.start(ground, options.nodes().count()), servers);
      }
    }
  }

  private void add(Ensemble ensemble, List<Ensemble> servers) throws Exception {
    servers.add(ensemble);
    for (Kind kind : ensemble.kinds()) {
      running.add(new Running(kind, kind.open(ensemble.endpoints()), ensemble));
    }
  }

  /** Warms up all systems: virtual machines of servers and clients become faster for a minute. */
  private void warmUp() throws Exception {
    for (Running one : running) {
      double seconds =
          one.kind().isInJava() ? options.warmUpSeconds() : options.warmUpSeconds() / NATIVE_SHARE;
      out.printf("warming up %s for %.0f s%n", one.system().name(), seconds);
      long end = System.nanoTime() + (long) (seconds * 1e9);
      List<Thread> threads = new ArrayList<>();
      List<Throwable> failures = new ArrayList<>();
      for (int i = 0; i < WARM_UP_CLIENTS; i++) {
        String lock = "warm-up-" + i;
        Thread thread =
            new Thread(
                () -> {
                  try {
                    LockClient client = one.system().connect(WARM_UP_LEASE);
                    while (System.nanoTime() < end) {
                      client.acquire(lock);
                      client.release(lock);
                    }
                    client.disconnect();
                  } catch (Exception e) {
                    synchronized (failures) {
                      failures.add(e);
                    }
                  }
                });
        thread.start();
        threads.add(thread);
      }
      for (Thread thread : threads) {
        thread.join();
      }
      if (!failures.isEmpty()) {
        throw new IOException(one.system().name() + " does not work", failures.get(0));
      }
    }
  }

  private Map<String, String> about() {
    Map<String, String> about = new LinkedHashMap<>();
    about.put("at", Instant.now().toString());
    about.put("nodes", options.nodes().toString());
    about.put("rounds", Integer.toString(options.rounds()));
    about.put("seconds", Double.toString(options.seconds()));
    about.put("processors", Integer.toString(Runtime.getRuntime().availableProcessors()));
    about.put("java", System.getProperty("java.vm.name") + " " + Runtime.version());
    about.put("system", System.getProperty("os.name") + " " + System.getProperty("os.version"));
    return about;
  }

  private static void delete(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(file);
      }
    }
  }
}
