package dev.tollgate.log.ratis;

import static dev.tollgate.log.ratis.LoneFollower.NOTHING;
import static dev.tollgate.log.ratis.LoneFollower.at;
import static dev.tollgate.log.ratis.LoneFollower.entry;
import static java.util.stream.Collectors.toCollection;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.log.LogStatus;
import dev.tollgate.log.RaftSettings;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.proto.RaftProtos.RequestVoteReplyProto;
import org.apache.ratis.proto.RaftProtos.TermIndexProto;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A node that joins, n2, and has two entries of a cluster of which n1 and n3 are members. */
class JoiningVotesTest {
  private static final TermIndexProto LAST = at(1, 1);

  @TempDir Path directory;

  private LoneFollower node;

  @BeforeEach
  void join() throws Exception {
    node = LoneFollower.joining(directory, RaftSettings.SNAPSHOT_LOG_BYTES);
  }

  private void append() throws Exception {
    node.ask(
        node.request(
            1, null, NOTHING, node.membersEntry(1, 0, Set.of("n1", "n3")), entry(1, 1, "first")));
  }

  @AfterEach
  void stop() throws Exception {
    node.close();
  }

  @Test
  void votesForACandidateThatHasItsLog() throws Exception {
    append();
    assertTrue(isGranted(preVote(3, LAST)));
    assertEquals(1, node.status().term(), "a pre-vote changes nothing");
    RequestVoteReplyProto reply = vote("n1", 3, at(1, 2));
    assertTrue(isGranted(reply));
    assertEquals(3, reply.getTerm());
    assertEquals(LAST, reply.getLastEntry());
    assertEquals(3, node.status().term());
  }

  @Test
  void votesOnceInATermAlsoAfterItWasStartedAgain() throws Exception {
    append();
    assertTrue(isGranted(vote("n1", 3, LAST)));
    assertTrue(isGranted(vote("n1", 3, LAST)), "the same candidate may ask again");
    node = node.again(directory, RaftSettings.SNAPSHOT_LOG_BYTES);
    assertFalse(isGranted(vote("n3", 3, LAST)), "its vote of this term is given");
    assertFalse(isGranted(vote("n1", 2, LAST)), "a term that has passed");
    assertTrue(isGranted(vote("n1", 3, LAST)));
    assertTrue(isGranted(vote("n3", 4, LAST)));
  }

  @Test
  void refusesACandidateThatLacksAnEntry() throws Exception {
    append();
    assertFalse(isGranted(preVote(3, at(1, 0))));
    assertFalse(isGranted(vote("n1", 3, at(1, 0))));
    assertFalse(isGranted(vote("n1", 5, null)));
    assertEquals(5, node.status().term(), "it knows the term all the same");
    node = node.again(directory, RaftSettings.SNAPSHOT_LOG_BYTES);
    assertEquals(5, node.status().term());
  }

  @Test
  void refusesACandidateThatIsNoMember() throws Exception {
    append();
    assertFalse(isGranted(vote("n4", 3, LAST)));
  }

  /** It may have lost its disk, and no candidate counts its vote. */
  @Test
  void hasNoVoteWithoutAnEntry() throws Exception {
    ExecutionException none = assertThrows(ExecutionException.class, () -> preVote(3, LAST));
    assertTrue(none.getMessage().contains("answered with FAILED"), none.getMessage());
    assertEquals(0, node.status().term());
  }

  /** It would have no part in the cluster, and stop (NOT_IN_CONF). */
  @Test
  void standsForNoElectionAfterItsVote() throws Exception {
    Set<Thread> ofOtherTests = electionTimers();
    append();
    assertTrue(isGranted(vote("n1", 3, LAST)));
    Set<Thread> begun = electionTimers();
    begun.removeAll(ofOtherTests);
    assertEquals(Set.of(), begun);
    assertEquals(LogStatus.Role.FOLLOWER, node.status().role());
  }

  /** Returns the threads that stand for election after a silence, at nodes with this name. */
  private static Set<Thread> electionTimers() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(
            thread ->
                thread.getName().startsWith("n2@") && thread.getName().endsWith("-FollowerState"))
        .collect(toCollection(HashSet::new));
  }

  /** As when nobody listens at the address of its leader any more. */
  @Test
  void standsForNoElectionAfterItsLeaderHasDied() throws Exception {
    append();
    assertEquals("n1", node.status().leaderId());
    new EarlyElection(node.division(), 100).stand("n1", 1);
    assertEquals(LogStatus.Role.FOLLOWER, node.status().role());
    assertEquals(
        AppendResult.SUCCESS,
        node.ask(node.request(2, LAST, NOTHING, entry(2, 2, "of the next leader"))).getResult());
  }

  private static boolean isGranted(RequestVoteReplyProto reply) {
    return reply.getServerReply().getSuccess();
  }

  private RequestVoteReplyProto preVote(long term, @Nullable TermIndexProto last) throws Exception {
    return node.requestVote("n1", /* preVote= */ true, term, last).get(30, TimeUnit.SECONDS);
  }

  private RequestVoteReplyProto vote(String candidate, long term, @Nullable TermIndexProto last)
      throws Exception {
    return node.requestVote(candidate, /* preVote= */ false, term, last).get(30, TimeUnit.SECONDS);
  }
}
