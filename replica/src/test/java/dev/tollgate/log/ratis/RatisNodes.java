package dev.tollgate.log.ratis;

import static org.awaitility.Awaitility.await;

import dev.tollgate.cluster.Ports;
import dev.tollgate.core.command.Command;
import dev.tollgate.log.LogStatus;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.RecordingConsumer;
import dev.tollgate.log.entry.ProposedEntry;
import dev.tollgate.log.trace.PromiseFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.concurrent.TimeUnit;

/**
 * The logs of the nodes of one cluster, in this process. Each node writes its promises down, and
 * they are checked when this is closed. Not thread-safe, but for what only reads.
 */
final class RatisNodes implements AutoCloseable {
  private static final Duration DEADLINE = Duration.ofSeconds(60);

  private final Path directory;
  private final Duration electionTimeout;
  private final SortedMap<String, String> peers;
  private final List<String> ids;
  private final List<String> listening;
  private final List<RatisLog> logs;
  private final List<RecordingConsumer> consumers;

  /** Chooses addresses, and starts no node yet. */
  RatisNodes(Path directory, int count, Duration electionTimeout) throws IOException {
    this(directory, Ports.peers(count), electionTimeout);
  }

  private RatisNodes(Path directory, SortedMap<String, String> peers, Duration electionTimeout) {
    this(directory, peers, peers, electionTimeout);
  }

  /**
   * @param peers where the nodes find each other
   * @param listening where they listen
   */
  RatisNodes(
      Path directory,
      SortedMap<String, String> peers,
      SortedMap<String, String> listening,
      Duration electionTimeout) {
    this.directory = directory;
    this.electionTimeout = electionTimeout;
    this.peers = peers;
    this.ids = List.copyOf(peers.keySet());
    this.listening = List.copyOf(listening.values());
    this.logs = new ArrayList<>(Collections.nCopies(ids.size(), null));
    this.consumers = new ArrayList<>(Collections.nCopies(ids.size(), null));
  }

  /** Starts all nodes, and waits until each has the first entry. */
  void startAll(String first) throws Exception {
    for (int i = 0; i < ids.size(); i++) {
      start(i, new RecordingConsumer());
    }
    append(leader(), first);
    awaitAll(first);
  }

  /** Starts a node, for the first time or again. */
  void start(int node, RecordingConsumer consumer) throws IOException {
    String id = ids.get(node);
    RatisLog log =
        new RatisLog(
            new RaftSettings(
                    id,
                    listening.get(node),
                    peers,
                    directory.resolve(id),
                    electionTimeout,
                    RaftSettings.SNAPSHOT_LOG_BYTES)
                .withPromises(PromiseFiles.of(directory, id)),
            consumer);
    consumers.set(node, consumer);
    logs.set(node, log);
    log.start();
  }

  void stop(int node) {
    logs.get(node).close();
  }

  String id(int node) {
    return ids.get(node);
  }

  RatisLog log(int node) {
    return logs.get(node);
  }

  RecordingConsumer consumer(int node) {
    return consumers.get(node);
  }

  LogStatus status(int node) {
    return logs.get(node).status();
  }

  boolean leads(int node) {
    return status(node).role() == LogStatus.Role.LEADER;
  }

  /** Returns which node leads, or -1. */
  int leads() {
    for (int i = 0; i < ids.size(); i++) {
      if (leads(i)) {
        return i;
      }
    }
    return -1;
  }

  int leader() {
    await().atMost(DEADLINE).until(() -> leads() >= 0);
    return leads();
  }

  boolean anotherLeads(int node) {
    int leader = leads();
    return leader >= 0 && leader != node;
  }

  int otherLeader(int node) {
    await().atMost(DEADLINE).until(() -> anotherLeads(node));
    return leads();
  }

  static Command command(String what) {
    return new Command.AnnounceNode("node", what);
  }

  static ProposedEntry entry(String what) {
    return ProposedEntry.untimed(command(what));
  }

  void append(int node, String what) throws Exception {
    logs.get(node).append(entry(what)).get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
  }

  /** Waits until each node has applied these entries and no others. */
  void awaitAll(String... entries) {
    List<Command> expected = new ArrayList<>();
    for (String what : entries) {
      expected.add(command(what));
    }
    for (RecordingConsumer consumer : consumers) {
      await().atMost(DEADLINE).until(() -> consumer.commands.equals(expected));
    }
  }

  @Override
  public void close() throws IOException {
    logs.stream().filter(log -> log != null).forEach(RatisLog::close);
    PromiseFiles.check(directory);
  }
}
