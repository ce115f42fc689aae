package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.node.admin.HttpCalls;
import dev.tollgate.node.client.AuthenticationListener.Reason;
import dev.tollgate.node.client.CertificateLogin;
import dev.tollgate.node.client.LoginRules;
import dev.tollgate.node.client.PasswordRules;
import dev.tollgate.node.login.LoginMethods;
import dev.tollgate.node.login.LoginRuleFile;
import dev.tollgate.node.login.TestIssuer;
import dev.tollgate.node.login.TokenCheck;
import dev.tollgate.node.login.TokenSettings;
import dev.tollgate.node.login.WatchedFile;
import dev.tollgate.tls.CertificateDemand;
import dev.tollgate.tls.TestCertificates;
import dev.tollgate.tls.TlsCredentials;
import dev.tollgate.tls.TlsMode;
import dev.tollgate.tls.TlsSocket;
import dev.tollgate.tls.TlsVersion;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Logins by token and by rule, at the port for clients and at the admin address. */
@Timeout(180)
class TokenLoginTest {
  private static final Duration DEADLINE = Duration.ofSeconds(30);
  private static final String RULES =
      """
      all root 127.0.0.1   scram
      all root all         reject
      all mo   127.0.0.0/8 scram
      all all  127.0.0.1   oidc
      """;

  @TempDir private Path directory;
  private TestCertificates certificates;
  private TestIssuer issuer;
  private @Nullable Node node;

