package dev.tollgate.node;

import static dev.tollgate.node.TestSql.run;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tollgate.log.RaftSettings;
import dev.tollgate.store.Poison;
import dev.tollgate.store.SqlDatabase;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A query that ends every node that runs it, whatever memory it may have there. */
@Timeout(120)
class QueryPoisonTest {
  private final Set<String> ended = ConcurrentHashMap.newKeySet();
  private final CountDownLatch over = new CountDownLatch(1);
  @TempDir private Path directory;
  private LocalCluster cluster;

  @BeforeEach
  void start() throws Exception {
    cluster = new LocalCluster(directory, 3, Duration.ZERO, RaftSettings.SNAPSHOT_LOG_BYTES);
    cluster.useDatabases(() -> Poison.database(this::endNode));
    cluster.startAll();
  }

  @AfterEach
  void stop() {
    over.countDown();
    cluster.close();
  }

  /** Ends the node that has the database, and leaves the query without an answer. */
  private boolean endNode(SqlDatabase database) {
    String id =
        cluster.nodes().keySet().stream()
            .filter(node -> cluster.database(node) == database)
            .findFirst()
            .orElseThrow();
    ended.add(id);
    Thread end = new Thread(() -> cluster.stop(id), "end-" + id);
    end.setDaemon(true);
    end.start();
    try {
      over.await(60, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    return true;
  }

  @Test
  void queryEndsNoThirdNode() throws Exception {
    try (Connection connection =
        DriverManager.getConnection(cluster.url() + "?failoverTimeout=30s&readConsistency=any")) {
      SQLException e =
          assertThrows(SQLException.class, () -> run(connection, "SELECT 1 AS POISON"));
      assertEquals("53200", e.getSQLState(), e.getMessage());
      run(connection, "SELECT 1");
    }
    assertEquals(2, ended.size(), ended.toString());
    await().atMost(Duration.ofSeconds(20)).until(() -> cluster.nodes().size() == 1);
  }
}
