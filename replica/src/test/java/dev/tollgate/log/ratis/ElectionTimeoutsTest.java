package dev.tollgate.log.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Limits;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.DivisionProperties;
import org.apache.ratis.server.RaftServer;
import org.junit.jupiter.api.Test;

/** Which waits of an election grow, and by how much. */
class ElectionTimeoutsTest {
  private static final int MIN = 200;
  private static final int MAX = 400;
  private static final RaftPeerId SELF = RaftPeerId.valueOf("n1");
  private static final RaftPeerId OTHER = RaftPeerId.valueOf("n2");

  private long voteMillis;
  private String role = "follower";
  private RaftPeerId leader;

  private final DivisionInfo info =
      RatisFake.of(
          DivisionInfo.class,
          Map.of(
              "isLeader", is("leader"),
              "isCandidate", is("candidate"),
              "isFollower", is("follower"),
              "getLeaderId", (Supplier<Object>) () -> leader));

  private final ElectionTimeouts timeouts =
      new ElectionTimeouts(
          RatisFake.of(
              DivisionProperties.class, Map.of("minRpcTimeoutMs", MIN, "maxRpcTimeoutMs", MAX)),
          RatisFake.of(RaftServer.Division.class, Map.of("getInfo", info, "getId", SELF)),
          () -> voteMillis);

  private Supplier<Object> is(String asked) {
    return () -> role.equals(asked);
  }

  /** Asks for both bounds, as Ratis does before it draws. */
  private void assertGrowsBy(long millis) {
    assertEquals(MIN + millis, timeouts.minRpcTimeoutMs());
    assertEquals(MAX + 2 * millis, timeouts.maxRpcTimeoutMs());
  }

  private void stand() {
    role = "candidate";
    timeouts.voted(SELF);
  }

  @Test
  void candidateWaitsForTwoVotesLonger() {
    voteMillis = 250;
    assertGrowsBy(0);
    stand();
    assertGrowsBy(500);
    assertGrowsBy(0);
  }

  @Test
  void candidateWaitsLongerAfterEachRoundWithoutALeader() {
    long[] expected = {0, 200, 600, 1_400, 3_000, 3_000};
    for (long millis : expected) {
      stand();
      assertGrowsBy(millis);
    }
    role = "follower";
    leader = OTHER;
    assertGrowsBy(0);
    leader = null;
    stand();
    assertGrowsBy(0);
  }

  @Test
  void waitGrowsByALimit() {
    voteMillis = Limits.SLOW_DISK_ELECTION_MILLIS;
    stand();
    assertGrowsBy(Limits.SLOW_DISK_ELECTION_MILLIS);
  }

  @Test
  void followerThatGrantedAPreVoteWaitsForTheCandidate() {
    voteMillis = TimeUnit.SECONDS.toMillis(1);
    timeouts.voted(OTHER);
    assertGrowsBy(0);
    timeouts.grantedPreVote();
    assertGrowsBy(2_000);
    voteMillis = 0;
    assertGrowsBy(0);
  }

  @Test
  void leaderHasTheBoundsOfTheSettings() {
    voteMillis = 250;
    stand();
    timeouts.grantedPreVote();
    role = "leader";
    leader = SELF;
    assertGrowsBy(0);
  }

  /** Ratis would fail, and the node would stand for no election any more. */
  @Test
  void upperBoundFitsTheLowerOneOfTheSameThread() throws Exception {
    voteMillis = 250;
    stand();
    int lower = timeouts.minRpcTimeoutMs();
    CompletableFuture.runAsync(() -> assertGrowsBy(0)).get(30, TimeUnit.SECONDS);
    role = "follower";
    leader = OTHER;
    voteMillis = 0;
    assertTrue(timeouts.maxRpcTimeoutMs() >= lower);
  }
}
