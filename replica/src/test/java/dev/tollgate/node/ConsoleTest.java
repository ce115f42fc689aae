package dev.tollgate.node;

import static dev.tollgate.node.TestSql.run;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.node.admin.HttpCalls;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The console of a node that keeps its log in memory, over sockets. */
@Timeout(180)
class ConsoleTest {
  private static final Duration DEADLINE = Duration.ofSeconds(30);
  private static final String ROOT = HttpCalls.basic("root", "top secret");
  private static final String BILLING = HttpCalls.basic("billing", "a secret word");
  private static final String HEADER = "X-Tollgate-Console";

  private AdminNode node;

  @AfterEach
  void stop() {
    node.close();
  }

  private void startWithoutUsers() throws Exception {
    node = AdminNode.withoutUsers();
  }

  private void startWithUsers() throws Exception {
    node = AdminNode.withUsers();
  }

  private Connection connect(String properties) throws SQLException {
    return node.connect(properties);
  }

  private HttpCalls.Reply get(String path, String... headers) throws Exception {
    return HttpCalls.get(node.address(), path, headers);
  }

  private HttpCalls.Reply post(String path, String body, String... headers) throws Exception {
    return HttpCalls.call(node.address(), "POST", path, body, headers);
  }

  private static String find(String json, String pattern) {
    Matcher found = Pattern.compile(pattern).matcher(json);
    assertTrue(found.find(), () -> pattern + " in " + json);
    return found.group(1);
  }

  private String form(String lock) throws Exception {
    String state = get("/console/state").body();
    return "lock="
        + URLEncoder.encode(lock, StandardCharsets.UTF_8)
        + "&lease="
        + find(state, "\"lease\":\"(\\d+)\"")
        + "&token="
        + find(state, "\"token\":\"(\\d+)\"");
  }

  @Test
  void pageAndItsPartsHaveAStrictPolicyAndNameNoOtherAddress() throws Exception {
    startWithoutUsers();
    for (String part :
        List.of(
            "",
            "/console.js",
            "/confirm.js",
            "/link.js",
            "/lists.js",
            "/locks.js",
            "/text.js",
            "/theme.js",
            "/times.js",
            "/views.js",
            "/console.css",
            "/icon.svg")) {
      HttpCalls.Reply reply = get("/console" + part);
      assertEquals(200, reply.status(), part);
      String policy = reply.headers().get("content-security-policy");
      assertTrue(policy.startsWith("default-src 'none'; script-src 'self'"), policy);
      assertFalse(policy.contains("unsafe"), policy);
      String own = reply.body().replace("http://www.w3.org/2000/svg", "");
      assertFalse(own.contains("http://") || own.contains("https://"), part);
      assertFalse(own.contains("innerHTML") || own.contains(" style="), part);
    }
  }

  @Test
  void stateShowsHoldersAndSearches() throws Exception {
    startWithoutUsers();
    try (Connection holder = connect("applicationName=holder")) {
      run(holder, "SELECT acquire_lock('Nightly')");
      run(holder, "SELECT acquire_lock('other')");
      String all = get("/console/state").body();
      assertTrue(all.contains("\"matchingLocks\":2"), all);
      assertTrue(all.contains("\"application\":\"holder\""), all);
      String some = get("/console/state?lock=night").body();
      assertTrue(some.contains("\"matchingLocks\":1"), some);
      assertTrue(some.contains("\"name\":\"Nightly\""), some);
      assertEquals(400, get("/console/state?lock=" + "x".repeat(256)).status());
    }
  }

  @Test
  void eventsShowAChangeWithoutARequest() throws Exception {
    startWithoutUsers();
    try (Connection holder = connect("");
        Socket socket = HttpCalls.connect(node.address())) {
      socket
          .getOutputStream()
          .write(
              "GET /console/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
                  .getBytes(StandardCharsets.US_ASCII));
      BufferedReader lines =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
      awaitLine(lines, "\"matchingLocks\":0");
      run(holder, "SELECT acquire_lock('seen')");
      awaitLine(lines, "\"name\":\"seen\"");
    }
  }

  private static void awaitLine(BufferedReader lines, String part) throws Exception {
    long end = System.nanoTime() + DEADLINE.toNanos();
    String line = lines.readLine();
    while (line != null && !line.contains(part)) {
      assertTrue(System.nanoTime() < end, part);
      line = lines.readLine();
    }
    assertTrue(line != null, "the stream ended before " + part);
  }

  @Test
  void releaseEndsOneHoldAndComesOnlyFromThePage() throws Exception {
    startWithoutUsers();
    try (Connection holder = connect("")) {
      run(holder, "SELECT acquire_lock('a&b')");
      String form = form("a&b");
      assertEquals(400, post("/console/release", form).status(), "no header");
      assertEquals(
          403,
          post("/console/release", form, HEADER, "1", "Origin", "http://evil.example").status());
      assertEquals(
          409,
          post("/console/force-release", "lock=a%26b&token=999", HEADER, "1").status(),
          "another token");
      HttpCalls.Reply done = post("/console/release", form, HEADER, "1");
      assertEquals(200, done.status(), done.body());
      assertTrue(get("/console/state").body().contains("\"matchingLocks\":0"));
      assertEquals(409, post("/console/release", form, HEADER, "1").status(), "twice");
    }
  }

