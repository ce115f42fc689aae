package dev.tollgate.cluster;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A cluster that cuts its log: nodes come back from snapshots, their own or the leader's. */
class SnapshotsIT {
  /** Two snapshots and a segment of the log that nobody needs. */
  private static final int LARGE_WRITES = 24;

  private static final String CONTENT =
      "SELECT ID, V, AT, U, LENGTH(FILLER), 0 FROM T UNION ALL SELECT NULL, NULL, NULL, NULL,"
          + " TOKEN, LEASE_ID FROM TOLLGATE.LOCKS ORDER BY 1";

  @TempDir Path directory;

  @Test
  void nodesComeBackFromSnapshots() throws Exception {
    try (ClusterProcesses cluster =
        new ClusterProcesses("SnapshotsIT", directory, 3, "--snapshot-log-mib=4")) {
      NodeProcess leader = cluster.leader();
      NodeProcess behind =
          cluster.nodes().stream().filter(node -> node != leader).findFirst().orElseThrow();
      long token;
      try (Connection connection = cluster.connect("");
          Statement statement = connection.createStatement()) {
        statement.execute(
            "CREATE TABLE T(ID INT PRIMARY KEY, V INT, AT TIMESTAMP DEFAULT CURRENT_TIMESTAMP,"
                + " U UUID DEFAULT RANDOM_UUID(), FILLER VARCHAR) FENCED BY LOCK 'job'");
        statement.execute("CREATE VIEW W AS SELECT ID, V FROM T");
        token = number(statement, "SELECT acquire_lock('job')");
        write(connection, 1, 4);
        behind.kill();
        write(connection, 5, LARGE_WRITES);
        awaitSnapshots(leader);
        behind.startAndAwait();
        awaitEqual(cluster);
        assertTrue(
            Files.exists(newest(behind)), "the node that was behind has the leader's snapshot");

        // all at once, so that what there is comes from the disks alone
        for (NodeProcess node : cluster.nodes()) {
          node.kill();
        }
        damage(newest(leader));
        cluster.startAll();
        awaitEqual(cluster);
        assertTrue(
            files(leader).anyMatch(file -> file.toString().endsWith(".corrupt")),
            "the damaged snapshot is set aside");
        assertEquals(token, number(statement, "SELECT lock_token('job')"));
        write(connection, LARGE_WRITES + 1, LARGE_WRITES + 2);
        assertEquals(
            LARGE_WRITES + 2, number(statement, "SELECT COUNT(*) FROM W"), "rows by the view");
        awaitEqual(cluster);

        behind.kill();
        for (Path snapshot : files(behind).filter(SnapshotsIT::isSnapshot).toList()) {
          damage(snapshot);
        }
        assertThrows(Exception.class, behind::startAndAwait);
        assertTrue(
            Files.readString(behind.log()).contains("cannot recover by itself"),
            "the node says why it does not start");
      }
    }
  }

  /** Two clients of which one always has a transaction open, unless it is made to wait. */
  @Test
  void overlappingTransactionsMakeWayForASnapshot() throws Exception {
    try (ClusterProcesses cluster =
            new ClusterProcesses("SnapshotsIT-overlap", directory, 1, "--snapshot-log-mib=1");
        Connection first = cluster.connect("");
        Connection second = cluster.connect("")) {
      createTable(first);
      first.setAutoCommit(false);
      second.setAutoCommit(false);
      ExecutorService clients = Executors.newSingleThreadExecutor();
      try {
        int held = 0;
        int rows = 0;
        insert(first, rows++);
        while (files(cluster.node("n1")).noneMatch(SnapshotsIT::isSnapshot)) {
          assertTrue(rows < 300, "no snapshot in 6 times the log that one is due after");
          Connection open = rows % 2 == 1 ? first : second;
          Connection next = open == first ? second : first;
          int id = rows++;
          CountDownLatch written = new CountDownLatch(1);
          Future<?> begun =
              clients.submit(
                  () -> {
                    insert(next, id);
                    written.countDown();
                    return null;
                  });
          held += written.await(2, TimeUnit.SECONDS) ? 0 : 1;
          open.commit();
          begun.get(1, TimeUnit.MINUTES);
        }
        (rows % 2 == 1 ? first : second).commit();
        assertTrue(held > 0, "a transaction was held back");
        try (Statement statement = first.createStatement()) {
          assertEquals(
              rows, number(statement, "SELECT COUNT(*) FROM T"), "nothing was rolled back");
        }
      } finally {
        clients.shutdownNow();
      }
    }
  }

