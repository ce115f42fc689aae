package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.log.RaftSettings;
import dev.tollgate.node.replica.DivergedException;
import dev.tollgate.node.replica.Verification;
import dev.tollgate.store.Damage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Nodes that compare their data, one of which is damaged behind its back. */
@Timeout(120)
class ReplicaVerificationTest {
  private static final Duration DEADLINE = Duration.ofSeconds(40);

  @TempDir Path directory;

  private Duration interval = Duration.ZERO;
  private long snapshotLogBytes = RaftSettings.SNAPSHOT_LOG_BYTES;
  private LocalCluster cluster;

  @AfterEach
  void stopAll() {
    cluster.close();
  }

  private void startCluster(int size) throws IOException {
    cluster = new LocalCluster(directory, size, interval, snapshotLogBytes);
    cluster.startAll();
  }

  private static void fill(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(
          "CREATE TABLE T(ID INT PRIMARY KEY, V VARCHAR, U UUID DEFAULT RANDOM_UUID())");
      statement.execute("CREATE TABLE GOOD(ID INT PRIMARY KEY)");
      statement.execute("INSERT INTO T(ID, V) SELECT X, 'v' FROM SYSTEM_RANGE(1, 1000)");
      statement.execute("SELECT acquire_lock('job')");
    }
  }

  private static int count(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT COUNT(*) FROM T")) {
      assertTrue(row.next());
      return row.getInt(1);
    }
  }

  /** Once the node has applied what is to be changed. */
  private void damage(String id, String sql) {
    await().atMost(DEADLINE).until(() -> Damage.run(cluster.database(id), sql) == 1);
  }

  private DivergedException awaitFailure(String id) {
    Throwable failure =
        await().atMost(DEADLINE).until(() -> cluster.node(id).failure(), found -> found != null);
    return assertInstanceOf(DivergedException.class, failure);
  }

  @Test
  void damagedFollowerIsFoundAndStopsAndTheOthersServe() throws Exception {
    startCluster(3);
    try (Connection connection = cluster.connect()) {
      fill(connection);
      Map<String, String> good = Map.of("n1", "EQUAL", "n2", "EQUAL", "n3", "EQUAL");
      assertEquals(good, LocalCluster.verify(connection));
      String victim = cluster.follower();
      damage(victim, "UPDATE T SET V = 'w' WHERE ID = 500");
      Map<String, String> verdicts = LocalCluster.verify(connection);
      assertEquals("DIFFERS", verdicts.get(victim), verdicts.toString());
      assertEquals(
          List.of("EQUAL", "EQUAL"),
          verdicts.values().stream().filter(verdict -> !verdict.equals("DIFFERS")).toList());
      String message = awaitFailure(victim).getMessage();
      assertTrue(message.contains("node " + victim), message);
      assertTrue(message.contains("in table PUBLIC.T. "), message);
      assertTrue(message.contains("tollgate reseed"), message);
      assertEquals(1_000, count(connection));
      cluster.stop(victim);

      // its memory was damaged and not its log: what it applies again is right
      cluster.start(victim);
      await()
          .atMost(DEADLINE)
          .until(
              () -> {
                try (Statement statement = connection.createStatement();
                    ResultSet rows =
                        statement.executeQuery(
                            "SELECT COUNT(*) FROM TOLLGATE.REPLICA_CHECKS WHERE VERDICT = 'EQUAL'")) {
                  return rows.next() && rows.getInt(1) == 3;
                }
              });
      assertEquals(good, LocalCluster.verify(connection));
      assertNull(cluster.node(victim).failure());
    }
  }

  /** Each node computes them, from bytes that were written and read again. */
  @Test
  void halvesOfCharactersAreTheSameOnAllNodes() throws Exception {
    startCluster(3);
    try (Connection connection = cluster.connect()) {
      fill(connection);
      try (Statement statement = connection.createStatement()) {
        for (String sql :
            List.of(
                "SELECT acquire_lock(SUBSTRING('\ud83d\ude00', 1, 1))",
                "SELECT acquire_lock(SUBSTRING('\ud83d\ude00', 2, 1))",
                "SELECT create_lease(60000, SUBSTRING('\ud83d\ude00', 2, 1))")) {
          try {
            statement.execute(sql);
          } catch (SQLException refused) {
            assertEquals("22021", refused.getSQLState(), refused.getMessage());
          }
        }
        statement.execute("UPDATE T SET V = SUBSTRING('\ud83d\ude00', 1 + MOD(ID, 2), 1)");
      }
      try (PreparedStatement insert =
          connection.prepareStatement("INSERT INTO T(ID, V) VALUES(?, ?)")) {
        int id = 2_000;
        for (String text : List.of("\ud83d", "\ude00", "\u0000", "\ud83d\ude00", "?")) {
          insert.setInt(1, id++);
          insert.setString(2, text);
          insert.executeUpdate();
        }
      }
      assertEquals(
          Map.of("n1", "EQUAL", "n2", "EQUAL", "n3", "EQUAL"), LocalCluster.verify(connection));
    }
  }

  @Test
  void damagedLeaderIsFoundByTheTimerAndAnotherLeads() throws Exception {
    interval = Duration.ofMillis(500);
    startCluster(3);
    try (Connection connection = cluster.connect()) {
      fill(connection);
      String victim = cluster.leader();
      damage(victim, "DELETE FROM T WHERE ID = 1");
      assertTrue(awaitFailure(victim).getMessage().contains("table PUBLIC.T"));
      cluster.stop(victim);
      assertEquals(1_000, count(connection));
      try (Statement statement = connection.createStatement()) {
        assertEquals(1, statement.executeUpdate("INSERT INTO T(ID) VALUES(2000)"));
      }
    }
  }

  @Test
  void nodeWhoseSnapshotIsDamagedStopsAfterEveryStart() throws Exception {
    snapshotLogBytes = 1 << 19;
    startCluster(3);
    try (Connection connection = cluster.connect()) {
      fill(connection);
      String victim = cluster.follower();
      damage(victim, "UPDATE T SET V = 'w' WHERE ID = 500");
      try (Statement statement = connection.createStatement()) {
        statement.execute(
            "INSERT INTO T(ID, V) SELECT 5000 + X, '"
                + "x".repeat(1_000_000)
                + "' FROM"
                + " SYSTEM_RANGE(1, 2)");
      }
      await().atMost(DEADLINE).until(() -> hasSnapshot(victim));
      assertEquals("DIFFERS", LocalCluster.verify(connection).get(victim));
      awaitFailure(victim);
      for (int i = 0; i < 2; i++) {
        cluster.stop(victim);
        cluster.start(victim);
        assertTrue(awaitFailure(victim).getMessage().contains("table PUBLIC.T"));
      }
      assertEquals(1_002, count(connection));
    }
  }

  /** Only names are read, because files come and go meanwhile. */
  private boolean hasSnapshot(String id) throws IOException {
    try (Stream<Path> groups = Files.list(directory.resolve(id))) {
      Path snapshots = groups.filter(Files::isDirectory).findFirst().orElseThrow().resolve("sm");
      try (Stream<Path> files = Files.list(snapshots)) {
        return files.anyMatch(
            file -> file.getFileName().toString().matches("snapshot\\.\\d+_\\d+"));
      }
    }
  }

  @Test
  void withoutAMajorityAllGoOn() throws Exception {
    startCluster(2);
    try (Connection connection = cluster.connect()) {
      fill(connection);
      damage("n2", "UPDATE T SET V = 'w' WHERE ID = 500");
      assertEquals(Map.of("n1", "DIFFERS", "n2", "DIFFERS"), LocalCluster.verify(connection));
      assertEquals(1_000, count(connection));
      assertNull(cluster.node("n1").failure());
      assertNull(cluster.node("n2").failure());
    }
  }

  @Test
  void nodeThatIsDownIsNotWaitedForForEver() throws Exception {
    startCluster(3);
    try (Connection connection = cluster.connect()) {
      fill(connection);
      String victim = cluster.follower();
      cluster.stop(victim);
      Map<String, String> verdicts = LocalCluster.verify(connection);
      assertEquals("NO ANSWER", verdicts.get(victim));
      assertEquals(2, verdicts.values().stream().filter("EQUAL"::equals).count());
    }
  }

  @Test
  void openTransactionsAreNoDifference() throws Exception {
    startCluster(3);
    try (Connection connection = cluster.connect();
        Connection writer = cluster.connect()) {
      fill(connection);
      writer.setAutoCommit(false);
      try (Statement statement = writer.createStatement()) {
        assertEquals(10, statement.executeUpdate("UPDATE T SET V = 'open' WHERE ID <= 10"));
        assertEquals(
            Map.of("n1", "EQUAL", "n2", "EQUAL", "n3", "EQUAL"), LocalCluster.verify(connection));
        writer.commit();
      }
      assertEquals(
          Map.of("n1", "EQUAL", "n2", "EQUAL", "n3", "EQUAL"), LocalCluster.verify(connection));
    }
  }

  private static final String FAULT = "INSERT INTO GOOD SELECT X FROM SYSTEM_RANGE(1, 5, NULL)";

  /** All replicas must have failed alike, so they look at once, and not at the next interval. */
  @Test
  void faultOfTheDatabaseBringsAboutAComparison() throws Exception {
    startCluster(3);
    try (Connection connection = cluster.connect();
        Statement statement = connection.createStatement()) {
      fill(connection);
      String victim = cluster.follower();
      damage(victim, "UPDATE T SET V = 'w' WHERE ID = 500");
      SQLException fault = assertThrows(SQLException.class, () -> statement.execute(FAULT));
      assertEquals("XX000", fault.getSQLState(), fault.getMessage());
      assertTrue(awaitFailure(victim).getMessage().contains("table PUBLIC.T"));
      assertEquals(1_000, count(connection));
    }
  }

  @Test
  void manyFaultsBringAboutFewComparisons() throws Exception {
    startCluster(3);
    try (Connection connection = cluster.connect();
        Statement statement = connection.createStatement()) {
      fill(connection);
      Set<Long> checks = new HashSet<>();
      long begunNanos = System.nanoTime();
      for (int i = 0; i < 300; i++) {
        assertThrows(SQLException.class, () -> statement.execute(FAULT));
        lastCheck(statement, checks);
      }
      await().atMost(DEADLINE).until(() -> lastCheck(statement, checks));
      long intervals =
          Duration.ofNanos(System.nanoTime() - begunNanos).dividedBy(Verification.FAULT_INTERVAL);
      assertTrue(checks.size() <= intervals + 1, checks + " in " + intervals + " intervals");
      assertEquals(1_000, count(connection));
    }
  }

  /** Adds the log index of the last comparison, if there was one. */
  private static boolean lastCheck(Statement statement, Set<Long> checks) throws SQLException {
    try (ResultSet rows =
        statement.executeQuery("SELECT MAX(LOG_INDEX) FROM TOLLGATE.REPLICA_CHECKS")) {
      rows.next();
      long index = rows.getLong(1);
      return !rows.wasNull() && (checks.add(index) || !checks.isEmpty());
    }
  }
}
