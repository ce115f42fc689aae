package dev.tollgate.log.ratis;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.log.LogStatus;
import java.io.IOException;
import java.net.SocketException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;
import org.apache.ratis.protocol.RaftPeerId;
import org.apache.ratis.server.RaftServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three nodes that wait long before they stand for election because of silence. */
class LeaderDeathTest {
  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final Duration ELECTION_TIMEOUT = Duration.ofSeconds(4);

  @TempDir Path directory;

  private RatisNodes nodes;

  @BeforeEach
  void start() throws Exception {
    nodes = new RatisNodes(directory, 3, ELECTION_TIMEOUT);
    nodes.startAll("known to all");
  }

  @AfterEach
  void stop() throws IOException {
    nodes.close();
  }

  @Test
  void anotherNodeLeadsAtOnceWhenTheProcessOfTheLeaderHasEnded() throws Exception {
    int dead = nodes.leader();
    long began = System.nanoTime();
    nodes.stop(dead);
    nodes.otherLeader(dead);
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
    assertTrue(millis < ELECTION_TIMEOUT.toMillis(), millis + " ms");
    nodes.append(nodes.leader(), "goes on");
  }

  /** As when its disk hangs. */
  @Test
  void anotherNodeLeadsAtOnceWhenTheLeaderStepsDownForIt() throws Exception {
    int before = nodes.leader();
    RaftServer server = RatisLogTest.serverOf(nodes.log(before));
    long began = System.nanoTime();
    RatisLeadership.stepDownForAnother(
            server, server.getDivision(RatisLog.GROUP), ForkJoinPool.commonPool())
        .get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    nodes.otherLeader(before);
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - began);
    assertTrue(millis < ELECTION_TIMEOUT.toMillis(), millis + " ms");
    nodes.append(nodes.leader(), "goes on");
  }

  @Test
  void connectionsThatBreakWhileTheLeaderIsThereCauseNoElection() throws Exception {
    int leader = nodes.leader();
    long term = nodes.status(leader).term();
    for (int i = 0; i < 20; i++) {
      for (LogStatus.Member member : nodes.status(leader).members()) {
        RatisLogTest.serverOf(nodes.log(leader))
            .getServerRpc()
            .handleException(
                RaftPeerId.valueOf(member.nodeId()), new SocketException("a test"), true);
      }
      nodes.append(leader, "entry " + i);
    }
    assertEquals(leader, nodes.leader());
    assertEquals(term, nodes.status(leader).term());
  }
}
