package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.LivingDirectory;
import dev.tollgate.core.command.Environment;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.node.replica.EnvironmentDiffersException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Nodes on Java runtimes that compute differently. */
class EnvironmentsTest {
  private static final Duration DEADLINE = Duration.ofSeconds(40);
  private static final Environment FORMER = environment("2025a");
  private static final Environment LATER = environment("2026a");

  @TempDir Path directory;

  private static Environment environment(String timeZones) {
    return new Environment(
        new TreeMap<>(Map.of("characters", "1", "time zones", timeZones)), "Java " + timeZones);
  }

  @Test
  void aNodeThatDiffersStopsBeforeItAppliesAStatementAndTheOthersGoOn() throws Exception {
    try (LocalCluster cluster = cluster()) {
      cluster.start("n1", FORMER);
      cluster.start("n2", FORMER);
      cluster.leader();
      try (Connection connection = cluster.connect()) {
        run(connection, "CREATE TABLE T(ID INT PRIMARY KEY)", "INSERT INTO T VALUES(1)");
        cluster.start("n3", LATER);
        run(connection, "INSERT INTO T VALUES(2)");
        EnvironmentDiffersException stopped = failure(cluster.node("n3"));
        assertTrue(
            stopped
                .getMessage()
                .contains(
                    "runs on Java 2026a, and the statements of its cluster are computed with"
                        + " Java 2025a, which differs in: time zones"),
            stopped.getMessage());
        assertEquals("2", value(connection, "SELECT COUNT(*) FROM T"));
        cluster.stop("n3");
        cluster.start("n3", FORMER);
        awaitEqual(cluster, connection);
      }
    }
  }

  @Test
  void allNodesGetAnotherRuntimeOneAfterTheOtherWhileLocksWork() throws Exception {
    try (LocalCluster cluster = cluster()) {
      for (String id : List.of("n1", "n2", "n3")) {
        cluster.start(id, FORMER);
      }
      cluster.leader();
      try (Connection connection = cluster.connect()) {
        run(connection, "CREATE TABLE T(ID INT PRIMARY KEY)", "INSERT INTO T VALUES(1)");
        run(connection, "CALL begin_runtime_change()");
        SQLException refused =
            assertThrows(SQLException.class, () -> run(connection, "INSERT INTO T VALUES(2)"));
        assertEquals("55T05", refused.getSQLState());
        for (String id : List.of("n1", "n2", "n3")) {
          awaitSnapshot(id);
          cluster.stop(id);
          cluster.start(id, LATER);
          cluster.leader();
          assertEquals("1", value(connection, "SELECT COUNT(*) FROM T"));
          assertTrue(Long.parseLong(value(connection, "SELECT acquire_lock('" + id + "')")) > 0);
        }
        run(connection, "CALL end_runtime_change()", "INSERT INTO T VALUES(2)");
        awaitEqual(cluster, connection);
        assertEquals("2", value(connection, "SELECT COUNT(*) FROM T"));
      }
      cluster.nodes().values().forEach(node -> assertNull(node.failure()));
    }
  }

  /** Its log has statements of both runtimes, and the snapshot between them is its way across. */
  @Test
  @Tag("nightly")
  void aNodeThatWasDownCatchesUpOnBothRuntimesInTurn() throws Exception {
    try (LocalCluster cluster = cluster()) {
      for (String id : List.of("n1", "n2", "n3")) {
        cluster.start(id, FORMER);
      }
      cluster.leader();
      try (Connection connection = cluster.connect()) {
        run(connection, "CREATE TABLE T(ID INT PRIMARY KEY, S VARCHAR)");
        for (int i = 0; i < 20; i++) {
          // enough that the node stops while its snapshot is being written
          run(
              connection,
              "INSERT INTO T SELECT X, REPEAT('x', 1000) FROM SYSTEM_RANGE("
                  + (i * 2000 + 2)
                  + ", "
                  + (i * 2000 + 2001)
                  + ")");
        }
        cluster.stop("n3");
        run(connection, "INSERT INTO T VALUES(0, '')", "CALL begin_runtime_change()");
        for (String id : List.of("n1", "n2")) {
          awaitSnapshot(id);
          cluster.stop(id);
          cluster.start(id, LATER);
          cluster.leader();
        }
        run(connection, "CALL end_runtime_change()", "INSERT INTO T VALUES(1, '')");
        cluster.start("n3", FORMER);
        assertTrue(
            failure(cluster.node("n3")).getMessage().contains("are computed with Java 2026a"));
        cluster.stop("n3");
        assertEquals(List.of(), files("n3", "snapshot\\.tmp"), "it did not wait for its snapshot");
        cluster.start("n3", LATER);
        awaitEqual(cluster, connection);
      }
    }
  }

