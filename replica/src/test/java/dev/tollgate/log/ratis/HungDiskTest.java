package dev.tollgate.log.ratis;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.cluster.Ports;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.Limits;
import dev.tollgate.log.LogStatus;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.RecordingConsumer;
import dev.tollgate.log.entry.ProposedEntry;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import org.apache.ratis.protocol.ClientId;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.protocol.TransferLeadershipRequest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Nodes of which one cannot sync its log. */
class HungDiskTest {
  private static final Duration DEADLINE = Duration.ofSeconds(30);

  /** In which a leader would step down several times, and others would be elected. */
  private static final Duration LONG =
      RaftSettings.ELECTION_TIMEOUT.multipliedBy(4 * Limits.DISK_ELECTION_TIMEOUTS);

  @TempDir Path directory;

  private final List<RatisLog> logs = new ArrayList<>();
  private final List<RecordingConsumer> consumers = new ArrayList<>();

  private void start(int nodes) throws Exception {
    SortedMap<String, String> peers = Ports.peers(nodes);
    for (String id : peers.keySet()) {
      RecordingConsumer consumer = new RecordingConsumer();
      RatisLog log =
          new RatisLog(
              new RaftSettings(
                  id,
                  peers.get(id),
                  peers,
                  directory.resolve(id),
                  RaftSettings.ELECTION_TIMEOUT,
                  RaftSettings.SNAPSHOT_LOG_BYTES),
              consumer);
      log.start();
      logs.add(log);
      consumers.add(consumer);
    }
    append(leader(), "first");
    awaitAll("first");
  }

  @AfterEach
  void stop() {
    logs.forEach(RatisLog::close);
  }

  @Test
  void leaderWhoseDiskHangsGivesWayUntilItHasSynced() throws Exception {
    start(3);
    int hung = leader();
    long term = logs.get(hung).term();
    CompletableFuture<Void> unknown;
    try (HeldWriter disk = new HeldWriter(id(hung))) {
      unknown = logs.get(hung).append(entry("unknown"));
      disk.awaitHeld();
      await().atMost(DEADLINE).until(() -> anotherLeads(hung));
      assertThrows(
          ExecutionException.class, () -> unknown.get(DEADLINE.toSeconds(), TimeUnit.SECONDS));
      assertTrue(logs.get(hung).diskHungMillis() > 0);
      append(otherLeader(hung), "goes on");
      assertFalse(isTakenOver(otherLeader(hung), hung));
      assertFalse(consumers.get(hung).leading.get());
      assertEquals(term, logs.get(hung).term(), "it would have to write another term");
      append(otherLeader(hung), "goes on and on");
      assertThrows(ExecutionException.class, () -> append(hung, "is refused at once"));
    }
    await().atMost(DEADLINE).until(() -> logs.get(hung).diskHungMillis() == 0);
    awaitAll("first", "unknown", "goes on", "goes on and on");
    assertTrue(isTakenOver(otherLeader(hung), hung));
    await().atMost(DEADLINE).until(() -> consumers.get(hung).leading.get());
    append(hung, "leads again");
    awaitAll("first", "unknown", "goes on", "goes on and on", "leads again");
  }

  /** Its log is as long as that of the other one, and each needs the vote of the other. */
  @Test
  void nodeWhoseDiskHangsIsNotElectedAndDoesNotVote() throws Exception {
    start(3);
    int leader = leader();
    int hung = (leader + 1) % 3;
    try (HeldWriter disk = new HeldWriter(id(hung))) {
      append(leader, "without it");
      disk.awaitHeld();
      await().atMost(DEADLINE).until(() -> logs.get(hung).diskHungMillis() > 0);
      logs.get(leader).close();
      staysFor(LONG, () -> logs.stream().noneMatch(RatisLog::isTakingOver));
    }
    await().atMost(DEADLINE).until(() -> anotherLeads(leader));
    append(otherLeader(leader), "goes on");
  }

  @Test
  void followerWhoseDiskHangsChangesNothing() throws Exception {
    start(3);
    int leader = leader();
    int hung = (leader + 1) % 3;
    long term = logs.get(leader).term();
    try (HeldWriter disk = new HeldWriter(id(hung))) {
      append(leader, "without it");
      disk.awaitHeld();
      await().atMost(DEADLINE).until(() -> logs.get(hung).diskHungMillis() > 0);
      append(leader, "goes on");
      assertFalse(isTakenOver(leader, hung));
      assertEquals(leader, leads());
      assertEquals(term, logs.get(leader).term());
      assertEquals(0, logs.get(leader).diskHungMillis());
    }
    await().atMost(DEADLINE).until(() -> logs.get(hung).diskHungMillis() == 0);
    awaitAll("first", "without it", "goes on");
  }

