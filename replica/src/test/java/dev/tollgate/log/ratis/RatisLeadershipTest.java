package dev.tollgate.log.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Collection;
import java.util.Deque;
import java.util.Set;
import java.util.stream.Stream;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.raftlog.RaftLog;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** When a node may say that it leads, and whose answers prove it. */
class RatisLeadershipTest {
  private static final RaftPeerId SELF = RaftPeerId.valueOf("n1");

  @Test
  void leaderIsProvedByTheOtherMembers() {
    LeadershipRounds.Leadership leadership = leadership("n1 n2 n3", "", true, 7L, 7L);
    assertNotNull(leadership);
    assertEquals(7, leadership.term());
    assertEquals(Set.of("n2", "n3"), Set.copyOf(leadership.followers()));
    assertEquals(41, leadership.committed());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          members of before count too while they change  | n1 n2 n3 | n1 n2 | true  | 7
          a node that is removed does not vote           | n2 n3    |       | true  | 7
          its first entry is not committed yet           | n1 n2 n3 |       | false | 7
          another term began while it looked             | n1 n2 n3 |       | true  | 8
          """)
  void nothingIsProvedWhile(
      String why, String members, @Nullable String before, boolean ready, long termAfter) {
    assertNull(leadership(members, before == null ? "" : before, ready, 7L, termAfter), why);
  }

  private static LeadershipRounds.@Nullable Leadership leadership(
      String members, String before, boolean ready, Long... terms) {
    Deque<Long> term = new ArrayDeque<>(Arrays.asList(terms));
    DivisionInfo info =
        fake(
            DivisionInfo.class,
            question ->
                switch (question) {
                  case "getCurrentTerm" -> term.removeFirst();
                  case "isLeaderReady" -> ready;
                  default -> null;
                });
    RaftConfiguration configuration =
        fake(
            RaftConfiguration.class,
            question ->
                switch (question) {
                  case "getCurrentPeers" -> peers(members);
                  case "getPreviousPeers" -> peers(before);
                  case "getLogEntryIndex" -> 5L;
                  default -> null;
                });
    RaftLog log =
        fake(RaftLog.class, question -> question.equals("getLastCommittedIndex") ? 41L : null);
    RaftServer.Division division =
        fake(
            RaftServer.Division.class,
            question ->
                switch (question) {
                  case "getInfo" -> info;
                  case "getRaftConf" -> configuration;
                  case "getRaftLog" -> log;
                  default -> null;
                });
    RaftServer server =
        fake(
            RaftServer.class,
            question ->
                switch (question) {
                  case "getId" -> SELF;
                  case "getDivision" -> division;
                  default -> null;
                });
    return new RatisLeadership(server, RatisLog.GROUP, null).leadership();
  }

  private static Collection<RaftPeer> peers(String ids) {
    return Stream.of(ids.split(" "))
        .filter(id -> !id.isEmpty())
        .map(id -> RaftPeer.newBuilder().setId(id).build())
        .toList();
  }

  private interface Answers {
    @Nullable Object to(String question);
  }

  private static <T> T fake(Class<T> type, Answers answers) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              Object answer = answers.to(method.getName());
              if (answer == null) {
                throw new UnsupportedOperationException(method.getName());
              }
              return answer;
            }));
  }
}