  @Test
  void aMajorityThatDiffersDoesNotLead() throws Exception {
    try (LocalCluster cluster = cluster()) {
      for (String id : List.of("n1", "n2", "n3")) {
        cluster.start(id, FORMER);
      }
      cluster.leader();
      try (Connection connection = cluster.connect()) {
        run(connection, "CALL take_snapshot()");
      }
      for (String id : List.of("n1", "n2", "n3")) {
        cluster.stop(id);
      }
      cluster.start("n1", LATER);
      cluster.start("n2", LATER);
      await()
          .atMost(DEADLINE)
          .until(() -> Stream.of("n1", "n2").anyMatch(id -> cluster.node(id).failure() != null));
      String first = cluster.node("n1").failure() == null ? "n2" : "n1";
      assertTrue(cluster.node(first).failure() instanceof EnvironmentDiffersException);
    }
  }

  @Test
  void aNodeThatIsAloneTakesAnotherRuntimeAfterItWasClosed() throws Exception {
    try (Node node = alone(FORMER);
        Connection connection = connect(node)) {
      run(connection, "CREATE TABLE T(ID INT PRIMARY KEY)", "INSERT INTO T VALUES(1)");
    }
    try (Node node = alone(LATER);
        Connection connection = connect(node)) {
      run(connection, "INSERT INTO T VALUES(2)");
      assertEquals("2", value(connection, "SELECT COUNT(*) FROM T"));
    }
  }

  @Test
  void aNodeThatWasKilledComputesNothingAgainOnAnotherRuntime() throws Exception {
    Path killed = directory.resolve("killed");
    try (Node node = alone(FORMER);
        Connection connection = connect(node)) {
      run(connection, "CREATE TABLE T(ID INT PRIMARY KEY)", "INSERT INTO T VALUES(1)");
      copy(directory.resolve("alone"), killed);
    }
    Node differs = started(killed, LATER);
    try (differs) {
      assertTrue(failure(differs).getMessage().contains("Start the node with that runtime"));
    }
    try (Node node = started(killed, FORMER);
        Connection connection = connect(node)) {
      assertEquals("1", value(connection, "SELECT COUNT(*) FROM T"));
    }
    try (Node node = started(killed, LATER);
        Connection connection = connect(node)) {
      run(connection, "INSERT INTO T VALUES(2)");
    }
  }

  private LocalCluster cluster() throws IOException {
    return new LocalCluster(directory, 3, Duration.ZERO, RaftSettings.SNAPSHOT_LOG_BYTES);
  }

  private Node alone(Environment environment) throws Exception {
    return started(directory.resolve("alone"), environment);
  }

  private static Node started(Path data, Environment environment) throws Exception {
    Node node =
        new Node(
            new NodeSettings(
                "n1",
                RaftSettings.alone("n1", data),
                null,
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                10,
                Duration.ZERO,
                () -> environment));
    node.start();
    node.awaitLeadership(DEADLINE);
    return node;
  }

  private static Connection connect(Node node) throws SQLException {
    InetSocketAddress address = node.listenAddress();
    return DriverManager.getConnection(
        "jdbc:tollgate://127.0.0.1:" + (address == null ? 0 : address.getPort()) + "/");
  }

  private static EnvironmentDiffersException failure(Node node) {
    return (EnvironmentDiffersException)
        await().atMost(DEADLINE).until(node::failure, failure -> failure != null);
  }

  private void awaitSnapshot(String id) {
    await().atMost(DEADLINE).until(() -> !files(id, "snapshot\\.\\d+_\\d+").isEmpty());
  }

  private List<Path> files(String id, String name) throws IOException {
    return LivingDirectory.find(directory.resolve(id), name);
  }

  private static void awaitEqual(LocalCluster cluster, Connection connection) {
    await()
        .atMost(DEADLINE)
        .until(
            () -> LocalCluster.verify(connection),
            verdicts ->
                verdicts.size() == 3
                    && verdicts.values().stream().allMatch(verdict -> verdict.equals("EQUAL")));
    cluster.nodes().values().forEach(node -> assertNull(node.failure()));
  }

  private static void run(Connection connection, String... statements) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        statement.execute(sql);
      }
    }
  }

  private static String value(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      assertTrue(rows.next());
      return rows.getString(1);
    }
  }

  /** As a process that is killed leaves it. */
  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> all = Files.walk(from)) {
      for (Path file : all.toList()) {
        Path target = to.resolve(from.relativize(file).toString());
        if (Files.isDirectory(file)) {
          Files.createDirectories(target);
        } else if (!file.getFileName().toString().equals("in_use.lock")) {
          Files.copy(file, target);
        }
      }
    }
  }
}
