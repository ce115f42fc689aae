package dev.tollgate.node;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.tollgate.tls.CertificateDemand;
import dev.tollgate.tls.TestCertificates;
import dev.tollgate.tls.TlsCredentials;
import dev.tollgate.tls.TlsFiles;
import dev.tollgate.tls.TlsMode;
import dev.tollgate.tls.TlsSocket;
import dev.tollgate.tls.TlsVersion;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManager;
import javax.net.ssl.X509TrustManager;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** The driver, and clients that are none, at the port of a node with TLS. */
class TlsClientsTest {
  private static final Duration DEADLINE = Duration.ofSeconds(30);

  @TempDir Path directory;
  private TestCertificates certificates;
  private TestCertificates other;

  @BeforeEach
  void makeCertificates() throws Exception {
    certificates = new TestCertificates(directory.resolve("ca"));
    other = new TestCertificates(directory.resolve("other"));
    certificates.node("n1");
    certificates.user("billing");
    other.user("billing");
  }

  private TlsNode node(String name, CertificateDemand demand) throws Exception {
    return new TlsNode(certificates.files(name), TlsVersion.TLS_1_3, demand);
  }

  private String trust() {
    return "sslRootCert=" + certificates.trust();
  }

  private static String client(TestCertificates of, String name) {
    return "&sslCert=" + of.certificate(name) + "&sslKey=" + of.key(name);
  }

  private static void assertRefused(String url, String why) {
    long begin = System.nanoTime();
    SQLException refused = assertThrows(SQLException.class, () -> TlsNode.ask(url));
    assertTrue(String.valueOf(refused.getMessage()).contains(why), refused.getMessage());
    assertEquals("08004", refused.getSQLState(), refused.getMessage());
    // waiting does not help, so the driver does not wait for failoverTimeout
    assertTrue(System.nanoTime() - begin < Duration.ofSeconds(9).toNanos());
  }

  @Test
  void anySslPropertyChecksCaAndHost() throws Exception {
    try (TlsNode node = node("n1", CertificateDemand.WANTED)) {
      assertEquals(2, TlsNode.ask(node.url("127.0.0.1", trust())));
      assertEquals(2, TlsNode.ask(node.url("localhost", "ssl=true&" + trust())));
      assertRefused(
          node.url("127.0.0.1", "sslRootCert=" + other.trust()),
          "was not issued by a CA that this side trusts");
      assertRefused(node.url("127.0.0.1", "ssl=true"), "was not issued by a CA");
      assertRefused(
          node.url("127.0.0.1", "sslMode=verify-ca&sslRootCert=" + other.trust()),
          "was not issued by a CA");
      assertEquals(2, TlsNode.ask(node.url("127.0.0.1", "sslMode=require")));
      assertRefused(
          node.url("127.0.0.1", "sslRootCert=" + directory.resolve("nowhere")),
          "nowhere is not there");
    }
  }

  @Test
  void certificateOfAnotherHostIsRefusedByFullChecksAlone() throws Exception {
    certificates.write(
        "elsewhere",
        certificates.authority.node(
            "n1", List.of("db1.example.org", "10.0.0.1"), TestCertificates.now()));
    try (TlsNode node = node("elsewhere", CertificateDemand.WANTED)) {
      assertRefused(node.url("127.0.0.1", trust()), "is refused: No subject alternative names");
      assertRefused(node.url("localhost", trust()), "is refused: No subject alternative DNS name");
      assertEquals(2, TlsNode.ask(node.url("127.0.0.1", "sslMode=verify-ca&" + trust())));
    }
  }

  @Test
  void expiredCertificateIsRefused() throws Exception {
    certificates.write(
        "old", certificates.authority.node("n1", List.of("127.0.0.1"), TestCertificates.expired()));
    try (TlsNode node = node("old", CertificateDemand.WANTED)) {
      assertRefused(node.url("127.0.0.1", trust()), "is not valid today");
    }
  }

  @Test
  void clientCertificateIsDemandedAndChecked() throws Exception {
    var revoked = certificates.user("revoked");
    certificates.write("late", certificates.authority.user("late", TestCertificates.expired()));
    certificates.revoke();
    try (TlsNode node = node("n1", CertificateDemand.REQUIRED)) {
      String url = node.url("127.0.0.1", trust());
      assertEquals(2, TlsNode.ask(url + client(certificates, "billing")));
      assertEquals(2, TlsNode.ask(url + client(certificates, "revoked")));
      assertThrows(SQLException.class, () -> TlsNode.ask(url + "&failoverTimeout=1s"));
      for (String wrong : List.of(client(other, "billing"), client(certificates, "late"))) {
        assertThrows(SQLException.class, () -> TlsNode.ask(url + wrong + "&failoverTimeout=1s"));
      }
      certificates.revoke(revoked);
      await()
          .atMost(DEADLINE)
          .until(
              () -> {
                try {
                  TlsNode.ask(url + client(certificates, "revoked") + "&failoverTimeout=1s");
                  return false;
                } catch (SQLException e) {
                  return true;
                }
              });
      assertEquals(2, TlsNode.ask(url + client(certificates, "billing")));
    }
  }