  /** No other leader could commit anything either. */
  @Test
  void leaderStaysUntilAMajorityHasMoreThanItsDisk() throws Exception {
    start(3);
    int leader = leader();
    int slow = (leader + 1) % 3;
    long term = logs.get(leader).term();
    try (HeldWriter disk = new HeldWriter(id(leader))) {
      try (HeldWriter another = new HeldWriter(id(slow))) {
        CompletableFuture<Void> unknown = logs.get(leader).append(entry("unknown"));
        disk.awaitHeld();
        another.awaitHeld();
        await().atMost(DEADLINE).until(() -> logs.get(leader).diskHungMillis() > 0);
        staysFor(LONG, () -> leads() == leader && logs.get(leader).term() == term);
        assertFalse(unknown.isDone());
      }
      await().atMost(DEADLINE).until(() -> anotherLeads(leader));
      append(otherLeader(leader), "goes on");
    }
    awaitAll("first", "unknown", "goes on");
  }

  @Test
  void nodeThatIsAloneLeadsOn() throws Exception {
    start(1);
    CompletableFuture<Void> waits;
    try (HeldWriter disk = new HeldWriter(id(0))) {
      waits = logs.get(0).append(entry("waits"));
      disk.awaitHeld();
      await().atMost(DEADLINE).until(() -> logs.get(0).diskHungMillis() > 0);
      staysFor(LONG, () -> leads() == 0 && !waits.isDone());
    }
    waits.get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    await().atMost(DEADLINE).until(() -> logs.get(0).diskHungMillis() == 0);
  }

  @Test
  void voteThatIsNotWrittenIsNoticed() throws Exception {
    start(1);
    CountDownLatch end = new CountDownLatch(1);
    Thread vote =
        new Thread(
            () -> {
              try {
                disk(0).run(() -> awaitUnchecked(end));
              } catch (Exception e) {
                throw new IllegalStateException(e);
              }
            });
    vote.start();
    await().atMost(DEADLINE).until(() -> logs.get(0).diskHungMillis() > 0);
    append(0, "the log is written meanwhile");
    assertTrue(logs.get(0).diskHungMillis() > 0);
    end.countDown();
    vote.join();
    await().atMost(DEADLINE).until(() -> logs.get(0).diskHungMillis() == 0);
  }

  private static void awaitUnchecked(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private DiskWatch disk(int node) throws Exception {
    return stateMachine(node).disk();
  }

  private static void staysFor(Duration time, BooleanSupplier fact) {
    await().during(time).atMost(time.plus(DEADLINE)).until(fact::getAsBoolean);
  }

  private RatisStateMachine stateMachine(int node) throws Exception {
    return (RatisStateMachine)
        RatisLogTest.serverOf(logs.get(node)).getDivision(RatisLog.GROUP).getStateMachine();
  }

  /** False if the node that is asked to lead has not done so within a second. */
  private boolean isTakenOver(int from, int to) throws Exception {
    return RatisLogTest.serverOf(logs.get(from))
        .transferLeadershipAsync(
            new TransferLeadershipRequest(
                ClientId.randomId(),
                RaftPeerId.valueOf(id(from)),
                RatisLog.GROUP,
                1,
                RaftPeerId.valueOf(id(to)),
                1_000))
        .get(DEADLINE.toSeconds(), TimeUnit.SECONDS)
        .isSuccess();
  }

  private String id(int node) {
    return logs.get(node).status().nodeId();
  }

  /** Returns which node leads, or -1. */
  private int leads() {
    for (int i = 0; i < logs.size(); i++) {
      if (logs.get(i).status().role() == LogStatus.Role.LEADER) {
        return i;
      }
    }
    return -1;
  }

  private int leader() {
    await().atMost(DEADLINE).until(() -> leads() >= 0);
    return leads();
  }

  private boolean anotherLeads(int node) {
    int leader = leads();
    return leader >= 0 && leader != node;
  }

  private int otherLeader(int node) {
    await().atMost(DEADLINE).until(() -> anotherLeads(node));
    return leads();
  }

  private static ProposedEntry entry(String what) {
    return ProposedEntry.untimed(new Command.AnnounceNode("node", what));
  }

  private void append(int node, String what) throws Exception {
    logs.get(node).append(entry(what)).get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
  }

  private void awaitAll(String... entries) {
    List<Command> expected = new ArrayList<>();
    for (String what : entries) {
      expected.add(new Command.AnnounceNode("node", what));
    }
    for (RecordingConsumer consumer : consumers) {
      await().atMost(DEADLINE).until(() -> consumer.commands.equals(expected));
    }
  }
}
