package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.peer.NodeIdentity;
import dev.tollgate.seal.DataKeys;
import dev.tollgate.seal.TestKeys;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.ratis.util.MD5FileUtil;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Files that were put into an encrypted directory by a program without its keys, or elsewhere. */
@Timeout(300)
class PlantedFilesTest {
  private static final long WAIT_SECONDS = 60;

  @TempDir Path directory;

  private static void run(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private LocalCluster cluster(String name, DataKeys keys) throws IOException {
    LocalCluster cluster =
        new LocalCluster(
            directory.resolve(name), 1, Duration.ZERO, RaftSettings.SNAPSHOT_LOG_BYTES);
    cluster.useKeys(id -> keys);
    return cluster;
  }

  /** Stops the cluster once it has a row, a snapshot, and a row in the log behind it. */
  private static void write(LocalCluster cluster, String value) throws Exception {
    cluster.startAllAndAwait();
    try (Connection connection = cluster.connect()) {
      run(connection, "CREATE TABLE T (V VARCHAR(100))");
      run(connection, "INSERT INTO T VALUES ('" + value + "')");
      cluster.node("n1").snapshots().take().get(WAIT_SECONDS, TimeUnit.SECONDS);
      run(connection, "INSERT INTO T VALUES ('" + value + " later')");
    }
    cluster.stopAll();
  }

  private static List<Path> files(LocalCluster cluster, String part) throws IOException {
    try (Stream<Path> files = Files.walk(cluster.data("n1"))) {
      return files
          .filter(file -> file.toString().contains(part) && !file.toString().endsWith(".md5"))
          .filter(Files::isRegularFile)
          .sorted()
          .toList();
    }
  }

  private static String refusal(LocalCluster cluster) {
    String why = assertThrows(IOException.class, () -> cluster.start("n1")).getMessage();
    if (cluster.nodes().containsKey("n1")) {
      cluster.stop("n1");
    }
    return why;
  }

  /** A node that is alone writes one when it stops. */
  private static Path newestSnapshot(LocalCluster cluster) throws IOException {
    List<Path> all = files(cluster, "/sm/snapshot.");
    return all.stream().max(Comparator.comparingLong(PlantedFilesTest::index)).orElseThrow();
  }

  private static long index(Path snapshot) {
    String name = snapshot.getFileName().toString();
    return Long.parseLong(name.substring(name.indexOf('_') + 1));
  }

  private static void replace(Path snapshot, Path by) throws IOException {
    Files.copy(by, snapshot, StandardCopyOption.REPLACE_EXISTING);
    MD5FileUtil.computeAndSaveMd5ForFile(snapshot.toFile());
  }

  private static String rows(LocalCluster cluster) throws Exception {
    cluster.startAllAndAwait();
    try (Connection connection = cluster.connect();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("SELECT V FROM T ORDER BY V")) {
      StringBuilder all = new StringBuilder();
      while (rows.next()) {
        all.append(rows.getString(1)).append(';');
      }
      return all.toString();
    } finally {
      cluster.stopAll();
    }
  }

  @Test
  void snapshotThatIsNotEncryptedIsRefused() throws Exception {
    try (LocalCluster stranger = cluster("stranger", DataKeys.off());
        LocalCluster cluster = cluster("own", TestKeys.of("k1"))) {
      write(stranger, "planted");
      write(cluster, "own");
      Path own = newestSnapshot(cluster);
      Path kept = Files.copy(own, directory.resolve("kept"));
      replace(own, newestSnapshot(stranger));
      String why = refusal(cluster);
      assertTrue(why.contains(own + " is not encrypted"), why);
      assertTrue(why.contains("tollgate reseed"), why);
      replace(own, kept);
      assertEquals("own;own later;", rows(cluster));
    }
  }

  @Test
  void logThatIsNotEncryptedIsRefused() throws Exception {
    try (LocalCluster stranger = cluster("stranger", DataKeys.off());
        LocalCluster cluster = cluster("own", TestKeys.of("k1"))) {
      write(stranger, "planted");
      cluster.startAllAndAwait();
      cluster.stopAll();
      for (Path segment : files(cluster, "/current/log_")) {
        Files.delete(segment);
      }
      for (Path segment : files(stranger, "/current/log_")) {
        Files.copy(
            segment, files(cluster, "/current/").get(0).resolveSibling(segment.getFileName()));
      }
      String why = refusal(cluster);
      assertTrue(why.contains("/current/log_") && why.contains("is not encrypted"), why);
      assertTrue(why.contains("tollgate reseed"), why);
    }
  }

  /** As after a change of the configuration alone, or as somebody makes who wants to. */
  @Test
  void directoryThatIsNotEncryptedIsRefused() throws Exception {
    try (LocalCluster cluster = cluster("own", DataKeys.off())) {
      write(cluster, "own");
      DataKeys keys = TestKeys.of("k1");
      cluster.useKeys(id -> keys);
      String why = refusal(cluster);
      Path identity = cluster.data("n1").resolve(NodeIdentity.FILE);
      assertTrue(why.contains(identity + " is not encrypted"), why);
      assertTrue(why.contains("tollgate reseed"), why);
      cluster.useKeys(id -> DataKeys.off());
      assertEquals("own;own later;", rows(cluster));
    }
  }

  /** The operator gave both nodes the same key. */
  @Test
  void snapshotOfAnotherDirectoryWithTheSameKeyIsDamage() throws Exception {
    try (LocalCluster other = cluster("other", TestKeys.of("k1"));
        LocalCluster cluster = cluster("own", TestKeys.of("k1"))) {
      write(other, "planted");
      write(cluster, "own");
      replace(newestSnapshot(cluster), newestSnapshot(other));
      assertEquals("own;own later;", rows(cluster), "from the snapshot before, and the log");
    }
  }

  @Test
  void olderSnapshotUnderTheNameOfANewerOneIsDamage() throws Exception {
    try (LocalCluster cluster = cluster("own", TestKeys.of("k1"))) {
      write(cluster, "own");
      Path newest = newestSnapshot(cluster);
      String name = newest.getFileName().toString();
      Path later =
          newest.resolveSibling(name.substring(0, name.indexOf('_') + 1) + (index(newest) + 50));
      replace(later, newest);
      assertEquals("own;own later;", rows(cluster));
      assertTrue(Files.exists(newest.resolveSibling(later.getFileName() + ".corrupt")));
    }
  }

  @Test
  void identityOfAnotherNodeWithTheSameKeyIsRefused() throws Exception {
    DataKeys keys = TestKeys.of("k1");
    try (LocalCluster cluster =
        new LocalCluster(directory, 3, Duration.ZERO, RaftSettings.SNAPSHOT_LOG_BYTES)) {
      cluster.useKeys(id -> keys);
      cluster.startAllAndAwait();
      cluster.stopAll();
      Files.copy(
          cluster.data("n2").resolve(NodeIdentity.FILE),
          cluster.data("n1").resolve(NodeIdentity.FILE),
          StandardCopyOption.REPLACE_EXISTING);
      String why = refusal(cluster);
      assertTrue(why.contains("is the data directory of node n2"), why);
    }
  }
}
