package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.cluster.Ports;
import dev.tollgate.core.command.Command;
import dev.tollgate.core.command.FeatureLevels;
import dev.tollgate.core.command.Operation;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.node.replica.FeatureLevelException;
import dev.tollgate.wire.Protocol;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Nodes are upgraded one after the other to a version that knows a new kind of command. CREATE LOCK
 * plays the part of what the new version brings.
 */
@Timeout(120)
class UpgradeTest {
  private static final Duration DEADLINE = Duration.ofSeconds(40);

  private static final FeatureLevels EARLIER = FeatureLevels.STANDARD;
  private static final FeatureLevels LATER =
      new FeatureLevels(
          2,
          command ->
              command instanceof Command.Perform perform
                      && perform.operation() instanceof Operation.DefineLock
                  ? 2
                  : 1);

  private static final String NEW = "CREATE LOCK 'job' PERMITS 2";

  @TempDir Path directory;
  private LocalCluster cluster;
  private Connection connection;

  @BeforeEach
  void start() throws Exception {
    cluster =
        new LocalCluster(
            directory.resolve("cluster"), 3, Duration.ZERO, RaftSettings.SNAPSHOT_LOG_BYTES);
    cluster.useVersions(id -> EARLIER);
    cluster.startAll();
    cluster.leader();
    connection = cluster.connect();
  }

  @AfterEach
  void stop() throws Exception {
    connection.close();
    cluster.close();
  }

  private void upgrade(String id) throws Exception {
    cluster.useVersions(upgraded -> LATER);
    cluster.stop(id);
    cluster.start(id);
    await().atMost(DEADLINE).until(() -> cluster.node(id).isReady());
  }

