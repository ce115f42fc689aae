package dev.tollgate.log.peer;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto;
import org.apache.ratis.proto.RaftProtos.AppendEntriesReplyProto.AppendResult;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.leader.LogAppender;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LostEntriesTest {
  private static final Duration DEADLINE = Duration.ofSeconds(30);

  @TempDir private Path directory;

  /** The log of the follower ends just before its next index. */
  @ParameterizedTest
  @CsvSource({
    "SUCCESS,       9, 7, false",
    "SUCCESS,       8, 7, false",
    "SUCCESS,       7, 7, true",
    "SUCCESS,       6, 7, true",
    "INCONSISTENCY, 8, 7, false",
    "INCONSISTENCY, 7, 7, true",
    "INCONSISTENCY, 0, 0, true",
    "INCONSISTENCY, 0, -1, false",
    "NOT_LEADER,    0, 7, false",
  })
  void areShownByALogThatEndsBeforeWhatWasAcknowledged(
      AppendResult result, long nextIndex, long acknowledged, boolean shown) {
    AppendEntriesReplyProto reply =
        AppendEntriesReplyProto.newBuilder().setResult(result).setNextIndex(nextIndex).build();
    assertEquals(shown, LostEntries.shownBy(reply, acknowledged));
  }

  /** That the follower has the one entry says nothing of the other. */
  @Test
  void areSuspectedUntilTheFollowerHasTheLastOfThem() throws Exception {
    try (TestNode leader = new TestNode("n1", directory, 1_000);
        TestNode follower = new TestNode("n2", directory, 1_000);
        PeerLink link = leader.linkTo(follower)) {
      LostEntries lost = new LostEntries(appender(), link, leader.settings.supervision());
      PeerConnection connection = link.connect();
      lost.ask(connection);
      assertFalse(lost.isAsking());
      CountDownLatch hold = new CountDownLatch(1);
      follower.holdLost = hold;
      lost.suspect(5, 5);
      assertTrue(link.hasLostEntries());
      lost.ask(connection);
      await().atMost(DEADLINE).until(() -> follower.asked.equals(List.of(5L)));
      lost.suspect(5, 7);
      lost.suspect(5, 6);
      hold.countDown();
      await()
          .atMost(DEADLINE)
          .until(
              () -> {
                lost.ask(connection);
                return follower.asked.contains(7L);
              });
      await().atMost(DEADLINE).until(() -> !lost.isAsking());
      assertFalse(link.hasLostEntries());
      assertEquals(List.of(5L, 7L), List.copyOf(follower.asked));
    }
  }

  private static LogAppender appender() {
    DivisionInfo info = fake(DivisionInfo.class, "getCurrentTerm", 3L);
    RaftServer.Division division = fake(RaftServer.Division.class, "getInfo", info);
    return (LogAppender)
        Proxy.newProxyInstance(
            LogAppender.class.getClassLoader(),
            new Class<?>[] {LogAppender.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "getServer" -> division;
                  case "getFollowerId" -> RaftPeerId.valueOf("n2");
                  case "toString" -> "n1->n2";
                  default -> throw new UnsupportedOperationException(method.getName());
                });
  }

  private static <T> T fake(Class<T> type, String name, Object answer) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              if (method.getName().equals(name)) {
                return answer;
              }
              throw new UnsupportedOperationException(method.getName());
            }));
  }
}
