package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.cluster.Ports;
import dev.tollgate.core.command.ClusterIdentity;
import dev.tollgate.jdbc.TollgateDriver;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.WholeFile;
import dev.tollgate.log.peer.NodeIdentity;
import dev.tollgate.log.peer.RawPeer;
import dev.tollgate.log.ratis.NodeDirectory;
import dev.tollgate.seal.DataKeys;
import dev.tollgate.snapshot.Backup;
import dev.tollgate.tls.CertificateDemand;
import dev.tollgate.tls.TestCertificates;
import dev.tollgate.tls.TlsCredentials;
import dev.tollgate.tls.TlsVersion;
import dev.tollgate.transport.SnapshotDownload;
import java.io.IOException;
import java.io.OutputStream;
import java.io.StringReader;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.SortedMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Nodes know each other by the key of their cluster, whoever has joined, left or was down. */
@Timeout(180)
class ClusterKeyTest {
  private static final Duration DEADLINE = Duration.ofSeconds(40);

  @TempDir Path directory;

  @Test
  void strangersAreRefusedAndTheClusterGoesOn() throws Exception {
    try (LocalCluster cluster = LocalCluster.started(directory, 3);
        Connection connection = connected(cluster)) {
      run(connection, "CREATE TABLE T(ID INT PRIMARY KEY)");
      cluster.awaitKnown();
      for (String id : cluster.nodes().keySet()) {
        NodeIdentity member = cluster.identity(id.equals("n1") ? "n2" : "n1");
        ClusterIdentity none = ClusterIdentity.NONE;
        String address = cluster.raftAddress(id);
        assertEquals(
            "SENDER_UNPROVEN", RawPeer.answer(member.nodeId(), member, none, id, address, null));
        assertEquals("SENDER_UNPROVEN", RawPeer.answer("n9", member, none, id, address, null));
        assertEquals(
            "SERVED", RawPeer.answer(member.nodeId(), member, member.known(), id, address, null));
      }
      run(connection, "INSERT INTO T VALUES(1)");
      cluster.nodes().values().forEach(node -> assertNull(node.failure()));
    }
  }

  @Test
  void certificateOfANodeAloneIsNotEnough() throws Exception {
    TestCertificates certificates = new TestCertificates(directory.resolve("ca"));
    for (String id : List.of("n1", "n2", "n3", "n9")) {
      certificates.node(id);
    }
    certificates.user("billing");
    certificates.revoke();
    try (LocalCluster cluster =
        new LocalCluster(directory.resolve("nodes"), 3, Duration.ZERO, 64L << 20)) {
      cluster.encrypt(id -> tls(certificates, id));
      cluster.startAll();
      String url = cluster.url() + "?failoverTimeout=40s&sslRootCert=" + certificates.trust();
      try (Connection connection = DriverManager.getConnection(url)) {
        run(connection, "CREATE TABLE T(ID INT PRIMARY KEY)");
        cluster.awaitKnown();
        TlsCredentials stranger = certificates.credentials("n9");
        for (String id : cluster.nodes().keySet()) {
          NodeIdentity member = cluster.identity(id.equals("n1") ? "n2" : "n1");
          assertEquals(
              "SENDER_UNPROVEN",
              RawPeer.answer(
                  "n9", member, ClusterIdentity.NONE, id, cluster.raftAddress(id), stranger));
        }
        run(connection, "INSERT INTO T VALUES(1)");
      }
    }
  }

