package dev.tollgate.cluster;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * The nodes of a cluster are restarted one after the other, each once the one before is ready,
 * while clients work. No statement fails. The figures can be changed: {@code -Drolling.rounds=20
 * -Drolling.clients=64 -Drolling.think.millis=100 -Drolling.stall.millis=300
 * -Drolling.options=--rehearsal=5s}, and those of a server need the options of {@code
 * bin/tollgate}: {@code -Dtollgate.node.jvm}.
 */
@Timeout(3_600)
class RollingRestartIT {
  /**
   * The longest stall that is no failure. Builds run beside this test, and a node that starts takes
   * the processors from those that serve.
   */
  private static final long MOST_STALL_MILLIS = Long.getLong("rolling.stall.millis", 5_000);

  private static final int SIGTERM_STATUS = 143;

  @TempDir Path directory;

  @Test
  void noStatementFails() throws Exception {
    restart(Integer.getInteger("rolling.rounds", 1), Integer.getInteger("rolling.clients", 16));
  }

  @Test
  @Tag("nightly")
  void noStatementFailsTwentyTimes() throws Exception {
    restart(Integer.getInteger("rolling.rounds", 20), Integer.getInteger("rolling.clients", 64));
  }

  private void restart(int rounds, int clientCount) throws Exception {
    String[] options =
        Stream.of(System.getProperty("rolling.options", "").split(" "))
            .filter(option -> !option.isEmpty())
            .toArray(String[]::new);
    List<Long> whileStopping = new ArrayList<>();
    List<Long> whileStarting = new ArrayList<>();
    List<Long> stopMillis = new ArrayList<>();
    try (ClusterProcesses cluster =
            new ClusterProcesses("RollingRestartIT", directory, 3, options);
        RestartClients clients = new RestartClients(cluster, clientCount)) {
      clients.start();
      awaitWork(clients);
      awaitWork(clients);
      System.out.println("before: " + described(clients.takeSlowest()));
      for (int round = 0; round < rounds; round++) {
        for (NodeProcess node : cluster.nodes()) {
          String role = node == cluster.leader() ? "leader" : "follower";
          awaitWork(clients);
          clients.takeSlowest();
          long begun = System.nanoTime();
          assertEquals(SIGTERM_STATUS, node.terminate());
          stopMillis.add(Duration.ofNanos(System.nanoTime() - begun).toMillis());
          awaitWork(clients);
          List<Long> stopping = clients.takeSlowest();
          node.startAndAwait();
          awaitWork(clients);
          List<Long> starting = clients.takeSlowest();
          System.out.println(
              "round "
                  + (round + 1)
                  + ", "
                  + role
                  + " "
                  + node.id()
                  + " stops in "
                  + stopMillis.get(stopMillis.size() - 1)
                  + " ms: "
                  + described(stopping)
                  + "; starts: "
                  + described(starting)
                  + "; failed so far "
                  + clients.failed());
          whileStopping.add(Collections.max(stopping));
          whileStarting.add(Collections.max(starting));
        }
      }
      List<String> differences = clients.endAndCompare();
      System.out.println(
          "RollingRestartIT: "
              + rounds
              + " rounds under "
              + clientCount
              + " clients, "
              + clients.statements()
              + " statements, "
              + clients.failed()
              + " failed. Longest statement while a node stopped: "
              + described(whileStopping)
              + "; while it started: "
              + described(whileStarting)
              + "; a stop took: "
              + described(stopMillis));
      clients.failures().forEach(System.out::println);
      assertEquals(List.of(), clients.failures());
      assertEquals(0, clients.failed());
      assertEquals(List.of(), differences);
      long longest = Math.max(Collections.max(whileStopping), Collections.max(whileStarting));
      assertTrue(longest <= MOST_STALL_MILLIS, "a statement took " + longest + " ms");
    }
  }

  private static void awaitWork(RestartClients clients) {
    long[] before = clients.progress();
    long end = System.nanoTime() + ClusterProcesses.DEADLINE.toNanos();
    await()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(10))
        .atMost(ClusterProcesses.DEADLINE.multipliedBy(2))
        .until(() -> clients.haveWorkedSince(before) || System.nanoTime() - end > 0);
    assertTrue(
        clients.haveWorkedSince(before),
        () -> "a client does nothing any more; failed so far: " + clients.failures());
  }

  private static String described(List<Long> millis) {
    List<Long> sorted = millis.stream().sorted().collect(Collectors.toList());
    return "median "
        + sorted.get(sorted.size() / 2)
        + " ms, longest "
        + sorted.get(sorted.size() - 1)
        + " ms";
  }
}
