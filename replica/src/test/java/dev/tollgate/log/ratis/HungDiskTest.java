package dev.tollgate.log.ratis;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Limits;
import dev.tollgate.log.RaftSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.apache.ratis.proto.RaftProtos.InstallSnapshotRequestProto;
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

  private RatisNodes nodes;

  private void start(int count) throws Exception {
    nodes = new RatisNodes(directory, count, RaftSettings.ELECTION_TIMEOUT);
    nodes.startAll("first");
  }

  @AfterEach
  void stop() throws IOException {
    nodes.close();
  }

  @Test
  void leaderWhoseDiskHangsGivesWayUntilItHasSynced() throws Exception {
    start(3);
    int hung = nodes.leader();
    long term = nodes.log(hung).term();
    CompletableFuture<Void> unknown;
    try (HeldWriter disk = new HeldWriter(nodes.id(hung))) {
      unknown = nodes.log(hung).append(RatisNodes.entry("unknown"));
      disk.awaitHeld();
      await().atMost(DEADLINE).until(() -> nodes.anotherLeads(hung));
      assertThrows(
          ExecutionException.class, () -> unknown.get(DEADLINE.toSeconds(), TimeUnit.SECONDS));
      assertTrue(nodes.log(hung).diskHungMillis() > 0);
      nodes.append(nodes.otherLeader(hung), "goes on");
      assertFalse(isTakenOver(nodes.otherLeader(hung), hung));
      assertFalse(nodes.consumer(hung).leading.get());
      assertEquals(term, nodes.log(hung).term(), "it would have to write another term");
      nodes.append(nodes.otherLeader(hung), "goes on and on");
      assertThrows(ExecutionException.class, () -> nodes.append(hung, "is refused at once"));
    }
    await().atMost(DEADLINE).until(() -> nodes.log(hung).diskHungMillis() == 0);
    nodes.awaitAll("first", "unknown", "goes on", "goes on and on");
    assertTrue(isTakenOver(nodes.otherLeader(hung), hung));
    await().atMost(DEADLINE).until(() -> nodes.consumer(hung).leading.get());
    nodes.append(hung, "leads again");
    nodes.awaitAll("first", "unknown", "goes on", "goes on and on", "leads again");
  }

  /** Ratis would hold its monitor until the disk has taken the term. */
  @Test
  void nodeWhoseDiskHangsTakesNoSnapshotOfALaterTerm() throws Exception {
    start(3);
    int leader = nodes.leader();
    int hung = (leader + 1) % 3;
    try (HeldWriter disk = new HeldWriter(nodes.id(hung))) {
      nodes.append(leader, "without it");
      disk.awaitHeld();
      await().atMost(DEADLINE).until(() -> nodes.log(hung).diskHungMillis() > 0);
      FollowerAppends appends =
          ((RatisStateMachine)
                  RatisLogTest.serverOf(nodes.log(hung))
                      .getDivision(RatisLog.GROUP)
                      .getStateMachine())
              .appends();
      InstallSnapshotRequestProto later =
          InstallSnapshotRequestProto.newBuilder().setLeaderTerm(appends.term() + 1).build();
      IOException refused =
          assertThrows(IOException.class, () -> appends.installSnapshot(later, request -> "taken"));
      assertTrue(refused.getMessage().contains("hang"), refused.getMessage());
    }
  }

  /** Its log is as long as that of the other one, and each needs the vote of the other. */
  @Test
  void nodeWhoseDiskHangsIsNotElectedAndDoesNotVote() throws Exception {
    start(3);
    int leader = nodes.leader();
    int hung = (leader + 1) % 3;
    try (HeldWriter disk = new HeldWriter(nodes.id(hung))) {
      nodes.append(leader, "without it");
      disk.awaitHeld();
      await().atMost(DEADLINE).until(() -> nodes.log(hung).diskHungMillis() > 0);
      nodes.log(leader).close();
      staysFor(LONG, () -> isNoneTakingOver());
    }
    await().atMost(DEADLINE).until(() -> nodes.anotherLeads(leader));
    nodes.append(nodes.otherLeader(leader), "goes on");
  }

  @Test
  void followerWhoseDiskHangsChangesNothing() throws Exception {
    start(3);
    int leader = nodes.leader();
    int hung = (leader + 1) % 3;
    long term = nodes.log(leader).term();
    try (HeldWriter disk = new HeldWriter(nodes.id(hung))) {
      nodes.append(leader, "without it");
      disk.awaitHeld();
      await().atMost(DEADLINE).until(() -> nodes.log(hung).diskHungMillis() > 0);
      nodes.append(leader, "goes on");
      assertFalse(isTakenOver(leader, hung));
      assertEquals(leader, nodes.leads());
      assertEquals(term, nodes.log(leader).term());
      assertEquals(0, nodes.log(leader).diskHungMillis());
    }
    await().atMost(DEADLINE).until(() -> nodes.log(hung).diskHungMillis() == 0);
    nodes.awaitAll("first", "without it", "goes on");
  }

  /** No other leader could commit anything either. */
  @Test
  void leaderStaysUntilAMajorityHasMoreThanItsDisk() throws Exception {
    start(3);
    int leader = nodes.leader();
    int slow = (leader + 1) % 3;
    long term = nodes.log(leader).term();
    try (HeldWriter disk = new HeldWriter(nodes.id(leader))) {
      try (HeldWriter another = new HeldWriter(nodes.id(slow))) {
        CompletableFuture<Void> unknown = nodes.log(leader).append(RatisNodes.entry("unknown"));
        disk.awaitHeld();
        another.awaitHeld();
        await().atMost(DEADLINE).until(() -> nodes.log(leader).diskHungMillis() > 0);
        staysFor(LONG, () -> nodes.leads() == leader && nodes.log(leader).term() == term);
        assertFalse(unknown.isDone());
      }
      await().atMost(DEADLINE).until(() -> nodes.anotherLeads(leader));
      nodes.append(nodes.otherLeader(leader), "goes on");
    }
    nodes.awaitAll("first", "unknown", "goes on");
  }

  @Test
  void nodeThatIsAloneLeadsOn() throws Exception {
    start(1);
    CompletableFuture<Void> waits;
    try (HeldWriter disk = new HeldWriter(nodes.id(0))) {
      waits = nodes.log(0).append(RatisNodes.entry("waits"));
      disk.awaitHeld();
      await().atMost(DEADLINE).until(() -> nodes.log(0).diskHungMillis() > 0);
      staysFor(LONG, () -> nodes.leads() == 0 && !waits.isDone());
    }
    waits.get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    await().atMost(DEADLINE).until(() -> nodes.log(0).diskHungMillis() == 0);
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
    await().atMost(DEADLINE).until(() -> nodes.log(0).diskHungMillis() > 0);
    nodes.append(0, "the log is written meanwhile");
    assertTrue(nodes.log(0).diskHungMillis() > 0);
    end.countDown();
    vote.join();
    await().atMost(DEADLINE).until(() -> nodes.log(0).diskHungMillis() == 0);
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

  private boolean isNoneTakingOver() {
    return IntStream.range(0, 3).noneMatch(node -> nodes.log(node).isTakingOver());
  }

  private RatisStateMachine stateMachine(int node) throws Exception {
    return (RatisStateMachine)
        RatisLogTest.serverOf(nodes.log(node)).getDivision(RatisLog.GROUP).getStateMachine();
  }

  /** False if the node that is asked to lead has not done so within a second. */
  private boolean isTakenOver(int from, int to) throws Exception {
    return RatisLogTest.serverOf(nodes.log(from))
        .transferLeadershipAsync(
            new TransferLeadershipRequest(
                ClientId.randomId(),
                RaftPeerId.valueOf(nodes.id(from)),
                RatisLog.GROUP,
                1,
                RaftPeerId.valueOf(nodes.id(to)),
                1_000))
        .get(DEADLINE.toSeconds(), TimeUnit.SECONDS)
        .isSuccess();
  }
}