  @Test
  void releaseLeavesTheOtherHolders() throws Exception {
    startWithoutUsers();
    try (Connection one = connect("");
        Connection other = connect("")) {
      run(one, "SELECT acquire_shared_lock('doc')");
      run(other, "SELECT acquire_shared_lock('doc')");
      assertEquals(200, post("/console/release", form("doc"), HEADER, "1").status());
      String state = get("/console/state").body();
      assertTrue(state.contains("\"holders\":1"), state);
    }
  }

  @Test
  void forcedReleaseTakesTheLockAndItsSessionEnds() throws Exception {
    startWithoutUsers();
    try (Connection one = connect("");
        Connection other = connect("")) {
      run(one, "SELECT acquire_shared_lock('job')");
      run(other, "SELECT acquire_shared_lock('job')");
      HttpCalls.Reply done = post("/console/force-release", form("job"), HEADER, "1");
      assertEquals(200, done.status(), done.body());
      String state = get("/console/state").body();
      assertTrue(state.contains("\"matchingLocks\":0"), state);
      // sooner than the session would expire
      await()
          .atMost(Duration.ofSeconds(15))
          .until(() -> get("/console/state").body().contains("\"sessions\":2"));
    }
  }

  @Test
  void usersSeeWhatIsTheirsAndOnlyAdministratorsRelease() throws Exception {
    startWithUsers();
    try (Connection root = connect("user=root&password=top secret")) {
      run(root, "CREATE USER billing PASSWORD 'a secret word'");
      run(root, "GRANT LOCK ON 'billing-%' TO billing");
      run(root, "SELECT acquire_lock('secret job')");
      run(root, "SELECT acquire_lock('billing-1')");
      for (String part : List.of("", "/console.js", "/state", "/events")) {
        assertEquals(401, get("/console" + part).status(), part);
      }
      String seen = get("/console/state", "Authorization", BILLING).body();
      assertTrue(seen.contains("billing-1") && !seen.contains("secret job"), seen);
      assertTrue(seen.contains("\"mayChange\":false"), seen);
      String all = get("/console/state", "Authorization", ROOT).body();
      assertTrue(all.contains("secret job"), all);
      for (String change : List.of("/console/release", "/console/force-release")) {
        assertEquals(403, post(change, "", HEADER, "1", "Authorization", BILLING).status(), change);
      }
    }
  }

  @Test
  void auditorsSeeAllLocksWithoutTokensAndReleaseNone() throws Exception {
    startWithUsers();
    try (Connection root = connect("user=root&password=top secret")) {
      run(root, "CREATE USER billing PASSWORD 'a secret word'");
      run(root, "GRANT LOCK ON 'billing-%' TO billing");
      run(root, "GRANT AUDIT ON CLUSTER TO billing");
      run(root, "SELECT acquire_lock('secret job')");
      String seen = get("/console/state", "Authorization", BILLING).body();
      assertTrue(seen.contains("secret job") && seen.contains("\"token\":null"), seen);
      assertTrue(seen.contains("\"matchingLeases\":1"), seen);
      assertTrue(seen.contains("\"auditor\":true"), seen);
      assertTrue(seen.contains("\"mayChange\":false"), seen);
      run(root, "SELECT acquire_lock('billing-1')");
      String own = get("/console/state?lock=billing", "Authorization", BILLING).body();
      assertTrue(own.contains("billing-1") && !own.contains("\"token\":null"), own);
      for (String change : List.of("/console/release", "/console/force-release")) {
        assertEquals(403, post(change, "", HEADER, "1", "Authorization", BILLING).status(), change);
      }
    }
  }

  @Test
  void lockManagersReleaseLocksOfOthers() throws Exception {
    startWithUsers();
    try (Connection root = connect("user=root&password=top secret")) {
      run(root, "CREATE USER billing PASSWORD 'a secret word'");
      run(root, "GRANT MANAGE ON LOCKS TO billing");
      for (String change : List.of("/console/release", "/console/force-release")) {
        run(root, "SELECT acquire_lock('job')");
        String seen = get("/console/state", "Authorization", BILLING).body();
        assertTrue(seen.contains("\"mayChange\":true"), seen);
        String form =
            "lock=job&lease="
                + find(seen, "\"lease\":\"(\\d+)\"")
                + "&token="
                + find(seen, "\"token\":\"(\\d+)\"");
        HttpCalls.Reply done = post(change, form, HEADER, "1", "Authorization", BILLING);
        assertEquals(200, done.status(), done.body());
      }
      run(root, "REVOKE MANAGE ON LOCKS FROM billing");
      assertEquals(
          403,
          post("/console/release", "", HEADER, "1", "Authorization", BILLING).status(),
          "revoked");
    }
  }
}
