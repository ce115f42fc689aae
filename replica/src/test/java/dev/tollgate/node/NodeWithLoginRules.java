package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.node.admin.HttpCalls;
import dev.tollgate.node.client.CertificateLogin;
import dev.tollgate.node.client.LoginRules;
import dev.tollgate.node.client.PasswordRules;
import dev.tollgate.node.login.LoginMethods;
import dev.tollgate.tls.CertificateDemand;
import dev.tollgate.tls.TestCertificates;
import dev.tollgate.tls.TlsCredentials;
import dev.tollgate.tls.TlsMode;
import dev.tollgate.tls.TlsSocket;
import dev.tollgate.tls.TlsVersion;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;

/** A node with TLS and rules of logins, and logins to it by the driver and over HTTP. */
final class NodeWithLoginRules implements AutoCloseable {
  private static final Duration DEADLINE = Duration.ofSeconds(30);

  private final TestCertificates certificates;
  private final Node node;

  /** Starts the node, and waits until it lets the administrator in. */
  NodeWithLoginRules(
      TestCertificates certificates, TlsCredentials.Listener log, LoginMethods logins)
      throws Exception {
    this.certificates = certificates;
    TlsCredentials credentials =
        new TlsCredentials(certificates.files("n1"), TlsVersion.TLS_1_3, log);
    node =
        new Node(
            LoopbackSettings.of("n1", null)
                .withTls(
                    new NodeTls(credentials, CertificateDemand.WANTED, /* peers= */ false)
                        .withLogins(CertificateLogin.OFF))
                .withAdmin(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)),
            AdminNode.CONNECTIONS,
            new UserSettings(
                true,
                AdminNode.root().firstAdministrator(),
                new LoginRules(/* bindingRequired= */ false, PasswordRules.STANDARD, logins)));
    node.start();
    await()
        .atMost(DEADLINE)
        .ignoreExceptions()
        .untilAsserted(() -> assertEquals("ROOT", user("user=root&password=top secret")));
  }

  Node node() {
    return node;
  }

  /** Has the administrator run statements. */
  void administer(String... statements) throws SQLException {
    try (Connection root = connect("user=root&password=top secret");
        Statement statement = root.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    }
  }

  Connection connect(String properties) throws SQLException {
    return DriverManager.getConnection(
        "jdbc:tollgate://127.0.0.1:"
            + node.listenAddress().getPort()
            + "/?failoverTimeout=30s&sslRootCert="
            + certificates.trust()
            + "&"
            + properties);
  }

  String user(String properties) throws SQLException {
    try (Connection connection = connect(properties)) {
      return user(connection);
    }
  }

  static String user(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT CURRENT_USER")) {
      rows.next();
      return rows.getString(1);
    }
  }

  void assertRefused(String why, String properties) {
    SQLException refused = assertThrows(SQLException.class, () -> user(properties));
    assertEquals("28000", refused.getSQLState(), refused.getMessage());
    assertTrue(refused.getMessage().contains(why), refused.getMessage());
  }

  HttpCalls.Reply http(String method, String path, String body, String... headers)
      throws Exception {
    TlsCredentials client =
        new TlsCredentials(certificates.files("n1"), TlsVersion.TLS_1_3, certificates.events);
    try (Socket socket = HttpCalls.connect(node.adminAddress())) {
      TlsSocket tls =
          TlsSocket.handshake(
              socket, client.clientEngine(TlsMode.VERIFY_FULL, "127.0.0.1", 1), "n1", 10_000);
      return HttpCalls.call(tls.in(), tls.out(), node.adminAddress(), method, path, body, headers);
    }
  }

  @Override
  public void close() {
    node.closeAtOnce();
  }
}
