package dev.tollgate.cluster;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.LivingDirectory;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.Reader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What operators have against the loss of nodes and of clusters. */
class BackupsIT {
  private static final String CONTENT =
      "SELECT ID, V, AT, U, LENGTH(FILLER), 0 FROM T UNION ALL SELECT NULL, NULL, NULL, NULL,"
          + " TOKEN, LEASE_ID FROM TOLLGATE.LOCKS ORDER BY 1";

  @TempDir Path directory;

  @Test
  void backupOfAFollowerBecomesANewClusterWhoseTokensAreHigher() throws Exception {
    Path file = directory.resolve("backup");
    List<String> content;
    long held;
    long last;
    String uuid;
    long lease;
    try (ClusterProcesses cluster =
            new ClusterProcesses("BackupsIT", directory.resolve("a"), 3, "--snapshot-log-mib=16");
        Connection connection = cluster.connect("");
        Statement statement = connection.createStatement()) {
      createTable(statement);
      lease = number(statement, "SELECT create_lease(INTERVAL '1' HOUR)");
      held = number(statement, "SELECT acquire_lock('held', " + lease + ")");
      write(connection, 1, 5);
      awaitEqual(cluster);
      NodeProcess follower = follower(cluster);
      content = cluster.rowsAt(follower, CONTENT);

      Program backup = Program.run("backup", "-u", onlyUrl(cluster, follower), file.toString());
      assertEquals(0, backup.status(), backup.err());
      assertTrue(backup.out().contains("node " + follower.id() + " at log index"), backup.out());
      assertTrue(backup.out().contains("epoch 0, " + Files.size(file) + " bytes"), backup.out());
      byte[] bytes = Files.readAllBytes(file);
      Program again = Program.run("backup", "-u", onlyUrl(cluster, follower), file.toString());
      assertEquals(1, again.status());
      assertTrue(again.err().contains("--overwrite"), again.err());
      assertArrayEquals(bytes, Files.readAllBytes(file));

      write(connection, 6, 6);
      uuid = text(statement, "SELECT U FROM T WHERE ID = 6");
      last = number(statement, "SELECT acquire_lock('after the backup')");
      Program other =
          Program.run("backup", "--leader", "-u", onlyUrl(cluster, follower), file + ".2");
      assertEquals(0, other.status(), other.err());
      assertTrue(other.out().contains("node " + cluster.leader().id() + " at"), other.out());
    }
    Path restored = directory.resolve("b");
    for (String node : List.of("n1", "n2", "n3")) {
      Program restore = Program.run("restore", file.toString(), "--data=" + restored.resolve(node));
      assertEquals(0, restore.status(), restore.err());
      assertTrue(restore.out().contains("epoch 1"), restore.out());
    }
    assertArrayEquals(
        Files.readAllBytes(snapshots(restored.resolve("n1")).get(0)),
        Files.readAllBytes(snapshots(restored.resolve("n3")).get(0)));
    Program occupied = Program.run("restore", file.toString(), "--data=" + restored.resolve("n1"));
    assertEquals(1, occupied.status());
    assertTrue(occupied.err().contains("is not empty"), occupied.err());

    try (ClusterProcesses cluster = new ClusterProcesses("BackupsIT-restored", restored, 3);
        Connection connection = cluster.connect("");
        Statement statement = connection.createStatement()) {
      assertEquals(content, cluster.rowsAt(cluster.leader(), CONTENT));
      assertEquals(
          held, number(statement, "SELECT lock_token('held')"), "its lease holds it still");
      assertEquals(
          1,
          number(
              statement,
              "SELECT COUNT(*) FROM TOLLGATE.LEASES WHERE LEASE_ID = "
                  + lease
                  + " AND REMAINING_MS > 3500000"));
      long first = number(statement, "SELECT acquire_lock('after the backup')");
      assertEquals((1L << 48) + 1, first, "the first of epoch 1");
      assertTrue(first > last);
      write(connection, 6, 6);
      assertNotEquals(uuid, text(statement, "SELECT U FROM T WHERE ID = 6"), "random anew");
      // the last of the nodes may start after the other two have elected a leader
      await()
          .atMost(ClusterProcesses.DEADLINE)
          .until(
              () ->
                  3
                      == number(
                          statement,
                          "SELECT COUNT(*) FROM TOLLGATE.NODES WHERE CLIENT_ADDRESS IS NOT NULL"));
      awaitEqual(cluster);
      Program next =
          Program.run("backup", "-u", cluster.url(""), directory.resolve("next").toString());
      assertTrue(next.out().contains("epoch 1, "), next.out() + next.err());
      Program low =
          Program.run(
              "restore",
              directory.resolve("next").toString(),
              "--epoch=1",
              "--data=" + directory.resolve("c"));
      assertEquals(2, low.status(), low.err());
      for (NodeProcess node : cluster.nodes()) {
        node.kill();
      }
      cluster.startAll();
      awaitEqual(cluster);
      assertEquals(held, number(statement, "SELECT lock_token('held')"));
    }
  }