  private void run(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private SQLException refused(String sql) {
    return assertThrows(SQLException.class, () -> run(sql));
  }

  private List<String> rows(String query) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(query)) {
      List<String> found = new ArrayList<>();
      while (rows.next()) {
        StringBuilder row = new StringBuilder();
        for (int i = 1; i <= rows.getMetaData().getColumnCount(); i++) {
          row.append(i == 1 ? "" : " ").append(rows.getString(i));
        }
        found.add(row.toString());
      }
      return found;
    }
  }

  /** Has a node lead that knows what there is to be proposed. */
  private void lead(String id) throws SQLException {
    if (!cluster.leader().equals(id)) {
      run("CALL transfer_leadership('" + id + "')");
    }
  }

  @Test
  void commandIsRefusedUntilEveryMemberKnowsItAndTheLevelIsRaised() throws Exception {
    upgrade("n1");
    lead("n1");
    SQLException early = refused(NEW);
    assertEquals("HYC00", early.getSQLState(), early.getMessage());
    assertTrue(early.getMessage().contains("needs feature level 2"), early.getMessage());
    assertTrue(early.getMessage().contains("CALL upgrade_cluster()"), early.getMessage());

    SQLException notAll = refused("CALL upgrade_cluster()");
    assertEquals("55T04", notAll.getSQLState(), notAll.getMessage());
    assertTrue(notAll.getMessage().contains("node n2 knows no higher one"), notAll.getMessage());
    upgrade("n2");
    lead("n1");
    SQLException stillOne = refused("CALL upgrade_cluster()");
    assertTrue(stillOne.getMessage().contains("node n3 knows no"), stillOne.getMessage());
    upgrade("n3");
    lead("n1");
    refused(NEW);

    run("CALL upgrade_cluster()");
    run(NEW);
    assertEquals(
        List.of("n1 2 2", "n2 2 2", "n3 2 2"),
        rows("SELECT NODE_ID, KNOWN_FEATURE_LEVEL, FEATURE_LEVEL FROM TOLLGATE.NODES ORDER BY 1"));
    run("CALL upgrade_cluster()");
    cluster.nodes().forEach((id, node) -> assertNull(node.failure(), id));
  }

  @Test
  void levelOutlivesSnapshotsAndRestarts() throws Exception {
    for (String id : List.of("n1", "n2", "n3")) {
      upgrade(id);
    }
    run("CALL upgrade_cluster()");
    String leader = cluster.leader();
    run("CALL take_snapshot()");
    cluster.stop(leader);
    cluster.start(leader);
    await().atMost(DEADLINE).until(() -> cluster.node(leader).replica().featureLevel() == 2);
    run(NEW);
  }

  /** It would stop with the first command that it does not know. */
  @Test
  void nodeOfTheEarlierVersionStopsInAnUpgradedCluster() throws Exception {
    for (String id : List.of("n1", "n2", "n3")) {
      upgrade(id);
    }
    run("CALL upgrade_cluster()");
    String follower = cluster.follower();
    cluster.useVersions(id -> EARLIER);
    cluster.stop(follower);
    cluster.start(follower);
    await().atMost(DEADLINE).until(() -> cluster.node(follower).failure() != null);
    FeatureLevelException failure =
        assertInstanceOf(FeatureLevelException.class, cluster.node(follower).failure());
    assertTrue(
        failure.getMessage().startsWith("its cluster has feature level 2, and this node runs"),
        failure.getMessage());
    run("CREATE TABLE T(ID INT)");
    upgrade(follower);
    assertNull(cluster.node(follower).failure());
  }

  /** The node applies no command that it does not know: the snapshot has what they left. */
  @Test
  void nodeOfTheEarlierVersionDoesNotStartOnASnapshotOfAnUpgradedCluster() throws Exception {
    for (String id : List.of("n1", "n2", "n3")) {
      upgrade(id);
    }
    run("CALL upgrade_cluster()");
    run(NEW);
    String id = cluster.leader();
    run("CALL take_snapshot()");
    cluster.useVersions(restarted -> EARLIER);
    cluster.stop(id);
    IOException refused = assertThrows(IOException.class, () -> cluster.start(id));
    assertTrue(
        refused
            .getMessage()
            .startsWith("node " + id + " does not start: its cluster has feature level 2, and"),
        refused.getMessage());
    run("CREATE TABLE T(ID INT)");
    upgrade(id);
    assertNull(cluster.node(id).failure());
  }

  @Test
  void nodeOfTheEarlierVersionIsNotAddedToAnUpgradedCluster() throws Exception {
    for (String id : List.of("n1", "n2", "n3")) {
      upgrade(id);
    }
    run("CALL upgrade_cluster()");
    String address = "127.0.0.1:" + Ports.free();
    RaftSettings raft =
        new RaftSettings(
            "n4",
            address,
            new TreeMap<>(),
            directory.resolve("n4"),
            RaftSettings.ELECTION_TIMEOUT,
            RaftSettings.SNAPSHOT_LOG_BYTES);
    try (Node joining = new Node(LoopbackSettings.of("n4", raft).withLevels(EARLIER))) {
      joining.start();
      SQLException refused =
          refused("CALL add_node('n4', '" + address + "', '127.0.0.1:" + Ports.free() + "')");
      assertEquals("55T04", refused.getSQLState());
      assertTrue(
          refused.getMessage().contains("knows feature level 1, and the cluster has level 2"),
          refused.getMessage());
    }
  }

  @Test
  void memberThatDoesNotAnswerIsNamed() throws Exception {
    for (String id : List.of("n1", "n2", "n3")) {
      upgrade(id);
    }
    String follower = cluster.follower();
    cluster.stop(follower);
    await()
        .atMost(DEADLINE)
        .until(
            () ->
                refused("CALL upgrade_cluster()")
                    .getMessage()
                    .contains("node " + follower + " has not said what it knows"));
  }

  @Test
  void nodesSayWhatTheyKnow() throws Exception {
    upgrade("n1");
    lead("n1");
    awaitKnownLevels(2, 1, 1);
    // the leader knows the earlier version of n2 from the connection before
    upgrade("n2");
    awaitKnownLevels(2, 2, 1);
  }

  private void awaitKnownLevels(int n1, int n2, int n3) {
    String formats = " " + Protocol.VERSION + " 2 1 ";
    await()
        .atMost(DEADLINE)
        .untilAsserted(
            () ->
                assertEquals(
                    List.of(
                        "n1" + formats + n1 + " 1",
                        "n2" + formats + n2 + " 1",
                        "n3" + formats + n3 + " 1"),
                    rows(
                        "SELECT NODE_ID, PROTOCOL_VERSION, LOG_VERSION, SNAPSHOT_VERSION,"
                            + " KNOWN_FEATURE_LEVEL, FEATURE_LEVEL FROM TOLLGATE.NODES ORDER BY 1")));
  }
}
