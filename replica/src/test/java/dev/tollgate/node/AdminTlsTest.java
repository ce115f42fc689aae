package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.cli.certificates.TestAuthority.Validity;
import dev.tollgate.core.Capacity;
import dev.tollgate.node.admin.HttpCalls;
import dev.tollgate.node.client.AuthenticationListener;
import dev.tollgate.node.client.CertificateLogin;
import dev.tollgate.node.client.ClientAccess;
import dev.tollgate.node.client.ClientLimits;
import dev.tollgate.store.SqlDatabase;
import dev.tollgate.tls.CertificateDemand;
import dev.tollgate.tls.TestCertificates;
import dev.tollgate.tls.TlsCredentials;
import dev.tollgate.tls.TlsFiles;
import dev.tollgate.tls.TlsMode;
import dev.tollgate.tls.TlsSocket;
import dev.tollgate.tls.TlsVersion;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The admin address of a node with TLS, and clients with and without certificates. */
@Timeout(120)
class AdminTlsTest {
  private static final Duration DEADLINE = Duration.ofSeconds(30);

  @TempDir private Path directory;
  private TestCertificates certificates;
  private final TestUsers users = new TestUsers().with("billing").with("jo", "secret");
  private CertificateLogin logins = CertificateLogin.byName();
  private @Nullable Node node;

  @BeforeEach
  void makeCertificates() throws Exception {
    certificates = new TestCertificates(directory);
    certificates.node("n1");
    certificates.user("billing");
    certificates.user("nobody");
  }

  @AfterEach
  void stop() {
    node.closeAtOnce();
  }

  private void start(CertificateDemand demand) throws Exception {
    TlsCredentials credentials =
        new TlsCredentials(certificates.files("n1"), TlsVersion.TLS_1_3, NodeTls.logged("n1"));
    node =
        new Node(
            LoopbackSettings.of("n1", null)
                .withTls(new NodeTls(credentials, demand, /* peers= */ false).withLogins(logins))
                .withAdmin(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)),
            new SqlDatabase(),
            ClientLimits.STANDARD,
            Capacity.STANDARD,
            UserSettings.OPTIONAL,
            new ClientAccess(
                users, (user, session) -> true, AuthenticationListener.NOBODY, System::nanoTime));
    node.start();
    await().atMost(DEADLINE).until(() -> node.isReady());
  }

  /**
   * @param name of the client's certificate; null for none
   */
  private HttpCalls.Reply get(String path, @Nullable String name, String... headers)
      throws Exception {
    TlsFiles files =
        name == null
            ? new TlsFiles(null, null, null, null, null, certificates.trust(), null)
            : certificates.files(name);
    TlsCredentials client = new TlsCredentials(files, TlsVersion.TLS_1_3, certificates.events);
    try (Socket socket = HttpCalls.connect(node.adminAddress())) {
      TlsSocket tls =
          TlsSocket.handshake(
              socket, client.clientEngine(TlsMode.VERIFY_FULL, "127.0.0.1", 1), "n1", 10_000);
      return HttpCalls.call(tls.in(), tls.out(), node.adminAddress(), "GET", path, "", headers);
    }
  }

  @Test
  void passwordOverTls() throws Exception {
    start(CertificateDemand.WANTED);
    assertEquals(200, get("/health/ready", null).status());
    assertEquals(401, get("/metrics", null).status());
    HttpCalls.Reply metrics =
        get("/metrics", null, "Authorization", HttpCalls.basic("jo", "secret"));
    assertEquals(200, metrics.status());
    assertTrue(
        Scrape.parse(metrics.body()).value("tollgate_certificate_expiry_timestamp_seconds")
            > System.currentTimeMillis() / 1_000.0);
  }

  @Test
  void certificateIsALogin() throws Exception {
    start(CertificateDemand.WANTED);
    assertEquals(200, get("/metrics", "billing").status());
    assertEquals(401, get("/metrics", "nobody").status(), "there is no such user");
    assertEquals(401, get("/metrics", "n1").status(), "a node is no user");
    assertEquals(
        401,
        get("/metrics", "billing", "Authorization", HttpCalls.basic("jo", "wrong")).status(),
        "a password goes before the certificate");
  }

  @Test
  void demandedCertificateIsDemandedHereToo() throws Exception {
    start(CertificateDemand.REQUIRED);
    assertThrows(IOException.class, () -> get("/health/live", null));
    assertEquals(200, get("/health/live", "billing").status());
  }

  @Test
  void clientWithoutTlsIsNotServed() throws Exception {
    start(CertificateDemand.WANTED);
    assertThrows(IOException.class, () -> HttpCalls.get(node.adminAddress(), "/health/live"));
    assertEquals(200, get("/health/live", null).status());
  }

  @Test
  void newCertificateIsShownWithoutARestart() throws Exception {
    start(CertificateDemand.WANTED);
    double before = expiry();
    certificates.write(
        "n1",
        certificates.authority.node(
            "n1",
            List.of("127.0.0.1"),
            new Validity(Instant.now(), Instant.now().plusSeconds(60))));
    await().atMost(DEADLINE).until(() -> expiry() < before);
  }

  private double expiry() throws Exception {
    return Scrape.parse(get("/metrics", "billing").body())
        .value("tollgate_certificate_expiry_timestamp_seconds");
  }
}
