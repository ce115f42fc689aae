package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.node.admin.HttpCalls;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What scripts get from a node that keeps its log in memory. */
@Timeout(120)
class ScriptsTest {
  private static final int LOOKS = 30;
  private static final Duration DEADLINE = Duration.ofSeconds(30);
  private static final Duration BEFORE_THE_WAIT_ENDS = Duration.ofSeconds(15);
  private static final List<String> REQUESTS =
      List.of(
          "GET /v1/leases",
          "POST /v1/leases",
          "GET /v1/leases/1",
          "PUT /v1/leases/1",
          "DELETE /v1/leases/1",
          "GET /v1/locks/job",
          "POST /v1/locks/job",
          "PUT /v1/locks/job",
          "DELETE /v1/locks/job?lease=1",
          "POST /v1/sql");
  private static final String ROOT = HttpCalls.basic("root", "top secret");
  private static final String BILLING = HttpCalls.basic("billing", "a secret word");

  private final List<Socket> sockets = new ArrayList<>();
  private Node node;

  @AfterEach
  void stop() throws IOException {
    for (Socket socket : sockets) {
      socket.close();
    }
    node.closeAtOnce();
  }

  /** Begins a request for a lock on a connection of its own, and does not read the answer. */
  private Socket send(String path, String body, String... headers) throws IOException {
    return sendPart(path, body.length(), body, headers);
  }

  private Socket sendPart(String path, int length, String part, String... headers)
      throws IOException {
    StringBuilder head = new StringBuilder("POST " + path + " HTTP/1.1\r\nHost: 127.0.0.1\r\n");
    for (int i = 0; i < headers.length; i += 2) {
      head.append(headers[i]).append(": ").append(headers[i + 1]).append("\r\n");
    }
    head.append("Content-Type: application/json\r\nContent-Length: ").append(length);
    Socket socket = HttpCalls.connect(node.adminAddress());
    sockets.add(socket);
    socket
        .getOutputStream()
        .write((head + "\r\n\r\n" + part).getBytes(StandardCharsets.ISO_8859_1));
    return socket;
  }

  private void startWithoutUsers() throws Exception {
    node = new Node(AdminNode.settings());
    start();
  }

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

  private HttpCalls.Reply call(String method, String path, String body, String... headers)
      throws IOException {
    List<String> all = new ArrayList<>(List.of(headers));
    if (!body.isEmpty()) {
      all.add("Content-Type");
      all.add("application/json");
    }
    return HttpCalls.call(node.adminAddress(), method, path, body, all.toArray(String[]::new));
  }

  private String ok(String method, String path, String body, String... headers) throws IOException {
    HttpCalls.Reply reply = call(method, path, body, headers);
    assertEquals(2, reply.status() / 100, reply.toString());
    return reply.body().strip();
  }

  private HttpCalls.Reply refused(int status, String state, String method, String path, String body)
      throws IOException {
    HttpCalls.Reply reply = call(method, path, body);
    assertEquals(status, reply.status(), reply.toString());
    assertTrue(
        reply.body().startsWith("{\"error\":{\"sql_state\":\"" + state + "\""), reply.body());
    assertEquals("application/json; charset=utf-8", reply.headers().get("content-type"));
    return reply;
  }

  private HttpCalls.Reply sql(String sql) throws IOException {
    return call("POST", "/v1/sql", "{\"sql\":\"" + sql + "\"}");
  }

  private static long number(String name, String json) {
    Matcher matcher = Pattern.compile("\"" + name + "\":(\\d+)").matcher(json);
    assertTrue(matcher.find(), json);
    return Long.parseLong(matcher.group(1));
  }

  private long lease(String ttl, String... headers) throws IOException {
    return number("lease", ok("POST", "/v1/leases", "{\"ttl\":\"" + ttl + "\"}", headers));
  }

  @Test
  void lockIsAcquiredRenewedShownAndReleased() throws Exception {
    startWithoutUsers();
    long lease = lease("60s");
    String path = "/v1/locks/order%2F17+%C3%A9";
    String granted = ok("POST", path, "{\"lease\":" + lease + "}");
    long token = number("token", granted);
    assertEquals(
        "{\"lock\":\"order/17+é\",\"lease\":" + lease + ",\"token\":" + token + "}", granted);
    assertEquals(granted, ok("POST", path, "{\"lease\":\"" + lease + "\"}"), "a lease holds once");
    try (Connection connection = connect("");
        Statement statement = connection.createStatement();
        ResultSet row =
            statement.executeQuery("SELECT lock_name, token, lease_id FROM tollgate.locks")) {
      assertTrue(row.next());
      assertEquals("order/17+é", row.getString(1));
      assertEquals(token, row.getLong(2));
      assertEquals(lease, row.getLong(3));
    }
    String held = ok("GET", path, "");
    assertTrue(held.startsWith("{\"lock\":\"order/17+é\",\"held\":true,\"kept\":false,"), held);
    assertEquals(token, number("token", held));
    String holder = "{\"lease\":" + lease + ",\"token\":" + token + "}";
    assertTrue(number("remaining_ms", ok("PUT", path, holder)) > 50_000);
    refused(409, "23T01", "PUT", path, "{\"lease\":" + lease + ",\"token\":" + (token + 1) + "}");
    assertEquals(
        "{\"lock\":\"order/17+é\",\"released\":true}", ok("DELETE", path + "?lease=" + lease, ""));
    assertEquals(
        "{\"lock\":\"order/17+é\",\"released\":false}", ok("DELETE", path + "?lease=" + lease, ""));
    assertEquals(
        "{\"lock\":\"order/17+é\",\"held\":false,\"kept\":false,\"waiters\":0,\"holders\":[]}",
        ok("GET", path, ""));
    refused(409, "23T01", "PUT", path, holder);
  }

