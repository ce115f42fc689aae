package dev.tollgate.cluster;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A node whose disk takes no more stops and says so, the others go on, and it comes back. */
@Timeout(240)
class FailStopIT {
  private static final int REPLICA_FAILED = 70;
  private static final long MIB = 1 << 20;

  /** Less than a segment of the log of a node with this heap, and than what the rows need. */
  private static final long LOG_LIMIT = 3 * MIB / 2;

  /** A segment of the log and what it sets aside fit in, a snapshot of all rows does not. */
  private static final long SNAPSHOT_LIMIT = 16 * MIB;

  /** So many rows do not fit into a file of that size, and some of them do. */
  private static final int LOG_ROWS = 18;

  private static final int LOG_ROW_CHARS = 100_000;

  /** Far more than what such a snapshot, which is due every 4 MiB, has room for. */
  private static final int MAX_ROWS = 100;

  /** What a file takes at least of a file system in memory. */
  private static final int BLOCK_BYTES = 4096;

  @TempDir Path directory;

  /** The two tests after this one have both halves of it, with a leader and with one node down. */
  @Tag("nightly")
  @Test
  void followerThatCannotWriteItsLogStopsAndComesBack() throws Exception {
    try (ClusterProcesses cluster = new ClusterProcesses("FailStopIT", directory, 3);
        Connection connection = cluster.connect("")) {
      create(connection);
      NodeProcess leader = cluster.leader();
      NodeProcess victim = other(cluster, leader);
      restartWithLimit(victim, LOG_LIMIT);
      long before = Files.size(victim.log());
      write(connection, 1, LOG_ROWS, LOG_ROW_CHARS);
      requireStopped(victim, before, "the log", "File too large");
      assertTrue(leader.isAlive());
      write(connection, LOG_ROWS + 1, LOG_ROWS + 5);
      victim.limitFiles(0);
      victim.startAndAwait();
      requireEqual(connection, LOG_ROWS + 5);
    }
  }

  @Test
  void leaderThatCannotWriteItsLogStopsAndAnotherLeads() throws Exception {
    try (ClusterProcesses cluster = new ClusterProcesses("FailStopIT", directory, 3);
        Connection connection = cluster.connect("")) {
      create(connection);
      NodeProcess victim = other(cluster, cluster.leader());
      restartWithLimit(victim, LOG_LIMIT);
      lead(connection, victim);
      assertEquals(victim, cluster.leader());
      long before = Files.size(victim.log());
      long longest = write(connection, 1, LOG_ROWS, LOG_ROW_CHARS);
      System.out.println("FailStopIT: the longest write took " + longest + " ms");
      requireStopped(victim, before, "the log", "File too large");
      victim.limitFiles(0);
      victim.startAndAwait();
      requireEqual(connection, LOG_ROWS);
    }
  }

  /** Of three nodes one is down, one fails, and then the one that led is gone with its disk. */
  @Test
  void whatWasAcknowledgedIsOnTheDiskOfTheNodeThatFailed() throws Exception {
    try (ClusterProcesses cluster = new ClusterProcesses("FailStopIT", directory, 3);
        Connection connection = cluster.connect("failoverTimeout=5s")) {
      create(connection);
      NodeProcess leader = cluster.leader();
      NodeProcess victim = other(cluster, leader);
      NodeProcess down =
          cluster.nodes().stream()
              .filter(node -> node != leader && node != victim)
              .findFirst()
              .orElseThrow();
      restartWithLimit(victim, LOG_LIMIT);
      down.kill();
      long before = Files.size(victim.log());
      int acknowledged = 0;
      try {
        while (acknowledged < LOG_ROWS) {
          write(connection, acknowledged + 1, acknowledged + 1, LOG_ROW_CHARS);
          acknowledged++;
        }
      } catch (SQLException e) {
        assertTrue(e.getSQLState().startsWith("08"), e.getSQLState());
      }
      assertTrue(acknowledged > 5 && acknowledged < LOG_ROWS, acknowledged + " rows");
      requireStopped(victim, before, "the log", "File too large");
      leader.kill();
      victim.limitFiles(0);
      NodeProcess.awaitAll(List.of(victim.start(), down.start()));
      try (Connection later = cluster.connect("");
          Statement statement = later.createStatement();
          ResultSet count =
              statement.executeQuery("SELECT COUNT(*) FROM T WHERE ID <= " + acknowledged)) {
        assertTrue(count.next());
        assertEquals(acknowledged, count.getInt(1));
      }
    }
  }

