package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.jdbc.TollgateConnection;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Pipelined transactions take effect once, whatever becomes of the leader. */
@Timeout(180)
class SeriesFailoverTest {
  private static final int CLIENTS = 3;
  private static final int FAILOVERS = 3;
  private static final Map<String, String> ALL_EQUAL =
      Map.of("n1", "EQUAL", "n2", "EQUAL", "n3", "EQUAL");

  @TempDir private Path directory;

  private static void update(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.executeUpdate(sql);
    }
  }

  private static long number(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      assertTrue(row.next());
      return row.getLong(1);
    }
  }

  private static void pipeline(Connection connection) throws SQLException {
    connection.setAutoCommit(false);
    connection.unwrap(TollgateConnection.class).pipelineTransaction();
  }

  @Test
  void acknowledgedTransactionsHappenedOnce() throws Exception {
    try (LocalCluster cluster = LocalCluster.started(directory, 3);
        Connection watcher = cluster.connect()) {
      update(watcher, "CREATE TABLE DONE(ID BIGINT PRIMARY KEY)");
      update(watcher, "CREATE TABLE A(ID INT PRIMARY KEY, V BIGINT)");
      update(watcher, "INSERT INTO A SELECT X, 0 FROM SYSTEM_RANGE(0, " + CLIENTS + ")");
      AtomicBoolean over = new AtomicBoolean();
      AtomicLong acknowledged = new AtomicLong();
      List<CompletableFuture<Void>> clients = new ArrayList<>();
      for (int i = 1; i <= CLIENTS; i++) {
        int account = i;
        clients.add(CompletableFuture.runAsync(() -> work(cluster, account, over, acknowledged)));
      }
      for (int i = 0; i < FAILOVERS; i++) {
        long before = acknowledged.get();
        await().atMost(Duration.ofSeconds(40)).until(() -> acknowledged.get() > before + 20);
        String leader = cluster.leader();
        cluster.stop(leader);
        cluster.leader();
        cluster.start(leader);
      }
      over.set(true);
      for (CompletableFuture<Void> client : clients) {
        client.get(60, TimeUnit.SECONDS);
      }
      assertEquals(acknowledged.get(), number(watcher, "SELECT COUNT(*) FROM DONE"));
      assertEquals(acknowledged.get(), number(watcher, "SELECT V FROM A WHERE ID = 0"));
      assertEquals(-acknowledged.get(), number(watcher, "SELECT SUM(V) FROM A WHERE ID > 0"));
      assertEquals(ALL_EQUAL, LocalCluster.verify(watcher));
    }
  }

  /** Moves from its own account to the one that all share, so that statements wait for its row. */
  private static void work(
      LocalCluster cluster, int account, AtomicBoolean over, AtomicLong acknowledged) {
    try (Connection connection = cluster.connect();
        PreparedStatement insert = connection.prepareStatement("INSERT INTO DONE VALUES(?)");
        PreparedStatement add =
            connection.prepareStatement("UPDATE A SET V = V + ? WHERE ID = ?")) {
      update(connection, "SET LOCK_TIMEOUT 60000");
      for (long id = account; !over.get(); id += CLIENTS) {
        pipeline(connection);
        insert.setLong(1, id);
        insert.executeUpdate();
        add.setInt(1, -1);
        add.setInt(2, account);
        add.executeUpdate();
        if (id % 2 == 0) {
          // a transaction of two requests
          number(connection, "SELECT V FROM A WHERE ID = " + account);
        }
        add.setInt(1, 1);
        add.setInt(2, 0);
        add.executeUpdate();
        connection.commit();
        acknowledged.incrementAndGet();
      }
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void commitThatWaitsForARowGoesOnUnderTheNextLeader() throws Exception {
    try (LocalCluster cluster = LocalCluster.started(directory, 3);
        Connection holder = cluster.connect();
        Connection waiter = cluster.connect();
        Connection watcher = cluster.connect()) {
      update(watcher, "CREATE TABLE A(ID INT PRIMARY KEY, V BIGINT)");
      update(watcher, "INSERT INTO A VALUES(1, 0), (2, 0), (3, 0)");
      update(waiter, "SET LOCK_TIMEOUT 60000");
      holder.setAutoCommit(false);
      update(holder, "UPDATE A SET V = 10 WHERE ID = 2");
      pipeline(waiter);
      for (int id = 1; id <= 3; id++) {
        update(waiter, "UPDATE A SET V = V + 1 WHERE ID = " + id);
      }
      CompletableFuture<Void> commit =
          CompletableFuture.runAsync(
              () -> {
                try {
                  waiter.commit();
                } catch (SQLException e) {
                  throw new IllegalStateException(e);
                }
              });
      await()
          .atMost(Duration.ofSeconds(40))
          .until(
              () ->
                  number(
                          watcher,
                          "SELECT COUNT(*) FROM TOLLGATE.TRANSACTIONS WHERE"
                              + " STATEMENTS_WAITING > 0")
                      > 0);
      String leader = cluster.leader();
      cluster.stop(leader);
      cluster.leader();
      holder.commit();
      commit.get(60, TimeUnit.SECONDS);
      assertEquals(13, number(watcher, "SELECT SUM(V) FROM A"));
      assertEquals(1, number(watcher, "SELECT V FROM A WHERE ID = 1"));
      cluster.start(leader);
      assertEquals(ALL_EQUAL, LocalCluster.verify(watcher));
    }
  }
}
