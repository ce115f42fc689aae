package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.jdbc.TollgateDriver;
import dev.tollgate.log.KeyUse;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.ratis.NodeDirectory;
import dev.tollgate.seal.ChunkOutput;
import dev.tollgate.seal.DataKeys;
import dev.tollgate.seal.KeyMissingException;
import dev.tollgate.seal.TestKeys;
import dev.tollgate.transport.SnapshotDownload;
import dev.tollgate.transport.TransportException;
import dev.tollgate.wire.Reply;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is readable in the data directories of nodes with data keys, and keys that change. */
@Timeout(300)
class EncryptedDirectoryTest {
  private static final Duration DEADLINE = Duration.ofSeconds(90);
  private static final List<String> SECRETS =
      List.of("row-canary-4711", "lock-canary-4712", "USER_CANARY_4713", "cluster-key");

  @TempDir Path directory;

  private static void run(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** Returns which secrets are in any file of a directory. */
  private static Set<String> readable(Path data) throws IOException {
    Set<String> found = new TreeSet<>();
    try (Stream<Path> files = Files.walk(data)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        String content = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
        SECRETS.stream().filter(content::contains).forEach(found::add);
      }
    }
    return found;
  }

  private static void snapshot(Node node) throws Exception {
    node.snapshots().take().get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
  }

  /** From then on every client has to log in. */
  private static Connection connectFirstUser(LocalCluster cluster) throws SQLException {
    try (Connection connection = cluster.connect()) {
      run(connection, "CREATE USER USER_CANARY_4713 PASSWORD 'long-enough-4714' ADMIN");
    }
    return connectUser(cluster);
  }

  private static Connection connectUser(LocalCluster cluster) throws SQLException {
    return DriverManager.getConnection(
        cluster.url() + "?failoverTimeout=" + DEADLINE.toSeconds() + "s",
        "USER_CANARY_4713",
        "long-enough-4714");
  }

