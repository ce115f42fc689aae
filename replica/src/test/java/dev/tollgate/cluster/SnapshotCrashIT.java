package dev.tollgate.cluster;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A node that writes snapshots and cuts its log all the time, killed at random moments: its
 * directory can always be started from, and has every write that was acknowledged.
 */
class SnapshotCrashIT {
  private static final int KILLS = Integer.getInteger("tollgate.kills", 3);
  private static final long SEED = Long.getLong("tollgate.seed", System.nanoTime());
  private static final int FILLER_CHARS = 300_000;

  @TempDir Path directory;

  private final AtomicInteger acknowledged = new AtomicInteger();

  @Test
  void directoryIsGoodAtEveryMoment() throws Exception {
    System.out.println("SnapshotCrashIT: -Dtollgate.seed=" + SEED);
    Random random = new Random(SEED);
    try (ClusterProcesses cluster =
        new ClusterProcesses("SnapshotCrashIT", directory, 1, "--snapshot-log-mib=1")) {
      NodeProcess node = cluster.nodes().get(0);
      try (Connection connection = cluster.connect("");
          Statement statement = connection.createStatement()) {
        statement.execute("CREATE TABLE T(ID INT PRIMARY KEY, FILLER VARCHAR)");
        statement.execute("INSERT INTO T VALUES(0, '')");
      }
      for (int kill = 1; kill <= KILLS; kill++) {
        int before = acknowledged.get();
        CompletableFuture<Void> writer =
            CompletableFuture.runAsync(() -> writeUntilItFails(cluster));
        await().atMost(ClusterProcesses.DEADLINE).until(() -> acknowledged.get() > before);
        await().pollDelay(Duration.ofMillis(random.nextInt(1_000))).until(() -> true);
        node.kill();
        writer.get(1, TimeUnit.MINUTES);
        node.startAndAwait();
        checkNothingIsLost(cluster, kill);
      }
      System.out.println(
          "SnapshotCrashIT: " + KILLS + " kills, " + acknowledged.get() + " writes acknowledged");
    }
  }

  private void writeUntilItFails(ClusterProcesses cluster) {
    try (Connection connection = cluster.connect("failoverTimeout=1s");
        PreparedStatement insert = connection.prepareStatement("INSERT INTO T VALUES(?, '')");
        PreparedStatement fill =
            connection.prepareStatement("UPDATE T SET FILLER = ? WHERE ID = 0")) {
      int id = greatest(connection);
      while (true) {
        insert.setInt(1, ++id);
        insert.executeUpdate();
        acknowledged.set(id);
        fill.setString(1, String.valueOf((char) ('a' + id % 26)).repeat(FILLER_CHARS));
        fill.executeUpdate();
      }
    } catch (SQLException e) {
      assertTrue(e.getSQLState().startsWith("08"), e.toString());
    }
  }

  private static int greatest(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT MAX(ID) FROM T")) {
      assertTrue(row.next());
      return row.getInt(1);
    }
  }

  private void checkNothingIsLost(ClusterProcesses cluster, int kill) throws SQLException {
    try (Connection connection = cluster.connect("")) {
      int last = greatest(connection);
      assertTrue(
          last >= acknowledged.get(),
          "after kill " + kill + " row " + acknowledged.get() + " is lost, the last is " + last);
      try (Statement statement = connection.createStatement();
          ResultSet row = statement.executeQuery("SELECT COUNT(*) FROM T")) {
        assertTrue(row.next());
        assertEquals(last + 1, row.getInt(1), "no row between is lost");
      }
      acknowledged.set(last);
    }
  }
}
