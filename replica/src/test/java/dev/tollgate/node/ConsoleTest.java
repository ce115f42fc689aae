package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tollgate.core.command.UserAccount;
import dev.tollgate.core.command.UserName;
import dev.tollgate.node.admin.HttpCalls;
import dev.tollgate.node.client.ConnectionLimits;
import dev.tollgate.wire.PasswordVerifier;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The console of a node that keeps its log in memory, over sockets and in Chromium. */
@Timeout(180)
class ConsoleTest {
  private static final Duration DEADLINE = Duration.ofSeconds(30);
  private static final String ROOT = HttpCalls.basic("root", "top secret");
  private static final String BILLING = HttpCalls.basic("billing", "secret");
  private static final String HEADER = "X-Tollgate-Console";
  private static final Path CHROMIUM = Path.of("/usr/bin/chromium");
  private static final Path SCREENSHOTS = Path.of("target", "console");

  private Node node;

  @AfterEach
  void stop() {
    node.closeAtOnce();
  }

  private static NodeSettings settings() {
    return LoopbackSettings.of("n1", null)
        .withAdmin(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
  }

  private void startWithoutUsers() throws Exception {
    node = new Node(settings());
    start();
  }

  private void startWithUsers() throws Exception {
    node =
        new Node(
            settings(),
            new ConnectionSettings(
                ConnectionLimits.STANDARD.strangers(), Duration.ofSeconds(10), 0, 0, 48L << 20),
            new UserSettings(
                /* loginRequired= */ true,
                new UserAccount(
                    new UserName("ROOT"),
                    /* administrator= */ true,
                    List.of(PasswordVerifier.of("top secret").text()))));
    start();
  }

  private void start() throws Exception {
    node.start();
    assertTrue(node.awaitLeadership(DEADLINE));
  }

  private Connection connect(String properties) throws SQLException {
    return DriverManager.getConnection(
        "jdbc:tollgate://127.0.0.1:" + node.listenAddress().getPort() + "/?" + properties);
  }

  private HttpCalls.Reply get(String path, String... headers) throws Exception {
    return HttpCalls.get(node.adminAddress(), path, headers);
  }

  private HttpCalls.Reply post(String path, String body, String... headers) throws Exception {
    return HttpCalls.call(node.adminAddress(), "POST", path, body, headers);
  }

  private static void run(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
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
        List.of("", "/console.js", "/views.js", "/text.js", "/theme.js", "/console.css", "/icon.svg")) {
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
        Socket socket = HttpCalls.connect(node.adminAddress())) {
      socket
          .getOutputStream()
          .write(
              ("GET /console/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
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
  void forcedReleaseTakesTheLockAndItsSessionEnds() throws Exception {
    startWithoutUsers();
    try (Connection holder = connect("")) {
      run(holder, "SELECT acquire_lock('job')");
      HttpCalls.Reply done = post("/console/force-release", form("job"), HEADER, "1");
      assertEquals(200, done.status(), done.body());
      await()
          .atMost(DEADLINE)
          .until(() -> get("/console/state").body().contains("\"sessions\":1"));
    }
  }

  @Test
  void usersSeeWhatIsTheirsAndOnlyAdministratorsRelease() throws Exception {
    startWithUsers();
    try (Connection root = connect("user=root&password=top secret")) {
      run(root, "CREATE USER billing PASSWORD 'secret'");
      run(root, "GRANT LOCK ON 'billing-%' TO billing");
      run(root, "SELECT acquire_lock('secret job')");
      run(root, "SELECT acquire_lock('billing-1')");
      assertEquals(401, get("/console").status());
      assertEquals(401, get("/console/events").status());
      String seen = get("/console/state", "Authorization", BILLING).body();
      assertTrue(seen.contains("billing-1") && !seen.contains("secret job"), seen);
      assertTrue(seen.contains("\"mayChange\":false"), seen);
      String all = get("/console/state", "Authorization", ROOT).body();
      assertTrue(all.contains("secret job"), all);
      assertEquals(
          403,
          post("/console/force-release", "", HEADER, "1", "Authorization", BILLING).status());
    }
  }

  /** The page runs in the browser, shows the locks, and takes no markup from names. */
  @Test
  void chromiumShowsLocksAndNoMarkupOfTheirNames(@TempDir Path profile) throws Exception {
    assumeTrue(Files.isExecutable(CHROMIUM), "Debian's package chromium is not installed");
    startWithoutUsers();
    Files.createDirectories(SCREENSHOTS);
    try (Connection holder = connect("applicationName=holder")) {
      run(holder, "SELECT acquire_lock('<img src=x onerror=document.title=1>')");
      run(holder, "SELECT acquire_lock('a' || CHAR(8238) || 'b')");
      Path picture = SCREENSHOTS.resolve("wide.png");
      Files.deleteIfExists(picture);
      String page = chromium(profile, "1280,1000", List.of("--dump-dom"));
      assertTrue(page.contains("&lt;img src=x"), page);
      assertFalse(page.contains("<img"), page);
      assertTrue(page.contains("U+202E"), page);
      assertTrue(page.contains(">Live<"), page);
      assertTrue(page.contains("Force release"), page);
      chromium(profile, "1280,1000", List.of("--screenshot=" + picture.toAbsolutePath()));
      chromium(
          profile,
          "500,1000",
          List.of(
              "--blink-settings=preferredColorScheme=0",
              "--screenshot=" + SCREENSHOTS.resolve("narrow-dark.png").toAbsolutePath()));
      assertTrue(Files.size(picture) > 10_000);
    }
  }

  private String chromium(Path profile, String size, List<String> more) throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of(
                CHROMIUM.toString(),
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                "--user-data-dir=" + profile,
                "--window-size=" + size,
                "--timeout=8000"));
    command.addAll(more);
    command.add("http://127.0.0.1:" + node.adminAddress().getPort() + "/console");
    Path out = profile.resolve("out");
    Process process =
        new ProcessBuilder(command)
            .redirectOutput(out.toFile())
            .redirectError(profile.resolve("err").toFile())
            .start();
    assertTrue(process.waitFor(DEADLINE.toSeconds() * 2, TimeUnit.SECONDS), "chromium hangs");
    return Files.readString(out);
  }
}
