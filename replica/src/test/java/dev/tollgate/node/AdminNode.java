package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.command.UserAccount;
import dev.tollgate.core.command.UserName;
import dev.tollgate.node.admin.HttpCalls;
import dev.tollgate.node.client.ConnectionLimits;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;

/** A node with an admin address that keeps its log in memory, and leads. */
public final class AdminNode implements AutoCloseable {
  static final ConnectionSettings CONNECTIONS =
      new ConnectionSettings(
          ConnectionLimits.STANDARD.strangers(), Duration.ofSeconds(10), 0, 0, 48L << 20);

  private static final Duration DEADLINE = Duration.ofSeconds(30);

  private final Node node;

  private AdminNode(Node node) throws Exception {
    this.node = node;
    start(node);
  }

  /** The admin address has any free port of this machine. */
  public static NodeSettings settings() {
    return LoopbackSettings.of("n1", null)
        .withAdmin(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
  }

  /** The administrator ROOT, whose password is "top secret"; everybody has to log in. */
  static UserSettings root() {
    return new UserSettings(
        /* loginRequired= */ true,
        new UserAccount(
            new UserName("ROOT"),
            /* administrator= */ true,
            List.of(TestUsers.verifier("top secret"))));
  }

  /** Starts a node, and waits until it is ready. */
  public static void start(Node node) throws Exception {
    node.start();
    assertTrue(node.awaitLeadership(DEADLINE));
    await()
        .atMost(DEADLINE)
        .until(() -> HttpCalls.get(node.adminAddress(), "/health/ready").status() == 200);
  }

  static AdminNode withoutUsers() throws Exception {
    return new AdminNode(new Node(settings()));
  }

  static AdminNode withUsers() throws Exception {
    return new AdminNode(new Node(settings(), CONNECTIONS, root()));
  }

  InetSocketAddress address() {
    return node.adminAddress();
  }

  /** The address of the console, for a browser. */
  String console(String host) {
    return console(node, host);
  }

  static String console(Node node) {
    return console(node, "127.0.0.1");
  }

  private static String console(Node node, String host) {
    return "http://" + host + ":" + node.adminAddress().getPort() + "/console";
  }

  Connection connect(String properties) throws SQLException {
    return DriverManager.getConnection(
        "jdbc:tollgate://127.0.0.1:" + node.listenAddress().getPort() + "/?" + properties);
  }

  @Override
  public void close() {
    node.closeAtOnce();
  }
}
