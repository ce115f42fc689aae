package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.log.RaftSettings;
import dev.tollgate.node.admin.HttpCalls;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The admin addresses of three nodes. */
@Timeout(180)
class AdminClusterTest {
  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final String GRANTS = "tollgate_lock_grants_total{way=\"at_once\"}";

  @TempDir private Path directory;
  private LocalCluster cluster;

  @BeforeEach
  void start() throws Exception {
    cluster = new LocalCluster(directory, 3, Duration.ZERO, RaftSettings.SNAPSHOT_LOG_BYTES);
    cluster.administer();
    cluster.startAll();
    for (String id : cluster.nodes().keySet()) {
      await().atMost(DEADLINE).until(() -> get(id, "/health/ready").status() == 200);
    }
  }

  @AfterEach
  void stop() {
    cluster.close();
  }

  private HttpCalls.Reply get(String id, String path) throws IOException {
    return HttpCalls.get(cluster.node(id).adminAddress(), path);
  }

  private Scrape scrape(String id) throws IOException {
    return Scrape.parse(get(id, "/metrics").body());
  }

  @Test
  void everyNodeCountsWhatItAppliesAndTheLeaderKnowsTheLags() throws Exception {
    String leader = cluster.leader();
    String follower = cluster.follower();
    try (Connection connection = cluster.connect();
        Statement statement = connection.createStatement()) {
      statement.execute("SELECT acquire_lock('job')");
      for (String id : cluster.nodes().keySet()) {
        await().atMost(DEADLINE).until(() -> scrape(id).value(GRANTS) == 1);
        assertEquals(1, scrape(id).value("tollgate_locks_held"), id);
        assertEquals(3, scrape(id).value("tollgate_members"), id);
      }
      Scrape atLeader = scrape(leader);
      assertEquals(1, atLeader.value("tollgate_leader"));
      assertTrue(atLeader.value("tollgate_commit_seconds_count") > 0);
      assertTrue(atLeader.value("tollgate_log_bytes") > 0);
      assertTrue(atLeader.value("tollgate_disk_usable_bytes") > 0);
      String member = "{member=\"" + follower + "\"}";
      await()
          .atMost(DEADLINE)
          .until(() -> scrape(leader).value("tollgate_member_lag_entries" + member) == 0);
      assertTrue(atLeader.value("tollgate_member_silence_seconds" + member) < 60);
      Scrape atFollower = scrape(follower);
      assertEquals(0, atFollower.value("tollgate_leader"));
      assertEquals(1, atFollower.value("tollgate_leader_known"));
      assertEquals(0, atFollower.value("tollgate_commit_seconds_count"));
      assertTrue(get(follower, "/debug/state").body().contains("\nleader: " + leader + "\n"));
    }
  }

  @Test
  void consoleOfAFollowerHasTheUrlOfTheLeadersConsole() throws Exception {
    String leader = cluster.leader();
    String follower = cluster.follower();
    URI url = URI.create(consoleUrl(follower, leader));
    assertEquals(cluster.node(leader).adminAddress().getPort(), url.getPort());
    assertTrue(get(leader, url.getPath()).body().contains("<title>Tollgate console"));
    assertNull(consoleUrl(follower, follower));
    assertNull(consoleUrl(leader, leader));
  }

  /** What the console of a node has as the URL of the console of a member. */
  private @Nullable String consoleUrl(String node, String member) throws IOException {
    String state = get(node, "/console/state").body();
    Matcher found =
        Pattern.compile(
                "\\{\"id\":\"" + member + "\"[^}]*\"consoleUrl\":(?:null|\"([^\"]*)\")[^}]*}")
            .matcher(state);
    assertTrue(found.find(), state);
    return found.group(1);
  }

  @Test
  void nodeThatStartsAgainCountsNothingTwice() throws Exception {
    String follower = cluster.follower();
    try (Connection connection = cluster.connect();
        Statement statement = connection.createStatement()) {
      statement.execute("SELECT acquire_lock('job')");
      await().atMost(DEADLINE).until(() -> scrape(follower).value(GRANTS) == 1);
      cluster.stop(follower);
      cluster.start(follower);
      await().atMost(DEADLINE).until(() -> scrape(follower).value("tollgate_locks_held") == 1);
      assertEquals(0, scrape(follower).value(GRANTS));
      statement.execute("SELECT acquire_lock('other')");
      await().atMost(DEADLINE).until(() -> scrape(follower).value(GRANTS) == 1);
    }
  }

  @Test
  void nodeWithoutALeaderIsNotReadyAndLives() throws Exception {
    String left = cluster.leader();
    for (String id : cluster.nodes().keySet().stream().toList()) {
      if (!id.equals(left)) {
        cluster.stop(id);
      }
    }
    await().atMost(DEADLINE).until(() -> get(left, "/health/ready").status() == 503);
    await()
        .atMost(DEADLINE)
        .until(() -> get(left, "/health/ready").body().contains("the node knows no leader\n"));
    assertEquals(200, get(left, "/health/live").status());
    Scrape scrape = scrape(left);
    assertEquals(0, scrape.value("tollgate_leader_known"));
    assertEquals(0, scrape.value("tollgate_ready"));
    assertEquals(0, scrape.value("tollgate_failed"));
  }

  @Test
  void anotherLeaderIsAChange() throws Exception {
    String follower = cluster.follower();
    double before = scrape(follower).value("tollgate_leader_changes_total");
    double term = scrape(follower).value("tollgate_term");
    cluster.stop(cluster.leader());
    await()
        .atMost(DEADLINE)
        .until(() -> scrape(follower).value("tollgate_leader_changes_total") > before);
    assertTrue(scrape(follower).value("tollgate_term") > term);
  }
}
