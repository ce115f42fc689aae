package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.log.CommandPipeline;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.node.admin.HttpCalls;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
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

  private void start() throws Exception {
    start(InetAddress.getLoopbackAddress());
  }

  private void start(InetAddress address) throws Exception {
    cluster = new LocalCluster(directory, 3, Duration.ZERO, RaftSettings.SNAPSHOT_LOG_BYTES);
    cluster.administer(address);
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
    start();
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
    start();
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
    start();
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

  @Test
  void addressesOfIpv6AreShown() throws Exception {
    start(InetAddress.getAllByName("::1")[0]);
    HttpCalls.Reply reply = post(cluster.follower(), "/v1/leases", LEASE);
    assertEquals(307, reply.status(), reply.body());
    URI where = URI.create(reply.headers().get("location"));
    assertEquals("[0:0:0:0:0:0:0:1]", where.getHost());
    assertEquals(
        cluster.node(cluster.leader()).adminAddress().getPort(), where.getPort(), where.toString());
  }

  @Test
  void leaderWithoutAnAdminAddressIsNamedAndNotRedirectedTo() throws Exception {
    cluster = new LocalCluster(directory, 3, Duration.ZERO, RaftSettings.SNAPSHOT_LOG_BYTES);
    cluster.startAll();
    String leader = cluster.leader();
    String follower = cluster.follower();
    cluster.stop(follower);
    cluster.administer();
    cluster.start(follower);
    await()
        .atMost(DEADLINE)
        .untilAsserted(
            () -> {
              HttpCalls.Reply reply = post(follower, "/v1/leases", LEASE);
              assertEquals(421, reply.status(), reply.body());
              assertTrue(
                  reply
                      .body()
                      .contains("\"leader\":{\"node\":\"" + leader + "\",\"client_address\":\""),
                  reply.body());
              assertNull(reply.headers().get("location"));
            });
  }

  /** Sends a request to the leader, and has the leader lose its followers before it answers. */
  private HttpCalls.Reply losingFollowers(
      String leader, Callable<Boolean> underWay, String method, String path, String body)
      throws Exception {
    CompletableFuture<HttpCalls.Reply> reply =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return HttpCalls.call(
                    cluster.node(leader).adminAddress(),
                    method,
                    path,
                    body,
                    "Content-Type",
                    "application/json");
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
            });
    await().atMost(DEADLINE).until(underWay);
    for (String id : List.copyOf(cluster.nodes().keySet())) {
      if (!id.equals(leader)) {
        cluster.stop(id);
      }
    }
    return reply.get(60, TimeUnit.SECONDS);
  }

  private static void assertUnknown(int status, String what, HttpCalls.Reply reply) {
    assertEquals(status, reply.status(), reply.body());
    assertTrue(reply.body().startsWith("{\"error\":{\"sql_state\":\"08007\""), reply.body());
    assertTrue(reply.body().contains(what), reply.body());
  }

  private String newLease(String leader) throws IOException {
    return post(leader, "/v1/leases", LEASE).body().replaceAll("\\D+(\\d+).*\\s*", "$1");
  }

  private boolean hasWaiters(String leader) throws IOException {
    return HttpCalls.get(cluster.node(leader).adminAddress(), "/v1/locks/job")
        .body()
        .contains("\"waiters\":1");
  }

  @Test
  void waitThatALostLeaderLeavesIsSafeToRepeat() throws Exception {
    start();
    String leader = cluster.leader();
    post(leader, "/v1/locks/job", LEASE);
    String lease = newLease(leader);
    assertUnknown(
        503,
        "it is safe to send it again",
        losingFollowers(
            leader,
            () -> hasWaiters(leader),
            "POST",
            "/v1/locks/job",
            "{\"lease\":" + lease + ",\"wait\":\"30s\"}"));
  }

  /** A second one would take the lock away from the next holder. */
  @Test
  void forcedReleaseThatALostLeaderLeavesIsNotCalledSafeToRepeat() throws Exception {
    start();
    String leader = cluster.leader();
    // opens the session that the forced release uses
    post(leader, "/v1/locks/job", LEASE);
    CommandPipeline pipeline = cluster.node(leader).pipeline();
    BusyReplica busy = new BusyReplica(pipeline);
    HttpCalls.Reply reply;
    try {
      reply =
          losingFollowers(
              leader,
              () -> pipeline.figures().queuedCommands() > 0,
              "DELETE",
              "/v1/locks/job?force=true",
              "");
    } finally {
      busy.end();
    }
    assertUnknown(520, "Look before you send it again", reply);
    assertFalse(reply.body().contains("safe to send it again"), reply.body());
    assertNull(reply.headers().get("retry-after"));
  }

  @Test
  void waitOfANewLeaseNamesTheLease() throws Exception {
    start();
    String leader = cluster.leader();
    post(leader, "/v1/locks/job", LEASE);
    HttpCalls.Reply reply =
        losingFollowers(
            leader,
            () -> hasWaiters(leader),
            "POST",
            "/v1/locks/job",
            "{\"ttl\":\"1m\",\"wait\":\"30s\"}");
    assertUnknown(520, "may have got the lock: to learn its token", reply);
    assertTrue(reply.body().strip().matches(".*,\"lease\":\\d+}"), reply.body());
    assertNull(reply.headers().get("retry-after"));
  }

  @Test
  void statementThatALostLeaderLeavesIsNotCalledSafeToRepeat() throws Exception {
    start();
    String leader = cluster.leader();
    post(leader, "/v1/locks/job", LEASE);
    String lease = newLease(leader);
    HttpCalls.Reply reply =
        losingFollowers(
            leader,
            () -> hasWaiters(leader),
            "POST",
            "/v1/sql",
            "{\"sql\":\"SELECT acquire_lock('job', " + lease + ", 30000)\",\"timeout\":\"30s\"}");
    assertUnknown(520, "Look before you send it again", reply);
    assertNull(reply.headers().get("retry-after"));
  }
}
