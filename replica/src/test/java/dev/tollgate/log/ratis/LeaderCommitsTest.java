package dev.tollgate.log.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.cluster.Ports;
import dev.tollgate.log.LogStatus;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.RecordingConsumer;
import dev.tollgate.log.entry.EntryBytes;
import dev.tollgate.log.peer.ScriptedFollower;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.server.RaftServer;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a leader counts for a commit; its followers do what the test says. */
class LeaderCommitsTest {
  private static final long DEADLINE_SECONDS = 30;

  @TempDir private Path directory;
  private final RecordingConsumer consumer = new RecordingConsumer();
  private final List<ScriptedFollower> followers = new ArrayList<>();
  private RatisLog leader;

  private void lead(int nodes) throws IOException {
    start(nodes, /* elected= */ true);
    await().untilTrue(consumer.leading);
  }

  private void start(int nodes, boolean elected) throws IOException {
    SortedMap<String, String> peers = new TreeMap<>();
    for (int i = 2; i <= nodes; i++) {
      ScriptedFollower follower = new ScriptedFollower("n" + i, directory);
      follower.votes(elected);
      followers.add(follower);
      peers.put(follower.id(), follower.address());
    }
    peers.put("n1", "127.0.0.1:" + Ports.free());
    leader =
        new RatisLog(
            new RaftSettings(
                "n1",
                peers.get("n1"),
                peers,
                directory.resolve("leader"),
                Duration.ofMillis(300),
                RaftSettings.SNAPSHOT_LOG_BYTES),
            consumer);
    leader.start();
  }

  @AfterEach
  void close() throws IOException {
    leader.close();
    for (ScriptedFollower follower : followers) {
      follower.close();
    }
  }

  private static ConditionFactory await() {
    return Awaitility.await().atMost(Duration.ofSeconds(DEADLINE_SECONDS));
  }

  private CompletableFuture<Void> append(String what) {
    return leader.append(EntryBytes.untimed(LoneFollower.command(what)));
  }

  /** Returns how many followers have acknowledged an entry, as far as the leader knows. */
  private long acknowledged(long index) throws Exception {
    return Arrays.stream(
            RatisLogTest.serverOf(leader)
                .getDivision(RatisLog.GROUP)
                .getInfo()
                .getFollowerMatchIndices())
        .filter(match -> match >= index)
        .count();
  }

  private static boolean isRefused(Method changeToLeader, RaftServer.Division division)
      throws ReflectiveOperationException {
    try {
      changeToLeader.invoke(division);
      return false;
    } catch (InvocationTargetException e) {
      return e.getCause() instanceof IllegalStateException;
    }
  }

  /** A vote in that term may have elected a leader without the entry. */
  @Test
  void acknowledgementOfALaterTermDoesNotCount() throws Exception {
    lead(3);
    followers.get(1).appendsEntries(false);
    long term = leader.status().term();
    followers
        .get(0)
        .changeAnswers(
            reply ->
                reply.getResult() == AppendResult.SUCCESS
                    ? reply.toBuilder().setTerm(term + 1).build()
                    : reply);
    CompletableFuture<Void> entry = append("x");
    await().until(() -> leader.status().role() != LogStatus.Role.LEADER || entry.isDone());
    assertNotEquals(LogStatus.Role.LEADER, leader.status().role());
    assertEquals(List.of(), consumer.commands);
  }

  /** It would leave no term for another leader. */
  @Test
  void answerOfATermThatNoElectionReachesEndsNoLeadership() throws Exception {
    lead(3);
    long term = leader.status().term();
    followers
        .get(0)
        .changeAnswers(
            reply ->
                reply.toBuilder()
                    .setTerm(Long.MAX_VALUE - 1)
                    .setResult(AppendResult.NOT_LEADER)
                    .build());
    append("x").get(DEADLINE_SECONDS, TimeUnit.SECONDS);
    await().until(() -> consumer.commands.size() == 1);
    assertEquals(LogStatus.Role.LEADER, leader.status().role());
    assertEquals(term, leader.status().term());
  }

  /**
   * As after a pause between the count of votes for a term and what follows from it, in which the
   * node has followed another leader and stands again.
   */
  @Test
  void nodeThatWouldLeadWithoutVotesInThatTermFailsAndSendsNothing() throws Exception {
    start(3, /* elected= */ false);
    RaftServer.Division division = RatisLogTest.serverOf(leader).getDivision(RatisLog.GROUP);
    Method changeToLeader = RatisInternals.method(division.getClass(), "changeToLeader");
    await()
        .until(
            () -> {
              synchronized (division) {
                return division.getInfo().isCandidate() && isRefused(changeToLeader, division);
              }
            });
    await().until(() -> !consumer.failures.isEmpty());
    String message = consumer.failures.get(0).getMessage();
    assertTrue(message.contains(" without the votes of a majority"), message);
    assertEquals(0, followers.get(0).heartbeats() + followers.get(1).heartbeats());
    assertFalse(consumer.leading.get());
  }

  /** Ratis would count it for an entry that two of five nodes have. */
  @Test
  void followerThatHasLostEntriesDoesNotCount() throws Exception {
    lead(5);
    append("before").get(DEADLINE_SECONDS, TimeUnit.SECONDS);
    ScriptedFollower loses = followers.get(0);
    long had = loses.last();
    followers.subList(1, 4).forEach(follower -> follower.appendsEntries(false));
    CompletableFuture<Void> entry = append("x");
    await().until(() -> acknowledged(had + 1) == 1);
    loses.appendsEntries(false);
    loses.forgetAfter(had - 1);
    await().until(() -> acknowledged(had + 1) == 0);
    await().until(() -> loses.asked().contains(had + 1));
    followers.get(1).appendsEntries(true);
    await().until(() -> acknowledged(had + 1) == 1);
    int heard = followers.get(1).heartbeats();
    await().until(() -> followers.get(1).heartbeats() > heard + 5);
    assertFalse(entry.isDone(), "two of five have it");
    loses.appendsEntries(true);
    entry.get(DEADLINE_SECONDS, TimeUnit.SECONDS);
  }

  /** With the entries it could not tell any more that it has lost them. */
  @Test
  void followerThatHasLostEntriesGetsNoOthers() throws Exception {
    lead(3);
    append("before").get(DEADLINE_SECONDS, TimeUnit.SECONDS);
    ScriptedFollower loses = followers.get(0);
    await().until(() -> loses.last() == followers.get(1).last());
    long had = loses.last();
    await().until(() -> acknowledged(had) == 2);
    loses.saysThatItLost(true);
    loses.forgetAfter(had - 1);
    await().until(() -> loses.asked().contains(had));
    append("x").get(DEADLINE_SECONDS, TimeUnit.SECONDS);
    int heard = loses.heartbeats();
    await().until(() -> loses.heartbeats() > heard + 5);
    assertEquals(had - 1, loses.last());
    assertEquals(List.of(loses.id()), reported());
    loses.saysThatItLost(false);
    await().until(() -> loses.last() == had + 1);
    assertEquals(List.of(), reported());
  }

  /** Returns which members have lost entries, as operators are told. */
  private List<String> reported() {
    return leader.status().members().stream()
        .filter(LogStatus.Member::lostEntries)
        .map(LogStatus.Member::nodeId)
        .toList();
  }
}
