package dev.tollgate.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tollgate.wire.Reply.ClusterView;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ClusterMapTest {
  private final ClusterMap map =
      ClusterMap.ofSeeds(List.of(NodeAddress.parse("a"), NodeAddress.parse("b:1")));

  @Test
  void theLeaderComesFirstThenTheUrlThenWhatWasLearned() {
    map.learn(new ClusterView("c:1", List.of("d:1", "b:1", "c:1")), "b:1");
    assertEquals(List.of("c:1", "a:7400", "b:1", "d:1"), map.candidates(true));
    assertEquals(List.of("a:7400", "b:1", "d:1", "c:1"), map.candidates(false));
  }

  @Test
  void whereAnyNodeWillDoTheUrlsOrderHolds() {
    map.learn(new ClusterView("b:1", List.of("b:1")), "b:1");
    assertEquals(List.of("a:7400", "b:1"), map.candidates(false));
  }

  @Test
  void whoDidNotAnswerIsTriedLastUntilItDoes() {
    map.learn(new ClusterView("c:1", List.of("c:1")), "b:1");
    map.doubt("a:7400");
    assertEquals(List.of("c:1", "b:1", "a:7400"), map.candidates(true));
    map.doubt("c:1");
    assertEquals(List.of("b:1", "a:7400", "c:1"), map.candidates(true));
    map.trust("a:7400");
    assertEquals(List.of("a:7400", "b:1", "c:1"), map.candidates(true));
  }

  @Test
  void whoFailedLongAgoIsTriedBeforeTheLeaderThatHasJustFailed() {
    map.doubt("b:1");
    map.learn(new ClusterView("a:7400", List.of("a:7400", "b:1", "c:1")), "b:1");
    map.doubt("a:7400");
    assertEquals(List.of("c:1", "b:1", "a:7400"), map.candidates(true));
    map.doubt("b:1");
    assertEquals(List.of("c:1", "a:7400", "b:1"), map.candidates(true));
  }

  @Test
  void aLeaderThatDidNotAnswerIsNotSoughtOnTheWordOfOthers() {
    map.learn(new ClusterView("c:1", List.of()), "b:1");
    assertEquals(Optional.of("c:1"), map.leaderBesides("a:7400"));
    assertEquals(Optional.empty(), map.leaderBesides("c:1"));
    map.doubt("c:1");
    assertEquals(Optional.empty(), map.leaderBesides("a:7400"));
    map.learn(new ClusterView("d:1", List.of()), "b:1");
    assertEquals(Optional.of("d:1"), map.leaderBesides("a:7400"));
    map.trust("c:1");
    map.learn(new ClusterView("c:1", List.of()), "b:1");
    assertEquals(Optional.of("c:1"), map.leaderBesides("a:7400"));
  }

  /** It was restarted, as the one before: this process could not reach it then. */
  @Test
  void leaderIsSoughtOnTheWordOfTheFormerOne() {
    map.learn(new ClusterView("c:1", List.of("a:7400", "b:1", "c:1")), "b:1");
    map.doubt("b:1");
    map.learn(new ClusterView("b:1", List.of()), "a:7400");
    assertEquals(Optional.empty(), map.leaderBesides("c:1"));
    map.learn(new ClusterView("c:1", List.of()), "a:7400");
    map.learn(new ClusterView("b:1", List.of()), "c:1");
    assertEquals(Optional.of("b:1"), map.leaderBesides("c:1"));
    assertEquals("b:1", map.candidates(true).get(0));
  }

  @Test
  void whoKnowsNothingDoesNotMakeUsForget() {
    map.learn(new ClusterView("c:1", List.of("c:1")), "b:1");
    map.learn(new ClusterView(null, List.of()), "b:1");
    assertEquals(List.of("c:1", "a:7400", "b:1"), map.candidates(true));
    map.learn(new ClusterView(null, List.of()), "c:1");
    assertEquals(List.of("a:7400", "b:1", "c:1"), map.candidates(true));
  }

  @Test
  void aViewOfTooManyNodesIsNotBelieved() {
    map.learn(new ClusterView(null, Collections.nCopies(101, "x:1")), "b:1");
    assertEquals(List.of("a:7400", "b:1"), map.candidates(true));
  }

  @Test
  void anEmbeddedNodeIsAlone() {
    ClusterMap one = ClusterMap.ofOne("mem:x");
    one.learn(new ClusterView("c:1", List.of("c:1")), "mem:x");
    assertEquals(List.of("mem:x"), one.candidates(true));
    assertEquals(Optional.empty(), one.leaderBesides("mem:x"));
  }
}
