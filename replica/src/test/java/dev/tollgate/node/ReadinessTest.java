package dev.tollgate.node;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.cluster.Ports;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.store.SqlDatabase;
import dev.tollgate.store.transfer.DatabaseCopy;
import java.io.IOException;
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
import java.util.SortedMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A node says that it is ready when clients are served, and not before. */
@Timeout(120)
class ReadinessTest {
  private static final Duration DEADLINE = Duration.ofSeconds(30);

  @TempDir Path directory;

  private Node start(RaftSettings raft, SqlDatabase database) throws IOException {
    Node node = new Node(LoopbackSettings.of(raft.nodeId(), raft), database);
    node.start();
    return node;
  }

  private static Connection connect(Node node) throws SQLException {
    return DriverManager.getConnection(
        "jdbc:tollgate://127.0.0.1:" + node.listenAddress().getPort() + "/");
  }

  @Test
  void leaderIsReadyOnceItHasAppliedItsLog() throws Exception {
    RaftSettings alone = RaftSettings.alone("n1", directory.resolve("killed"));
    try (Node node = start(RaftSettings.alone("n1", directory.resolve("n1")), new SqlDatabase())) {
      await().atMost(DEADLINE).until(node::isReady);
      try (Connection connection = connect(node);
          Statement statement = connection.createStatement()) {
        statement.execute("CREATE TABLE T(ID INT)");
      }
      // closed, it would begin with a snapshot that has the definition
      copy(directory.resolve("n1"), directory.resolve("killed"));
    }
    SqlDatabase database = new SqlDatabase();
    // a definition has to wait for it, and all of the log after the definition
    DatabaseCopy copy = database.copy(/* insistent= */ true);
    try (Node node = start(alone, database)) {
      try (copy) {
        await().atMost(DEADLINE).until(() -> "n1".equals(node.status().leaderId()));
        assertFalse(node.isReady());
      }
      await().atMost(DEADLINE).until(node::isReady);
      try (Connection connection = connect(node);
          Statement statement = connection.createStatement();
          ResultSet rows = statement.executeQuery("SELECT COUNT(*) FROM T")) {
        assertTrue(rows.next());
      }
    }
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.toList()) {
        Files.copy(file, to.resolve(from.relativize(file)));
      }
    }
  }

  @Test
  void nodeIsReadyOnceSomebodyLeads() throws Exception {
    SortedMap<String, String> peers = Ports.peers(3);
    try (Node one = start(settings("n1", peers), new SqlDatabase())) {
      assertFalse(one.isReady(), "one of three");
      try (Node other = start(settings("n2", peers), new SqlDatabase())) {
        await().atMost(DEADLINE).until(() -> one.isReady() && other.isReady());
      }
      await().atMost(DEADLINE).until(() -> !one.isReady());
    }
  }

  /** A node that says so and then loses its directory must not pass for the one that it was. */
  @Test
  void nodeIsReadyOnceTheClusterKnowsItsDirectory() throws Exception {
    SortedMap<String, String> peers = Ports.peers(3);
    List<Node> nodes = new ArrayList<>();
    try {
      for (String id : peers.keySet()) {
        nodes.add(start(settings(id, peers), new SqlDatabase()));
      }
      for (String id : peers.keySet()) {
        Node node = nodes.get(id.charAt(1) - '1');
        await()
            .atMost(DEADLINE)
            .pollDelay(Duration.ZERO)
            .pollInterval(1, MILLISECONDS)
            .until(node::isReady);
        String known = Files.readString(directory.resolve(id).resolve("identity"));
        assertTrue(known.contains("incarnation." + id + "="), known);
      }
    } finally {
      nodes.forEach(Node::close);
    }
  }

  /** If another node were stopped before that, nothing would be done until it had caught up. */
  @Test
  void followerThatWasAwayIsReadyOnceItHasCaughtUp() throws Exception {
    SortedMap<String, String> peers = Ports.peers(3);
    try (Node one = start(settings("n1", peers), new SqlDatabase());
        Node two = start(settings("n2", peers), new SqlDatabase())) {
      try (Node three = start(settings("n3", peers), new SqlDatabase())) {
        await().atMost(DEADLINE).until(three::isReady);
      }
      await().atMost(DEADLINE).until(() -> one.isReady() && two.isReady());
      String url =
          "jdbc:tollgate://127.0.0.1:"
              + one.listenAddress().getPort()
              + ",127.0.0.1:"
              + two.listenAddress().getPort()
              + "/?failoverTimeout=30s";
      try (Connection connection = DriverManager.getConnection(url);
          Statement statement = connection.createStatement()) {
        statement.execute("CREATE TABLE T(ID INT)");
        for (int i = 0; i < 100; i++) {
          statement.execute("INSERT INTO T VALUES(" + i + ")");
        }
      }
      SqlDatabase database = new SqlDatabase();
      // the definition has to wait for it
      DatabaseCopy copy = database.copy(/* insistent= */ true);
      try (Node three = start(settings("n3", peers), database)) {
        try (copy) {
          await()
              .atMost(DEADLINE)
              .until(
                  () ->
                      three.status().leaderId() != null
                          && three.status().leaderCommitIndex() > 100);
          assertFalse(three.isReady());
        }
        await().atMost(DEADLINE).until(three::isReady);
      }
    }
  }

  private RaftSettings settings(String id, SortedMap<String, String> peers) {
    return new RaftSettings(
        id,
        peers.get(id),
        peers,
        directory.resolve(id),
        RaftSettings.ELECTION_TIMEOUT,
        RaftSettings.SNAPSHOT_LOG_BYTES);
  }
}