  @Test
  void clientWithoutACertificateIsServedWhereItIsNotDemanded() throws Exception {
    try (TlsNode node = node("n1", CertificateDemand.WANTED)) {
      assertEquals(2, TlsNode.ask(node.url("127.0.0.1", trust())));
      // but what it shows is checked
      assertThrows(
          SQLException.class,
          () ->
              TlsNode.ask(
                  node.url(
                      "127.0.0.1", trust() + client(other, "billing") + "&failoverTimeout=1s")));
    }
  }

  @Test
  void keyStoresServeBothSides() throws Exception {
    char[] password = "open sesame".toCharArray();
    Path trust = directory.resolve("trust.p12");
    Path nodeStore = directory.resolve("n1.p12");
    Path userStore = directory.resolve("u1.p12");
    certificates.writeTrustStore(trust, password);
    TestCertificates.writeStore(
        nodeStore,
        certificates.authority.node("n1", List.of("127.0.0.1"), TestCertificates.now()),
        certificates.authority,
        password);
    TestCertificates.writeStore(
        userStore,
        certificates.authority.user("u1", TestCertificates.now()),
        certificates.authority,
        password);
    TlsFiles files = new TlsFiles(null, null, nodeStore, new String(password), null, trust, null);
    try (TlsNode node = new TlsNode(files, TlsVersion.TLS_1_3, CertificateDemand.REQUIRED)) {
      String url =
          node.url("127.0.0.1", "sslRootCert=" + trust + "&sslKeyStore=" + userStore)
              + "&sslKeyStorePassword=";
      assertEquals(2, TlsNode.ask(url + "open%20sesame"));
      SQLException wrong = assertThrows(SQLException.class, () -> TlsNode.ask(url + "barley"));
      assertFalse(wrong.getMessage().contains("barley"), wrong.getMessage());
      try (Connection connection = DriverManager.getConnection(url + "open%20sesame")) {
        assertFalse(connection.getMetaData().getURL().contains("sesame"));
      }
    }
  }

  @Test
  void plainClientAtATlsPortIsToldWhatToSet() throws Exception {
    try (TlsNode node = node("n1", CertificateDemand.WANTED)) {
      assertRefused(node.url("127.0.0.1", "sslMode=disable"), "set sslMode=verify-full");
    }
  }

  @Test
  void tlsClientAtAPlainPortIsToldWhatToSet() throws Exception {
    try (Node plain = new Node(LoopbackSettings.of("n1", null))) {
      plain.start();
      assertRefused(
          "jdbc:tollgate://127.0.0.1:" + plain.listenAddress().getPort() + "/?" + trust(),
          "does not speak TLS");
      assertRefused(
          "jdbc:tollgate://127.0.0.1:" + plain.listenAddress().getPort() + "/?" + trust(),
          "set sslMode=disable in the URL, or start the nodes with --tls-certificate");
    }
  }

