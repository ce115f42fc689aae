package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.log.RaftSettings;
import dev.tollgate.node.admin.HttpCalls;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What scripts get from three nodes, two of which do not lead. */
@Timeout(180)
class ScriptsClusterTest {
  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final String LEASE = "{\"ttl\":\"1m\"}";

  @TempDir private Path directory;
  private LocalCluster cluster;

  @BeforeEach
  void start() throws Exception {
    cluster = new LocalCluster(directory, 3, Duration.ZERO, RaftSettings.SNAPSHOT_LOG_BYTES);
    cluster.administer();
    cluster.startAll();
    for (String id : cluster.nodes().keySet()) {
      await()
          .atMost(DEADLINE)
          .until(
              () ->
                  HttpCalls.get(cluster.node(id).adminAddress(), "/health/ready").status() == 200);
    }
  }

  @AfterEach
  void stop() {
    cluster.close();
  }

  private HttpCalls.Reply post(String id, String path, String body) throws IOException {
    return HttpCalls.call(
        cluster.node(id).adminAddress(), "POST", path, body, "Content-Type", "application/json");
  }

  @Test
  void followersShowTheWayToTheLeader() throws Exception {
    String leader = cluster.leader();
    for (String id : cluster.nodes().keySet()) {
      HttpCalls.Reply reply = post(id, "/v1/leases?", LEASE);
      if (id.equals(leader)) {
        assertEquals(201, reply.status(), reply.body());
        continue;
      }
      assertEquals(307, reply.status(), reply.body());
      assertTrue(reply.body().contains("\"leader\":{\"node\":\"" + leader + "\""), reply.body());
      URI where = URI.create(reply.headers().get("location"));
      assertEquals("/v1/leases", where.getPath());
      InetSocketAddress there = new InetSocketAddress(where.getHost(), where.getPort());
      assertEquals(cluster.node(leader).adminAddress().getPort(), there.getPort());
      assertEquals(
          201,
          HttpCalls.call(there, "POST", where.getPath(), LEASE, "Content-Type", "application/json")
              .status());
    }
    String follower = cluster.follower();
    assertEquals(
        "/v1/locks/a%2Fb?lease=1",
        HttpCalls.call(
                cluster.node(follower).adminAddress(), "DELETE", "/v1/locks/a%2Fb?lease=1", "")
            .headers()
            .get("location")
            .replaceFirst("http://[^/]*", ""));
  }

  @Test
  void lockOutlivesItsLeaderAndTheNextLeaderKnowsIt() throws Exception {
    String leader = cluster.leader();
    String granted = post(leader, "/v1/locks/job", LEASE).body();
    assertTrue(granted.contains("\"token\":"), granted);
    cluster.stop(leader);
    await()
        .atMost(DEADLINE)
        .until(
            () -> {
              String next = cluster.leader();
              HttpCalls.Reply held =
                  HttpCalls.get(cluster.node(next).adminAddress(), "/v1/locks/job");
              return held.status() == 200 && held.body().contains("\"held\":true");
            });
    String next = cluster.leader();
    for (String id : cluster.nodes().keySet()) {
      if (!id.equals(next)) {
        await()
            .atMost(DEADLINE)
            .until(
                () ->
                    HttpCalls.get(cluster.node(id).adminAddress(), "/v1/locks/job")
                        .headers()
                        .getOrDefault("location", "")
                        .contains(":" + cluster.node(next).adminAddress().getPort() + "/"));
      }
    }
  }

  @Test
  void nodeWithoutALeaderSaysTryAgain() throws Exception {
    String left = cluster.leader();
    for (String id : cluster.nodes().keySet().stream().toList()) {
      if (!id.equals(left)) {
        cluster.stop(id);
      }
    }
    await()
        .atMost(DEADLINE)
        .until(
            () -> {
              HttpCalls.Reply reply =
                  HttpCalls.get(cluster.node(left).adminAddress(), "/v1/leases");
              return reply.status() == 503 && reply.body().contains("knows no leader");
            });
  }
}
