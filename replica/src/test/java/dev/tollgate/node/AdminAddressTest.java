package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.node.admin.HttpCalls;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The admin address of a node that keeps its log in memory. */
@Timeout(120)
class AdminAddressTest {
  private static final Duration DEADLINE = Duration.ofSeconds(30);
  private static final String ROOT = HttpCalls.basic("root", "top secret");
  private static final String BILLING = HttpCalls.basic("billing", "a secret word");

  private Node node;

  @AfterEach
  void stop() {
    node.closeAtOnce();
  }

  private void startWithoutUsers() throws Exception {
    node = new Node(AdminNode.settings());
    start();
  }

  /** Starts a node with an administrator ROOT and a user BILLING. */
  private void startWithUsers() throws Exception {
    node = new Node(AdminNode.settings(), AdminNode.CONNECTIONS, AdminNode.root());
    start();
    try (Connection root = connect("user=root&password=top secret");
        Statement statement = root.createStatement()) {
      statement.execute("CREATE USER billing PASSWORD 'a secret word'");
    }
  }

  private void start() throws Exception {
    AdminNode.start(node);
  }

  private Connection connect(String properties) throws SQLException {
    return DriverManager.getConnection(
        "jdbc:tollgate://127.0.0.1:" + node.listenAddress().getPort() + "/?" + properties);
  }

  private HttpCalls.Reply get(String path, String... headers) throws IOException {
    return HttpCalls.get(node.adminAddress(), path, headers);
  }

  private int status(String path, String authorization) throws IOException {
    return get(path, "Authorization", authorization).status();
  }

  @Test
  void nodeWithoutTheSettingListensNowhere() throws Exception {
    node = new Node(LoopbackSettings.of("n1", null));
    node.start();
    assertNull(node.adminAddress());
  }

  @Test
  void withoutUsersEverybodyIsServed() throws Exception {
    startWithoutUsers();
    assertEquals(200, get("/metrics").status());
    assertEquals(200, get("/debug").status());
    assertEquals(404, get("/").status());
    assertEquals(405, HttpCalls.call(node.adminAddress(), "POST", "/metrics", "").status());
  }

  @Test
  void everyPageButHealthRequiresALogin() throws Exception {
    startWithUsers();
    for (String path : List.of("/metrics", "/debug", "/debug/threads", "/debug/state")) {
      HttpCalls.Reply refused = get(path);
      assertEquals(401, refused.status(), path);
      assertTrue(refused.headers().get("www-authenticate").startsWith("Basic "), path);
      assertFalse(refused.body().contains("n1"), "a stranger learns nothing: " + refused.body());
      assertEquals(401, status(path, HttpCalls.basic("root", "wrong")), path);
      assertEquals(401, status(path, "Bearer abc"), path);
      assertEquals(401, status(path, "Basic !"), path);
      assertEquals(200, status(path, ROOT), path);
    }
    assertEquals(200, get("/health/live").status());
    assertEquals("ready\n", get("/health/ready").body());
  }

  @Test
  void debugPagesAreForAdministratorsAndAuditorsAndMetricsForAllUsers() throws Exception {
    startWithUsers();
    assertEquals(200, status("/metrics", BILLING));
    HttpCalls.Reply refused = get("/debug/threads", "Authorization", BILLING);
    assertEquals(403, refused.status());
    assertEquals(
        "user 'BILLING' is no administrator, and has no right AUDIT ON CLUSTER\n", refused.body());
    try (Connection root = connect("user=root&password=top secret");
        Statement statement = root.createStatement()) {
      statement.execute("GRANT AUDIT ON CLUSTER TO billing");
      for (String path : List.of("/debug", "/debug/state", "/debug/threads")) {
        assertEquals(200, status(path, BILLING), path);
      }
      statement.execute("REVOKE AUDIT ON CLUSTER FROM billing");
      assertEquals(403, status("/debug/state", BILLING));
      statement.execute("GRANT MANAGE ON LOCKS TO billing");
      assertEquals(403, status("/debug/state", BILLING));
      statement.execute("DROP USER billing");
    }
    assertEquals(401, status("/metrics", BILLING), "a dropped user is not remembered");
  }