  @BeforeEach
  void start() throws Exception {
    certificates = new TestCertificates(directory.resolve("ca"));
    certificates.node("n1");
    issuer = new TestIssuer(certificates, directory);
    Files.writeString(rules(), RULES);
    TlsCredentials.Listener log = NodeTls.logged("n1");
    TlsCredentials credentials =
        new TlsCredentials(certificates.files("n1"), TlsVersion.TLS_1_3, log);
    TokenCheck tokens =
        new TokenSettings(
                TestIssuer.NAME,
                "tollgate",
                issuer.address(),
                certificates.trust(),
                "sub",
                null,
                Duration.ZERO,
                /* endsConnections= */ true)
            .open(Clock.systemUTC(), System::nanoTime, log);
    LoginRules logins =
        new LoginRules(
            /* bindingRequired= */ false,
            PasswordRules.STANDARD,
            new LoginMethods(
                new WatchedFile<>("the rules of logins", rules(), LoginRuleFile::read, log),
                tokens));
    node =
        new Node(
            LoopbackSettings.of("n1", null)
                .withTls(
                    new NodeTls(credentials, CertificateDemand.WANTED, /* peers= */ false)
                        .withLogins(CertificateLogin.OFF))
                .withAdmin(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)),
            AdminNode.CONNECTIONS,
            new UserSettings(true, AdminNode.root().firstAdministrator(), logins));
    node.start();
    await()
        .atMost(DEADLINE)
        .ignoreExceptions()
        .untilAsserted(() -> assertEquals("ROOT", user("user=root&password=top secret")));
    try (Connection root = connect("user=root&password=top secret");
        Statement statement = root.createStatement()) {
      statement.execute("CREATE USER BILLING PASSWORD 'long enough'");
      statement.execute("CREATE USER MO PASSWORD 'long enough'");
    }
  }

  @AfterEach
  void stop() {
    if (node != null) {
      node.closeAtOnce();
    }
    issuer.close();
  }

  private Path rules() {
    return directory.resolve("rules");
  }

  private Connection connect(String properties) throws SQLException {
    return DriverManager.getConnection(
        "jdbc:tollgate://127.0.0.1:"
            + node.listenAddress().getPort()
            + "/?failoverTimeout=30s&sslRootCert="
            + certificates.trust()
            + "&"
            + properties);
  }

  private String user(String properties) throws SQLException {
    try (Connection connection = connect(properties)) {
      return user(connection);
    }
  }

  private static String user(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT CURRENT_USER")) {
      rows.next();
      return rows.getString(1);
    }
  }

  private void assertRefused(String why, String properties) {
    SQLException refused = assertThrows(SQLException.class, () -> user(properties));
    assertEquals("28000", refused.getSQLState(), refused.getMessage());
    assertTrue(refused.getMessage().contains(why), refused.getMessage());
  }

  private String token(String subject) throws Exception {
    return issuer.token(subject, Instant.now().plusSeconds(600));
  }

  private HttpCalls.Reply http(String authorization) throws Exception {
    return http("GET", "/metrics", "", authorization);
  }

  private HttpCalls.Reply http(String method, String path, String body, String authorization)
      throws Exception {
    TlsCredentials client =
        new TlsCredentials(certificates.files("n1"), TlsVersion.TLS_1_3, certificates.events);
    try (Socket socket = HttpCalls.connect(node.adminAddress())) {
      TlsSocket tls =
          TlsSocket.handshake(
              socket, client.clientEngine(TlsMode.VERIFY_FULL, "127.0.0.1", 1), "n1", 10_000);
      return HttpCalls.call(
          tls.in(),
          tls.out(),
          node.adminAddress(),
          method,
          path,
          body,
          "Content-Type",
          "application/json",
          "Authorization",
          authorization);
    }
  }

  @Test
  void tokenIsALoginWhereARuleSaysSo() throws Exception {
    assertEquals("BILLING", user("token=" + token("billing")));
    assertEquals("BILLING", user("user=billing&token=" + token("billing")));
    assertEquals(200, http("Bearer " + token("billing")).status());
    assertEquals(200, http("bearer  " + token("billing")).status());

    assertRefused("this name", "user=mo&token=" + token("billing"));
    assertRefused("this name", "token=" + token("nobody"));
    assertRefused("has expired", "token=" + issuer.token("billing", Instant.now()));
    assertRefused("no signed JWT", "token=abc");
    assertRefused("has not shown who it is", "sslMode=require&token=" + token("billing"));
    assertEquals(401, http("Bearer " + issuer.token("billing", Instant.now())).status());
    HttpCalls.Reply broken = http("Bearer ?");
    assertEquals(401, broken.status());
  }

  @Test
  void tokenIsNoLoginOfALockedAccount() throws Exception {
    String token = token("billing");
    assertEquals("BILLING", user("token=" + token));
    try (Connection root = connect("user=root&password=top secret");
        Statement statement = root.createStatement()) {
      statement.execute("ALTER USER billing ACCOUNT LOCK");
    }
    assertRefused("locked", "token=" + token);
    assertEquals(403, http("Bearer " + token).status());
  }

  /** Else its user would come in when the identity provider no longer knows it. */
  @Test
  void loginByTokenSetsNoPasswordForItsOwnUser() throws Exception {
    Files.writeString(rules(), "all root all scram\nall mo all scram\nall all all oidc\n");
    String set = "SET PASSWORD 'another long one'";
    try (Connection connection = connect("token=" + token("billing"));
        Statement statement = connection.createStatement()) {
      for (String sql : List.of(set, "ALTER USER billing " + set)) {
        SQLException refused = assertThrows(SQLException.class, () -> statement.execute(sql));
        assertEquals("42501", refused.getSQLState(), refused.getMessage());
        assertTrue(
            refused.getMessage().contains("has logged in by oidc")
                && refused.getMessage().contains("ALTER USER BILLING SET PASSWORD"),
            refused.getMessage());
      }
    }
    String sql = "{\"sql\": \"ALTER USER %s " + set + "\"}";
    HttpCalls.Reply refused =
        http("POST", "/v1/sql", sql.formatted("billing"), "Bearer " + token("billing"));
    assertEquals(403, refused.status(), refused.body());
    assertTrue(refused.body().contains("has logged in by oidc"), refused.body());
    HttpCalls.Reply done =
        http("POST", "/v1/sql", sql.formatted("mo"), HttpCalls.basic("mo", "long enough"));
    assertEquals(200, done.status(), done.body());
    assertEquals("MO", user("user=mo&password=another long one"));
  }

  @Test
  void answerWithoutAnEndEndsWithItsToken() throws Exception {
    // over HTTP no token waits for keys
    assertEquals("BILLING", user("token=" + token("billing")));
    Instant until = Instant.now().plusSeconds(3);
    HttpCalls.Reply events =
        http("GET", "/console/events", "", "Bearer " + issuer.token("billing", until));
    assertEquals(200, events.status());
    assertTrue(events.body().contains("event: state"), events.body());
    assertTrue(events.body().contains("event: end"), events.body());
    assertTrue(Instant.now().isBefore(until.plus(DEADLINE)), "it ends with the token");
  }

  @Test
  void waitForALockOverHttpEndsWithItsToken() throws Exception {
    try (Connection root = connect("user=root&password=top secret");
        Statement statement = root.createStatement()) {
      statement.execute("GRANT LOCK ON '%' TO BILLING");
      statement.execute("SELECT acquire_lock('job')");
      assertEquals("BILLING", user("token=" + token("billing")));
      Instant until = Instant.now().plusSeconds(3);
      HttpCalls.Reply ended =
          http(
              "POST",
              "/v1/locks/job",
              "{\"ttl\": \"60s\", \"wait\": \"25s\"}",
              "Bearer " + issuer.token("billing", until));
      assertEquals(403, ended.status(), ended.body());
      assertTrue(ended.body().contains("has expired"), ended.body());
      assertTrue(Instant.now().isBefore(until.plusSeconds(15)), "it does not wait to the end");
      statement.execute("SELECT release_lock('job')");
      try (ResultSet rows =
          statement.executeQuery(
              "SELECT COUNT(*) FROM TOLLGATE.LEASES WHERE USER_NAME = 'BILLING'")) {
        rows.next();
        assertEquals(0, rows.getInt(1), "the lease for the lock is revoked");
      }
    }
  }

  @Test
  void ruleSaysHowAUserLogsIn() throws Exception {
    assertRefused("no rule", "token=" + token("root"));
    assertRefused("in another way", "user=billing&password=long enough");
    assertEquals("MO", user("user=mo&password=long enough"));
    assertEquals(401, http("Bearer " + token("root")).status());
    assertEquals(401, http(HttpCalls.basic("billing", "long enough")).status());
    assertEquals(200, http(HttpCalls.basic("mo", "long enough")).status());
    assertTrue(node.service().logins().refused(Reason.NOT_ALLOWED) >= 4);

    Files.writeString(rules(), "all root all scram\nall mo all oidc\n");
    await()
        .atMost(DEADLINE)
        .untilAsserted(() -> assertRefused("in another way", "user=mo&password=long enough"));
    assertEquals("MO", user("token=" + token("mo")));
    assertEquals(401, http(HttpCalls.basic("mo", "long enough")).status());
    Files.writeString(rules(), "all root all scram\nall mo all broken\n");
    assertEquals("MO", user("token=" + token("mo")));
  }

  @Test
  void connectionEndsWithItsToken() throws Exception {
    Path file = directory.resolve("token");
    TestCertificates.replace(file, issuer.token("billing", Instant.now().plusSeconds(4)));
    long before = node.service().logins().done();
    try (Connection connection = connect("tokenFile=" + file)) {
      assertEquals("BILLING", user(connection));
      long first = node.service().logins().done();
      assertTrue(first > before);
      // a fresh token goes on with the session
      TestCertificates.replace(file, issuer.token("billing", Instant.now().plusSeconds(9)));
      await()
          .atMost(DEADLINE)
          .until(
              () -> {
                assertEquals("BILLING", user(connection));
                return node.service().logins().done() > first;
              });
      SQLException refused = null;
      Instant most = Instant.now().plus(DEADLINE);
      while (refused == null && Instant.now().isBefore(most)) {
        try {
          assertEquals("BILLING", user(connection));
        } catch (SQLException e) {
          refused = e;
        }
      }
      assertTrue(refused != null && refused.getMessage().contains("has expired"), "" + refused);
    }
  }
}
