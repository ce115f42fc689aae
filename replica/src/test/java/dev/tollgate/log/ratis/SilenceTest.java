package dev.tollgate.log.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.lang.reflect.Proxy;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.raftlog.RaftLog;
import org.junit.jupiter.api.Test;

/** Whom a node ought to hear, when its Raft group is in an unusual state. */
class SilenceTest {
  private static final RaftGroupId GROUP = RaftGroupId.valueOf(new UUID(1, 2));
  private static final RaftPeerId SELF = RaftPeerId.valueOf("n1");
  private static final RaftPeer OTHER = RaftPeer.newBuilder().setId("n2").build();

  /** A node that leaves its group closes its log while somebody may be looking. */
  @Test
  void logThatClosesMeanwhileIsNoFailure() {
    assertEquals(
        new Silence(/* leaderless= */ true, /* emptyLog= */ false, List.of(OTHER)),
        Silence.around(server(closedLog(7)), GROUP, 1_000));
  }

  @Test
  void nodeWithoutAnEntrySaysSo() {
    assertEquals(
        new Silence(/* leaderless= */ true, /* emptyLog= */ true, List.of(OTHER)),
        Silence.around(server(closedLog(RaftLog.INVALID_LOG_INDEX)), GROUP, 1_000));
  }

  /** Ratis answers no other question about the entries of a log that is closed. */
  private static RaftLog closedLog(long flushIndex) {
    return fake(RaftLog.class, Map.of("getFlushIndex", flushIndex));
  }

  private static RaftServer server(RaftLog log) {
    RaftConfiguration members =
        fake(
            RaftConfiguration.class,
            Map.of(
                "getAllPeers",
                List.of(RaftPeer.newBuilder().setId(SELF).build(), OTHER),
                "getPeer",
                OTHER));
    DivisionInfo info = fake(DivisionInfo.class, Map.of("isLeader", false, "getLeaderId", NOTHING));
    RaftServer.Division division =
        fake(
            RaftServer.Division.class,
            Map.of("getInfo", info, "getId", SELF, "getRaftConf", members, "getRaftLog", log));
    return fake(RaftServer.class, Map.of("getDivision", division));
  }

  private static final Object NOTHING = new Object();

  /** Answers these questions, and fails at any other as a closed log does. */
  private static <T> T fake(Class<T> type, Map<String, Object> answers) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              Object answer = answers.get(method.getName());
              if (answer == null) {
                throw new IllegalStateException(method.getName() + " of what is CLOSED");
              }
              return answer == NOTHING ? null : answer;
            }));
  }
}
