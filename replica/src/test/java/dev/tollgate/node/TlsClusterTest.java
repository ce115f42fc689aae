package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.tls.CertificateDemand;
import dev.tollgate.tls.Pem;
import dev.tollgate.tls.TestCertificates;
import dev.tollgate.tls.TlsCredentials;
import dev.tollgate.tls.TlsFiles;
import dev.tollgate.tls.TlsMode;
import dev.tollgate.tls.TlsSocket;
import dev.tollgate.tls.TlsVersion;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Three nodes that talk over TLS with each other and with clients. */
class TlsClusterTest {
  private static final Duration DEADLINE = Duration.ofSeconds(40);

  @TempDir Path directory;
  private TestCertificates certificates;
  private LocalCluster cluster;

  @BeforeEach
  void makeCertificates() throws Exception {
    certificates = new TestCertificates(directory.resolve("ca"));
    for (String id : List.of("n1", "n2", "n3")) {
      certificates.node(id);
    }
    certificates.user("billing");
    certificates.revoke();
    cluster = new LocalCluster(directory, 3, Duration.ZERO, 64L << 20);
  }

  @AfterEach
  void stop() {
    cluster.close();
  }

  private NodeTls tls(String id) {
    try {
      return new NodeTls(
          new TlsCredentials(certificates.files(id), TlsVersion.TLS_1_3, NodeTls.logged(id)),
          CertificateDemand.REQUIRED,
          /* peers= */ true);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String url() {
    return cluster.url()
        + "?failoverTimeout=40s&sslRootCert="
        + certificates.trust()
        + "&sslCert="
        + certificates.certificate("billing")
        + "&sslKey="
        + certificates.key("billing");
  }

  private X509Certificate shown(String id) throws IOException {
    InetSocketAddress address = cluster.clientAddress(id);
    TlsCredentials client = certificates.credentials("billing");
    try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
      return TlsSocket.handshake(
              socket, client.clientEngine(TlsMode.VERIFY_FULL, "127.0.0.1", 1), id, 10_000)
          .peerCertificate();
    }
  }

  @Test
  void clusterElectsAndReplicatesAndSurvivesItsLeader() throws Exception {
    cluster.encrypt(this::tls);
    cluster.startAll();
    try (Connection connection = DriverManager.getConnection(url());
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE T(ID INT PRIMARY KEY)");
      statement.execute("INSERT INTO T VALUES 1");
      await()
          .atMost(DEADLINE)
          .until(
              () ->
                  cluster.nodes().values().stream()
                      .allMatch(node -> node.status().lastAppliedIndex() > 2));
      String leader = cluster.leader();
      cluster.stop(leader);
      statement.execute("INSERT INTO T VALUES 2");
      cluster.start(leader);
      assertEquals(2, count(statement));
    }
  }

  private static int count(Statement statement) throws SQLException {
    try (ResultSet rows = statement.executeQuery("SELECT COUNT(*) FROM T")) {
      rows.next();
      return rows.getInt(1);
    }
  }

  /** A client that goes on writing, on one connection or on a new one each time. */
  private CompletableFuture<List<String>> writer(
      int first, boolean reconnects, AtomicBoolean ends) {
    return CompletableFuture.supplyAsync(
        () -> {
          List<String> failures = new ArrayList<>();
          int written = 0;
          try {
            Connection connection = DriverManager.getConnection(url());
            while (!ends.get()) {
              try (Statement statement = connection.createStatement()) {
                statement.execute("INSERT INTO T VALUES " + (first + written));
                written++;
              }
              if (reconnects) {
                connection.close();
                connection = DriverManager.getConnection(url());
              }
            }
            connection.close();
          } catch (SQLException e) {
            failures.add(first + " after " + written + ": " + e);
          }
          if (written == 0) {
            failures.add(first + " has written nothing");
          }
          return failures;
        },
        work -> {
          Thread thread = new Thread(work, "writer-" + first);
          thread.setDaemon(true);
          thread.start();
        });
  }

  @Test
  void certificatesAreReplacedUnderLoadWithoutAFailedStatement() throws Exception {
    cluster.encrypt(this::tls);
    cluster.startAll();
    try (Connection connection = DriverManager.getConnection(url());
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE T(ID INT PRIMARY KEY)");
      AtomicBoolean ends = new AtomicBoolean();
      List<CompletableFuture<List<String>>> writers = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        writers.add(writer(i * 1_000_000, i % 2 == 1, ends));
      }
      await().atMost(DEADLINE).until(() -> count(statement) > 20);
      for (int round = 0; round < 3; round++) {
        Map<String, X509Certificate> fresh = new TreeMap<>();
        for (String id : List.of("n1", "n2", "n3")) {
          fresh.put(id, certificates.node(id));
        }
        certificates.user("billing");
        int before = count(statement);
        for (Map.Entry<String, X509Certificate> node : fresh.entrySet()) {
          await().atMost(DEADLINE).until(() -> node.getValue().equals(shown(node.getKey())));
        }
        await().atMost(DEADLINE).until(() -> count(statement) > before + 20);
      }
      ends.set(true);
      for (CompletableFuture<List<String>> writer : writers) {
        assertEquals(List.of(), writer.get(DEADLINE.toSeconds(), TimeUnit.SECONDS));
      }
      assertTrue(count(statement) > 80);
    }
  }

