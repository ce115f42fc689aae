package dev.tollgate.log.ratis;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.cluster.Ports;
import dev.tollgate.core.command.Command;
import dev.tollgate.log.LogStatus;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.RecordingConsumer;
import dev.tollgate.log.entry.ProposedEntry;
import dev.tollgate.log.trace.PromiseFiles;
import java.io.IOException;
import java.net.SocketException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three nodes that wait long before they stand for election because of silence. */
class LeaderDeathTest {
  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final Duration ELECTION_TIMEOUT = Duration.ofSeconds(4);

  @TempDir Path directory;

  private final List<RatisLog> logs = new ArrayList<>();
  private final List<RecordingConsumer> consumers = new ArrayList<>();

  @BeforeEach
  void start() throws Exception {
    SortedMap<String, String> peers = Ports.peers(3);
    for (String id : peers.keySet()) {
      RecordingConsumer consumer = new RecordingConsumer();
      RatisLog log =
          new RatisLog(
              new RaftSettings(
                      id,
                      peers.get(id),
                      peers,
                      directory.resolve(id),
                      ELECTION_TIMEOUT,
                      RaftSettings.SNAPSHOT_LOG_BYTES)
                  .withPromises(PromiseFiles.of(directory, id)),
              consumer);
      log.start();
      logs.add(log);
      consumers.add(consumer);
    }
    await().atMost(DEADLINE).until(() -> leader() >= 0);
    append(leader(), "known to all");
    for (RecordingConsumer consumer : consumers) {
      await().atMost(DEADLINE).until(() -> consumer.commands.size() == 1);
    }
  }

  @AfterEach
  void stop() throws IOException {
    logs.forEach(RatisLog::close);
    PromiseFiles.check(directory);
  }

  @Test
  void anotherNodeLeadsAtOnceWhenTheProcessOfTheLeaderHasEnded() throws Exception {
    int dead = leader();
    long began = System.nanoTime();
    logs.get(dead).close();
    await().atMost(DEADLINE).until(() -> leader() >= 0 && leader() != dead);
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
    assertTrue(millis < ELECTION_TIMEOUT.toMillis(), millis + " ms");
    append(leader(), "goes on");
  }

  /** As when its disk hangs. */
  @Test
  void anotherNodeLeadsAtOnceWhenTheLeaderStepsDownForIt() throws Exception {
    int before = leader();
    RaftServer server = RatisLogTest.serverOf(logs.get(before));
    long began = System.nanoTime();
    RatisLeadership.stepDownForAnother(
            server, server.getDivision(RatisLog.GROUP), ForkJoinPool.commonPool())
        .get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    await().atMost(DEADLINE).until(() -> leader() >= 0 && leader() != before);
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
    assertTrue(millis < ELECTION_TIMEOUT.toMillis(), millis + " ms");
    append(leader(), "goes on");
  }

  @Test
  void connectionsThatBreakWhileTheLeaderIsThereCauseNoElection() throws Exception {
    int leader = leader();
    long term = status(leader).term();
    for (int i = 0; i < 20; i++) {
      for (LogStatus.Member member : status(leader).members()) {
        RatisLogTest.serverOf(logs.get(leader))
            .getServerRpc()
            .handleException(
                RaftPeerId.valueOf(member.nodeId()), new SocketException("a test"), true);
      }
      append(leader, "entry " + i);
    }
    assertEquals(leader, leader());
    assertEquals(term, status(leader).term());
  }

  private LogStatus status(int node) {
    return logs.get(node).status();
  }

  /** Returns which node leads, or -1. */
  private int leader() {
    for (int i = 0; i < consumers.size(); i++) {
      if (status(i).role() == LogStatus.Role.LEADER) {
        return i;
      }
    }
    return -1;
  }

  private void append(int node, String what) throws Exception {
    logs.get(node)
        .append(ProposedEntry.untimed(new Command.AnnounceNode("node", what)))
        .get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
  }
}
