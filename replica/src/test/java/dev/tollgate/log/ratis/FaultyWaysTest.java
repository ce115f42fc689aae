package dev.tollgate.log.ratis;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.cluster.Ports;
import dev.tollgate.core.command.Command;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.RecordingConsumer;
import dev.tollgate.log.entry.ProposedEntry;
import dev.tollgate.log.peer.FaultyWay;
import dev.tollgate.log.trace.PromiseFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Three nodes whose connections break within frames, fall silent, and reorder and repeat answers.
 * The connections that a leader makes go through a {@link FaultyWay}.
 */
class FaultyWaysTest {
  private static final Logger LOG = LoggerFactory.getLogger(FaultyWaysTest.class);
  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final int COMMANDS = 1_200;
  private static final int CLIENTS = 6;

  @TempDir Path directory;

  private final List<Node> nodes = new ArrayList<>();
  private final List<FaultyWay> ways = new ArrayList<>();
  private final ExecutorService threads = Executors.newFixedThreadPool(CLIENTS);

  private final class Node implements AutoCloseable {
    final RecordingConsumer consumer = new RecordingConsumer();
    final RatisLog log;

    Node(String id, String address, SortedMap<String, String> peers) throws IOException {
      log =
          new RatisLog(
              new RaftSettings(
                      id,
                      address,
                      peers,
                      directory.resolve(id),
                      RaftSettings.ELECTION_TIMEOUT,
                      RaftSettings.SNAPSHOT_LOG_BYTES)
                  .withPromises(PromiseFiles.of(directory, id)),
              consumer);
      log.start();
    }

    @Override
    public void close() {
      log.close();
    }
  }

  @AfterEach
  void stop() throws IOException {
    threads.shutdownNow();
    nodes.forEach(Node::close);
    for (FaultyWay way : ways) {
      way.close();
    }
    PromiseFiles.check(directory);
  }

  @Test
  void nothingIsLostOrDoneTwice() throws Exception {
    long seed = Long.getLong("tollgate.seed", System.nanoTime());
    LOG.warn("FaultyWaysTest: -Dtollgate.seed={}", seed);
    check(seed, COMMANDS);
  }

  static LongStream seeds() {
    return LongStream.range(0, 20);
  }

  @Tag("nightly")
  @ParameterizedTest
  @MethodSource("seeds")
  void nothingIsLostOrDoneTwiceWithManySeeds(long seed) throws Exception {
    check(seed, 5 * COMMANDS);
  }

  /** Several clients, so that several entries are under way at once. */
  private void check(long seed, int commands) throws Exception {
    startThree(seed);
    List<Future<List<Command>>> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      int client = i;
      clients.add(threads.submit(() -> work("client" + client, seed + client, commands / CLIENTS)));
    }
    List<List<Command>> acknowledged = new ArrayList<>();
    for (Future<List<Command>> client : clients) {
      acknowledged.add(client.get());
    }
    ways.forEach(FaultyWay::repair);
    Command last = new Command.AnnounceNode("node", "last");
    await().atMost(DEADLINE).until(() -> perform(last));
    for (Node node : nodes) {
      await().atMost(DEADLINE).until(() -> node.consumer.commands.contains(last));
    }
    List<Command> applied = new ArrayList<>(nodes.get(0).consumer.commands);
    applied = applied.subList(0, applied.indexOf(last) + 1);
    for (Node node : nodes) {
      assertEquals(applied, node.consumer.commands.subList(0, applied.size()));
      assertEquals(List.of(), node.consumer.failures);
    }
    int count = 0;
    for (List<Command> ofAClient : acknowledged) {
      List<Command> found = new ArrayList<>(applied);
      found.retainAll(Set.copyOf(ofAClient));
      assertEquals(ofAClient, found, "each acknowledged command once, in the client's order");
      count += ofAClient.size();
    }
    report(count, commands);
  }

  /** Returns the commands that were acknowledged. */
  private List<Command> work(String client, long seed, int commands) throws Exception {
    Random random = new Random(seed);
    List<Command> acknowledged = new ArrayList<>();
    // on a busy machine many requests arrive as one, and fewer faults happen
    for (int i = 0; i < commands || (!haveFaultsHappened() && i < 20 * commands); i++) {
      Command command =
          new Command.AnnounceNode(client, i + " " + "x".repeat(random.nextInt(2_000)));
      if (perform(command)) {
        acknowledged.add(command);
      }
    }
    return acknowledged;
  }

  private boolean haveFaultsHappened() {
    return ways.stream().anyMatch(way -> way.breaks.get() > 0)
        && ways.stream().anyMatch(way -> way.silences.get() > 0);
  }

  private void report(int acknowledged, int commands) {
    int breaks = ways.stream().mapToInt(way -> way.breaks.get()).sum();
    int silences = ways.stream().mapToInt(way -> way.silences.get()).sum();
    int reorderings = ways.stream().mapToInt(way -> way.reorderings.get()).sum();
    int repetitions = ways.stream().mapToInt(way -> way.repetitions.get()).sum();
    LOG.warn(
        "{} of {} commands acknowledged; {} breaks, {} silences, {} reorderings, {} repetitions",
        acknowledged,
        commands,
        breaks,
        silences,
        reorderings,
        repetitions);
    assertTrue(haveFaultsHappened(), "there were faults");
    assertTrue(acknowledged > commands / 10, "there was a leader now and then");
  }

  /** Each node has its own ways to the others, and other addresses for them. */
  private void startThree(long seed) throws IOException {
    SortedMap<String, String> addresses = Ports.peers(3);
    for (String id : addresses.keySet()) {
      SortedMap<String, String> peers = new TreeMap<>();
      for (String other : addresses.keySet()) {
        if (other.equals(id)) {
          peers.put(id, addresses.get(id));
        } else {
          FaultyWay way = new FaultyWay(addresses.get(other), seed + ways.size());
          ways.add(way);
          peers.put(other, way.address());
        }
      }
      nodes.add(new Node(id, addresses.get(id), peers));
    }
  }

  /** False if there is no leader, or it is not known what became of the command. */
  private boolean perform(Command command) throws InterruptedException {
    Node leader =
        nodes.stream().filter(node -> node.consumer.leading.get()).findFirst().orElse(null);
    if (leader == null) {
      TimeUnit.MILLISECONDS.sleep(10);
      return false;
    }
    try {
      leader.log.append(ProposedEntry.untimed(command)).get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
      return true;
    } catch (ExecutionException e) {
      return false;
    } catch (TimeoutException e) {
      throw new AssertionError("no answer for " + DEADLINE, e);
    }
  }
}
