package dev.tollgate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.node.LoopbackSettings;
import dev.tollgate.node.Node;
import dev.tollgate.node.slow.SlowSettings;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** {@code tollgate top}: who holds, who waits, and what is slow. */
@Timeout(180)
class TopCommandTest {
  private static final Duration AT_ONCE = Duration.ofNanos(1);

  private record Ended(int status, String out, String err) {}

  private static Ended run(String... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    int status =
        Main.commandLine(Map.of(), null)
            .setOut(new PrintWriter(out, true))
            .setErr(new PrintWriter(err, true))
            .execute(arguments);
    return new Ended(status, out.toString(), err.toString());
  }

  private static Connection connect(String url, String application) throws SQLException {
    Properties properties = new Properties();
    properties.put("applicationName", application);
    properties.put("lockWait", "60s");
    return DriverManager.getConnection(url, properties);
  }

  private static void run(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static String url(Node node) {
    return "jdbc:tollgate://127.0.0.1:" + node.listenAddress().getPort() + "/";
  }

  @Test
  void screenShowsHoldersWaitersAndSlowStatements() throws Exception {
    SlowSettings everything = new SlowSettings(AT_ONCE, AT_ONCE, AT_ONCE, AT_ONCE);
    try (Node node = new Node(LoopbackSettings.of("n1", null).withSlow(everything))) {
      node.start();
      Awaitility.await().atMost(Duration.ofSeconds(60)).until(node::isReady);
      try (Connection holder = connect(url(node), "bill\u001b[2Jing");
          Connection waiter = connect(url(node), "reports")) {
        run(holder, "SELECT acquire_lock('nightly')");
        run(holder, "SELECT acquire_lock('other')");
        CompletableFuture<Void> waiting =
            CompletableFuture.runAsync(
                () -> {
                  try {
                    run(waiter, "SELECT acquire_lock('nightly')");
                  } catch (SQLException e) {
                    throw new IllegalStateException(e);
                  }
                });
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> waiters(holder) == 1);
        Ended top = run("top", "--once", "--url=" + url(node));
        assertEquals(0, top.status(), top.err() + top.out());
        String text = top.out();
        assertTrue(text.startsWith("Nodes at 20"), text);
        assertTrue(text.contains("n1    LEADER"), text);
        // 3 stuck: everything is at this node
        assertTrue(
            text.matches(
                "(?s).*HOLDS +WAITS +STUCK +TRANSACTIONS +SESSIONS\n[- ]+\n +2 +1 +3 +0 .*"),
            text);
        assertTrue(
            text.matches("(?s).*\nnightly +EXCLUSIVE +1 [^\n]*bill\\?\\[2Jing [^\n]* 1\n.*"), text);
        assertTrue(text.matches("(?s).*\nnightly +1 +EXCLUSIVE [^\n]*reports .*"), text);
        assertTrue(text.contains("SELECT acquire_lock(?)"), text);
        assertTrue(text.indexOf("\nnightly") < text.indexOf("\nother"), text);
        assertFalse(text.contains("\u001b"), "a client has no say over the terminal");
        Ended short1 = run("top", "--once", "--rows=1", "--url=" + url(node));
        assertFalse(short1.out().contains("\nother"), short1.out());
        run(holder, "SELECT release_lock('nightly')");
        waiting.get(60, TimeUnit.SECONDS);
      }
    }
  }

  private static long waiters(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT COUNT(*) FROM TOLLGATE.LOCK_WAITERS")) {
      rows.next();
      return rows.getLong(1);
    }
  }

  @Test
  void clusterThatDoesNotAnswerEndsWithOne() throws Exception {
    int port;
    try (ServerSocket probe = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = probe.getLocalPort();
    }
    Ended top = run("top", "--once", "--url=jdbc:tollgate://127.0.0.1:" + port + "/");
    assertEquals(1, top.status(), top.out());
    assertTrue(top.out().contains("no node answers at these addresses"), top.out());
  }

  @Test
  void sensibleNumbersAreDemanded() {
    String url = "--url=jdbc:tollgate://127.0.0.1:1/";
    for (String option : List.of("--every=0", "--every=3601", "--rows=0", "--rows=1001")) {
      Ended top = run("top", "--once", url, option);
      assertEquals(2, top.status(), top.out());
      assertTrue(top.err().contains(option.split("=", 2)[0] + " is "), top.err());
    }
    assertEquals(2, run("top", "--once").status());
  }

  @Test
  void nextTextReplacesTheLast() {
    StringWriter out = new StringWriter();
    TopScreen screen = new TopScreen(new PrintWriter(out), true);
    screen.leave();
    assertEquals("", out.toString());
    screen.show("a\nb\n");
    screen.show("c\n");
    screen.leave();
    assertEquals(
        "\u001b[?7l\u001b[?25l\u001b[H\u001b[J\u001b[Ha\u001b[K\nb\u001b[K\n\u001b[J"
            + "\u001b[Hc\u001b[K\n\u001b[J\u001b[?7h\u001b[?25h",
        out.toString());
  }

  @Test
  void textsFollowEachOtherWithoutATerminal() {
    StringWriter out = new StringWriter();
    TopScreen screen = new TopScreen(new PrintWriter(out), false);
    screen.show("a\n");
    screen.show("b\n");
    screen.leave();
    assertEquals("a\n\nb\n\n", out.toString());
  }
}