  @Test
  void nodeThatCannotWriteASnapshotSaysSoAndServes() throws Exception {
    try (ClusterProcesses cluster =
            new ClusterProcesses("FailStopIT", directory, 3, "--snapshot-log-mib=4");
        Connection connection = cluster.connect("")) {
      create(connection);
      NodeProcess victim = other(cluster, cluster.leader());
      restartWithLimit(victim, SNAPSHOT_LIMIT);
      long before = Files.size(victim.log());
      int rows = writeUntil(connection, 0, victim, before, "no snapshot could be written");
      assertTrue(victim.isAlive());
      requireEqual(connection, rows);
      victim.terminate();
      victim.limitFiles(0);
      long restarted = Files.size(victim.log());
      victim.startAndAwait();
      rows = writeUntil(connection, rows, victim, restarted, "snapshot at log index");
      requireEqual(connection, rows);
    }
  }

  @Tag("nightly")
  @Test
  void nodeOnAFullFileSystemStopsAndComesBackOnceThereIsRoom() throws Exception {
    Path disk = mountFor("n2", "20m");
    try (ClusterProcesses cluster = new ClusterProcesses("FailStopIT", directory, 3);
        Connection connection = cluster.connect("")) {
      create(connection);
      NodeProcess victim = cluster.node("n2");
      long before = Files.size(victim.log());
      write(connection, 1, 26);
      requireStopped(victim, before, "the log", "No space left on device");
      write(connection, 27, 30);
      assertEquals(0, run("mount", "-o", "remount,size=300m", disk.toString()));
      victim.startAndAwait();
      requireEqual(connection, 30);
    } finally {
      assertEquals(0, run("umount", "-l", disk.toString()));
    }
  }

  /**
   * Its vote is written in place and needs no room, but its log does, once it has filled its file.
   */
  @Test
  void nodeWithoutRoomVotesThenStopsAndComesBackOnceThereIsRoom() throws Exception {
    Path disk = mountFor("n2", "40m");
    try (ClusterProcesses cluster = new ClusterProcesses("FailStopIT", directory, 3);
        Connection connection = cluster.connect("")) {
      create(connection);
      write(connection, 1, 2);
      NodeProcess victim = cluster.node("n2");
      if (cluster.leader() == victim) {
        lead(connection, cluster.node("n1"));
      }
      NodeProcess next =
          cluster.leader() == cluster.node("n1") ? cluster.node("n3") : cluster.node("n1");
      Path filler = disk.resolve("filler");
      fill(filler);
      long before = Files.size(victim.log());
      lead(connection, next);
      write(connection, 3, 5);
      requireStopped(victim, before, "the log", "No space left on device");
      Files.delete(filler);
      victim.startAndAwait();
      requireEqual(connection, 5);
    } finally {
      assertEquals(0, run("umount", "-l", disk.toString()));
    }
  }

  /** With no room for its directory, for what it writes into its first file, or for the log. */
  @Test
  void newNodeJoinsOnceThereIsRoom() throws Exception {
    Path disk = mountFor("n2", "20m");
    try (ClusterProcesses cluster = new ClusterProcesses("FailStopIT", directory, 1);
        Connection connection = cluster.connect("")) {
      NodeProcess node = cluster.joining("n2");
      Path filler = disk.resolve("filler");
      fill(filler);
      requireNotStarted(node);
      try (FileChannel blocks = FileChannel.open(filler, StandardOpenOption.WRITE)) {
        blocks.truncate(blocks.size() - BLOCK_BYTES);
      }
      requireNotStarted(node);
      Files.delete(filler);
      create(connection);
      write(connection, 1, 26);
      long before = Files.size(node.log());
      CompletableFuture<String> ready = node.start();
      assertEquals(REPLICA_FAILED, node.awaitEnd());
      assertThrows(ExecutionException.class, ready::get);
      assertTrue(logSince(node, before).contains("cannot be written: No space left on device"));
      assertEquals(0, run("mount", "-o", "remount,size=300m", disk.toString()));
      node.startAndAwait();
    } finally {
      assertEquals(0, run("umount", "-l", disk.toString()));
    }
  }

  private static void requireNotStarted(NodeProcess node) throws Exception {
    ExecutionException ended =
        assertThrows(
            ExecutionException.class,
            () -> node.start().get(ClusterProcesses.DEADLINE.toSeconds(), TimeUnit.SECONDS));
    String why =
        node.id()
            + " does not start, because nothing can be written in "
            + node.data()
            + " (No space left on device)";
    assertTrue(ended.getMessage().contains(why), ended.getMessage());
    node.awaitEnd();
  }

