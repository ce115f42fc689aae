package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Nodes tell clients who leads: three nodes of this process. */
@Timeout(120)
class LeaderWatchTest {
  @TempDir Path directory;

  private LocalCluster cluster;

  @BeforeEach
  void start() throws Exception {
    cluster = LocalCluster.started(directory, 3);
  }

  @AfterEach
  void stop() {
    cluster.close();
  }

  private String address(String node) {
    InetSocketAddress address = cluster.clientAddress(node);
    return address.getAddress().getHostAddress() + ":" + address.getPort();
  }

  @Test
  void aFollowerTellsOfALeaderAtOnceAndThenOfTheNextOne() throws Exception {
    String leader = cluster.leader();
    String follower = cluster.follower();
    String third =
        cluster.nodes().keySet().stream()
            .filter(id -> !id.equals(leader) && !id.equals(follower))
            .findFirst()
            .orElseThrow();
    try (RawClient one = cluster.client(follower);
        RawClient other = cluster.client(third)) {
      Reply.Leader first =
          assertInstanceOf(Reply.Leader.class, one.call(new Request.AwaitLeader(0)));
      assertEquals(leader, first.nodeId());
      assertEquals(address(leader), first.cluster().leaderAddress());
      assertEquals(3, first.cluster().addresses().size());
      assertEquals(first, other.call(new Request.AwaitLeader(first.term() - 1)));

      one.write(new Request.AwaitLeader(first.term()));
      other.write(new Request.AwaitLeader(first.term()));
      cluster.stop(leader);
      Reply.Leader next = assertInstanceOf(Reply.Leader.class, one.receive());
      assertTrue(next.term() > first.term());
      assertNotEquals(leader, next.nodeId());
      assertEquals(address(next.nodeId()), next.cluster().leaderAddress());
      assertInstanceOf(Reply.Leader.class, other.receive(), "followers and the leader tell");
    }
  }

  @Test
  void aConnectionHasOneSuchRequest() throws Exception {
    try (RawClient client = cluster.client(cluster.follower());
        RawClient another = cluster.client(cluster.follower())) {
      client.write(new Request.AwaitLeader(Long.MAX_VALUE));
      Reply.Failure refused =
          assertInstanceOf(
              Reply.Failure.class, client.call(new Request.AwaitLeader(Long.MAX_VALUE)));
      assertEquals(SqlState.TOO_MANY.state(), refused.sqlState());
      assertTrue(refused.message().contains("has 1 request that waits"), refused.message());
      assertInstanceOf(Reply.Ok.class, client.call(new Request.Ping()), "it goes on");
      assertInstanceOf(Reply.Leader.class, another.call(new Request.AwaitLeader(0)));
    }
  }

  @Test
  void welcomeNamesTheTermToClientsThatKnowIt() throws Exception {
    try (RawClient client = new RawClient(cluster.clientAddress(cluster.follower()));
        RawClient old = new RawClient(cluster.clientAddress(cluster.follower()))) {
      Reply.Welcome welcome =
          (Reply.Welcome) client.call(new Request.Hello(1, Protocol.VERSION, "app", "host", "1"));
      Reply.Leader leader = (Reply.Leader) client.call(new Request.AwaitLeader(0));
      assertEquals(leader.term(), welcome.term());
      Reply.Welcome before =
          (Reply.Welcome)
              old.call(new Request.Hello(1, Protocol.LEADER_VERSION - 1, "app", "host", "1"));
      assertEquals(Protocol.LEADER_VERSION - 1, before.version());
      assertEquals(0, before.term());
    }
  }
}
