package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.node.admin.HttpCalls;
import dev.tollgate.node.client.AuthenticationListener.Reason;
import dev.tollgate.node.login.LoginMethods;
import dev.tollgate.node.login.LoginRuleFile;
import dev.tollgate.node.login.TestIssuer;
import dev.tollgate.node.login.TokenCheck;
import dev.tollgate.node.login.TokenSettings;
import dev.tollgate.node.login.WatchedFile;
import dev.tollgate.tls.TestCertificates;
import dev.tollgate.tls.TlsCredentials;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
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
  private @Nullable NodeWithLoginRules logins;

  @BeforeEach
  void start() throws Exception {
    certificates = new TestCertificates(directory.resolve("ca"));
    certificates.node("n1");
    issuer = new TestIssuer(certificates, directory);
    Files.writeString(rules(), RULES);
    TlsCredentials.Listener log = NodeTls.logged("n1");
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
    logins =
        new NodeWithLoginRules(
            certificates,
            log,
            new LoginMethods(
                new WatchedFile<>("the rules of logins", rules(), LoginRuleFile::read, log),
                tokens));
    logins.administer(
        "CREATE USER BILLING PASSWORD 'long enough'", "CREATE USER MO PASSWORD 'long enough'");
  }

  @AfterEach
  void stop() {
    if (logins != null) {
      logins.close();
    }
    issuer.close();
  }

  private Path rules() {
    return directory.resolve("rules");
  }

  private String token(String subject) throws Exception {
    return issuer.token(subject, Instant.now().plusSeconds(600));
  }

  private HttpCalls.Reply http(String authorization) throws Exception {
    return http("GET", "/metrics", "", authorization);
  }

  private HttpCalls.Reply http(String method, String path, String body, String authorization)
      throws Exception {
    return logins.http(
        method, path, body, "Content-Type", "application/json", "Authorization", authorization);
  }

  @Test
  void tokenIsALoginWhereARuleSaysSo() throws Exception {
    assertEquals("BILLING", logins.user("token=" + token("billing")));
    assertEquals("BILLING", logins.user("user=billing&token=" + token("billing")));
    assertEquals(200, http("Bearer " + token("billing")).status());
    assertEquals(200, http("bearer  " + token("billing")).status());

    logins.assertRefused("this name", "user=mo&token=" + token("billing"));
    logins.assertRefused("this name", "token=" + token("nobody"));
    logins.assertRefused("has expired", "token=" + issuer.token("billing", Instant.now()));
    logins.assertRefused("no signed JWT", "token=abc");
    logins.assertRefused("has not shown who it is", "sslMode=require&token=" + token("billing"));
    assertEquals(401, http("Bearer " + issuer.token("billing", Instant.now())).status());
    HttpCalls.Reply broken = http("Bearer ?");
    assertEquals(401, broken.status());
  }

  @Test
  void tokenIsNoLoginOfALockedAccount() throws Exception {
    String token = token("billing");
    assertEquals("BILLING", logins.user("token=" + token));
    try (Connection root = logins.connect("user=root&password=top secret");
        Statement statement = root.createStatement()) {
      statement.execute("ALTER USER billing ACCOUNT LOCK");
    }
    logins.assertRefused("locked", "token=" + token);
    assertEquals(403, http("Bearer " + token).status());
  }

  /** Else its user would come in when the identity provider no longer knows it. */
  @Test
  void loginByTokenSetsNoPasswordForItsOwnUser() throws Exception {
    Files.writeString(rules(), "all root all scram\nall mo all scram\nall all all oidc\n");
    String set = "SET PASSWORD 'another long one'";
    try (Connection connection = logins.connect("token=" + token("billing"));
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
    assertEquals("MO", logins.user("user=mo&password=another long one"));
  }

  @Test
  void answerWithoutAnEndEndsWithItsToken() throws Exception {
    // over HTTP no token waits for keys
    assertEquals("BILLING", logins.user("token=" + token("billing")));
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
    try (Connection root = logins.connect("user=root&password=top secret");
        Statement statement = root.createStatement()) {
      statement.execute("GRANT LOCK ON '%' TO BILLING");
      statement.execute("SELECT acquire_lock('job')");
      assertEquals("BILLING", logins.user("token=" + token("billing")));
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
    logins.assertRefused("no rule", "token=" + token("root"));
    logins.assertRefused("in another way", "user=billing&password=long enough");
    assertEquals("MO", logins.user("user=mo&password=long enough"));
    assertEquals(401, http("Bearer " + token("root")).status());
    assertEquals(401, http(HttpCalls.basic("billing", "long enough")).status());
    assertEquals(200, http(HttpCalls.basic("mo", "long enough")).status());
    assertTrue(logins.node().service().logins().refused(Reason.NOT_ALLOWED) >= 4);

    Files.writeString(rules(), "all root all scram\nall mo all oidc\n");
    await()
        .atMost(DEADLINE)
        .untilAsserted(
            () -> logins.assertRefused("in another way", "user=mo&password=long enough"));
    assertEquals("MO", logins.user("token=" + token("mo")));
    assertEquals(401, http(HttpCalls.basic("mo", "long enough")).status());
    Files.writeString(rules(), "all root all scram\nall mo all broken\n");
    assertEquals("MO", logins.user("token=" + token("mo")));
  }

  @Test
  void connectionEndsWithItsToken() throws Exception {
    Path file = directory.resolve("token");
    TestCertificates.replace(file, issuer.token("billing", Instant.now().plusSeconds(4)));
    long before = logins.node().service().logins().done();
    try (Connection connection = logins.connect("tokenFile=" + file)) {
      assertEquals("BILLING", NodeWithLoginRules.user(connection));
      long first = logins.node().service().logins().done();
      assertTrue(first > before);
      // a fresh token goes on with the session
      TestCertificates.replace(file, issuer.token("billing", Instant.now().plusSeconds(9)));
      await()
          .atMost(DEADLINE)
          .until(
              () -> {
                assertEquals("BILLING", NodeWithLoginRules.user(connection));
                return logins.node().service().logins().done() > first;
              });
      SQLException refused = null;
      Instant most = Instant.now().plus(DEADLINE);
      while (refused == null && Instant.now().isBefore(most)) {
        try {
          assertEquals("BILLING", NodeWithLoginRules.user(connection));
        } catch (SQLException e) {
          refused = e;
        }
      }
      assertTrue(refused != null && refused.getMessage().contains("has expired"), "" + refused);
    }
  }
}
