package dev.tollgate.node;

import static dev.tollgate.node.TestSql.one;
import static dev.tollgate.node.TestSql.run;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.node.json.JsonText;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The page of the console in Chromium, which leaves pictures in target/console. */
@Timeout(120)
class ConsoleInChromiumTest {
  private static final Path PICTURES = Path.of("target", "console");
  private static final Duration DEADLINE = Duration.ofSeconds(30);
  private static final String LIVE = "document.body.dataset.link === 'live'";
  private static final String FORCE = "#lock-table [data-action^=\"force \"]";
  private static final String MARKUP = "<img src=x onerror=document.title=1>";

  private static Chromium chromium;
  private AdminNode node;

  @BeforeAll
  static void startChromium(@TempDir Path profile) throws Exception {
    chromium = Chromium.start(profile);
  }

  @AfterAll
  static void endChromium() {
    if (chromium != null) {
      chromium.close();
    }
  }

  @AfterEach
  void stop() {
    if (node != null) {
      node.close();
    }
  }

  private void openConsole() throws Exception {
    node = AdminNode.withoutUsers();
    chromium.open(node.console("127.0.0.1"), 1280, 900, /* dark= */ false);
    chromium.awaitTrue(LIVE);
  }

  private static String rowOf(String lock) {
    return "[...document.querySelectorAll('#lock-table tbody')].find(group =>"
        + " group.querySelector('.lock-name').innerText.startsWith("
        + JsonText.quoted(lock)
        + "))";
  }

  @Test
  void locksAndWaitingRequestsAppearAndVanishByThemselves() throws Exception {
    openConsole();
    assertTrue(chromium.text().contains("No lock is held."), chromium.text());
    try (Connection holder = node.connect("applicationName=holder");
        Connection waiter = node.connect("applicationName=waiter")) {
      String token = one(holder, "SELECT acquire_lock('nightly')");
      Thread waiting = new Thread(() -> acquire(waiter));
      waiting.start();
      chromium.awaitTrue(rowOf("nightly") + "?.querySelector('.queue')");
      String shown = chromium.evaluate(rowOf("nightly") + ".innerText");
      assertTrue(shown.contains("holder"), shown);
      assertTrue(shown.contains("waiter"), shown);
      assertTrue(shown.contains("next in line, waits for holder"), shown);
      assertEquals(
          token, chromium.evaluate(rowOf("nightly") + ".querySelector('.token').innerText"));
      assertTrue(
          chromium
              .evaluate(rowOf("nightly") + ".querySelector('.left').innerText")
              .matches("\\d+ s"),
          shown);
      run(holder, "SELECT release_lock('nightly')");
      waiting.join();
      chromium.awaitTrue("!" + rowOf("nightly") + ".querySelector('.queue')");
      assertEquals(
          "waiter", chromium.evaluate(rowOf("nightly") + ".querySelector('.who').innerText"));
    }
    chromium.awaitTrue("!document.getElementById('lock-none').hidden");
  }