  @Tag("nightly")
  @Test
  void nodeWithADamagedLogSaysSoAndComesBackByReseeding() throws Exception {
    try (ClusterProcesses cluster =
            new ClusterProcesses("BackupsIT-reseed", directory, 3, "--snapshot-log-mib=16");
        Connection connection = cluster.connect("");
        Statement statement = connection.createStatement()) {
      createTable(statement);
      write(connection, 1, 5);
      NodeProcess node = follower(cluster);
      Program running =
          Program.run(
              "reseed", "--id=" + node.id(), "--data=" + node.data(), "--from=" + cluster.url(""));
      assertEquals(1, running.status());
      assertTrue(running.err().contains("stop it"), running.err());
      awaitEqual(cluster);
      node.kill();
      Path segment = segments(node).get(0);
      damage(segment, 1_500_000);
      assertThrows(Exception.class, node::startAndAwait);
      String log = Files.readString(node.log());
      assertTrue(log.contains("its log is damaged in " + segment), "it names the file");
      assertTrue(log.contains("tollgate reseed"), "it says what to do");
      write(connection, 6, 10);
      Properties vote = vote(node);

      Program stranger =
          Program.run("reseed", "--id=n9", "--data=" + node.data(), "--from=" + cluster.url(""));
      assertEquals(1, stranger.status());
      assertTrue(stranger.err().contains("not of node n9"), stranger.err());
      Path inTheWay = Files.createDirectory(group(segment).resolve("members.tmp"));
      Program full =
          Program.run(
              "reseed", "--id=" + node.id(), "--data=" + node.data(), "--from=" + cluster.url(""));
      assertEquals(1, full.status());
      assertTrue(full.err().contains("the list of members in "), full.err());
      assertTrue(Files.exists(segment), "nothing was moved");
      Files.delete(inTheWay);
      Program reseed =
          Program.run(
              "reseed", "--id=" + node.id(), "--data=" + node.data(), "--from=" + cluster.url(""));
      assertEquals(0, reseed.status(), reseed.err());
      assertTrue(reseed.out().contains(segment.getFileName().toString()), reseed.out());
      assertTrue(
          Files.exists(
              node.data()
                  .resolve(segment.getParent().getParent().getFileName())
                  .resolve("replaced-1")
                  .resolve(segment.getFileName())));
      assertEquals(vote, vote(node), "it votes at most once in a term");
      node.startAndAwait();
      awaitEqual(cluster);
      write(connection, 11, 12);
      awaitEqual(cluster);

      // its entries count: with it alone, the leader has a majority
      for (NodeProcess other : cluster.nodes()) {
        if (other != node && other != cluster.leader()) {
          other.kill();
        }
      }
      write(connection, 13, 13);
      assertEquals(13, number(statement, "SELECT COUNT(*) FROM T"));
    }
  }

  private static void createTable(Statement statement) throws SQLException {
    statement.execute(
        "CREATE TABLE T(ID INT PRIMARY KEY, V INT, AT TIMESTAMP DEFAULT CURRENT_TIMESTAMP,"
            + " U UUID DEFAULT RANDOM_UUID(), FILLER VARCHAR)");
  }

  /** A mebibyte each, so that the log grows and the database does not. */
  private static void write(Connection connection, int from, int to) throws SQLException {
    try (PreparedStatement insert =
            connection.prepareStatement("INSERT INTO T(ID, V, FILLER) VALUES(?, ?, ?)");
        Statement shrink = connection.createStatement()) {
      for (int id = from; id <= to; id++) {
        insert.setInt(1, id);
        insert.setInt(2, id * id);
        insert.setString(3, String.valueOf((char) ('a' + id % 26)).repeat(1_000_000));
        assertEquals(1, insert.executeUpdate());
        shrink.executeUpdate("UPDATE T SET FILLER = 'small' WHERE ID = " + id);
      }
    }
  }

  private static NodeProcess follower(ClusterProcesses cluster) {
    NodeProcess leader = cluster.leader();
    return cluster.nodes().stream().filter(node -> node != leader).findFirst().orElseThrow();
  }

  private static String onlyUrl(ClusterProcesses cluster, NodeProcess node) {
    return "jdbc:tollgate://127.0.0.1:" + cluster.clientPort(node) + "/";
  }

  private static long number(Statement statement, String sql) throws SQLException {
    return Long.parseLong(text(statement, sql));
  }

  private static String text(Statement statement, String sql) throws SQLException {
    try (ResultSet row = statement.executeQuery(sql)) {
      assertTrue(row.next());
      return row.getString(1);
    }
  }

  private static void awaitEqual(ClusterProcesses cluster) {
    await()
        .atMost(ClusterProcesses.DEADLINE)
        .ignoreExceptions()
        .until(
            () -> {
              List<String> first = cluster.rowsAt(cluster.nodes().get(0), CONTENT);
              return first.equals(cluster.rowsAt(cluster.nodes().get(1), CONTENT))
                  && first.equals(cluster.rowsAt(cluster.nodes().get(2), CONTENT));
            });
  }

  private static List<Path> files(Path data, String pattern) throws IOException {
    return LivingDirectory.find(data, pattern);
  }

  private static List<Path> snapshots(Path data) throws IOException {
    return files(data, "snapshot\\.\\d+_\\d+");
  }

  private static List<Path> segments(NodeProcess node) throws IOException {
    return files(node.data(), "log_.*");
  }

  /** The file with the term and the vote, whose copies are properties. */
  private static Properties vote(NodeProcess node) throws IOException {
    Properties vote = new Properties();
    try (Reader in = Files.newBufferedReader(files(node.data(), "vote").get(0))) {
      vote.load(in);
    }
    return vote;
  }

  private static Path group(Path segment) {
    return segment.resolveSibling("").getParent();
  }

  private static void damage(Path file, long offset) throws IOException {
    try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
      bytes.seek(offset);
      int value = bytes.read();
      bytes.seek(offset);
      bytes.write(value ^ 1);
    }
  }
}
