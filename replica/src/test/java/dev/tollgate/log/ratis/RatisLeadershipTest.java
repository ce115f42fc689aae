package dev.tollgate.log.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.util.Collection;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
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
    Iterator<Long> term = List.of(terms).iterator();
    DivisionInfo info =
        RatisFake.of(
            DivisionInfo.class,
            Map.of("getCurrentTerm", (Supplier<Long>) term::next, "isLeaderReady", ready));
    RaftConfiguration configuration =
        RatisFake.of(
            RaftConfiguration.class,
            Map.of(
                "getCurrentPeers",
                peers(members),
                "getPreviousPeers",
                peers(before),
                "getLogEntryIndex",
                5L));
    RaftLog log = RatisFake.of(RaftLog.class, Map.of("getLastCommittedIndex", 41L));
    RaftServer.Division division =
        RatisFake.of(
            RaftServer.Division.class,
            Map.of("getInfo", info, "getRaftConf", configuration, "getRaftLog", log));
    RaftServer server =
        RatisFake.of(RaftServer.class, Map.of("getId", SELF, "getDivision", division));
    return new RatisLeadership(server, RatisLog.GROUP, null).leadership();
  }

  private static Collection<RaftPeer> peers(String ids) {
    return Stream.of(ids.split(" "))
        .filter(id -> !id.isEmpty())
        .map(id -> RaftPeer.newBuilder().setId(id).build())
        .toList();
  }
}
