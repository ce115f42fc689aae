package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.jdbc.TollgateDriver;
import dev.tollgate.log.ratis.HeldWriter;
import dev.tollgate.node.admin.HttpCalls;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A leader whose disk hangs says so, and its clients go on at another node. */
@Timeout(120)
class HungDiskClusterTest {
  private static final Duration DEADLINE = Duration.ofSeconds(40);

  @TempDir private Path directory;

  @Test
  void clientsGoOnWhileTheDiskOfTheirLeaderHangs() throws Exception {
    try (LocalCluster cluster = new LocalCluster(directory, 3, Duration.ZERO, 1L << 30)) {
      cluster.administer();
      cluster.startAll();
      try (Connection connection = cluster.connect()) {
        TestSql.run(connection, "CREATE TABLE T(ID INT PRIMARY KEY)");
        String leader = cluster.leader();
        Node hung = cluster.node(leader);
        try (HeldWriter disk = new HeldWriter(leader)) {
          TestSql.run(connection, "INSERT INTO T VALUES (1)");
          disk.awaitHeld();
          TestSql.run(connection, "INSERT INTO T VALUES (2)");
          assertEquals("2", TestSql.one(connection, "SELECT COUNT(*) FROM T"));
          assertSaysThatItHangs(hung);
        }
        await().atMost(DEADLINE).until(() -> ready(hung).status() == 200);
        assertEquals(0, metrics(hung).value("tollgate_disk_hung_seconds"));
        TestSql.run(connection, "INSERT INTO T VALUES (3)");
        assertEquals("3", TestSql.one(connection, "SELECT COUNT(*) FROM T"));
      }
    }
  }

  @Test
  void followerWhoseDiskHangsIsNotReady() throws Exception {
    try (LocalCluster cluster = new LocalCluster(directory, 3, Duration.ZERO, 1L << 30)) {
      cluster.administer();
      cluster.startAll();
      try (Connection connection = cluster.connect()) {
        String follower = cluster.follower();
        Node hung = cluster.node(follower);
        await().atMost(DEADLINE).until(hung::isReady);
        try (HeldWriter disk = new HeldWriter(follower)) {
          TestSql.run(connection, "CREATE TABLE T(ID INT PRIMARY KEY)");
          disk.awaitHeld();
          await().atMost(DEADLINE).until(() -> ready(hung).status() == 503);
          assertSaysThatItHangs(hung);
          TestSql.run(connection, "INSERT INTO T VALUES (1)");
        }
        await().atMost(DEADLINE).until(hung::isReady);
      }
    }
  }

  private static void assertSaysThatItHangs(Node node) throws Exception {
    HttpCalls.Reply ready = ready(node);
    assertEquals(503, ready.status());
    assertTrue(ready.body().contains("has not synced its log"), ready.body());
    assertFalse(node.isReady());
    assertEquals(200, HttpCalls.get(node.adminAddress(), "/health/live").status());
    assertTrue(metrics(node).value("tollgate_disk_hung_seconds") > 0);
    String url = "jdbc:tollgate://127.0.0.1:" + node.listenAddress().getPort() + "/";
    String trouble = TollgateDriver.surveyNodes(url, new Properties()).get(0).status().failure();
    assertTrue(trouble.contains("has not synced its log"), trouble);
  }

  private static HttpCalls.Reply ready(Node node) throws IOException {
    return HttpCalls.get(node.adminAddress(), "/health/ready");
  }

  private static Scrape metrics(Node node) throws IOException {
    return Scrape.parse(HttpCalls.get(node.adminAddress(), "/metrics").body());
  }
}
