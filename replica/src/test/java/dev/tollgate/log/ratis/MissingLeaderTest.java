package dev.tollgate.log.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.tollgate.log.Supervision;
import dev.tollgate.log.peer.PeerTransport;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import org.apache.ratis.protocol.RaftGroupId;
import org.apache.ratis.protocol.RaftPeer;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.DivisionInfo;
import org.apache.ratis.server.RaftConfiguration;
import org.apache.ratis.server.RaftServer;
import org.apache.ratis.server.raftlog.RaftLog;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** What a node without a leader says, also when its Raft group is in an unusual state. */
class MissingLeaderTest {
  private static final RaftGroupId GROUP = RaftGroupId.valueOf(new UUID(1, 2));
  private static final RaftPeerId SELF = RaftPeerId.valueOf("n1");
  private static final RaftPeer OTHER = RaftPeer.newBuilder().setId("n2").build();

  private static MissingLeader.Search search(boolean emptyLog) {
    return new MissingLeader.Search(emptyLog, new TreeMap<>(Map.of("n2", true, "n3", false)));
  }

  /** Somebody who starts a node before the others has to see why it does not become ready. */
  @Test
  void nodeWithoutALeaderSaysSoOnceAMinute() {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    Logger logger = (Logger) LoggerFactory.getLogger(MissingLeader.class);
    log.start();
    logger.addAppender(log);
    try (MissingLeader missing =
        new MissingLeader(
            "n1",
            new Supervision(
                "n1",
                bug -> {
                  throw new AssertionError(bug);
                }))) {
      for (int i = 0; i < 9; i++) {
        missing.check(search(true));
      }
      missing.check(null);
      for (int i = 0; i < 9; i++) {
        missing.check(search(false));
      }
      assertEquals(List.of(), log.list, "the count begins anew");
      for (int i = 9; i < 70; i++) {
        missing.check(search(false));
      }
    } finally {
      logger.detachAppender(log);
    }
    String line = "n1: there is no leader. Other nodes: n2 is connected, n3 is not connected.";
    assertEquals(
        List.of(line, line), log.list.stream().map(ILoggingEvent::getFormattedMessage).toList());
  }

  /** A node that leaves its group closes its log while somebody may be looking. */
  @Test
  void logThatClosesMeanwhileIsNoFailure() {
    assertEquals(
        new MissingLeader.Search(/* emptyLog= */ false, new TreeMap<>(Map.of("n2", true))),
        of(server(closedLog(7), RatisFake.NOTHING)));
  }

  @Test
  void nodeWithoutAnEntrySaysSo() {
    assertEquals(
        new MissingLeader.Search(/* emptyLog= */ true, new TreeMap<>(Map.of("n2", true))),
        of(server(closedLog(RaftLog.INVALID_LOG_INDEX), RatisFake.NOTHING)));
  }

  @Test
  void nodeWithALeaderLooksForNone() {
    assertNull(of(server(closedLog(7), OTHER.getId())));
  }

  private static MissingLeader.Search of(RaftServer server) {
    return MissingLeader.Search.of(
        server, GROUP, RatisFake.of(PeerTransport.class, Map.of("isConnected", true)));
  }

  /** Ratis answers no other question about the entries of a log that is closed. */
  private static RaftLog closedLog(long flushIndex) {
    return RatisFake.of(RaftLog.class, Map.of("getFlushIndex", flushIndex));
  }

  private static RaftServer server(RaftLog log, Object leader) {
    RaftConfiguration members =
        RatisFake.of(
            RaftConfiguration.class,
            Map.of(
                "getAllPeers",
                List.of(RaftPeer.newBuilder().setId(SELF).build(), OTHER),
                "getPeer",
                OTHER));
    DivisionInfo info =
        RatisFake.of(DivisionInfo.class, Map.of("isLeader", false, "getLeaderId", leader));
    RaftServer.Division division =
        RatisFake.of(
            RaftServer.Division.class,
            Map.of("getInfo", info, "getId", SELF, "getRaftConf", members, "getRaftLog", log));
    return RatisFake.of(RaftServer.class, Map.of("getDivision", division));
  }
}
