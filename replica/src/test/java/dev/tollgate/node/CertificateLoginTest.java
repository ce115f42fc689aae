package dev.tollgate.node;

import static dev.tollgate.cli.certificates.OddCertificates.CLIENT_AUTH;
import static dev.tollgate.cli.certificates.OddCertificates.SERVER_AUTH;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.cli.certificates.OddCertificates;
import dev.tollgate.node.admin.HttpCalls;
import dev.tollgate.node.client.CertificateLogin;
import dev.tollgate.tls.CertificateDemand;
import dev.tollgate.tls.TestCertificates;
import dev.tollgate.tls.TlsCredentials;
import dev.tollgate.tls.TlsMode;
import dev.tollgate.tls.TlsSocket;
import dev.tollgate.tls.TlsVersion;
import java.io.IOException;
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
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Which certificates log in as whom, at the port for clients and at the admin address. */
@Timeout(180)
class CertificateLoginTest {
  private static final Duration DEADLINE = Duration.ofSeconds(20);
  private static final String NOBODY = "nobody";

  @TempDir private Path directory;
  private TestCertificates certificates;
  private @Nullable Node node;
  private int serial;

  @BeforeEach
  void makeCertificates() throws Exception {
    certificates = new TestCertificates(directory.resolve("ca"));
    certificates.node("n1");
  }

  @AfterEach
  void stop() {
    if (node != null) {
      node.closeAtOnce();
    }
  }