  private static void acquire(Connection waiter) {
    try {
      run(waiter, "SELECT acquire_lock('nightly', 0, 60000)");
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void markupInNamesIsTextAndUnseenCharactersAreShown() throws Exception {
    openConsole();
    try (Connection holder = node.connect("applicationName=%3Cb%3Eholder")) {
      run(holder, "SELECT acquire_lock('" + MARKUP + "')");
      run(holder, "SELECT acquire_lock('a' || CHAR(8238) || 'b')");
      chromium.awaitTrue(rowOf(MARKUP));
      chromium.awaitTrue(rowOf("aU+202Eb"));
      assertEquals("0", chromium.evaluate("document.querySelectorAll('main img, main b').length"));
      assertTrue(chromium.text().contains("<b>holder"), chromium.text());
      chromium.click(FORCE);
      chromium.awaitTrue("document.getElementById('confirm').open");
      assertEquals("0", chromium.evaluate("document.querySelectorAll('dialog img').length"));
      assertEquals("n1 – Tollgate", chromium.evaluate("document.title"));
    }
  }

  @Test
  void pageFitsWideAndNarrowWindowsInBothThemes() throws Exception {
    openConsole();
    try (Connection holder = node.connect("applicationName=" + "holder".repeat(20))) {
      run(holder, "SELECT acquire_lock('" + "w".repeat(255) + "')");
      run(holder, "SELECT acquire_lock('nightly')");
      chromium.awaitTrue(rowOf("www"));
      for (int width : new int[] {1280, 390}) {
        for (boolean dark : new boolean[] {false, true}) {
          chromium.show(width, 900, dark);
          chromium.awaitTrue("innerWidth === " + width);
          assertEquals(
              "0",
              chromium.evaluate(
                  "[...document.querySelectorAll('main *:not(.unseen)')].filter(e =>"
                      + " e.getBoundingClientRect().right > innerWidth + 1 && !e.closest('thead'))"
                      + ".length"),
              "elements beyond the right edge of " + width + " pixels");
          assertEquals(
              String.valueOf(dark),
              chromium.evaluate(
                  "parseInt(getComputedStyle(document.body).backgroundColor.slice(4)) < 128"));
          Path picture = PICTURES.resolve((dark ? "dark-" : "light-") + width + ".png");
          chromium.picture(picture);
          assertTrue(Files.size(picture) > 10_000, picture + " is empty");
        }
      }
    }
  }

  @Test
  void forcedReleaseIsSentAfterAConfirmationOnly() throws Exception {
    openConsole();
    try (Connection holder = node.connect("")) {
      run(holder, "SELECT acquire_lock('job')");
      chromium.awaitTrue(rowOf("job"));
      chromium.evaluate(
          "(() => { const send = fetch; window.sent = [];"
              + " window.fetch = (...call) => { sent.push(call[0]); return send(...call); }; })()");
      chromium.click(FORCE);
      chromium.awaitTrue("document.getElementById('confirm').open");
      assertEquals("confirm-no", chromium.evaluate("document.activeElement.id"));
      chromium.click("#confirm-yes");
      assertTrue(chromium.evaluate("document.getElementById('confirm').open").equals("true"));
      chromium.click("#confirm-no");
      chromium.awaitTrue("!document.getElementById('confirm').open");
      chromium.click(FORCE);
      chromium.click("#confirm-box");
      chromium.press("Escape");
      chromium.awaitTrue("!document.getElementById('confirm').open");
      assertEquals("", chromium.evaluate("sent"), "what is sent though it was canceled");
      chromium.click(FORCE);
      assertEquals("true", chromium.evaluate("document.getElementById('confirm-yes').disabled"));
      chromium.click("#confirm-box");
      chromium.click("#confirm-yes");
      chromium.awaitTrue(
          "document.getElementById('message').innerText.includes(\"Lock 'job' was taken\")");
      chromium.awaitTrue("!document.getElementById('lock-none').hidden");
      assertTrue(chromium.evaluate("sent").endsWith("/console/force-release"));
      assertNull(one(holder, "SELECT lock_token('job')"));
    }
  }

  @Test
  void questionIsTakenBackOnceTheHoldHasEnded() throws Exception {
    openConsole();
    try (Connection holder = node.connect("")) {
      run(holder, "SELECT acquire_lock('job')");
      chromium.awaitTrue(rowOf("job"));
      chromium.click("#lock-table [data-action^=\"release \"]");
      chromium.click("#confirm-box");
      run(holder, "SELECT release_lock('job')");
      chromium.awaitTrue("document.getElementById('confirm-gone').innerText");
      assertEquals("true", chromium.evaluate("document.getElementById('confirm-yes').disabled"));
    }
  }

  @Test
  void userWithoutTheRightSeesNoButtonAndIsRefused() throws Exception {
    node = AdminNode.withUsers();
    try (Connection root = node.connect("user=root&password=top secret")) {
      run(root, "CREATE USER billing PASSWORD 'a secret word'");
      run(root, "GRANT LOCK ON 'billing-%' TO billing");
      run(root, "SELECT acquire_lock('other')");
      String token = one(root, "SELECT acquire_lock('billing-1')");
      chromium.open(
          node.console("billing:a%20secret%20word@127.0.0.1"), 1280, 900, /* dark= */ false);
      chromium.awaitTrue(LIVE);
      chromium.awaitTrue(rowOf("billing-1"));
      assertEquals(
          "0", chromium.evaluate("document.querySelectorAll('#lock-table button').length"));
      assertFalse(chromium.text().contains("other"), chromium.text());
      assertEquals(
          "403",
          chromium.evaluate(
              "fetch(location.origin + '/console/force-release', {method: 'POST', headers:"
                  + " {'X-Tollgate-Console': '1'}, body: new URLSearchParams({lock: 'billing-1',"
                  + " token: '"
                  + token
                  + "'})}).then(answer => answer.status)"));
      assertEquals(token, one(root, "SELECT lock_token('billing-1')"));
      chromium.open(node.console("root:top%20secret@127.0.0.1"), 1280, 900, /* dark= */ false);
      chromium.awaitTrue("document.querySelectorAll('" + FORCE + "').length === 2");
      chromium.click(FORCE);
      chromium.click("#confirm-box");
      chromium.click("#confirm-yes");
      chromium.awaitTrue("document.querySelectorAll('" + FORCE + "').length === 1");
    }
  }

  /** A browser sends the password of its user with the request of any page. */
  @Test
  void pageOfAnotherAddressReleasesNothing() throws Exception {
    node = AdminNode.withUsers();
    HttpServer other =
        HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    other.createContext(
        "/",
        exchange -> {
          byte[] page = "<!DOCTYPE html><title>other</title>".getBytes(StandardCharsets.UTF_8);
          exchange.getResponseHeaders().set("Content-Type", "text/html");
          exchange.sendResponseHeaders(200, page.length);
          exchange.getResponseBody().write(page);
          exchange.close();
        });
    other.start();
    try (Connection root = node.connect("user=root&password=top secret")) {
      String token = one(root, "SELECT acquire_lock('job')");
      chromium.open(node.console("root:top%20secret@127.0.0.1"), 1280, 900, /* dark= */ false);
      chromium.awaitTrue(LIVE);
      chromium.go("http://127.0.0.1:" + other.getAddress().getPort() + "/");
      chromium.awaitTrue("document.title === 'other'");
      String target = JsonText.quoted(node.console("127.0.0.1") + "/force-release");
      String form = "body: new URLSearchParams({lock: 'job', token: '" + token + "'})";
      assertEquals(
          "sent",
          chromium.evaluate(
              "fetch("
                  + target
                  + ", {method: 'POST', mode: 'no-cors', credentials: 'include', "
                  + form
                  + "}).then(() => 'sent')"));
      assertEquals(
          "refused",
          chromium.evaluate(
              "fetch("
                  + target
                  + ", {method: 'POST', credentials: 'include', headers: {'X-Tollgate-Console':"
                  + " '1'}, "
                  + form
                  + "}).then(() => 'sent', () => 'refused')"));
      assertEquals(token, one(root, "SELECT lock_token('job')"));
    } finally {
      other.stop(0);
    }
  }

  @Test
  void searchIsInTheAddressAndCanBeCleared() throws Exception {
    openConsole();
    try (Connection holder = node.connect("")) {
      run(holder, "SELECT acquire_lock('alpha')");
      run(holder, "SELECT acquire_lock('beta')");
      chromium.awaitTrue("document.querySelectorAll('#lock-table tbody').length === 2");
      chromium.press("/");
      chromium.press("B");
      chromium.press("E");
      chromium.press("T");
      chromium.awaitTrue("document.querySelectorAll('#lock-table tbody').length === 1");
      chromium.awaitTrue(rowOf("beta"));
      assertEquals("#lock=BET", chromium.evaluate("location.hash"));
      chromium.press("x");
      chromium.awaitTrue("!document.getElementById('lock-none').hidden");
      chromium.click("#lock-none button");
      chromium.awaitTrue("document.querySelectorAll('#lock-table tbody').length === 2");
    }
  }

  @Test
  void nodeThatEndsIsShownAsUnreachable() throws Exception {
    openConsole();
    try (Connection holder = node.connect("")) {
      run(holder, "SELECT acquire_lock('job')");
      chromium.awaitTrue(rowOf("job"));
      node.close();
      node = null;
      chromium.awaitTrue("document.body.dataset.link === 'lost'");
      String shown = chromium.text();
      assertTrue(shown.contains("Not reachable"), shown);
      assertTrue(shown.contains("n1 does not answer."), shown);
      assertTrue(shown.matches("(?s).*was so \\d+ s ago.*"), shown);
      assertEquals(
          "0", chromium.evaluate("document.querySelectorAll('#lock-table button:enabled').length"));
    }
  }

  @Test
  void memberThatTheLeaderDoesNotHearHasNoLag() throws Exception {
    openConsole();
    String member =
        "{id: 'n2', self: false, role: null, clientAddress: null, raftAddress: 'h2:1',"
            + " appliedIndex: null, entriesBehind: null, silentMillis: 12000, reach: 'UNREACHABLE'}";
    assertEquals(
        "n2\nunreachable\nNo answer for 12 s\nnodes h2:1",
        chromium.evaluate(
            "import('/console/views.js').then(views => { views.showMembers({members: ["
                + member
                + "]}); return document.getElementById('members').innerText"
                + ".replace(/\\n+/g, '\\n'); })"));
  }

  private static String locationIs(String console) {
    return "location.href === " + JsonText.quoted(console);
  }

  @Test
  void followerLinksToTheConsoleOfTheLeader(@TempDir Path directory) throws Exception {
    try (LocalCluster cluster =
        new LocalCluster(directory, 3, Duration.ZERO, RaftSettings.SNAPSHOT_LOG_BYTES)) {
      cluster.administer(InetAddress.getAllByName("127.0.0.1")[0]);
      cluster.startAll();
      String leader = cluster.leader();
      String leaders = AdminNode.console(cluster.node(leader));
      String followers = AdminNode.console(cluster.node(cluster.follower()));
      chromium.open(followers, 1280, 900, /* dark= */ false);
      chromium.awaitTrue("document.querySelector('#problems a')");
      assertEquals(
          "console of the leader, " + leader,
          chromium.evaluate("document.querySelector('#problems a').innerText"));
      chromium.picture(PICTURES.resolve("follower-light.png"));
      chromium.evaluate("document.querySelector('#problems a').focus()");
      chromium.press("Enter");
      chromium.awaitTrue(locationIs(leaders));
      chromium.awaitTrue(LIVE);
      assertEquals(
          leader + ", leader", chromium.evaluate("document.getElementById('where').innerText"));
      assertEquals("0", chromium.evaluate("document.querySelectorAll('#problems a').length"));
      chromium.go(followers);
      String name = "#members a[aria-label=\"Console of " + leader + "\"]";
      chromium.awaitTrue("document.querySelector('" + name + "')");
      chromium.show(390, 900, /* dark= */ true);
      chromium.picture(PICTURES.resolve("follower-dark-390.png"));
      chromium.click(name);
      chromium.awaitTrue(locationIs(leaders));
    }
  }

  private String linkFor(String url) {
    String state =
        "{node: {id: 'n1', leader: 'n2', leading: false, obstacles: []}, members: [{id: 'n2',"
            + " consoleUrl: "
            + JsonText.quoted(url)
            + "}]}";
    return chromium.evaluate(
        "import('/console/views.js').then(views => { views.showProblems("
            + state
            + "); const link = document.querySelector('#problems a');"
            + " return link && link.rel === 'noreferrer' ? link.href : 'none'; })");
  }

  /** A node shows what another one has said. */
  @Test
  void urlIsALinkIfItIsTheConsoleOfAServer() throws Exception {
    openConsole();
    for (String url :
        List.of(
            "http://10.0.0.2:7480/console",
            "https://db_2.example.org:1/console",
            "http://[2001:db8::2]:7480/console")) {
      assertEquals(url, linkFor(url));
    }
    for (String url :
        List.of(
            "javascript:alert(1)//:1/console",
            "data:text/html,x:1/console",
            "//10.0.0.2:7480/console",
            "http://user@10.0.0.2:7480/console",
            "http://10.0.0.2:7480/console?x",
            "http://10.0.0.2:7480/console\n",
            "http://10.0.0.2/console",
            " http://10.0.0.2:7480/console")) {
      assertEquals("none", linkFor(url), url);
    }
  }

  @Test
  void linkIsKeptWhileTheLagOfItsMemberChanges() throws Exception {
    openConsole();
    String member =
        "({id: 'n2', self: false, role: 'LEADER', clientAddress: null, raftAddress: 'h2:1',"
            + " appliedIndex: 7, entriesBehind: behind, silentMillis: 1, reach: 'REACHABLE',"
            + " consoleUrl: 'http://10.0.0.2:7480/console'})";
    assertEquals(
        "true, 3 entries behind",
        chromium.evaluate(
            "import('/console/views.js').then(views => {"
                + " const show = behind => { views.showMembers({members: ["
                + member
                + "]}); return document.querySelector('#members a'); };"
                + " const first = show(0); return (show(3) === first) + ', '"
                + " + document.querySelector('#members .lag').innerText; })"));
  }

  @Test
  void furtherPageIsToldHowManyMayBeOpen() throws Exception {
    openConsole();
    String events = "GET /console/events HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";
    try (OpenStreams streams = new OpenStreams(node.address(), events, 7)) {
      await().atMost(DEADLINE).until(() -> streams.refusal(events).contains("8 pages"));
      chromium.go("about:blank");
      await().atMost(DEADLINE).until(() -> streams.openFurther(events));
      chromium.go(node.console("127.0.0.1"));
      chromium.awaitTrue("document.body.dataset.link === 'lost'");
      String shown = chromium.text();
      assertTrue(shown.contains("8 pages of the console are open"), shown);
    }
    chromium.awaitTrue(LIVE);
  }
}
