package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.StalledError;
import dev.tollgate.jdbc.TollgateDriver;
import dev.tollgate.node.admin.HttpCalls;
import dev.tollgate.node.slow.ApplyBounds;
import dev.tollgate.node.slow.SlowSettings;
import dev.tollgate.store.ImpatientDatabases;
import dev.tollgate.store.SqlDatabase;
import dev.tollgate.store.transfer.DatabaseCopy;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A node whose apply thread stands still says so, and ends what the thread waits for. */
@Timeout(120)
class StalledApplyTest {
  private static final Duration DEADLINE = Duration.ofSeconds(40);
  private static final Duration SOON = Duration.ofMillis(200);
  private static final Duration NEVER = Duration.ofHours(1);

  @TempDir private Path directory;
  private Node node;
  private BusyReplica busy;
  private Connection session;

  @AfterEach
  void close() throws SQLException {
    if (busy != null) {
      busy.end();
    }
    if (session != null) {
      session.close();
    }
    if (node != null) {
      node.closeAtOnce();
    }
  }

  private void stall(ApplyBounds bounds) throws Exception {
    node = new Node(AdminNode.settings().withSlow(SlowSettings.STANDARD.withBounds(bounds)));
    AdminNode.start(node);
    // which is an entry
    session = connect("?readConsistency=any");
    busy = new BusyReplica(node.pipeline());
  }

  private HttpCalls.Reply get(String path) throws IOException {
    return HttpCalls.get(node.adminAddress(), path);
  }

  private void awaitStatus(int status, String path) {
    await().atMost(DEADLINE).until(() -> get(path).status() == status);
  }

  @Test
  void nodeWhoseEntryIsLateIsNotReady() throws Exception {
    stall(new ApplyBounds(SOON, NEVER));
    awaitStatus(503, "/health/ready");
    String ready = get("/health/ready").body();
    assertTrue(ready.contains("SeedRandom"), ready);
    assertTrue(ready.contains("log entry " + (node.status().lastAppliedIndex() + 1)), ready);
    assertFalse(node.isReady());
    assertEquals(200, get("/health/live").status());
    Scrape scrape = Scrape.parse(get("/metrics").body());
    assertTrue(scrape.value("tollgate_apply_under_way_seconds") >= 0.2);
    assertEquals(0, scrape.value("tollgate_ready"));
    String shown = TestSql.one(session, "SELECT APPLYING_MS FROM TOLLGATE.NODES");
    assertTrue(Long.parseLong(shown) >= SOON.toMillis(), shown);
    String status = TollgateDriver.surveyNodes(url(), new Properties()).get(0).status().failure();
    assertTrue(status.contains("SeedRandom"), status);
    busy.end();
    awaitStatus(200, "/health/ready");
    assertEquals(0, Scrape.parse(get("/metrics").body()).value("tollgate_apply_under_way_seconds"));
  }

  @Test
  void nodeWhoseEntryIsStalledDoesNotLive() throws Exception {
    stall(new ApplyBounds(SOON, SOON.multipliedBy(2)));
    awaitStatus(503, "/health/live");
    assertEquals("stalled\n", get("/health/live").body());
    busy.end();
    awaitStatus(200, "/health/live");
  }

  private Connection connect(String properties) throws SQLException {
    return DriverManager.getConnection(url() + properties);
  }

  private String url() {
    return "jdbc:tollgate://127.0.0.1:" + node.listenAddress().getPort() + "/";
  }

  @Test
  void copyThatInsistsIsEndedForADefinition() throws Exception {
    SqlDatabase database = ImpatientDatabases.of(/* endMillis= */ 50, /* stopMillis= */ 60_000);
    node = new Node(AdminNode.settings(), database);
    AdminNode.start(node);
    try (Connection connection = connect("")) {
      TestSql.run(connection, "CREATE TABLE T(ID INT)");
      TestSql.run(connection, "INSERT INTO T VALUES (1)");
      DatabaseCopy copy = database.copy(/* insistent= */ true);
      CompletableFuture<Void> reader =
          CompletableFuture.runAsync(() -> readUntilEnded(copy), work -> new Thread(work).start());
      TestSql.run(connection, "CREATE TABLE U(ID INT)");
      reader.get();
    }
  }

  /** Returns once somebody has ended the copy, and it is closed. */
  private static void readUntilEnded(DatabaseCopy copy) {
    try (copy) {
      await().atMost(DEADLINE).until(() -> isEnded(copy));
    }
  }

  private static boolean isEnded(DatabaseCopy copy) {
    try {
      copy.requireNotCancelled();
      return false;
    } catch (InterruptedIOException e) {
      return true;
    }
  }

  /** The others go on, and do not skip what that node could not apply. */
  @Test
  void nodeWithAReaderThatNeverLeavesStops() throws Exception {
    try (LocalCluster cluster = new LocalCluster(directory, 3, Duration.ZERO, 1L << 30)) {
      cluster.administer();
      cluster.useDatabases(
          () -> ImpatientDatabases.of(/* endMillis= */ 50, /* stopMillis= */ 1_000));
      cluster.startAll();
      String stuck = cluster.follower();
      DatabaseCopy reader = cluster.database(stuck).copy(/* insistent= */ true);
      try (Connection connection = cluster.connect()) {
        TestSql.run(connection, "CREATE TABLE T(ID INT)");
        Node failed = cluster.node(stuck);
        await().atMost(DEADLINE).until(() -> failed.failure() != null);
        assertInstanceOf(StalledError.class, failed.failure());
        assertTrue(
            Stream.of(failed.failure().getStackTrace())
                .anyMatch(frame -> frame.getClassName().endsWith(".Definitions")),
            "it neither refused the definition nor stood at it, which would end at a restore");
        assertEquals(503, HttpCalls.get(failed.adminAddress(), "/health/live").status());
        await().atMost(DEADLINE).until(() -> failed.ended().isDone());
        TestSql.run(connection, "INSERT INTO T VALUES (1)");
        for (Node other : cluster.nodes().values()) {
          if (other != failed) {
            assertNull(other.failure());
          }
        }
        reader.close();
        cluster.stop(stuck);
        cluster.start(stuck);
        await().atMost(DEADLINE).until(cluster.node(stuck)::isReady);
        assertEquals("1", TestSql.one(connection, "SELECT COUNT(*) FROM T"));
      }
    }
  }

  @Test
  void nodeThatReceivesAndDoesNotApplyIsSeenAtTheLeader() throws Exception {
    try (LocalCluster cluster = LocalCluster.started(directory, 3);
        Connection connection = cluster.connect()) {
      TestSql.run(connection, "CREATE TABLE T(ID INT)");
      String stuck = cluster.follower();
      awaitBehind(connection, stuck, "= 0");
      BusyApply applying = new BusyApply(cluster.node(stuck).replica());
      try {
        for (int i = 0; i < 5; i++) {
          TestSql.run(connection, "INSERT INTO T VALUES (1)");
        }
        awaitBehind(connection, stuck, ">= 4");
      } finally {
        applying.close();
      }
      awaitBehind(connection, stuck, "= 0");
    }
  }

  private static void awaitBehind(Connection connection, String node, String entries) {
    await()
        .atMost(DEADLINE)
        .until(
            () ->
                TestSql.one(
                        connection,
                        "SELECT APPLIED_INDEX FROM TOLLGATE.NODES WHERE NODE_ID = '"
                            + node
                            + "' AND ENTRIES_BEHIND "
                            + entries)
                    != null);
  }
}