  private static void writeSecrets(Connection connection) throws SQLException {
    run(connection, "CREATE TABLE T (ID INT PRIMARY KEY, V VARCHAR(100))");
    run(connection, "INSERT INTO T VALUES (1, 'row-canary-4711')");
    run(connection, "SELECT acquire_lock('lock-canary-4712')");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void secretsAreInTheFilesUnlessThereAreKeys(boolean encrypted) throws Exception {
    try (LocalCluster cluster =
        new LocalCluster(directory, 3, Duration.ZERO, RaftSettings.SNAPSHOT_LOG_BYTES)) {
      DataKeys keys = encrypted ? TestKeys.of("k1") : DataKeys.off();
      cluster.useKeys(id -> keys);
      cluster.startAllAndAwait();
      try (Connection connection = connectFirstUser(cluster)) {
        writeSecrets(connection);
        for (Node node : cluster.nodes().values()) {
          snapshot(node);
        }
        run(connection, "INSERT INTO T VALUES (2, 'row-canary-4711')");
      }
      Set<String> expected = encrypted ? new TreeSet<>() : new TreeSet<>(SECRETS);
      for (String id : List.of("n1", "n2", "n3")) {
        assertEquals(expected, readable(cluster.data(id)), id);
      }
      cluster.stopAll();
      cluster.startAllAndAwait();
      try (Connection connection = connectUser(cluster);
          Statement statement = connection.createStatement();
          ResultSet rows = statement.executeQuery("SELECT COUNT(*) FROM T")) {
        assertTrue(rows.next());
        assertEquals(2, rows.getInt(1));
      }
      cluster.stopAll();
      for (String id : List.of("n1", "n2", "n3")) {
        assertEquals(expected, readable(cluster.data(id)), id);
      }
      if (encrypted) {
        refusesOtherKeys(cluster, "n1", DataKeys.off());
        refusesOtherKeys(cluster, "n1", TestKeys.of("k2"));
        refusesOtherKeys(cluster, "n1", TestKeys.impostor("k1"));
        cluster.useKeys(id -> keys);
        cluster.startAllAndAwait();
      }
    }
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void auditFilesAreEncryptedWithTheSameKeys(boolean encrypted) throws Exception {
    Path audit = Files.createDirectory(directory.resolve("audit"));
    try (LocalCluster cluster =
        new LocalCluster(directory, 1, Duration.ZERO, RaftSettings.SNAPSHOT_LOG_BYTES)) {
      DataKeys keys = encrypted ? TestKeys.of("k1") : DataKeys.off();
      cluster.useKeys(id -> keys);
      cluster.audit(audit);
      cluster.startAllAndAwait();
      try (Connection connection = connectFirstUser(cluster)) {
        writeSecrets(connection);
      }
      cluster.stopAll();
      assertEquals(
          encrypted ? Set.of() : Set.of("lock-canary-4712", "USER_CANARY_4713"), readable(audit));
      cluster.useKeys(id -> DataKeys.off());
      if (encrypted) {
        String why = assertThrows(IOException.class, () -> cluster.start("n1")).getMessage();
        assertTrue(why.contains("is encrypted with data key 'k1'"), why);
      }
    }
  }

  /** A snapshot without its key is whole: nothing takes its place. */
  private static void refusesOtherKeys(LocalCluster cluster, String id, DataKeys others)
      throws IOException {
    List<String> before = names(cluster.data(id));
    cluster.useKeys(any -> others);
    String why = assertThrows(IOException.class, () -> cluster.start(id)).getMessage();
    assertTrue(why.contains("data key 'k1'"), why);
    assertFalse(cluster.nodes().containsKey(id), "there is no node to be stopped");
    assertEquals(before, names(cluster.data(id)));
  }

  private static List<String> names(Path data) throws IOException {
    try (Stream<Path> files = Files.walk(data)) {
      return files.map(Path::toString).filter(name -> name.contains("/sm/")).sorted().toList();
    }
  }

  /** The node that joins gets a snapshot, since the entries before it are no longer in a log. */
  @Test
  void nodesWithOtherKeysOrNoneTakeSnapshotsOfEachOther() throws Exception {
    try (LocalCluster cluster = new LocalCluster(directory, 2, Duration.ZERO, 16 << 10)) {
      DataKeys none = DataKeys.off();
      DataKeys k1 = TestKeys.of("k1");
      DataKeys k4 = TestKeys.of("k4");
      cluster.useKeys(id -> id.equals("n1") ? k1 : id.equals("n4") ? k4 : none);
      cluster.startAllAndAwait();
      try (Connection connection = connectFirstUser(cluster)) {
        writeSecrets(connection);
        for (int i = 10; i < 400; i++) {
          run(
              connection,
              "INSERT INTO T VALUES (" + i + ", 'row-canary-4711 " + "x".repeat(60) + "')");
        }
        for (int round = 0; round < 2; round++) {
          for (Node node : cluster.nodes().values()) {
            snapshot(node);
          }
          run(connection, "INSERT INTO T VALUES (" + (1_000 + round) + ", 'later')");
        }
        run(connection, "CALL transfer_leadership('n1')");
        for (String id : List.of("n4", "n5")) {
          await().atMost(DEADLINE).until(() -> cluster.leader().equals("n1"));
          cluster.join(id, connection);
          long committed = cluster.node(cluster.leader()).status().commitIndex();
          await()
              .atMost(DEADLINE)
              .until(() -> cluster.node(id).status().lastAppliedIndex() >= committed);
          assertFalse(cluster.node(id).snapshots().list().isEmpty(), "it has all of the log");
        }
        LocalCluster.verify(connection)
            .forEach((id, verdict) -> assertEquals("EQUAL", verdict, id));
      }
      cluster.stopAll();
      assertEquals(new TreeSet<>(), readable(cluster.data("n1")));
      assertEquals(new TreeSet<>(), readable(cluster.data("n4")));
      assertEquals(new TreeSet<>(SECRETS), readable(cluster.data("n5")));
    }
  }

  /** As `tollgate reseed` does for a node that gets its first data keys. */
  private static NodeDirectory.Reseeded reseed(LocalCluster cluster, String id, DataKeys keys)
      throws IOException {
    return NodeDirectory.reseed(
        cluster.data(id),
        id,
        keys,
        (file, sealing) -> {
          try (SnapshotDownload download =
                  TollgateDriver.openSnapshot(cluster.url(), new Properties(), true);
              OutputStream out = Files.newOutputStream(file)) {
            Reply.SnapshotOpened found = download.opened();
            ChunkOutput sealed =
                sealing.seal(out, NodeDirectory.Seed.fileName(found.term(), found.index()));
            download.copyTo(sealed);
            sealed.finish();
            return new NodeDirectory.Seed(
                found.nodeId(), found.term(), found.index(), found.configuration());
          } catch (SQLException | TransportException e) {
            throw new IOException(e);
          }
        });
  }

  @Test
  void nodeOfARunningClusterIsEncryptedByReseeding() throws Exception {
    DataKeys keys = TestKeys.of("k1");
    try (LocalCluster cluster = LocalCluster.started(directory, 3)) {
      try (Connection connection = cluster.connect()) {
        writeSecrets(connection);
        String id = cluster.follower();
        cluster.stop(id);
        Path aside = reseed(cluster, id, keys).setAside();
        assertFalse(readable(aside).isEmpty(), "what was there is as it was");
        try (Stream<Path> old = Files.walk(aside)) {
          for (Path file : old.filter(Files::isRegularFile).toList()) {
            Files.delete(file);
          }
        }
        assertEquals(Set.of(), readable(cluster.data(id)));
        cluster.useKeys(any -> any.equals(id) ? keys : DataKeys.off());
        cluster.start(id);
        run(connection, "INSERT INTO T VALUES (2, 'row-canary-4711')");
        await()
            .atMost(DEADLINE)
            .until(
                () -> Set.of("EQUAL").equals(Set.copyOf(LocalCluster.verify(connection).values())));
        cluster.stop(id);
        assertEquals(Set.of(), readable(cluster.data(id)));
        refusesOtherKeys(cluster, id, DataKeys.off());
        assertThrows(KeyMissingException.class, () -> reseed(cluster, id, DataKeys.off()));
      }
    }
  }

  private static boolean isUsed(Node node, String key) throws IOException {
    return node.keyUse().stream().anyMatch(use -> use.keyId().equals(key) && use.isInUse());
  }

  @Test
  void keysChangeUnderLoadAndNothingIsLost() throws Exception {
    TestKeys source = TestKeys.source("k1");
    try (LocalCluster cluster = new LocalCluster(directory, 3, Duration.ZERO, 64 << 10)) {
      cluster.useKeys(
          id -> {
            try {
              return DataKeys.read(source);
            } catch (IOException e) {
              throw new IllegalStateException(e);
            }
          });
      cluster.startAllAndAwait();
      AtomicBoolean stop = new AtomicBoolean();
      AtomicInteger written = new AtomicInteger();
      try (Connection connection = cluster.connect()) {
        run(connection, "CREATE TABLE T (ID INT PRIMARY KEY, V VARCHAR(200))");
        Thread writer =
            new Thread(
                () -> {
                  try (Connection own = cluster.connect();
                      PreparedStatement insert =
                          own.prepareStatement("INSERT INTO T VALUES (?, ?)")) {
                    while (!stop.get()) {
                      insert.setInt(1, written.get());
                      insert.setString(2, "v".repeat(150));
                      insert.executeUpdate();
                      written.incrementAndGet();
                    }
                  } catch (SQLException e) {
                    throw new IllegalStateException(e);
                  }
                });
        writer.start();
        await().atMost(DEADLINE).until(() -> written.get() > 50);
        source.become("k2", "k1");
        for (Node node : cluster.nodes().values()) {
          await().atMost(DEADLINE).until(() -> isUsed(node, "k2"));
        }
        // the log and the snapshots get rid of the old key by themselves
        for (Node node : cluster.nodes().values()) {
          await().atMost(DEADLINE).until(() -> !isUsed(node, "k1"));
        }
        source.become("k2");
        for (Node node : cluster.nodes().values()) {
          await()
              .atMost(DEADLINE)
              .until(
                  () -> node.keyUse().stream().map(KeyUse::keyId).toList().equals(List.of("k2")));
        }
        stop.set(true);
        writer.join();
      }
      cluster.stopAll();
      cluster.startAllAndAwait();
      try (Connection connection = cluster.connect();
          Statement statement = connection.createStatement();
          ResultSet rows = statement.executeQuery("SELECT COUNT(*), MAX(ID) FROM T")) {
        assertTrue(rows.next());
        assertEquals(written.get(), rows.getInt(1));
        assertEquals(written.get() - 1, rows.getInt(2));
      }
    }
  }
}
