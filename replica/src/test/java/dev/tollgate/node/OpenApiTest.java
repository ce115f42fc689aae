package dev.tollgate.node;

import static java.util.Objects.requireNonNull;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.node.admin.HttpCalls;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** docs/openapi.yaml says what a node takes and answers, no more and no less. */
@Timeout(120)
class OpenApiTest {
  private static final Duration DEADLINE = Duration.ofSeconds(30);
  private static final String ROOT = HttpCalls.basic("root", "top secret");
  private static final String BILLING = HttpCalls.basic("billing", "a secret word");

  /** Statuses that other tests see: of nodes that do not lead, are full, or late. */
  private static final Set<String> ELSEWHERE =
      Set.of("307", "421", "429", "500", "503", "504", "520");

  private static final int LEASES = 3;
  private static final long NO_LEASE = 1_000_000_000;
  private static final List<String> LOCKS = List.of("held", "free", "other");

  private final OpenApi api = read();
  private final TreeMap<String, TreeSet<String>> statuses = new TreeMap<>();
  private final TreeMap<String, TreeSet<String>> members = new TreeMap<>();
  private Node node;

  private static OpenApi read() {
    try {
      return OpenApi.read(Path.of("../docs/openapi.yaml"));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  @BeforeEach
  void start() throws Exception {
    node = new Node(AdminNode.settings(), AdminNode.CONNECTIONS, AdminNode.root());
    node.start();
    await()
        .atMost(DEADLINE)
        .until(
            () ->
                HttpCalls.get(node.adminAddress(), "/v1/leases", "Authorization", ROOT).status()
                    == 200);
  }

  @AfterEach
  void stop() {
    node.closeAtOnce();
  }

  private HttpCalls.Reply raw(String method, String path, String body, String... headers)
      throws IOException {
    return HttpCalls.call(node.adminAddress(), method, path, body, headers);
  }

  private HttpCalls.Reply raw(String method, String path, String body) throws IOException {
    return body.isEmpty()
        ? raw(method, path, body, "Authorization", ROOT)
        : raw(method, path, body, "Authorization", ROOT, "Content-Type", "application/json");
  }

  @Test
  void bodiesAndQueriesHaveTheMembersThatTheNodeTakes() throws Exception {
    for (OpenApi.Operation operation : api.operations().values()) {
      String path = operation.path().replaceAll("\\{.*}", "1");
      SortedSet<String> body = api.bodyOf(operation);
      String where = operation.method() + " " + path;
      assertEquals(
          body == null ? new TreeSet<>() : body,
          known(raw(operation.method(), path, "{\"zzz\":1}"), body == null),
          where);
      SortedSet<String> query = api.queryOf(operation);
      assertEquals(
          query, known(raw(operation.method(), path + "?zzz=1", ""), query.isEmpty()), where);
    }
  }

  /** The names that a refusal says are known. */
  private static SortedSet<String> known(HttpCalls.Reply refusal, boolean none) {
    assertEquals(400, refusal.status(), refusal.toString());
    Matcher names =
        Pattern.compile("there is no \\\\\"zzz\\\\\" here: only ([a-z_, ]+)")
            .matcher(refusal.body());
    if (!names.find()) {
      assertTrue(none, refusal.toString());
      return new TreeSet<>();
    }
    return new TreeSet<>(List.of(names.group(1).split(", ", -1)));
  }

  private OpenApi.Operation operation(String method, String path) {
    for (OpenApi.Operation each : api.operations().values()) {
      String pattern = each.path().replaceAll("\\{.*}", "[^/]+");
      if (each.method().equals(method) && path.split("\\?", 2)[0].matches(pattern)) {
        return each;
      }
    }
    throw new AssertionError(method + " " + path);
  }

  /** Sends a request, and checks that the answer is described. */
  private String see(HttpCalls.Reply reply, String method, String path) {
    OpenApi.Operation operation = operation(method, path);
    String key = method + " " + operation.path();
    statuses.computeIfAbsent(key, each -> new TreeSet<>()).add(String.valueOf(reply.status()));
    Map<String, Object> schema = api.answer(operation, reply.status());
    assertNotNull(schema, key + " may not answer " + reply);
    // JSON is YAML
    Object value = new Yaml(new SafeConstructor(new LoaderOptions())).load(reply.body());
    TreeSet<String> seen =
        members.computeIfAbsent(key + " " + reply.status(), each -> new TreeSet<>());
    assertEquals(List.of(), api.complaints(schema, value, "", seen), key + " " + reply);
    return reply.body();
  }

  private String call(int status, String method, String path, String body) throws IOException {
    HttpCalls.Reply reply = raw(method, path, body);
    assertEquals(status, reply.status(), method + " " + path + " " + reply);
    return see(reply, method, path);
  }

  private static long number(String name, String json) {
    Matcher matcher = Pattern.compile("\"" + name + "\":(\\d+)").matcher(json);
    assertTrue(matcher.find(), json);
    return Long.parseLong(matcher.group(1));
  }

  @Test
  void answersAreAsDescribed() throws Exception {
    String job = "/v1/locks/job";
    long lease =
        number("lease", call(201, "POST", "/v1/leases", "{\"ttl\":\"60s\",\"owner\":\"o\"}"));
    long other = number("lease", call(201, "POST", "/v1/leases", "{\"ttl\":60000}"));
    call(200, "GET", "/v1/leases?after=0&limit=1", "");
    call(200, "GET", "/v1/leases", "");
    call(200, "GET", "/v1/leases/" + lease, "");
    call(200, "PUT", "/v1/leases/" + lease, "");
    long token =
        number("token", call(200, "POST", job, "{\"lease\":" + lease + ",\"wait\":\"1s\"}"));
    call(409, "POST", job, "{\"lease\":" + other + ",\"shared\":true}");
    call(200, "GET", job, "");
    call(200, "PUT", job, "{\"lease\":" + lease + ",\"token\":" + token + "}");
    call(409, "PUT", job, "{\"lease\":" + lease + ",\"token\":9}");
    call(200, "DELETE", job + "?lease=" + lease + "&keep=1s", "");
    call(200, "DELETE", job + "?force=true", "");
    call(200, "DELETE", "/v1/leases/" + other, "");
    call(404, "GET", "/v1/leases/" + other, "");
    call(410, "PUT", "/v1/leases/" + other, "");
    call(410, "POST", job, "{\"lease\":" + other + "}");
    call(410, "PUT", job, "{\"lease\":" + other + ",\"token\":" + token + "}");
    String sql = "/v1/sql";
    call(200, "POST", sql, "{\"sql\":\"CREATE TABLE t(id INT PRIMARY KEY)\"}");
    call(200, "POST", sql, "{\"sql\":\"INSERT INTO t VALUES (?)\",\"parameters\":[1]}");
    call(409, "POST", sql, "{\"sql\":\"INSERT INTO t VALUES (1)\"}");
    call(200, "POST", sql, "{\"sql\":\"SELECT id, NULL, 'a' FROM t\",\"max_rows\":5}");
    call(410, "POST", sql, "{\"sql\":\"SELECT acquire_lock('job')\"}");
    call(200, "POST", sql, "{\"sql\":\"CREATE USER billing PASSWORD 'a secret word'\"}");
    seeRefusals();
    seeWhatIsDescribed();
    assertAllSeen();
  }

  /** What each request answers to senders who are wrong in some way. */
  private void seeRefusals() throws IOException {
    for (OpenApi.Operation operation : api.operations().values()) {
      String method = operation.method();
      String path = operation.path().replaceAll("\\{.*}", "1");
      call(400, method, path + "?zzz=1", "");
      see(raw(method, path, ""), method, path);
      HttpCalls.Reply stranger = raw(method, path, "");
      see(stranger, method, path);
      HttpCalls.Reply unknown = raw(method, path, "", "X", "y");
      assertEquals(401, unknown.status());
      see(unknown, method, path);
      if (!method.equals("GET")) {
        HttpCalls.Reply foreign =
            raw(method, path, "", "Authorization", ROOT, "Origin", "http://foreign.example");
        assertEquals(403, foreign.status());
        see(foreign, method, path);
      }
      if (api.bodyOf(operation) != null) {
        call(413, method, path, " ".repeat((1 << 20) + 1));
        HttpCalls.Reply form = raw(method, path, "a=b", "Authorization", ROOT);
        assertEquals(415, form.status());
        see(form, method, path);
      }
    }
    see(raw("GET", "/v1/leases", "", "Authorization", BILLING), "GET", "/v1/leases");
  }

  /**
   * Sends every request that the document describes, with any of its members and without: for
   * leases that live, have ended and have never been, and for locks that are held and free.
   */
  private void seeWhatIsDescribed() throws IOException {
    for (OpenApi.Operation operation : api.operations().values()) {
      SortedSet<String> body = api.bodyOf(operation);
      List<String> names = new ArrayList<>(body == null ? api.queryOf(operation) : body);
      for (int pathValue = 0; pathValue < LEASES; pathValue++) {
        List<int[]> choices = choices(names);
        for (int[] choice : choices) {
          seeOne(operation, names, choice, body != null, pathValue);
        }
      }
    }
  }

  /** For each name of a member the number of a value, or 0 to leave the member out. */
  private static List<int[]> choices(List<String> names) {
    List<int[]> all = new ArrayList<>(List.of(new int[names.size()]));
    for (int i = 0; i < names.size(); i++) {
      int values = names.get(i).equals("lease") ? LEASES : 1;
      for (int[] choice : List.copyOf(all)) {
        for (int value = 1; value <= values; value++) {
          int[] more = choice.clone();
          more[i] = value;
          all.add(more);
        }
      }
    }
    return all;
  }

  private void seeOne(
      OpenApi.Operation operation, List<String> names, int[] choice, boolean body, int pathValue)
      throws IOException {
    String lease = "{\"ttl\":\"60s\"}";
    long live = number("lease", call(201, "POST", "/v1/leases", lease));
    long ended = number("lease", call(201, "POST", "/v1/leases", lease));
    long token = number("token", call(200, "POST", "/v1/locks/held", "{\"lease\":" + live + "}"));
    call(200, "DELETE", "/v1/leases/" + ended, "");
    List<Long> leases = List.of(live, ended, NO_LEASE);
    String name =
        operation.path().contains("/leases/")
            ? leases.get(pathValue).toString()
            : LOCKS.get(pathValue);
    String path = operation.path().replaceAll("\\{.*}", name);
    List<String> members = new ArrayList<>();
    for (int i = 0; i < choice.length; i++) {
      if (choice[i] > 0) {
        String value =
            switch (names.get(i)) {
              case "lease" -> leases.get(choice[i] - 1).toString();
              case "token" -> String.valueOf(token);
              case "force", "shared" -> "true";
              case "sql" -> body ? "\"SELECT 1\"" : "";
              case "parameters" -> "[]";
              case "owner" -> body ? "\"o\"" : "o";
              case "keep", "ttl", "timeout" -> "2000";
              case "wait" -> "1";
              default -> "5";
            };
        members.add(body ? "\"" + names.get(i) + "\":" + value : names.get(i) + "=" + value);
      }
    }
    String method = operation.method();
    see(
        body
            ? raw(method, path, "{" + String.join(",", members) + "}")
            : raw(method, path + (members.isEmpty() ? "" : "?") + String.join("&", members), ""),
        method,
        path);
    call(200, "DELETE", "/v1/locks/held?force=true", "");
    call(200, "DELETE", "/v1/leases/" + live, "");
  }

  private void assertAllSeen() {
    for (OpenApi.Operation operation : api.operations().values()) {
      String key = operation.method() + " " + operation.path();
      SortedSet<String> described = operation.statuses();
      described.removeAll(ELSEWHERE);
      if (operation.method().equals("GET")) {
        described.remove("403"); // by the header Host, and only without users
      }
      assertEquals(described, statuses.get(key), key);
      for (String status : statuses.get(key)) {
        if (status.startsWith("2")) {
          Map<String, Object> schema =
              requireNonNull(api.answer(operation, Integer.parseInt(status)));
          assertEquals(api.members(schema, ""), members.get(key + " " + status), key);
        }
      }
    }
  }
}