  /** A small file system for the directory of a node. */
  private Path mountFor(String nodeId, String size) throws Exception {
    Path disk = Files.createDirectory(directory.resolve("disk"));
    assumeTrue(
        run("mount", "-t", "tmpfs", "-o", "size=" + size, "tmpfs", disk.toString()) == 0,
        "only root can mount a small file system");
    Files.createSymbolicLink(directory.resolve(nodeId), disk);
    return disk;
  }

  private static void fill(Path file) throws IOException {
    byte[] block = new byte[BLOCK_BYTES];
    try (OutputStream out = Files.newOutputStream(file)) {
      IOException full =
          assertThrows(
              IOException.class,
              () -> {
                while (true) {
                  out.write(block);
                }
              });
      assertEquals("No space left on device", full.getMessage());
    }
  }

  private static void lead(Connection connection, NodeProcess next) throws SQLException {
    execute(connection, "CALL transfer_leadership('" + next.id() + "')");
  }

  private static int run(String... command) throws IOException, InterruptedException {
    return new ProcessBuilder(command).inheritIO().start().waitFor();
  }

  private static NodeProcess other(ClusterProcesses cluster, NodeProcess node) {
    return cluster.nodes().stream().filter(one -> one != node).findFirst().orElseThrow();
  }

  private static void restartWithLimit(NodeProcess node, long bytes) throws Exception {
    assertEquals(143, node.terminate());
    node.limitFiles(bytes);
    node.startAndAwait();
  }

  private static void create(Connection connection) throws SQLException {
    execute(
        connection, "CREATE TABLE T(ID INT PRIMARY KEY, V VARCHAR, U UUID DEFAULT RANDOM_UUID())");
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static void write(Connection connection, int from, int to) throws SQLException {
    write(connection, from, to, 1_000_000);
  }

  /** Returns how many milliseconds the slowest row took. */
  private static long write(Connection connection, int from, int to, int chars)
      throws SQLException {
    long longest = 0;
    try (PreparedStatement insert =
        connection.prepareStatement("INSERT INTO T(ID, V) VALUES(?, ?)")) {
      for (int id = from; id <= to; id++) {
        insert.setInt(1, id);
        insert.setString(2, String.valueOf((char) ('a' + id % 26)).repeat(chars));
        long start = System.nanoTime();
        assertEquals(1, insert.executeUpdate());
        longest = Math.max(longest, System.nanoTime() - start);
      }
    }
    return TimeUnit.NANOSECONDS.toMillis(longest);
  }

  private static void requireStopped(NodeProcess node, long logFrom, String what, String why)
      throws Exception {
    assertEquals(REPLICA_FAILED, node.awaitEnd());
    String log = logSince(node, logFrom);
    String said = node.id() + ": stops serving, the others go on: ";
    String line = log.lines().filter(text -> text.contains(said)).findFirst().orElseThrow();
    assertTrue(
        line.contains(said + what + " in " + node.data() + " cannot be written: " + why), line);
    assertTrue(line.contains("Make room there"), line);
  }

  private static String logSince(NodeProcess node, long from) throws IOException {
    return Files.readString(node.log()).substring((int) from);
  }

  /**
   * Writes rows until a node says something: a snapshot that is due while another one is being
   * written comes after it.
   *
   * @return how many rows there are then
   */
  private static int writeUntil(
      Connection connection, int rows, NodeProcess node, long logFrom, String text)
      throws Exception {
    int count = rows;
    while (!logSince(node, logFrom).contains(text)) {
      assertTrue(count < MAX_ROWS, node.id() + " does not say: " + text);
      count++;
      write(connection, count, count);
    }
    return count;
  }

  /** All nodes have all rows, and the same ones. */
  private static void requireEqual(Connection connection, int rows) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      try (ResultSet count = statement.executeQuery("SELECT COUNT(*) FROM T")) {
        assertTrue(count.next());
        assertEquals(rows, count.getInt(1));
      }
      // a node that is far behind does not answer in time
      await()
          .atMost(ClusterProcesses.DEADLINE)
          .until(
              () -> verdicts(statement),
              Map.of("n1", "EQUAL", "n2", "EQUAL", "n3", "EQUAL")::equals);
    }
  }

  private static Map<String, String> verdicts(Statement statement) throws SQLException {
    Map<String, String> verdicts = new TreeMap<>();
    try (ResultSet nodes = statement.executeQuery("CALL verify_replicas()")) {
      while (nodes.next()) {
        verdicts.put(nodes.getString("NODE_ID"), nodes.getString("VERDICT"));
      }
    }
    return verdicts;
  }
}