  @Test
  void failedLoginsAreDelayedAndThenRefused() throws Exception {
    startWithUsers();
    SQLException alike = null;
    while (alike == null) {
      int retryAfterSeconds = guessUntilRefused();
      long refusedNanos = System.nanoTime();
      try (Connection held = connect("user=billing&password=a secret word")) {
        // a login that has to wait for 2 s at most is held and not refused, and Retry-After is
        // rounded
        long stalledMillis = (System.nanoTime() - refusedNanos) / 1_000_000;
        assertTrue(
            stalledMillis >= (retryAfterSeconds - 3) * 1_000L,
            held + " was not refused, after " + stalledMillis + " ms");
      } catch (SQLException e) {
        alike = e;
      }
    }
    assertEquals("53300", alike.getSQLState(), "one count for both ports: " + alike.getMessage());
    assertEquals(200, status("/metrics", ROOT));
  }

  /** Returns after how many seconds the node would take a login. */
  private int guessUntilRefused() throws IOException {
    HttpCalls.Reply refused = null;
    for (int i = 0; i < 20 && (refused == null || refused.status() == 401); i++) {
      refused = get("/metrics", "Authorization", HttpCalls.basic("billing", "guess " + i));
    }
    assertEquals(429, refused.status());
    int retryAfterSeconds = Integer.parseInt(refused.headers().get("retry-after"));
    assertTrue(retryAfterSeconds >= 2);
    return retryAfterSeconds;
  }

  /** A page of another site may have its host name point here, in the browser of an operator. */
  @Test
  void withoutUsersTheHostHasToBeThisMachine() throws Exception {
    startWithoutUsers();
    assertEquals(403, get("/metrics", "Host", "evil.example:80").status());
    assertEquals(403, get("/debug/state", "Host", "evil.example").status());
    for (String host : List.of("localhost", "localhost:1", "127.0.0.1", "10.1.2.3:9", "[::1]:9")) {
      assertEquals(200, get("/metrics", "Host", host).status(), host);
    }
    assertEquals(200, get("/health/ready", "Host", "evil.example").status());
  }

  @Test
  void healthOfANodeThatStops() throws Exception {
    startWithoutUsers();
    assertEquals("live\n", get("/health/live").body());
    InetSocketAddress address = node.adminAddress();
    node.replica().failed(new IllegalStateException("on purpose"));
    await().atMost(DEADLINE).until(() -> HttpCalls.get(address, "/health/live").status() == 503);
    HttpCalls.Reply unready = HttpCalls.get(address, "/health/ready");
    assertEquals(503, unready.status());
    assertTrue(unready.body().contains("has stopped serving"), unready.body());
    assertEquals(1, scrape().value("tollgate_failed"));
    assertEquals(0, scrape().value("tollgate_ready"));
  }

  private Scrape scrape(String... headers) throws IOException {
    HttpCalls.Reply reply = get("/metrics", headers);
    assertEquals(200, reply.status());
    assertEquals("text/plain; version=0.0.4; charset=utf-8", reply.headers().get("content-type"));
    return Scrape.parse(reply.body());
  }

  @Test
  void scrapeSaysWhatANodeIsAndHas() throws Exception {
    startWithoutUsers();
    try (Connection connection = connect("");
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE t(id INT PRIMARY KEY)");
      statement.execute("INSERT INTO t VALUES (1)");
      Scrape scrape = scrape();
      assertEquals(1, scrape.value("tollgate_node{node=\"n1\",version=\"unknown\"}"));
      assertEquals(1, scrape.value("tollgate_leader"));
      assertEquals(1, scrape.value("tollgate_ready"));
      assertEquals(1, scrape.value("tollgate_sessions"));
      assertTrue(scrape.value("tollgate_connections") >= 1);
      assertTrue(scrape.value("tollgate_commit_seconds_count") >= 3);
      assertTrue(scrape.value("tollgate_apply_seconds_count") >= 3);
      assertTrue(scrape.value("tollgate_requests_total") >= 2);
      assertTrue(scrape.value("jvm_threads_live_threads") > 1);
      assertEquals(NodeSettings.MAX_CONNECTIONS, scrape.value("tollgate_connections_max"));
    }
  }

