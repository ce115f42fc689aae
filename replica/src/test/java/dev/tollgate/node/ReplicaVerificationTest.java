package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.log.LogStatus;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.node.replica.DivergedException;
import dev.tollgate.store.Damage;
import dev.tollgate.store.SqlDatabase;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
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

  private final SortedMap<String, String> peers = new TreeMap<>();
  private final Map<String, Integer> clientPorts = new TreeMap<>();
  private final Map<String, SqlDatabase> databases = new TreeMap<>();
  private final Map<String, Node> nodes = new TreeMap<>();
  private Duration interval = Duration.ZERO;
  private long snapshotLogBytes = RaftSettings.SNAPSHOT_LOG_BYTES;

  @AfterEach
  void stopAll() {
    nodes.values().forEach(Node::close);
  }

  private void startCluster(int size) throws IOException {
    List<ServerSocket> sockets = new ArrayList<>();
    for (int i = 1; i <= size; i++) {
      ServerSocket raft = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
      ServerSocket client = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
      sockets.addAll(List.of(raft, client));
      peers.put("n" + i, "127.0.0.1:" + raft.getLocalPort());
      clientPorts.put("n" + i, client.getLocalPort());
    }
    for (ServerSocket socket : sockets) {
      socket.close();
    }
    for (String id : peers.keySet()) {
      start(id);
    }
  }

  private void start(String id) throws IOException {
    SqlDatabase database = new SqlDatabase();
    RaftSettings raft =
        new RaftSettings(
            id,
            peers.get(id),
            peers,
            directory.resolve(id),
            RaftSettings.ELECTION_TIMEOUT,
            snapshotLogBytes);
    Node node =
        new Node(
            new NodeSettings(
                id,
                raft,
                null,
                new InetSocketAddress(InetAddress.getLoopbackAddress(), clientPorts.get(id)),
                100,
                interval),
            database);
    nodes.put(id, node);
    databases.put(id, database);
    node.start();
  }

  private void stop(String id) {
    nodes.remove(id).close();
  }

  private Connection connect() throws SQLException {
    List<String> addresses =
        clientPorts.values().stream().map(port -> "127.0.0.1:" + port).toList();
    return DriverManager.getConnection("jdbc:tollgate://" + String.join(",", addresses) + "/");
  }

  private String leader() {
    return await()
        .atMost(DEADLINE)
        .until(
            () ->
                nodes.entrySet().stream()
                    .filter(node -> node.getValue().failure() == null)
                    .filter(node -> node.getValue().status().role() == LogStatus.Role.LEADER)
                    .map(Map.Entry::getKey)
                    .findFirst()
                    .orElse(null),
            found -> found != null);
  }

  private String follower() {
    String leader = leader();
    return nodes.keySet().stream().filter(id -> !id.equals(leader)).findFirst().orElseThrow();
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

  /** Verdicts by node. */
  private static Map<String, String> verify(Connection connection) throws SQLException {
    Map<String, String> verdicts = new TreeMap<>();
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("CALL verify_replicas()")) {
      while (rows.next()) {
        verdicts.put(rows.getString("NODE_ID"), rows.getString("VERDICT"));
        assertTrue(rows.getLong("LOG_INDEX") > 0);
        assertEquals(
            rows.getString("VERDICT").equals("NO ANSWER"), rows.getString("CHECKSUM") == null);
      }
    }
    return verdicts;
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
    await().atMost(DEADLINE).until(() -> Damage.run(databases.get(id), sql) == 1);
  }

  private DivergedException awaitFailure(String id) {
    Throwable failure =
        await().atMost(DEADLINE).until(() -> nodes.get(id).failure(), found -> found != null);
    return assertInstanceOf(DivergedException.class, failure);
  }

  @Test
  void damagedFollowerIsFoundAndStopsAndTheOthersServe() throws Exception {
    startCluster(3);
    try (Connection connection = connect()) {
      fill(connection);
      Map<String, String> good = Map.of("n1", "EQUAL", "n2", "EQUAL", "n3", "EQUAL");
      assertEquals(good, verify(connection));
      String victim = follower();
      damage(victim, "UPDATE T SET V = 'w' WHERE ID = 500");
      Map<String, String> verdicts = verify(connection);
      assertEquals("DIFFERS", verdicts.get(victim), verdicts.toString());
      assertEquals(
          List.of("EQUAL", "EQUAL"),
          verdicts.values().stream().filter(verdict -> !verdict.equals("DIFFERS")).toList());
      String message = awaitFailure(victim).getMessage();
      assertTrue(message.contains("node " + victim), message);
      assertTrue(message.contains("in table PUBLIC.T. "), message);
      assertTrue(message.contains("tollgate reseed"), message);
      assertEquals(1_000, count(connection));
      stop(victim);

      // its memory was damaged and not its log: what it applies again is right
      start(victim);
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
      assertEquals(good, verify(connection));
      assertNull(nodes.get(victim).failure());
    }
  }

  @Test
  void damagedLeaderIsFoundByTheTimerAndAnotherLeads() throws Exception {
    interval = Duration.ofMillis(500);
    startCluster(3);
    try (Connection connection = connect()) {
      fill(connection);
      String victim = leader();
      damage(victim, "DELETE FROM T WHERE ID = 1");
      assertTrue(awaitFailure(victim).getMessage().contains("table PUBLIC.T"));
      stop(victim);
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
    try (Connection connection = connect()) {
      fill(connection);
      String victim = follower();
      damage(victim, "UPDATE T SET V = 'w' WHERE ID = 500");
      try (Statement statement = connection.createStatement()) {
        statement.execute(
            "INSERT INTO T(ID, V) SELECT 5000 + X, '"
                + "x".repeat(1_000_000)
                + "' FROM"
                + " SYSTEM_RANGE(1, 2)");
      }
      await().atMost(DEADLINE).until(() -> hasSnapshot(victim));
      assertEquals("DIFFERS", verify(connection).get(victim));
      awaitFailure(victim);
      for (int i = 0; i < 2; i++) {
        stop(victim);
        start(victim);
        assertTrue(awaitFailure(victim).getMessage().contains("table PUBLIC.T"));
      }
      assertEquals(1_002, count(connection));
    }
  }

  /** Only names are read, because files come and go meanwhile. */
  private boolean hasSnapshot(String id) throws IOException {
    try (Stream<Path> groups = Files.list(directory.resolve(id))) {
      Path snapshots = groups.findFirst().orElseThrow().resolve("sm");
      try (Stream<Path> files = Files.list(snapshots)) {
        return files.anyMatch(
            file -> file.getFileName().toString().matches("snapshot\\.\\d+_\\d+"));
      }
    }
  }

  @Test
  void withoutAMajorityAllGoOn() throws Exception {
    startCluster(2);
    try (Connection connection = connect()) {
      fill(connection);
      damage("n2", "UPDATE T SET V = 'w' WHERE ID = 500");
      assertEquals(Map.of("n1", "DIFFERS", "n2", "DIFFERS"), verify(connection));
      assertEquals(1_000, count(connection));
      assertNull(nodes.get("n1").failure());
      assertNull(nodes.get("n2").failure());
    }
  }

  @Test
  void nodeThatIsDownIsNotWaitedForForEver() throws Exception {
    startCluster(3);
    try (Connection connection = connect()) {
      fill(connection);
      String victim = follower();
      stop(victim);
      Map<String, String> verdicts = verify(connection);
      assertEquals("NO ANSWER", verdicts.get(victim));
      assertEquals(2, verdicts.values().stream().filter("EQUAL"::equals).count());
    }
  }

  @Test
  void openTransactionsAreNoDifference() throws Exception {
    startCluster(3);
    try (Connection connection = connect();
        Connection writer = connect()) {
      fill(connection);
      writer.setAutoCommit(false);
      try (Statement statement = writer.createStatement()) {
        assertEquals(10, statement.executeUpdate("UPDATE T SET V = 'open' WHERE ID <= 10"));
        assertEquals(Map.of("n1", "EQUAL", "n2", "EQUAL", "n3", "EQUAL"), verify(connection));
        writer.commit();
      }
      assertEquals(Map.of("n1", "EQUAL", "n2", "EQUAL", "n3", "EQUAL"), verify(connection));
    }
  }
}