  @Test
  void transactionThatStaysOpenIsRolledBackForASnapshot() throws Exception {
    try (ClusterProcesses cluster =
            new ClusterProcesses("SnapshotsIT-open", directory, 1, "--snapshot-log-mib=1");
        Connection idle = cluster.connect("");
        Connection busy = cluster.connect("");
        Statement statement = busy.createStatement()) {
      createTable(busy);
      idle.setAutoCommit(false);
      insert(idle, 1_000);
      insert(busy, 2_000);
      // the log grows and the database does not, however many of these there are in the five
      // seconds
      try (PreparedStatement update =
          busy.prepareStatement("UPDATE T SET FILLER = ? WHERE ID = 2000")) {
        update.setString(1, "y".repeat(20_000));
        await()
            .atMost(60, TimeUnit.SECONDS)
            .pollDelay(Duration.ZERO)
            .pollInterval(Duration.ZERO)
            .until(
                () -> {
                  assertEquals(1, update.executeUpdate());
                  return files(cluster.node("n1")).anyMatch(SnapshotsIT::isSnapshot);
                });
      }
      SQLException lost = assertThrows(SQLException.class, idle::commit);
      assertEquals("40001", lost.getSQLState());
      assertTrue(lost.getMessage().contains("a snapshot needs a moment"), lost.getMessage());
      assertEquals(0, number(statement, "SELECT COUNT(*) FROM T WHERE ID = 1000"));
    }
  }

  private static void createTable(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE T(ID INT PRIMARY KEY, V INT, FILLER VARCHAR)");
    }
  }

  /** Twenty kilobytes. */
  private static void insert(Connection connection, int id) throws SQLException {
    try (PreparedStatement insert =
        connection.prepareStatement("INSERT INTO T(ID, V, FILLER) VALUES(?, 0, ?)")) {
      insert.setInt(1, id);
      insert.setString(2, "x".repeat(20_000));
      assertEquals(1, insert.executeUpdate());
    }
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

  private static long number(Statement statement, String sql) throws SQLException {
    try (ResultSet row = statement.executeQuery(sql)) {
      assertTrue(row.next());
      return row.getLong(1);
    }
  }

  /** Two snapshots are there, and the first segment of the log is gone. */
  private static void awaitSnapshots(NodeProcess node) {
    await()
        .atMost(ClusterProcesses.DEADLINE)
        .until(
            () ->
                files(node).filter(SnapshotsIT::isSnapshot).count() == 2
                    && files(node)
                        .noneMatch(file -> file.getFileName().toString().startsWith("log_0-")));
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

  private static boolean isSnapshot(Path file) {
    return file.getFileName().toString().matches("snapshot\\.\\d+_\\d+");
  }

  private static Path newest(NodeProcess node) throws IOException {
    return files(node)
        .filter(SnapshotsIT::isSnapshot)
        .max(Comparator.comparingLong(SnapshotsIT::indexOf))
        .orElseThrow();
  }

  private static long indexOf(Path snapshot) {
    String name = snapshot.getFileName().toString();
    return Long.parseLong(name.substring(name.indexOf('_') + 1));
  }

  /** Snapshots and log. Only names are read, because files come and go meanwhile. */
  private static Stream<Path> files(NodeProcess node) throws IOException {
    List<Path> files = new ArrayList<>();
    try (DirectoryStream<Path> groups = Files.newDirectoryStream(node.data(), Files::isDirectory)) {
      for (Path group : groups) {
        for (String part : List.of("sm", "current")) {
          try (Stream<Path> names = Files.list(group.resolve(part))) {
            names.forEach(files::add);
          }
        }
      }
    }
    return files.stream();
  }

  private static void damage(Path file) throws IOException {
    try (RandomAccessFile bytes = new RandomAccessFile(file.toFile(), "rw")) {
      bytes.seek(bytes.length() / 2);
      int value = bytes.read();
      bytes.seek(bytes.length() / 2);
      bytes.write(value ^ 1);
    }
  }
}
