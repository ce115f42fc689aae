package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.log.RaftSettings;
import dev.tollgate.node.admin.HttpCalls;
import dev.tollgate.node.client.CertificateLogin;
import dev.tollgate.tls.CertificateDemand;
import dev.tollgate.tls.TestCertificates;
import dev.tollgate.tls.TlsCredentials;
import dev.tollgate.tls.TlsFiles;
import dev.tollgate.tls.TlsMode;
import dev.tollgate.tls.TlsSocket;
import dev.tollgate.tls.TlsVersion;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Scripts whose requests come over TLS, to three nodes. */
@Timeout(180)
class ScriptsTlsTest {
  private static final Duration DEADLINE = Duration.ofSeconds(60);
  private static final String LEASE = "{\"ttl\":\"1m\"}";

  @TempDir private Path directory;
  private TestCertificates certificates;
  private @Nullable CertificateDemand clients = CertificateDemand.WANTED;
  private @Nullable LocalCluster cluster;
  private @Nullable Node alone;

  @BeforeEach
  void start() throws Exception {
    certificates = new TestCertificates(directory.resolve("ca"));
    for (String id : List.of("n1", "n2", "n3")) {
      certificates.node(id);
    }
    certificates.user("billing");
  }

  private void startNodes() throws Exception {
    cluster = new LocalCluster(directory, 3, Duration.ZERO, RaftSettings.SNAPSHOT_LOG_BYTES);
    cluster.encrypt(this::tls);
    cluster.administer();
    cluster.startAll();
  }

  private void startCluster() throws Exception {
    startNodes();
    for (String id : cluster.nodes().keySet()) {
      await()
          .atMost(DEADLINE)
          .until(
              () ->
                  call(cluster.node(id).adminAddress(), id, "GET", "/health/ready", "", null)
                          .status()
                      == 200);
    }
  }

  private NodeTls tls(String id) {
    try {
      return new NodeTls(
              new TlsCredentials(certificates.files(id), TlsVersion.TLS_1_3, NodeTls.logged(id)),
              clients,
              /* peers= */ true)
          .withLogins(CertificateLogin.byName());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @AfterEach
  void stop() {
    if (cluster != null) {
      cluster.close();
    }
    if (alone != null) {
      alone.closeAtOnce();
    }
  }

  /**
   * @param user of the client's certificate; null for none
   * @param headers names and values in turn
   */
  private HttpCalls.Reply call(
      InetSocketAddress address,
      String id,
      String method,
      String path,
      String body,
      @Nullable String user,
      String... headers)
      throws Exception {
    TlsFiles files =
        user == null
            ? new TlsFiles(null, null, null, null, null, certificates.trust(), null)
            : certificates.files(user);
    TlsCredentials client = new TlsCredentials(files, TlsVersion.TLS_1_3, certificates.events);
    try (Socket socket = HttpCalls.connect(address)) {
      TlsSocket tls =
          TlsSocket.handshake(
              socket, client.clientEngine(TlsMode.VERIFY_FULL, "127.0.0.1", 1), id, 10_000);
      List<String> all = new ArrayList<>(List.of(headers));
      all.addAll(List.of("Content-Type", "application/json"));
      return HttpCalls.call(
          tls.in(), tls.out(), address, method, path, body, all.toArray(String[]::new));
    }
  }

  @Test
  void followersShowTheWayOverTls() throws Exception {
    startCluster();
    String leader = cluster.leader();
    String follower = cluster.follower();
    HttpCalls.Reply moved =
        call(
            cluster.node(follower).adminAddress(),
            follower,
            "POST",
            "/v1/leases",
            LEASE,
            "billing");
    assertEquals(307, moved.status(), moved.body());
    URI where = URI.create(moved.headers().get("location"));
    assertEquals("https", where.getScheme());
    InetSocketAddress there =
        new InetSocketAddress(InetAddress.getAllByName(where.getHost())[0], where.getPort());
    assertEquals(201, call(there, leader, "POST", where.getPath(), LEASE, "billing").status());
    assertThrows(
        IOException.class,
        () -> HttpCalls.get(cluster.node(leader).adminAddress(), "/v1/leases"),
        "a request without TLS");
  }

  @Test
  void nodesWithTlsAmongThemselvesAloneShowTheWayWithoutTls() throws Exception {
    clients = null;
    startNodes();
    String leader = cluster.leader();
    InetSocketAddress follower = cluster.node(cluster.follower()).adminAddress();
    await()
        .atMost(DEADLINE)
        .until(() -> HttpCalls.get(follower, "/v1/leases").headers().containsKey("location"));
    URI where = URI.create(HttpCalls.get(follower, "/v1/leases").headers().get("location"));
    assertEquals("http", where.getScheme());
    assertEquals(cluster.node(leader).adminAddress().getPort(), where.getPort());
  }

  private HttpCalls.Reply sql(String sql, @Nullable String user, String... headers)
      throws Exception {
    return call(
        alone.adminAddress(), "n1", "POST", "/v1/sql", "{\"sql\":\"" + sql + "\"}", user, headers);
  }

  @Test
  void certificateAndPasswordAreLoginsWithTheRightsOfTheirUser() throws Exception {
    alone =
        new Node(
            LoopbackSettings.of("n1", null)
                .withTls(tls("n1"))
                .withAdmin(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)),
            AdminNode.CONNECTIONS,
            AdminNode.root());
    alone.start();
    String root = HttpCalls.basic("root", "top secret");
    await()
        .atMost(DEADLINE)
        .until(() -> sql("SELECT 1", null, "Authorization", root).status() == 200);
    assertEquals(401, sql("SELECT 1", null).status());
    assertEquals(401, sql("SELECT 1", "billing").status(), "there is no such user yet");
    assertEquals(200, sql("CREATE USER billing", null, "Authorization", root).status());
    assertTrue(sql("SELECT CURRENT_USER", "billing").body().contains("\"BILLING\""));
    assertEquals(403, sql("CREATE TABLE t(id INT)", "billing").status());
    assertTrue(
        sql("SELECT CURRENT_USER", "billing", "Authorization", root).body().contains("\"ROOT\""),
        "a password goes before the certificate");
    assertEquals(401, sql("SELECT 1", "n1").status(), "a node is no user");
  }
}