  private static NodeTls tls(TestCertificates certificates, String id) {
    try {
      return new NodeTls(
          new TlsCredentials(certificates.files(id), TlsVersion.TLS_1_3, NodeTls.logged(id)),
          CertificateDemand.WANTED,
          /* peers= */ true);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** It knows none of the nodes that are members with it, and one of them leads. */
  @Test
  void memberThatWasDownIsLedByNodesThatItDoesNotKnow() throws Exception {
    try (LocalCluster cluster = LocalCluster.started(directory, 3);
        Connection connection = connected(cluster)) {
      run(connection, "CREATE TABLE T(ID INT PRIMARY KEY)");
      cluster.awaitKnown();
      String down = cluster.follower();
      cluster.stop(down);
      cluster.join("n4", connection);
      cluster.join("n5", connection);
      cluster.awaitKnown();
      for (String id : List.of("n1", "n2", "n3")) {
        if (!id.equals(down)) {
          run(connection, "CALL remove_node('" + id + "')");
          cluster.stop(id);
        }
      }
      run(connection, "INSERT INTO T VALUES(1)");
      cluster.start(down);
      await()
          .atMost(DEADLINE)
          .until(
              () ->
                  cluster.node(down).status().lastAppliedIndex()
                      >= cluster.node("n4").status().commitIndex());
      assertTrue(cluster.identity(down).known().incarnations().containsKey("n5"));
      assertNull(cluster.node(down).failure());
      // with n4 or n5 alone it is a majority
      cluster.stop(cluster.leader());
      run(connection, "INSERT INTO T VALUES(2)");
    }
  }

  /** The leader of a new cluster has its key, and nobody else has applied the entry yet. */
  @Test
  void nodesThatHaveNotLearnedTheKeyYetFindEachOtherAndTheOneThatHas() throws Exception {
    SortedMap<String, String> peers = Ports.peers(3);
    try (Quiet n1 = new Quiet("n1", peers);
        Quiet n2 = new Quiet("n2", peers);
        Quiet n3 = new Quiet("n3", peers)) {
      for (Quiet node : List.of(n1, n2, n3)) {
        node.start();
      }
      n3.awaitKey();
      n2.awaitKey();
      n1.awaitKey();
      String key = key(n1.identity());
      for (Quiet node : List.of(n1, n2, n3)) {
        node.stop();
      }
      n2.forgetKey();
      n3.forgetKey();
      // none of the two can lead without the other
      n1.start();
      n2.start();
      n2.awaitKey();
      n2.stop();
      n3.start();
      n3.awaitKey();
      n1.stop();
      n3.stop();
      n3.forgetKey();
      // nor here, where the first one to lead may be the one that lacks the key
      n3.start();
      n2.start();
      n3.awaitKey();
      for (Quiet node : List.of(n1, n2, n3)) {
        assertEquals(key, key(node.identity()));
      }
    }
  }

  /** A node that never tells the cluster where it is, so that the cluster does not know it. */
  private final class Quiet implements AutoCloseable {
    private final String id;
    private final SortedMap<String, String> peers;
    private @Nullable Node node;

    Quiet(String id, SortedMap<String, String> peers) {
      this.id = id;
      this.peers = peers;
    }

    Path identity() {
      return directory.resolve(id).resolve(NodeIdentity.FILE);
    }

    void start() throws IOException {
      node =
          new Node(
              NodeSettings.embedded(
                  id,
                  new RaftSettings(
                      id,
                      peers.get(id),
                      peers,
                      directory.resolve(id),
                      RaftSettings.ELECTION_TIMEOUT,
                      RaftSettings.SNAPSHOT_LOG_BYTES)));
      node.start();
    }

    void awaitKey() {
      await().atMost(DEADLINE).until(() -> key(identity()) != null);
    }

    /** Changes the file to one of a node that has not yet applied the entry with the key. */
    void forgetKey() throws IOException {
      Properties properties = new Properties();
      properties.load(new StringReader(WholeFile.read(identity())));
      properties.remove("log-index");
      assertNotNull(properties.remove("cluster"));
      assertNotNull(properties.remove("cluster-key"));
      assertFalse(properties.toString().contains("incarnation."), properties.toString());
      StringWriter text = new StringWriter();
      properties.store(text, "");
      WholeFile.write(identity(), text.toString());
    }

    void stop() {
      if (node != null) {
        node.close();
        node = null;
      }
    }

    @Override
    public void close() {
      stop();
    }
  }

  @Test
  void nodesKeepTheKeyThroughRestarts() throws Exception {
    try (LocalCluster cluster = LocalCluster.started(directory, 3)) {
      try (Connection connection = connected(cluster)) {
        run(connection, "CREATE TABLE T(ID INT PRIMARY KEY)");
        cluster.awaitKnown();
      }
      String key = key(cluster, "n1");
      cluster.stopAll();
      cluster.startAll();
      try (Connection connection = connected(cluster)) {
        run(connection, "INSERT INTO T VALUES(1)");
      }
      for (String id : cluster.nodes().keySet()) {
        assertEquals(key, key(cluster, id));
        assertEquals(
            "rw-------",
            PosixFilePermissions.toString(
                Files.getPosixFilePermissions(cluster.data(id).resolve(NodeIdentity.FILE))));
      }
    }
  }

  @Test
  void restoredClusterHasAKeyOfItsOwn() throws Exception {
    Path file = directory.resolve("backup");
    String key;
    try (LocalCluster cluster = LocalCluster.started(directory.resolve("old"), 3)) {
      try (Connection connection = connected(cluster)) {
        run(connection, "CREATE TABLE T(ID INT PRIMARY KEY)");
      }
      cluster.awaitKnown();
      key = key(cluster, "n1");
      try (SnapshotDownload download = TollgateDriver.openSnapshot(cluster.url(), true);
          OutputStream out = Files.newOutputStream(file)) {
        download.copyTo(out);
      }
    }
    Backup backup = Backup.check(file);
    try (LocalCluster restored =
        new LocalCluster(directory.resolve("new"), 3, Duration.ZERO, 1 << 20)) {
      for (String id : List.of("n1", "n2", "n3")) {
        NodeDirectory.restore(restored.data(id), backup, 1, DataKeys.off());
      }
      restored.startAll();
      try (Connection connection = connected(restored)) {
        run(connection, "INSERT INTO T VALUES(1)");
        restored.awaitKnown();
      }
      assertNotEquals(key, key(restored, "n1"));
      assertEquals(key(restored, "n1"), key(restored, "n3"));
    }
  }

  @Test
  void embeddedNodeHasAKeyThatNothingShows() throws Exception {
    String url = "jdbc:tollgate:embedded:" + directory.resolve("one");
    Path file = directory.resolve("one").resolve(NodeIdentity.FILE);
    String key = "";
    for (int i = 0; i < 2; i++) {
      try (Connection connection = DriverManager.getConnection(url)) {
        run(connection, "CREATE TABLE IF NOT EXISTS T(ID INT PRIMARY KEY)");
        await().atMost(DEADLINE).until(() -> key(file) != null);
        assertTrue(i == 0 || key.equals(key(file)), "it stays");
        key = key(file);
        try (Statement statement = connection.createStatement();
            ResultSet nodes = statement.executeQuery("SELECT * FROM TOLLGATE.NODES")) {
          assertTrue(nodes.next());
          for (int column = 1; column <= nodes.getMetaData().getColumnCount(); column++) {
            assertFalse(String.valueOf(nodes.getString(column)).contains(key));
          }
        }
      }
    }
  }

  private static @Nullable String key(Path file) throws IOException {
    Properties properties = new Properties();
    properties.load(new StringReader(WholeFile.read(file)));
    return properties.getProperty("cluster-key");
  }

  private static String key(LocalCluster cluster, String id) throws IOException {
    return String.valueOf(key(cluster.data(id).resolve(NodeIdentity.FILE)));
  }

  private static Connection connected(LocalCluster cluster) throws SQLException {
    cluster.leader();
    return cluster.connect();
  }

  private static void run(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }
}
