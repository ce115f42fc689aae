package dev.tollgate.history;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.cluster.ClusterProcesses;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/** Clients that use cells until they are stopped, and the check of what they saw. */
final class CellWorkload implements AutoCloseable {
  private static final int CLIENTS = 8;

  private final long seed;
  private final AtomicBoolean stopped = new AtomicBoolean();
  private final AtomicInteger answered = new AtomicInteger();
  private final ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);
  private final List<Future<CellClient.Seen>> clients = new ArrayList<>();

  /** Creates the cells, and starts the clients. */
  CellWorkload(Patience.Connector cluster, long seed) throws Exception {
    this.seed = seed;
    try (CellConnection connection = new CellConnection(cluster.connect("failoverTimeout=60s"))) {
      connection.createCells(CellClient.CELLS);
    }
    for (int number = 0; number < CLIENTS; number++) {
      CellClient client = new CellClient(cluster, seed, number);
      clients.add(threads.submit(() -> client.run(stopped, answered)));
    }
  }

  /** Waits until the clients have got so many more answers, or one of them has failed. */
  void awaitAnswers(int more) {
    ClusterProcesses.awaitProgress(answered::get, more, clients);
  }

  /** Stops the clients; fails if what they saw cannot be explained, or is too little. */
  void stopAndCheck() throws Exception {
    stopped.set(true);
    List<CellCall> calls = new ArrayList<>();
    Map<Long, Long> leaseEnds = new HashMap<>();
    for (Future<CellClient.Seen> client : clients) {
      CellClient.Seen seen = client.get(1, TimeUnit.MINUTES);
      calls.addAll(seen.calls());
      seen.leaseEnds()
          .forEach((lease, end) -> assertNull(leaseEnds.put(lease, end), "lease " + lease));
    }
    Map<String, Long> kinds =
        calls.stream()
            .collect(
                Collectors.groupingBy(CellWorkload::kind, TreeMap::new, Collectors.counting()));
    System.out.println(calls.size() + " requests, " + leaseEnds.size() + " leases: " + kinds);
    assertEquals(
        List.of(), CellHistory.anomalies(calls, leaseEnds), () -> "-Dtollgate.seed=" + seed);
    for (String kind : List.of("Acquire Value", "Acquire Nothing", "Write 23T01")) {
      assertTrue(kinds.containsKey(kind), kind + " has not happened");
    }
    assertTrue(calls.stream().anyMatch(CellCall::isUnanswered), "all requests were answered");
  }

  private static String kind(CellCall call) {
    Answer answer = call.answer();
    return call.request().getClass().getSimpleName()
        + " "
        + (answer instanceof Answer.Refused ? answer : answer.getClass().getSimpleName());
  }

  @Override
  public void close() {
    stopped.set(true);
    threads.shutdown();
  }
}