  @Test
  void revokedNodeIsNotLetInAgain() throws Exception {
    cluster.encrypt(this::tls);
    cluster.startAll();
    try (Connection connection = DriverManager.getConnection(url());
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE T(ID INT PRIMARY KEY)");
      String out = cluster.follower();
      TlsCredentials gone = unlisted(out);
      await().atMost(DEADLINE).until(() -> cluster.node(out).status().lastAppliedIndex() > 2);
      cluster.stop(out);
      certificates.revoke(Pem.certificates(certificates.certificate(out)).get(0));
      for (int i = 0; i < 3; i++) {
        statement.execute("INSERT INTO T VALUES " + i);
      }
      // the others have read the list once a node with a certificate of theirs is refused
      await()
          .atMost(DEADLINE)
          .until(() -> cluster.nodes().keySet().stream().allMatch(id -> refuses(id, gone)));
      cluster.start(out);
      statement.execute("INSERT INTO T VALUES 100");
      long index = cluster.node(cluster.leader()).status().lastAppliedIndex();
      await()
          .pollDelay(Duration.ofSeconds(2))
          .atMost(DEADLINE)
          .until(() -> cluster.node(out).status().lastAppliedIndex() < index);
      // with a new certificate it comes back
      certificates.node(out);
      await().atMost(DEADLINE).until(() -> cluster.node(out).status().lastAppliedIndex() >= index);
    }
  }

  /** The certificate of a name, without a revocation list. */
  private TlsCredentials unlisted(String name) throws IOException {
    return new TlsCredentials(
        new TlsFiles(
            certificates.certificate(name),
            certificates.key(name),
            null,
            null,
            null,
            certificates.trust(),
            null),
        TlsVersion.TLS_1_3,
        certificates.events);
  }

  /** True if a node takes no connection of a client with this certificate. */
  private boolean refuses(String id, TlsCredentials client) {
    InetSocketAddress address = cluster.clientAddress(id);
    try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
      socket.setSoTimeout(10_000);
      TlsSocket tls =
          TlsSocket.handshake(
              socket, client.clientEngine(TlsMode.VERIFY_CA, "127.0.0.1", 1), id, 10_000);
      // an alert, or nothing if it was let in: then half a frame makes the node end it
      tls.out().write(new byte[] {0x7F, 0, 0, 0});
      return tls.in().read() < 0;
    } catch (IOException e) {
      return true;
    }
  }
}