  @Test
  void locksMoveTheMetrics() throws Exception {
    startWithoutUsers();
    try (Connection holder = connect("");
        Connection waiter = connect("");
        Statement first = holder.createStatement();
        Statement second = waiter.createStatement()) {
      Scrape before = scrape();
      first.execute("CREATE TABLE t(id INT PRIMARY KEY) FENCED BY LOCK 'job'");
      first.execute("SELECT acquire_lock('job')");
      Thread waits = new Thread(() -> run(second, "SELECT acquire_lock('job')"));
      waits.start();
      await().atMost(DEADLINE).until(() -> scrape().value("tollgate_lock_waiters") == 1);
      assertEquals(1, scrape().value("tollgate_requests_waiting"));
      assertEquals(1, scrape().value("tollgate_locks_held"));
      first.execute("SELECT release_lock('job')");
      waits.join();
      assertThrows(SQLException.class, () -> first.execute("INSERT INTO t VALUES (1)"));
      first.execute("SELECT force_release_lock('job')");
      Scrape after = scrape();
      assertEquals(1, after.since(before, "tollgate_lock_grants_total{way=\"at_once\"}"));
      assertEquals(1, after.since(before, "tollgate_lock_grants_total{way=\"after_wait\"}"));
      assertEquals(1, after.since(before, "tollgate_lock_wait_seconds_count"));
      assertEquals(2, after.since(before, "tollgate_lock_hold_seconds_count"));
      assertEquals(1, after.since(before, "tollgate_locks_forced_total"));
      assertEquals(1, after.value("tollgate_table_writes_refused_total{table=\"PUBLIC.T\"}"));
      assertEquals(1, after.since(before, "tollgate_writes_refused_total"));
      assertEquals(0, after.value("tollgate_locks_held"));
      assertEquals(0, after.value("tollgate_lock_waiters"));
    }
  }

  @Test
  void leaseThatExpiresMovesTheMetrics() throws Exception {
    startWithoutUsers();
    try (Connection connection = connect("");
        Statement statement = connection.createStatement()) {
      long lease;
      try (ResultSet rows =
          statement.executeQuery("SELECT create_lease(INTERVAL '1' SECOND, 'test')")) {
        rows.next();
        lease = rows.getLong(1);
      }
      statement.execute("SELECT acquire_lock('job', " + lease + ")");
      assertEquals(1, scrape().value("tollgate_locks_held"));
      await().atMost(DEADLINE).until(() -> scrape().value("tollgate_leases_expired_total") == 1);
      Scrape scrape = scrape();
      assertEquals(1, scrape.value("tollgate_locks_lost_total{reason=\"lease_expired\"}"));
      assertEquals(0, scrape.value("tollgate_locks_held"));
    }
  }

  private static void run(Statement statement, String sql) {
    try {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void loginsAreCountedOnBothPorts() throws Exception {
    startWithUsers();
    Scrape before = scrape("Authorization", ROOT);
    get("/metrics", "Authorization", HttpCalls.basic("root", "wrong"));
    connect("user=billing&password=a secret word").close();
    Scrape after = scrape("Authorization", ROOT);
    assertTrue(after.since(before, "tollgate_logins_total") >= 1);
    assertEquals(
        1, after.since(before, "tollgate_logins_refused_total{reason=\"wrong_password\"}"));
  }

  @Test
  void debugPagesSayWhatTheNodeDoes() throws Exception {
    startWithoutUsers();
    assertEquals("/debug/state\n/debug/threads\n", get("/debug").body());
    String threads = get("/debug/threads").body();
    assertTrue(threads.contains("\"tollgate-n1-admin\" RUNNABLE"), threads);
    assertTrue(threads.contains("dev.tollgate.node.admin.DebugPages"), threads);
    String state = get("/debug/state").body();
    assertTrue(state.startsWith("node: n1\n"), state);
    assertTrue(state.contains("\nrole: LEADER\n"), state);
    assertTrue(state.contains("\nready: yes\n"), state);
  }
}