  private static final class Trusting implements X509TrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String kind) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String kind) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }

  /** A client of another library that speaks one version of TLS. */
  private static String protocolOf(TlsNode node, String version) throws Exception {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, new TrustManager[] {new Trusting()}, null);
    try (SSLSocket socket =
        (SSLSocket)
            context
                .getSocketFactory()
                .createSocket(InetAddress.getLoopbackAddress(), node.address().getPort())) {
      socket.setEnabledProtocols(new String[] {version});
      socket.startHandshake();
      return socket.getSession().getProtocol();
    }
  }

  @Test
  void olderTlsIsSpokenOnlyIfAllowed() throws Exception {
    try (TlsNode node = node("n1", CertificateDemand.WANTED)) {
      assertEquals("TLSv1.3", protocolOf(node, "TLSv1.3"));
      SSLException refused = assertThrows(SSLException.class, () -> protocolOf(node, "TLSv1.2"));
      assertTrue(
          String.valueOf(refused.getMessage()).toLowerCase(Locale.ROOT).contains("protocol"),
          refused.getMessage());
    }
    try (TlsNode node =
        new TlsNode(certificates.files("n1"), TlsVersion.TLS_1_2, CertificateDemand.WANTED)) {
      assertEquals("TLSv1.2", protocolOf(node, "TLSv1.2"));
      assertEquals(2, TlsNode.ask(node.url("127.0.0.1", trust())));
    }
  }

  /** Shakes hands a second time; returns what came of a request after it. */
  private static int afterRenegotiation(InetSocketAddress address, boolean again) throws Exception {
    SSLContext context = SSLContext.getInstance("TLS");
    context.init(null, new TrustManager[] {new Trusting()}, null);
    try (SSLSocket socket =
        (SSLSocket)
            context.getSocketFactory().createSocket(address.getAddress(), address.getPort())) {
      socket.setEnabledProtocols(new String[] {"TLSv1.2"});
      socket.setSoTimeout((int) DEADLINE.toMillis());
      socket.startHandshake();
      if (again) {
        socket.startHandshake();
      }
      // no protocol of ours: a node says so, and ends the connection
      socket
          .getOutputStream()
          .write("GET /health/live HTTP/1.1\r\nHost: h\r\n\r\n".getBytes(UTF_8));
      return socket.getInputStream().read();
    } catch (SSLException | SocketException e) {
      return -1;
    }
  }

  @Test
  void renegotiationEndsTheConnection() throws Exception {
    TlsCredentials credentials =
        new TlsCredentials(certificates.files("n1"), TlsVersion.TLS_1_2, NodeTls.logged("n1"));
    try (Node node =
        new Node(
            LoopbackSettings.of("n1", null)
                .withTls(new NodeTls(credentials, CertificateDemand.WANTED, /* peers= */ false))
                .withAdmin(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)))) {
      node.start();
      for (InetSocketAddress address : List.of(node.listenAddress(), node.adminAddress())) {
        assertTrue(afterRenegotiation(address, /* again= */ false) >= 0, address.toString());
        assertEquals(-1, afterRenegotiation(address, /* again= */ true), address.toString());
      }
    }
  }

  @Test
  void rottenFileKeepsTheFormerCertificate() throws Exception {
    try (TlsNode node = node("n1", CertificateDemand.WANTED)) {
      Files.writeString(certificates.certificate("n1"), "this is no certificate");
      assertEquals(2, TlsNode.ask(node.url("127.0.0.1", trust())));
      var fresh = certificates.node("n1");
      await().atMost(DEADLINE).until(() -> fresh.equals(shown(node)));
    }
  }

  /** The certificate that a new connection gets to see. */
  private X509Certificate shown(TlsNode node) throws Exception {
    TlsCredentials client =
        new TlsCredentials(certificates.files("billing"), TlsVersion.TLS_1_3, certificates.events);
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), node.address().getPort())) {
      return TlsSocket.handshake(
              socket, client.clientEngine(TlsMode.VERIFY_FULL, "127.0.0.1", 1), "n1", 10_000)
          .peerCertificate();
    }
  }

  @Test
  void logSaysWhyAHandshakeFailed() throws Exception {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    Logger logger = (Logger) LoggerFactory.getLogger("dev.tollgate.node.client.Complaints");
    logger.addAppender(log);
    try (TlsNode node = node("n1", CertificateDemand.WANTED)) {
      try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), node.address().getPort())) {
        // the beginning of a handshake
        socket.getOutputStream().write(new byte[] {22, 3, 1, 2, 0, 1, 0, 1, -4, 3, 3});
      }
      await()
          .atMost(DEADLINE)
          .until(
              () ->
                  new ArrayList<>(log.list)
                      .stream()
                          .anyMatch(
                              line ->
                                  line.getFormattedMessage()
                                      .endsWith(
                                          "made no TLS connection: the client closed the"
                                              + " connection")));
    } finally {
      logger.detachAppender(log);
    }
  }

  @Test
  void handshakesThatNeverEndAreEndedAndStopNobody() throws Exception {
    List<Socket> stuck = new ArrayList<>();
    try (TlsNode node = node("n1", CertificateDemand.WANTED);
        Connection connection = DriverManager.getConnection(node.url("127.0.0.1", trust()));
        Statement statement = connection.createStatement()) {
      for (int i = 0; i < 300; i++) {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), node.address().getPort());
        socket.setSoTimeout((int) DEADLINE.toMillis());
        stuck.add(socket);
        if (i % 3 == 1) {
          // a handshake record that announces more than comes
          socket.getOutputStream().write(new byte[] {22, 3, 1, 2, 0, 1, 0, 1, -4, 3, 3});
        } else if (i % 3 == 2) {
          socket.getOutputStream().write(22);
        }
      }
      long begin = System.nanoTime();
      for (int i = 0; i < 20; i++) {
        assertEquals(2, TlsNode.ask(node.url("127.0.0.1", trust())));
        assertTrue(statement.execute("SELECT 1"));
      }
      assertTrue(System.nanoTime() - begin < DEADLINE.toNanos());
      for (Socket socket : stuck) {
        // the end, or an alert before it, and no timeout
        socket.getInputStream().transferTo(OutputStream.nullOutputStream());
      }
    } finally {
      for (Socket socket : stuck) {
        socket.close();
      }
    }
  }
}