  @Test
  void heldLockIsAConflictAndAWaitEndsWithTheGrant() throws Exception {
    startWithoutUsers();
    long first = lease("60s");
    ok("POST", "/v1/locks/job", "{\"lease\":" + first + "}");
    HttpCalls.Reply conflict = call("POST", "/v1/locks/job", "{\"ttl\":\"30s\"}");
    assertEquals(409, conflict.status());
    assertTrue(conflict.body().contains("\"token\":null"), conflict.body());
    assertEquals(
        404,
        call("GET", "/v1/leases/" + number("lease", conflict.body()), "").status(),
        "a new lease that got no lock is revoked");
    CompletableFuture<String> waiting =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return ok("POST", "/v1/locks/job", "{\"ttl\":\"60s\",\"wait\":\"30s\"}");
              } catch (IOException e) {
                throw new IllegalStateException(e);
              }
            });
    await().atMost(DEADLINE).until(() -> ok("GET", "/v1/locks/job", "").contains("\"waiters\":1"));
    ok("DELETE", "/v1/locks/job?lease=" + first, "");
    long second = number("lease", waiting.get(20, TimeUnit.SECONDS));
    assertNotEquals(first, second);
    assertEquals(second, number("lease", ok("GET", "/v1/locks/job", "")));
    assertEquals(
        "{\"lock\":\"job\",\"released\":true}", ok("DELETE", "/v1/locks/job?force=true", ""));
  }

  @Test
  void definitionEndsNoRequestThatOnlyLooks() throws Exception {
    startWithoutUsers();
    long lease = lease("10m");
    AtomicBoolean over = new AtomicBoolean();
    CompletableFuture<Integer> definitions =
        CompletableFuture.supplyAsync(
            () -> {
              int done = 0;
              try {
                for (; !over.get(); done++) {
                  ok("POST", "/v1/sql", "{\"sql\":\"CREATE TABLE T(ID INT)\"}");
                  ok("POST", "/v1/sql", "{\"sql\":\"DROP TABLE T\"}");
                }
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              }
              return done;
            });
    try {
      for (int i = 0; i < LOOKS; i++) {
        ok("GET", "/v1/leases/" + lease, "");
        ok("GET", "/v1/locks/job", "");
        ok("GET", "/v1/leases", "");
      }
    } finally {
      over.set(true);
    }
    assertTrue(definitions.get(30, TimeUnit.SECONDS) > 0);
  }

  @Test
  void sharedLockHasSeveralHolders() throws Exception {
    startWithoutUsers();
    ok("POST", "/v1/locks/doc", "{\"ttl\":\"60s\",\"shared\":true}");
    ok("POST", "/v1/locks/doc", "{\"ttl\":\"60s\",\"shared\":true}");
    assertEquals(409, call("POST", "/v1/locks/doc", "{\"ttl\":\"60s\"}").status());
    assertEquals(3, ok("GET", "/v1/locks/doc", "").split("\"mode\":\"SHARED\"", -1).length);
  }

  @Test
  void keptLockIsNobodys() throws Exception {
    startWithoutUsers();
    long lease = lease("60s");
    ok("POST", "/v1/locks/hourly", "{\"lease\":" + lease + "}");
    ok("DELETE", "/v1/locks/hourly?lease=" + lease + "&keep=10m", "");
    assertEquals(409, call("POST", "/v1/locks/hourly", "{\"lease\":" + lease + "}").status());
    assertTrue(ok("GET", "/v1/locks/hourly", "").contains("\"held\":false,\"kept\":true"));
  }

  @Test
  void leasesAreListedRenewedAndRevoked() throws Exception {
    startWithoutUsers();
    long one =
        number("lease", ok("POST", "/v1/leases", "{\"ttl\":60000,\"owner\":\"a \\\"b\\\"\"}"));
    long two = lease("2m");
    assertTrue(
        ok("GET", "/v1/leases/" + one, "").contains("\"owner\":\"a \\\"b\\\"\",\"ttl_ms\":60000"));
    String page = ok("GET", "/v1/leases?limit=1", "");
    assertEquals(one, number("lease", page));
    assertEquals(one, number("next_after", page));
    page = ok("GET", "/v1/leases?limit=1&after=" + one, "");
    assertEquals(two, number("lease", page));
    assertTrue(page.endsWith("\"next_after\":null}"), page);
    assertTrue(number("remaining_ms", ok("PUT", "/v1/leases/" + two, "")) > 100_000);
    assertEquals("{\"lease\":" + two + ",\"revoked\":true}", ok("DELETE", "/v1/leases/" + two, ""));
    assertEquals(
        "{\"lease\":" + two + ",\"revoked\":false}", ok("DELETE", "/v1/leases/" + two, ""));
    refused(410, "55T01", "PUT", "/v1/leases/" + two, "");
    refused(404, "22023", "GET", "/v1/leases/" + two, "");
    refused(410, "55T01", "POST", "/v1/locks/job", "{\"lease\":" + two + "}");
  }

  @Test
  void statementHasParametersAndRows() throws Exception {
    startWithoutUsers();
    assertEquals(
        "{\"updated\":0}\n", sql("CREATE TABLE t(id INT PRIMARY KEY, v VARCHAR(20))").body());
    assertEquals(
        "{\"updated\":2}",
        ok(
            "POST",
            "/v1/sql",
            "{\"sql\":\"INSERT INTO t VALUES (?, ?), (?, ?)\",\"parameters\":[1,\"x\",2,null]}"));
    assertEquals(
        "{\"columns\":[{\"name\":\"ID\",\"type\":\"INTEGER\"},{\"name\":\"V\",\"type\":\"CHARACTER"
            + " VARYING\"}],\"rows\":[\n[1,\"x\"],\n[2,null]],\"truncated\":false}",
        ok("POST", "/v1/sql", "{\"sql\":\"SELECT * FROM t ORDER BY id\"}"));
    assertTrue(
        ok("POST", "/v1/sql", "{\"sql\":\"SELECT * FROM t ORDER BY id\",\"max_rows\":1}")
            .endsWith("\"rows\":[\n[1,\"x\"]],\"truncated\":true}"));
    assertTrue(
        ok(
                "POST",
                "/v1/sql",
                "{\"sql\":\"SELECT id FROM t WHERE id = ANY(?)\",\"parameters\":[[2,3]]}")
            .contains("\n[2]]"));
    refused(409, "23505", "POST", "/v1/sql", "{\"sql\":\"INSERT INTO t VALUES (1, 'y')\"}");
    refused(400, "42S02", "POST", "/v1/sql", "{\"sql\":\"SELECT * FROM nowhere\"}");
  }

  @Test
  void valuesOfAllKindsAreJson() throws Exception {
    startWithoutUsers();
    String rows =
        ok(
            "POST",
            "/v1/sql",
            "{\"sql\":\"SELECT TRUE, CAST(9223372036854775807 AS BIGINT), 1.50, CAST(0.5 AS DOUBLE"
                + " PRECISION), CAST('NaN' AS REAL), CAST('Infinity' AS DECFLOAT), CAST(1E5 AS"
                + " DECFLOAT), X'00ff', DATE '2026-11-24', JSON '{\\\"a\\\":[1]}', ARRAY[1, NULL],"
                + " NULL, 'a\\\"b'\"}");
    assertTrue(
        rows.contains(
            "\n[true,9223372036854775807,1.50,0.5,\"NaN\",\"Infinity\",1E+5,\"00ff\",\"2026-11-24\","
                + "{\"a\":[1]},[1,null],null,\"a\\\"b\"]]"),
        rows);
  }

  @Test
  void largeResultComesInPages() throws Exception {
    startWithoutUsers();
    String rows =
        ok(
            "POST",
            "/v1/sql",
            "{\"sql\":\"SELECT x, REPEAT('a', 500) FROM SYSTEM_RANGE(1, 3000)\",\"max_rows\":2500}");
    assertTrue(rows.length() > 1_250_000);
    assertTrue(rows.contains("\n[2500,") && !rows.contains("\n[2501,"));
    assertTrue(rows.endsWith("\"truncated\":true}"));
    String cut =
        ok(
            "POST",
            "/v1/sql",
            "{\"sql\":\"SELECT x, REPEAT('a', 10000) FROM SYSTEM_RANGE(1, 3000)\",\"max_rows\":3000}");
    assertTrue(cut.length() < 2_200_000 && cut.endsWith("\"truncated\":true}"));
  }

  /**
   * With escapes, a text may be six times as long as its characters, and needs room several times.
   */
  @Test
  void rowOfAResultIsBounded() throws Exception {
    startWithoutUsers();
    String half = "REPEAT('a', 500000), ";
    ok("POST", "/v1/sql", "{\"sql\":\"SELECT " + half + half + "1\"}");
    assertTrue(
        refused(413, "54000", "POST", "/v1/sql", "{\"sql\":\"SELECT " + half.repeat(3) + "1\"}")
            .body()
            .contains("over HTTP at most 1048576"));
  }

  @Test
  void nothingOfASessionCanBeUsed() throws Exception {
    startWithoutUsers();
    for (String sql :
        List.of(
            "BEGIN",
            " commit",
            "ROLLBACK",
            "SAVEPOINT a",
            "SET SCHEMA public",
            "/* a */ -- b\\n(BEGIN",
            "// c\\nSET @x = 1",
            " ".repeat(900_000) + "BEGIN",
            "/**/".repeat(200_000) + "BEGIN")) {
      assertTrue(
          refused(400, "HYC00", "POST", "/v1/sql", "{\"sql\":\"" + sql + "\"}")
              .body()
              .contains("each request has a session and a transaction of its own"));
    }
    refused(410, "55T01", "POST", "/v1/sql", "{\"sql\":\"SELECT acquire_lock('job')\"}");
    ok("POST", "/v1/sql", "{\"sql\":\"VALUES (1 + try_acquire_lock('job'))\"}");
    await().atMost(DEADLINE).until(() -> ok("GET", "/v1/locks/job", "").contains("\"held\":false"));
  }

  @Test
  void sessionsEnd() throws Exception {
    startWithoutUsers();
    for (int i = 0; i < 20; i++) {
      assertEquals(200, sql("SELECT 1").status());
      ok("GET", "/v1/leases", "");
    }
    try (Connection connection = connect("");
        Statement statement = connection.createStatement()) {
      await()
          .atMost(DEADLINE)
          .until(
              () -> {
                try (ResultSet row =
                    statement.executeQuery(
                        "SELECT COUNT(*) FROM tollgate.sessions WHERE application = 'http'")) {
                  return row.next() && row.getInt(1) == 1;
                }
              });
    }
  }

  @Test
  void statementBeyondItsTimeIsCanceled() throws Exception {
    startWithoutUsers();
    String slow =
        "SELECT COUNT(*) FROM SYSTEM_RANGE(1, 100000) a, SYSTEM_RANGE(1, 1000000) b WHERE a.x + b.x"
            + " = 7";
    refused(504, "57014", "POST", "/v1/sql", "{\"sql\":\"" + slow + "\",\"timeout\":\"300ms\"}");
  }

  @Test
  void wrongRequestsAreRefusedInJson() throws Exception {
    startWithoutUsers();
    String job = "/v1/locks/job";
    assertTrue(
        refused(400, "22023", "POST", job, "{\"ttl\":\"5s\",\"sharde\":true}")
            .body()
            .contains("there is no \\\"sharde\\\" here: only lease, owner, shared, ttl, wait"));
    refused(400, "22023", "POST", job, "{}");
    assertTrue(
        refused(400, "22023", "POST", job + "?wait=5s", "{\"ttl\":\"9s\"}")
            .body()
            .contains("no parameters in its query"));
    assertTrue(
        refused(400, "22023", "DELETE", job + "?lease=1", "{\"keep\":\"5s\"}")
            .body()
            .contains("this request has no body"));
    refused(400, "22023", "POST", job, "{\"lease\":1,\"ttl\":\"5s\"}");
    refused(400, "22023", "POST", job, "{\"ttl\":\"5s\",\"wait\":\"6s\"}");
    refused(400, "22023", "POST", job, "{\"lease\":1,\"wait\":\"31s\"}");
    refused(400, "22023", "POST", job, "{\"lease\":1.5}");
    refused(400, "22023", "POST", job, "[]");
    refused(400, "22023", "POST", job, "{\"lease\":0}");
    refused(400, "22023", "PUT", job, "{\"lease\":-1,\"token\":1}");
    refused(400, "22023", "DELETE", job + "?lease=0", "");
    for (String half : List.of("\\ud800", "\\udc00", "\\udc00\\ud800", "x\\ud800x")) {
      refused(400, "22021", "POST", "/v1/sql", "{\"sql\":\"VALUES '" + half + "'\"}");
      refused(400, "22021", "POST", "/v1/leases", "{\"ttl\":\"5s\",\"owner\":\"" + half + "\"}");
    }
    assertTrue(sql("VALUES '\\ud83d\\ude00'").body().contains("\ud83d\ude00"));
    refused(400, "22023", "POST", "/v1/locks/a/b", "{\"lease\":1}");
    refused(400, "22023", "POST", "/v1/locks/", "{\"lease\":1}");
    refused(400, "22023", "GET", "/v1/locks/" + "x".repeat(300) + "/renew", "");
    refused(400, "22023", "DELETE", job, "");
    refused(400, "22023", "DELETE", job + "?lease=1&force=true", "");
    refused(400, "22023", "GET", "/v1/leases/x", "");
    refused(400, "22023", "POST", "/v1/leases", "{\"ttl\":\"48h\"}");
    assertTrue(
        refused(
                400,
                "22023",
                "POST",
                "/v1/sql",
                "{\"sql\":\"SELECT ?\",\"parameters\":[[1.5,22.75]]}")
            .body()
            .contains("write elements of one type"));
    assertTrue(
        ok(
                "POST",
                "/v1/sql",
                "{\"sql\":\"SELECT CAST(? AS DECIMAL(9, 2) ARRAY)\",\"parameters\":[[\"1.5\",\"22.75\"]]}")
            .contains("[1.50,22.75]"));
    refused(400, "22023", "POST", "/v1/sql", "{\"sql\":\"SELECT ?\",\"parameters\":[{}]}");
    refused(404, "HYC00", "GET", "/v1/nothing", "");
    refused(405, "HYC00", "GET", "/v1/sql", "");
    refused(413, "54000", "POST", "/v1/sql", "{\"sql\":\"" + " ".repeat(1 << 20) + "\"}");
    HttpCalls.Reply form =
        HttpCalls.call(node.adminAddress(), "POST", "/v1/sql", "{\"sql\":\"SELECT 1\"}");
    assertEquals(415, form.status(), "a form of a foreign page");
  }

  @Test
  void usersHaveTheirRights() throws Exception {
    startWithUsers();
    HttpCalls.Reply stranger = call("GET", "/v1/leases", "");
    assertEquals(401, stranger.status());
    assertTrue(stranger.body().startsWith("{\"error\":{\"sql_state\":\"28000\""), stranger.body());
    assertTrue(stranger.headers().get("www-authenticate").startsWith("Basic "));
    long lease = lease("60s", "Authorization", BILLING);
    String acquire = "{\"lease\":" + lease + "}";
    HttpCalls.Reply refused = call("POST", "/v1/locks/job", acquire, "Authorization", BILLING);
    assertEquals(403, refused.status(), refused.body());
    assertTrue(refused.body().contains("\"42501\""), refused.body());
    ok("POST", "/v1/sql", "{\"sql\":\"GRANT LOCK ON 'job' TO billing\"}", "Authorization", ROOT);
    ok("POST", "/v1/locks/job", acquire, "Authorization", BILLING);
    ok("POST", "/v1/sql", "{\"sql\":\"CREATE TABLE t(id INT)\"}", "Authorization", ROOT);
    assertEquals(
        403,
        call("POST", "/v1/sql", "{\"sql\":\"SELECT * FROM t\"}", "Authorization", BILLING)
            .status());
    assertFalse(
        ok("GET", "/v1/leases", "", "Authorization", BILLING).contains("ROOT"),
        "a user sees its own leases");
    ok("POST", "/v1/sql", "{\"sql\":\"DROP USER billing\"}", "Authorization", ROOT);
    assertEquals(401, call("GET", "/v1/leases", "", "Authorization", BILLING).status());
  }

  @Test
  void everyRequestNeedsALogin() throws Exception {
    startWithUsers();
    for (String request : REQUESTS) {
      String method = request.split(" ", -1)[0];
      String path = request.split(" ", -1)[1];
      HttpCalls.Reply stranger = call(method, path, "");
      assertEquals(401, stranger.status(), request);
      assertTrue(stranger.body().contains("\"sql_state\":\"28000\""), stranger.body());
      HttpCalls.Reply wrong =
          call(method, path, "", "Authorization", HttpCalls.basic("nobody" + method, "x"));
      assertEquals(401, wrong.status(), request);
    }
  }

  /** Each right of SQL is a right here: the states are those of JDBC. */
  @Test
  void userWithoutARightIsRefusedWithItsState() throws Exception {
    startWithUsers();
    ok("POST", "/v1/sql", "{\"sql\":\"CREATE TABLE t(id INT)\"}", "Authorization", ROOT);
    long roots = lease("60s", "Authorization", ROOT);
    String granted =
        ok("POST", "/v1/locks/job", "{\"lease\":" + roots + "}", "Authorization", ROOT);
    String held = "{\"lease\":" + roots + ",\"token\":" + number("token", granted) + "}";
    ok("POST", "/v1/sql", "{\"sql\":\"GRANT LOCK ON 'own' TO billing\"}", "Authorization", ROOT);
    long own = lease("60s", "Authorization", BILLING);
    for (String[] request :
        new String[][] {
          {"42501", "POST", "/v1/locks/job", "{\"lease\":" + own + "}"},
          {"42501", "POST", "/v1/locks/job", "{\"ttl\":\"60s\"}"},
          {"42501", "DELETE", "/v1/locks/job?force=true", ""},
          {"90096", "POST", "/v1/sql", "{\"sql\":\"INSERT INTO t VALUES (1)\"}"},
          {"90096", "POST", "/v1/sql", "{\"sql\":\"DROP TABLE t\"}"},
          {"42501", "POST", "/v1/sql", "{\"sql\":\"CREATE USER other PASSWORD 'some password'\"}"},
          {"42501", "POST", "/v1/sql", "{\"sql\":\"CALL upgrade_cluster()\"}"},
          {"42501", "POST", "/v1/locks/own", "{\"lease\":" + roots + "}"},
          {"42501", "GET", "/v1/locks/job", ""},
          {"42501", "PUT", "/v1/locks/job", held},
          {"42501", "DELETE", "/v1/locks/job?lease=" + roots, ""},
          {"42501", "PUT", "/v1/leases/" + roots, ""},
          {"42501", "DELETE", "/v1/leases/" + roots, ""},
        }) {
      HttpCalls.Reply reply = call(request[1], request[2], request[3], "Authorization", BILLING);
      assertEquals(403, reply.status(), String.join(" ", request) + reply);
      assertTrue(
          reply.body().startsWith("{\"error\":{\"sql_state\":\"" + request[0] + "\""),
          String.join(" ", request) + reply);
    }
    HttpCalls.Reply hidden = call("GET", "/v1/leases/" + roots, "", "Authorization", BILLING);
    assertEquals(404, hidden.status(), hidden.toString());
    assertTrue(
        ok("GET", "/v1/locks/job", "", "Authorization", ROOT).contains("\"held\":true"),
        "the lock is still ROOT's");
  }

  @Test
  void requestsBeyondTheLimitAreRefusedAndHealthIsServed() throws Exception {
    startWithoutUsers();
    for (int i = 0; i < 12; i++) {
      sendPart("/v1/sql", 100, "{");
    }
    await()
        .atMost(DEADLINE)
        .untilAsserted(
            () -> assertTrue(busy("GET", "/v1/leases", "").contains("12 requests of scripts")));
    assertEquals(200, HttpCalls.get(node.adminAddress(), "/health/ready").status());
    assertEquals(200, HttpCalls.get(node.adminAddress(), "/metrics").status());
    for (Socket socket : sockets) {
      socket.close();
    }
    await().atMost(DEADLINE).until(() -> call("GET", "/v1/leases", "").status() == 200);
  }

  private String busy(String method, String path, String body, String... headers)
      throws IOException {
    HttpCalls.Reply reply = call(method, path, body, headers);
    assertEquals(503, reply.status(), reply.toString());
    assertEquals("1", reply.headers().get("retry-after"));
    assertTrue(reply.body().contains("\"53T01\""), reply.body());
    return reply.body();
  }

  @Test
  void requestsOfAUserBeyondTheLimitAreRefusedAndOthersAreServed() throws Exception {
    startWithUsers();
    for (int i = 0; i < 7; i++) {
      sendPart("/v1/sql", 100, "{", "Authorization", BILLING);
    }
    await()
        .atMost(DEADLINE)
        .untilAsserted(
            () -> {
              // some may be refused while too many passwords are checked
              sendPart("/v1/sql", 100, "{", "Authorization", BILLING);
              assertTrue(
                  busy("GET", "/v1/leases", "", "Authorization", BILLING)
                      .contains("8 requests of user 'BILLING'"));
            });
    ok("GET", "/v1/leases", "", "Authorization", ROOT);
  }

  @Test
  void waitsBeyondTheLimitAreRefusedAndOtherRequestsAreServed() throws Exception {
    startWithoutUsers();
    long holder = lease("60s");
    ok("POST", "/v1/locks/job", "{\"lease\":" + holder + "}");
    for (int i = 0; i < 6; i++) {
      send("/v1/locks/job", "{\"ttl\":\"60s\",\"wait\":\"30s\"}");
    }
    await().atMost(DEADLINE).until(() -> ok("GET", "/v1/locks/job", "").contains("\"waiters\":6"));
    assertTrue(
        busy("POST", "/v1/locks/other", "{\"ttl\":\"60s\",\"wait\":\"1s\"}")
            .contains("6 requests of scripts that wait for a lock"));
    ok("POST", "/v1/locks/other", "{\"ttl\":\"60s\"}");
  }

  /** A holder of the lock, and a client that waits for it and goes. */
  private void leaveTheQueue(String waiting, Departure departure) throws Exception {
    long holder = lease("60s");
    ok("POST", "/v1/locks/job", "{\"lease\":" + holder + "}");
    Socket gone = send("/v1/locks/job", waiting);
    await().atMost(DEADLINE).until(() -> ok("GET", "/v1/locks/job", "").contains("\"waiters\":1"));
    departure.of(gone);
    await()
        .atMost(BEFORE_THE_WAIT_ENDS)
        .until(() -> ok("GET", "/v1/locks/job", "").contains("\"waiters\":0"));
    ok("DELETE", "/v1/locks/job?lease=" + holder, "");
    assertTrue(ok("GET", "/v1/locks/job", "").contains("\"held\":false"));
  }

  /** How a client goes. */
  private interface Departure {
    void of(Socket socket) throws IOException;
  }

  @Test
  void waitEndsWithTheConnectionOfItsClient() throws Exception {
    startWithoutUsers();
    long waiting = lease("60s");
    String named = "{\"lease\":" + waiting + ",\"wait\":\"30s\"}";
    leaveTheQueue(named, Socket::close);
    leaveTheQueue(named, Socket::shutdownOutput);
    leaveTheQueue("{\"lease\":" + waiting + ",\"wait\":\"30s\",\"shared\":true}", Socket::close);
    leaveTheQueue("{\"ttl\":\"60s\",\"wait\":\"30s\"}", Socket::close);
    leaveTheQueue(
        named,
        socket -> {
          socket.setSoLinger(true, 0);
          socket.close();
        });
    ok("PUT", "/v1/leases/" + waiting, "");
  }

  /** Its new lease is known to nobody, and would hold the lock or be kept until its ttl is over. */
  @Test
  void leaseOfAGoneClientIsRevoked() throws Exception {
    startWithoutUsers();
    leaveTheQueue("{\"ttl\":\"24h\",\"wait\":\"30s\",\"owner\":\"gone\"}", Socket::close);
    await().atMost(DEADLINE).until(() -> !ok("GET", "/v1/leases", "").contains("gone"));
  }

  @Test
  void waitOnAConnectionThatIsUsedAgainEndsWithIt() throws Exception {
    startWithoutUsers();
    long waiting = lease("60s");
    leaveTheQueue("{\"lease\":" + waiting + "}", "{\"lease\":" + waiting + ",\"wait\":\"30s\"}");
  }

  /** The first request is for another lock, and is answered. */
  private void leaveTheQueue(String first, String waiting) throws Exception {
    long holder = lease("60s");
    ok("POST", "/v1/locks/job", "{\"lease\":" + holder + "}");
    Socket kept = send("/v1/locks/free", first);
    assertEquals(200, HttpCalls.read(kept).status());
    String head =
        "POST /v1/locks/job HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            + "Content-Length: "
            + waiting.length()
            + "\r\n\r\n";
    kept.getOutputStream().write((head + waiting).getBytes(StandardCharsets.ISO_8859_1));
    await().atMost(DEADLINE).until(() -> ok("GET", "/v1/locks/job", "").contains("\"waiters\":1"));
    kept.close();
    await()
        .atMost(BEFORE_THE_WAIT_ENDS)
        .until(() -> ok("GET", "/v1/locks/job", "").contains("\"waiters\":0"));
  }

  /** Has the holder release a lock, and then a client that waits for it go: the grant wins. */
  @SuppressWarnings("try") // what makes the replica busy is there to be closed
  private void releaseAndLeave(long holder, Socket gone) throws Exception {
    try (RawClient other = new RawClient(node.listenAddress())) {
      other.hello();
      other.call(
          new Request.OpenSession(
              60_000, 60_000, new Request.SessionOptions(ReadConsistency.LINEARIZABLE, 0)));
      String release = "SELECT release_lock('job', " + holder + ")";
      other.call(RawClient.execute(1, "SELECT release_lock('known', " + holder + ")"));
      try (BusyApply busy = new BusyApply(node.replica())) {
        other.write(RawClient.execute(2, release));
        // the node proposes a statement that it knows before it reads on
        assertEquals(new Reply.Ok(), other.call(new Request.Ping()));
        gone.close();
        // its loop, of one thread, has read the end of that connection before it answers this one
        assertEquals(200, HttpCalls.get(node.adminAddress(), "/health/live").status());
      }
    }
  }

  @Test
  void lockThatIsGrantedToTheNewLeaseOfAGoneClientIsReleased() throws Exception {
    startWithoutUsers();
    long holder = lease("60s");
    ok("POST", "/v1/locks/job", "{\"lease\":" + holder + "}");
    Socket gone = send("/v1/locks/job", "{\"ttl\":\"60s\",\"wait\":\"30s\"}");
    await().atMost(DEADLINE).until(() -> ok("GET", "/v1/locks/job", "").contains("\"waiters\":1"));
    releaseAndLeave(holder, gone);
    ok("POST", "/v1/locks/job", "{\"lease\":" + holder + ",\"wait\":\"20s\"}");
  }

  /** A script repeats a request whose connection broke, as docs/http.md says that it may. */
  @Test
  void goneClientTakesNothingFromTheRequestThatRepeatsIts() throws Exception {
    startWithoutUsers();
    long holder = lease("60s");
    long lease = lease("60s");
    ok("POST", "/v1/locks/job", "{\"lease\":" + holder + "}");
    ok("POST", "/v1/locks/other", "{\"lease\":" + holder + "}");
    String wait = "{\"lease\":" + lease + ",\"wait\":\"30s\"}";
    Socket gone = send("/v1/locks/job", wait);
    Socket again = send("/v1/locks/job", wait);
    await().atMost(DEADLINE).until(() -> ok("GET", "/v1/locks/job", "").contains("\"waiters\":2"));
    releaseAndLeave(holder, gone);
    assertEquals(200, HttpCalls.read(again).status());
    // as many waits as there may be, until the request of the client that is gone has ended
    for (int i = 0; i < 5; i++) {
      send("/v1/locks/other", wait);
    }
    await()
        .atMost(DEADLINE)
        .until(
            () ->
                call("POST", "/v1/locks/other", "{\"lease\":" + lease + ",\"wait\":\"1ms\"}")
                        .status()
                    == 409);
    assertTrue(ok("GET", "/v1/locks/job", "").contains("\"lease\":" + lease));
  }

  /** A wait for a lock, for a row, and a query that takes its time. */
  @Test
  void statementEndsWithTheConnectionOfItsClient() throws Exception {
    startWithoutUsers();
    sql("CREATE TABLE t(id INT PRIMARY KEY)");
    sql("INSERT INTO t VALUES (1)");
    long waiting = lease("60s");
    try (Connection holder = connect("lockTimeout=1m");
        Statement statement = holder.createStatement()) {
      statement.execute("SELECT acquire_lock('job')");
      holder.setAutoCommit(false);
      statement.execute("UPDATE t SET id = 2");
      for (String sql :
          List.of(
              "SELECT acquire_lock('job', " + waiting + ", 30000)",
              "UPDATE t SET id = 3",
              "SELECT COUNT(*) FROM SYSTEM_RANGE(1, 1000000) A, SYSTEM_RANGE(1, 1000000) B"
                  + " WHERE A.X + B.X = 1")) {
        Socket gone = send("/v1/sql", "{\"sql\":\"" + sql + "\",\"timeout\":\"30s\"}");
        await().atMost(DEADLINE).until(() -> underWay() == 1);
        gone.close();
        await().atMost(BEFORE_THE_WAIT_ENDS).until(() -> underWay() == 0);
      }
      holder.rollback();
    }
    assertTrue(sql("SELECT id FROM t").body().contains("[1]"));
    assertTrue(ok("GET", "/v1/leases", "").contains("\"lease\":" + waiting));
  }

  /** Statements that wait or run. */
  private long underWay() throws IOException {
    Matcher counts =
        Pattern.compile("(?:waiting_requests|running_queries)\\D+(\\d+)")
            .matcher(ok("GET", "/debug/state", ""));
    return counts.results().mapToLong(count -> Long.parseLong(count.group(1))).sum();
  }

  @Test
  void refusalsNameTheirLimits() throws Exception {
    startWithoutUsers();
    String ones = "1,".repeat(10_000) + "1";
    for (String[] expected :
        new String[][] {
          {
            "10001 parameters: at most 10000",
            "POST",
            "/v1/sql",
            "{\"sql\":\"SELECT 1\",\"parameters\":[" + ones + "]}"
          },
          {
            "deeper than 8",
            "POST",
            "/v1/sql",
            "{\"sql\":\"SELECT ?\",\"parameters\":[[[[[[[[[1]]]]]]]]]}"
          },
          {"at most 400", "POST", "/v1/leases", "{\"ttl\":" + "1".repeat(401) + "}"},
          {
            "\\\"max_rows\\\" has to be 1 to 10000",
            "POST",
            "/v1/sql",
            "{\"sql\":\"SELECT 1\",\"max_rows\":10001}"
          },
          {
            "\\\"timeout\\\" has to be at most 30s",
            "POST",
            "/v1/sql",
            "{\"sql\":\"SELECT 1\",\"timeout\":30001}"
          },
          {
            "\\\"wait\\\" has to be at most 30s",
            "POST",
            "/v1/locks/job",
            "{\"lease\":1,\"wait\":\"31s\"}"
          },
          {"\\\"limit\\\" has to be 1 to 1000", "GET", "/v1/leases?limit=1001", ""},
          {"at most 255", "POST", "/v1/locks/" + "x".repeat(256), "{\"lease\":1}"},
          {"at most 255", "GET", "/v1/locks/" + "x".repeat(256), ""},
          {"a lease lives from 100 ms to 24 hours", "POST", "/v1/leases", "{\"ttl\":\"25h\"}"},
          {
            "at most 255",
            "POST",
            "/v1/leases",
            "{\"ttl\":\"5s\",\"owner\":\"" + "x".repeat(256) + "\"}"
          },
        }) {
      HttpCalls.Reply reply = call(expected[1], expected[2], expected[3]);
      assertEquals(400, reply.status(), reply.toString());
      assertTrue(reply.body().contains(expected[0]), expected[0] + " in " + reply.body());
    }
    assertTrue(
        refused(413, "54000", "POST", "/v1/sql", "{" + " ".repeat(1 << 20))
            .body()
            .contains("more than 1048576 bytes"));
  }

  @Test
  void addressOfIpv6IsServed() throws Exception {
    node =
        new Node(
            LoopbackSettings.of("n1", null)
                .withAdmin(new InetSocketAddress(InetAddress.getAllByName("::1")[0], 0)));
    node.start();
    assertTrue(node.awaitLeadership(DEADLINE));
    String host = "[::1]:" + node.adminAddress().getPort();
    await()
        .atMost(DEADLINE)
        .until(
            () ->
                HttpCalls.get(node.adminAddress(), "/health/ready", "Host", host).status() == 200);
    ok("POST", "/v1/locks/job", "{\"ttl\":\"60s\"}", "Host", host);
    assertTrue(
        ok("GET", "/v1/locks/job", "", "Host", host).contains("\"host\":\"0:0:0:0:0:0:0:1\""));
    ok("GET", "/v1/locks/job", "", "Host", "[::1]");
  }

  /** Who asks for the holder of a lock learns where the request came from. */
  @Test
  void clientsOfSeveralHostsShareNoSession() throws Exception {
    node =
        new Node(
            LoopbackSettings.of("n1", null)
                .withAdmin(new InetSocketAddress(InetAddress.getAllByName("0.0.0.0")[0], 0)));
    start();
    for (String host : List.of("127.0.0.1", "127.0.0.2")) {
      try (Socket socket = new Socket()) {
        socket.bind(new InetSocketAddress(InetAddress.getAllByName(host)[0], 0));
        socket.connect(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), node.adminAddress().getPort()));
        HttpCalls.Reply reply =
            HttpCalls.call(
                socket.getInputStream(),
                socket.getOutputStream(),
                node.adminAddress(),
                "POST",
                "/v1/locks/at-" + host,
                "{\"ttl\":\"60s\"}",
                "Content-Type",
                "application/json");
        assertEquals(200, reply.status(), reply.body());
      }
      assertTrue(ok("GET", "/v1/locks/at-" + host, "").contains("\"host\":\"" + host + "\""));
    }
  }

  /** As replacement characters, different names would be one lock. */
  @Test
  void namesThatAreNotUtf8AreRefused() throws Exception {
    startWithoutUsers();
    for (String name : List.of("%ff", "%ED%A0%80", "a%C3", "%C0%AF")) {
      assertTrue(
          refused(400, "22023", "POST", "/v1/locks/" + name, "{\"ttl\":\"5s\"}")
              .body()
              .contains("not UTF-8"));
      refused(400, "22023", "GET", "/v1/leases?" + name + "=1", "");
    }
    refused(400, "22023", "GET", "/v1/leases?after=%C3%28", "");
  }
}
