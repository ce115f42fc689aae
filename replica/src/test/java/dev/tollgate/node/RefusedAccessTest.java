package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.Limits;
import dev.tollgate.node.admin.HttpCalls;
import dev.tollgate.node.audit.AuditSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Who asks for what it has no right to is in the audit file. */
@Timeout(120)
class RefusedAccessTest {
  private static final Duration DEADLINE = Duration.ofSeconds(30);

  @TempDir Path directory;

  private Path file;
  private Node node;
  private boolean runs;

  @BeforeEach
  void start() throws Exception {
    file = directory.resolve("audit");
    node =
        new Node(
            LoopbackSettings.of("n1", null)
                .withAdmin(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
                .withAudit(new AuditSettings(file, AuditSettings.MAX_BYTES, 2, 2)),
            new ConnectionSettings(100, DEADLINE, 0, 0, 64L << 20),
            TestUsers.administrator("ROOT", "root-password"));
    runs = true;
    node.start();
    assertTrue(node.awaitLeadership(DEADLINE));
  }

  @AfterEach
  void stop() {
    if (runs) {
      runs = false;
      node.close();
    }
  }

  private Connection connect(String user) throws SQLException {
    return DriverManager.getConnection(
        "jdbc:tollgate://127.0.0.1:" + node.listenAddress().getPort() + "/",
        user,
        user + "-password");
  }

  private List<String> lines(String event) {
    try {
      return Files.readAllLines(file).stream()
          .filter(line -> line.contains("\"event\":\"" + event + "\""))
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void refusedAccessHasALineWithoutValues() throws Exception {
    await().atMost(DEADLINE).until(() -> lines("administration").toString().contains("ROOT admin"));
    try (Connection root = connect("root");
        Statement statement = root.createStatement()) {
      statement.execute("CREATE TABLE T(V VARCHAR)");
      statement.execute("CREATE USER EVE PASSWORD 'EVE-password'");
    }
    try (Connection eve = connect("EVE");
        Statement statement = eve.createStatement()) {
      for (String sql :
          List.of(
              "SELECT * FROM T WHERE V = 'secret'",
              "CREATE SCHEMA EVES",
              "SELECT acquire_lock('job')")) {
        assertThrows(SQLException.class, () -> statement.execute(sql));
      }
      await().atMost(DEADLINE).until(() -> lines("access_refused").size() == 3);
      for (int i = 0; i < 20; i++) {
        assertThrows(SQLException.class, () -> statement.execute("SELECT acquire_lock('job')"));
      }
    }
    stop();
    List<String> lines = lines("access_refused");
    assertEquals(Limits.AUDITED_REPEATS, lines.size());
    assertTrue(lines.get(0).contains("\"user\":\"EVE\",\"session\":"), lines.get(0));
    assertTrue(lines.get(0).contains("\"address\":\"127.0.0.1\""), lines.get(0));
    assertTrue(lines.get(0).contains("object \\\"PUBLIC.T\\\""), lines.get(0));
    assertTrue(lines.get(1).contains("\"reason\":\""), lines.get(1));
    assertTrue(lines.get(2).contains("'job'"), lines.get(2));
    assertFalse(lines.toString().contains("secret"), lines.toString());
    List<String> rest = lines("accesses_refused");
    assertEquals(1, rest.size());
    assertTrue(rest.get(0).contains("\"user\":\"EVE\",\"count\":18,"), rest.get(0));
  }

  /** A way in, and the two ways to be refused there. */
  private enum Door {
    METRICS("GET", "/metrics"),
    DEBUG("GET", "/debug/threads"),
    CONSOLE("GET", "/console/state"),
    CONSOLE_CHANGES("POST", "/console/force-release"),
    SCRIPT_SQL("POST", "/v1/sql"),
    SCRIPT_LOCKS("POST", "/v1/locks/job"),
    SCRIPT_LEASES("GET", "/v1/leases");

    private final String method;
    private final String path;

    Door(String method, String path) {
      this.method = method;
      this.path = path;
    }
  }

  private int call(Door door, String body, String... headers) throws IOException {
    return HttpCalls.call(node.adminAddress(), door.method, door.path, body, headers).status();
  }

  private void makeEve() throws SQLException {
    await().atMost(DEADLINE).until(() -> lines("administration").toString().contains("ROOT admin"));
    try (Connection root = connect("root");
        Statement statement = root.createStatement()) {
      statement.execute("CREATE TABLE T(V VARCHAR)");
      statement.execute("CREATE USER EVE PASSWORD 'EVE-password'");
    }
  }

  private String lineAfter(String event, int before) {
    await().atMost(DEADLINE).until(() -> lines(event).size() > before);
    return lines(event).get(before);
  }

  @ParameterizedTest
  @EnumSource(Door.class)
  void pageWithoutALoginHasALine(Door door) throws Exception {
    makeEve();
    assertEquals(401, call(door, "{}"));
    String line = lineAfter("page_refused", 0);
    assertTrue(line.contains("\"page\":\"" + door.method + " " + door.path + "\""), line);
    assertTrue(line.contains("\"address\":\"127.0.0.1\""), line);
    assertTrue(line.contains("\"reason\":\"this page requires a user"), line);
    assertEquals(401, call(door, "{}", "Authorization", "Basic garbage"));
    assertEquals(401, call(door, "{}", "Authorization", "Bearer garbage"));
    assertEquals(401, call(door, "{}", "Authorization", HttpCalls.basic("EVE", "guess")));
    String failed = lineAfter("login_failed", 0);
    assertTrue(failed.contains("\"user\":\"EVE\""), failed);
    stop();
    assertEquals(3, lines("page_refused").size(), lines("page_refused").toString());
    assertEquals(1, lines("login_failed").size());
  }

  @ParameterizedTest
  @EnumSource(Door.class)
  void pageOfAnotherSiteAndPageWithoutARightHaveALine(Door door) throws Exception {
    makeEve();
    String eve = HttpCalls.basic("EVE", "EVE-password");
    boolean changes = !door.method.equals("GET");
    if (changes) {
      assertEquals(403, call(door, "{}", "Authorization", eve, "Origin", "https://other.example"));
      String line = lineAfter("page_refused", 0);
      assertTrue(line.contains("a page of another address"), line);
    }
    String event =
        door == Door.DEBUG || door == Door.CONSOLE_CHANGES ? "page_refused" : "access_refused";
    String body = "";
    switch (door) {
      case METRICS, CONSOLE, SCRIPT_LEASES -> {
        // every user may see what concerns it
        assertEquals(200, call(door, "", "Authorization", eve));
        return;
      }
      case SCRIPT_SQL -> body = "{\"sql\":\"SELECT * FROM T\"}";
      case SCRIPT_LOCKS -> body = "{\"ttl\":\"10s\"}";
      case DEBUG, CONSOLE_CHANGES -> {}
    }
    assertEquals(403, call(door, body, "Authorization", eve, "Content-Type", "application/json"));
    String line = lineAfter(event, event.equals("page_refused") && changes ? 1 : 0);
    assertTrue(line.contains("\"user\":\"EVE\""), line);
    assertTrue(line.contains("\"address\":\"127.0.0.1\""), line);
  }

  @Test
  void pagesThatAreRefusedOftenHaveOneLineTogether() throws Exception {
    makeEve();
    for (int i = 0; i < 20; i++) {
      assertEquals(401, call(Door.DEBUG, ""));
    }
    stop();
    assertEquals(Limits.AUDITED_REPEATS, lines("page_refused").size());
    List<String> rest = lines("pages_refused");
    assertEquals(1, rest.size());
    assertTrue(rest.get(0).contains("\"address\":\"127.0.0.1\",\"count\":15,"), rest.get(0));
  }

  @Test
  void driverWithAWrongPasswordHasALine() throws Exception {
    makeEve();
    assertThrows(
        SQLException.class,
        () ->
            DriverManager.getConnection(
                "jdbc:tollgate://127.0.0.1:" + node.listenAddress().getPort() + "/",
                "EVE",
                "guess"));
    String wrong = lineAfter("login_failed", 0);
    assertTrue(wrong.contains("wrong_password"), wrong);
  }
}