  private void start(CertificateLogin logins) throws Exception {
    TlsCredentials credentials =
        new TlsCredentials(certificates.files("n1"), TlsVersion.TLS_1_3, NodeTls.logged("n1"));
    node =
        new Node(
            LoopbackSettings.of("n1", null)
                .withTls(
                    new NodeTls(credentials, CertificateDemand.WANTED, /* peers= */ false)
                        .withLogins(logins))
                .withAdmin(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)),
            AdminNode.CONNECTIONS,
            TestUsers.administrator("admin"));
    node.start();
    await().atMost(DEADLINE).until(() -> http("/health/ready", "n1") == 200);
  }

  /** Issues a certificate, and tells as whom it logs in at both ports. */
  private String user(String commonName, List<String> uses, String... names) throws Exception {
    String file = "c" + ++serial;
    certificates.write(
        file, OddCertificates.issue(certificates.authority, commonName, uses, names));
    return userOf(file);
  }

  private String userOf(String file) throws Exception {
    String atClients = atClients(file);
    int status = http("/metrics", file);
    assertEquals(atClients.equals(NOBODY) ? 401 : 200, status, "at the admin address");
    return atClients;
  }

  private String atClients(String file) {
    String url =
        "jdbc:tollgate://127.0.0.1:"
            + node.listenAddress().getPort()
            + "/?failoverTimeout=2s&sslRootCert="
            + certificates.trust()
            + "&sslCert="
            + certificates.certificate(file)
            + "&sslKey="
            + certificates.key(file);
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT CURRENT_USER")) {
      rows.next();
      return rows.getString(1);
    } catch (SQLException e) {
      assertEquals("28000", e.getSQLState(), e.getMessage());
      return NOBODY;
    }
  }

  private int http(String path, String file) throws Exception {
    TlsCredentials client =
        new TlsCredentials(certificates.files(file), TlsVersion.TLS_1_3, certificates.events);
    try (Socket socket = HttpCalls.connect(node.adminAddress())) {
      TlsSocket tls =
          TlsSocket.handshake(
              socket, client.clientEngine(TlsMode.VERIFY_FULL, "127.0.0.1", 1), "n1", 10_000);
      return HttpCalls.call(tls.in(), tls.out(), node.adminAddress(), "GET", path, "").status();
    }
  }

  @Test
  void withoutTheSwitchACertificateIsNoLogin() throws Exception {
    start(CertificateLogin.OFF);
    assertEquals(NOBODY, user("admin", List.of(CLIENT_AUTH), "tollgate:user:admin"));
  }

  @Test
  void aNameOfTypeUriIsTheUserAndNothingElseIs() throws Exception {
    start(CertificateLogin.byName());
    List<String> use = List.of(CLIENT_AUTH);
    assertEquals("ADMIN", user("somebody", use, "tollgate:user:admin"));
    assertEquals(NOBODY, user("ADMIN", use), "a common name");
    assertEquals(NOBODY, user("ADMIN", List.of(), "tollgate:user:admin"), "no use is named");
    assertEquals(NOBODY, user("x", use, "tollgate:user:adm%C4%B1n"));
    assertEquals(NOBODY, user("x", use, "tollgate:user:admin ", "tollgate:user:x"));
    assertEquals(NOBODY, user("x", use, "TOLLGATE:USER:ADMIN"), "another scheme");
  }

  @Test
  void certificateThatNamesTwoUsersIsNobody() throws Exception {
    start(CertificateLogin.byName());
    assertEquals(
        NOBODY, user("x", List.of(CLIENT_AUTH), "tollgate:user:admin", "tollgate:user:billing"));
  }

  @Test
  void certificateOfANodeIsNeverAUser() throws Exception {
    Path map = directory.resolve("map");
    Files.writeString(map, "cn n1 admin\nuri tollgate:user:* *\ncn * *\n");
    start(CertificateLogin.byMap(map, certificates.events));
    assertEquals(NOBODY, userOf("n1"));
    assertEquals(
        NOBODY,
        user("x", List.of(CLIENT_AUTH, SERVER_AUTH), "tollgate:node:n7", "tollgate:user:admin"));
    assertEquals("ADMIN", user("admin", List.of(CLIENT_AUTH)), "the map takes common names");
  }

  @Test
  void smallLetterWithoutADotIsNoI() throws Exception {
    Path map = directory.resolve("map");
    Files.writeString(map, "cn * *\n");
    start(CertificateLogin.byMap(map, certificates.events));
    List<String> use = List.of(CLIENT_AUTH);
    assertEquals("ADMIN", user("aDmin", use));
    assertEquals(NOBODY, user("adm\u0131n", use));
    assertEquals(NOBODY, user("\uFF21DMIN", use), "a wide A");
    assertEquals(NOBODY, user("ADMIN\u0000", use));
  }

  @Test
  void mapSaysWhoIsWhoAndIsReadAgain() throws Exception {
    Path map = directory.resolve("map");
    Files.writeString(
        map,
        """
        # who is who

        uri     spiffe://example.org/app  admin   # the first line that fits
        email   jo@example.org           admin
        subject "CN=the boss"             "admin"
        """);
    start(CertificateLogin.byMap(map, certificates.events));
    List<String> use = List.of(CLIENT_AUTH);
    assertEquals("ADMIN", user("x", use, "spiffe://example.org/app"));
    assertEquals(NOBODY, user("x", use, "spiffe://example.org/app2"));
    assertEquals(NOBODY, user("x", use, "tollgate:user:admin"), "the map is in its place");
    assertEquals("ADMIN", user("x", use, "jo@example.org"));
    assertEquals(NOBODY, user("x", use, "Jo@example.org"));
    assertEquals("ADMIN", user("the boss", use));
    assertEquals(NOBODY, user("The boss", use));
    certificates.write("late", OddCertificates.issue(certificates.authority, "late", use));
    assertEquals(NOBODY, userOf("late"));
    TestCertificates.replace(map, "cn late admin\n");
    await().atMost(DEADLINE).until(() -> atClients("late").equals("ADMIN"));
    assertEquals(NOBODY, user("the boss", use));
    TestCertificates.replace(map, "cn late\n");
    await().atMost(DEADLINE).until(() -> !certificates.events.failed.isEmpty());
    assertTrue(
        certificates.events.failed.get(0).contains("map, line 1: write a kind of name"),
        certificates.events.failed.get(0));
    assertEquals("ADMIN", userOf("late"), "the former map counts");
  }

  @Test
  void mapThatCannotBeReadIsRefusedAtTheStart() throws Exception {
    for (String[] wrong :
        new String[][] {
          {"", "has to have 1 to"},
          {"cn a", "line 1: write a kind of name"},
          {"\ncn a b c", "line 2: write a kind of name"},
          {"CN a b", "'CN' is none of uri, dns, email, cn and subject"},
          {"cn * admin", "would log everybody in as admin"},
          {"cn a *", "the user * is the rest of a name that ends in *"},
          {"subject CN=* *", "the user * is the rest"},
          {"subject CN=a* b", "a subject is written in full"},
          {"subject nonsense b", "line 1"},
          {"cn a adm\u0131n", "no user can have the name"},
          {"cn \"a b", "a quote does not end"}
        }) {
      Path map = directory.resolve("wrong");
      Files.writeString(map, wrong[0]);
      IOException refused =
          assertThrows(
              IOException.class, () -> CertificateLogin.byMap(map, certificates.events), wrong[0]);
      assertTrue(refused.getMessage().contains(wrong[1]), refused.getMessage());
    }
    assertThrows(
        IOException.class,
        () -> CertificateLogin.byMap(directory.resolve("nowhere"), certificates.events));
  }
}
