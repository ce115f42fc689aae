package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.cluster.Ports;
import dev.tollgate.log.RaftSettings;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Nodes that cannot be added to a cluster are asked before anything changes: Ratis would wait two
 * minutes for them, and a cluster of one would take the refusal of the other for that of a
 * majority.
 */
@Timeout(90)
class AddNodeTest {
  /** A second for the members to answer, three for the new node, and a machine that is busy. */
  private static final Duration SOON = Duration.ofSeconds(20);

  private static final Duration DEADLINE = Duration.ofSeconds(40);
  private static final String HOW = "start it with an empty directory and --join";

  @TempDir private Path directory;

  private LocalCluster cluster;
  private Connection connection;

  @BeforeEach
  void start() throws Exception {
    cluster = LocalCluster.started(directory.resolve("cluster"), 1);
    cluster.leader();
    connection = cluster.connect();
    try (Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE T(ID INT PRIMARY KEY)");
    }
  }

  @AfterEach
  void stop() throws SQLException {
    connection.close();
    cluster.close();
  }

  @Test
  void nodeOfAnotherClusterIsRefused() throws Exception {
    String address = address();
    try (Node other = node("n2", address, Map.of("n2", address))) {
      other.start();
      assertTrue(other.awaitLeadership(DEADLINE));
      Path identity = directory.resolve("n2").resolve("identity");
      await().atMost(DEADLINE).until(() -> Files.readString(identity).contains("cluster="));
      assertRefused("n2", address, "node n2 is of another cluster than node n1", HOW);
      assertNull(other.failure());
    }
  }

  @Test
  void nodeThatWaitsForOthersIsRefused() throws Exception {
    String address = address();
    try (Node waiting = node("n2", address, Map.of("n2", address, "n3", address()))) {
      waiting.start();
      assertRefused("n2", address, "node n2 was started to begin a cluster of its own", HOW);
    }
  }

  @Test
  void nodeOfAnotherNameIsRefused() throws Exception {
    String address = address();
    try (Node joining = node("n2", address, Map.of())) {
      joining.start();
      assertRefused("n3", address, "node n1 takes node n2 for node n3", "name the node that runs");
    }
  }

  @Test
  void addressThatDoesNotAnswerIsRefused() throws Exception {
    try (ServerSocket silent = new ServerSocket(0, 5, InetAddress.getLoopbackAddress())) {
      assertRefused(
          "n2",
          "127.0.0.1:" + silent.getLocalPort(),
          "did not answer the leader (silent for 3000 ms)");
    }
    assertRefused("n2", address(), "did not answer the leader");
    int clients = cluster.clientAddress("n1").getPort();
    assertRefused("n2", "127.0.0.1:" + clients, "did not answer the leader");
  }

  private static String address() throws IOException {
    return "127.0.0.1:" + Ports.free();
  }

  private Node node(String id, String address, Map<String, String> peers) throws IOException {
    return new Node(
        NodeSettings.embedded(
            id,
            new RaftSettings(
                id,
                address,
                new TreeMap<>(peers),
                directory.resolve(id),
                RaftSettings.ELECTION_TIMEOUT,
                RaftSettings.SNAPSHOT_LOG_BYTES)));
  }

  private void add(String id, String address) throws SQLException {
    try (PreparedStatement call = connection.prepareStatement("CALL add_node(?, ?, 'x:1')")) {
      call.setString(1, id);
      call.setString(2, address);
      call.execute();
    }
  }

  private void assertRefused(String id, String address, String... texts) {
    long start = System.nanoTime();
    SQLException refused = assertThrows(SQLException.class, () -> add(id, address));
    long millis = (System.nanoTime() - start) / 1_000_000;
    assertEquals("55T04", refused.getSQLState(), refused.getMessage());
    for (String text : texts) {
      assertTrue(refused.getMessage().contains(text), refused.getMessage());
    }
    assertTrue(millis < SOON.toMillis(), millis + " ms");
    assertNull(cluster.node("n1").failure());
    assertEquals(1, cluster.node("n1").status().members().size());
  }
}
