package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.tollgate.core.command.Limits;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.StateDiffersException;
import dev.tollgate.seal.DataKeys;
import dev.tollgate.seal.TestKeys;
import dev.tollgate.store.Damage;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Nodes whose state differs from the leader's take the leader's state, without a person. */
@Timeout(120)
class DifferingReplicaTest {
  private static final Duration DEADLINE = Duration.ofSeconds(40);
  private static final Map<String, String> ALL_EQUAL =
      Map.of("n1", "EQUAL", "n2", "EQUAL", "n3", "EQUAL");

  @TempDir Path directory;

  private LocalCluster cluster;

  @AfterEach
  void stopAll() {
    cluster.close();
  }

  private static void fill(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE T(ID INT PRIMARY KEY, V VARCHAR)");
      statement.execute("INSERT INTO T SELECT X, 'v' FROM SYSTEM_RANGE(1, 1000)");
      statement.execute("SELECT acquire_lock('job')");
    }
  }

  /** Once the node has applied what is to be changed. */
  private void damage(String id) {
    await()
        .atMost(DEADLINE)
        .until(() -> Damage.run(cluster.database(id), "UPDATE T SET V = 'w' WHERE ID = 500") == 1);
  }

  private static void update(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      assertEquals(1, statement.executeUpdate("UPDATE T SET V = 'x' WHERE ID = 500"));
    }
  }

  private void awaitTakeover(String id) {
    await().atMost(DEADLINE).until(() -> cluster.node(id).takenStates() == 1);
    assertNull(cluster.node(id).failure());
  }

  /** No entry follows but the one by which an idle leader sends its digest. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void followerThatDiffersTakesTheStateOfTheLeaderAndServesOn(boolean encrypted) throws Exception {
    cluster = new LocalCluster(directory, 3, Duration.ZERO, RaftSettings.SNAPSHOT_LOG_BYTES);
    Map<String, DataKeys> keys = new TreeMap<>();
    for (String id : List.of("n1", "n2", "n3")) {
      keys.put(id, encrypted ? TestKeys.of("key-of-" + id) : DataKeys.off());
    }
    cluster.useKeys(keys::get);
    cluster.startAllAndAwait();
    try (Connection connection = cluster.connect()) {
      fill(connection);
      String victim = cluster.follower();
      damage(victim);
      update(connection);
      awaitTakeover(victim);
      assertEquals(ALL_EQUAL, LocalCluster.verify(connection));

      // what it has taken over is on its disk
      cluster.stop(victim);
      cluster.start(victim);
      await().atMost(DEADLINE).until(() -> cluster.node(victim).isReady());
      assertEquals(ALL_EQUAL, LocalCluster.verify(connection));
      assertEquals(0, cluster.node(victim).takenStates());
    }
  }

  /** It would differ forever. */
  @Test
  void nodeThatDiffersAgainAndAgainStops() throws Exception {
    cluster = LocalCluster.started(directory, 3);
    try (Connection connection = cluster.connect()) {
      fill(connection);
      String victim = cluster.follower();
      for (int i = 1; i <= Limits.STATES_TAKEN; i++) {
        int times = i;
        damage(victim);
        update(connection);
        await().atMost(DEADLINE).until(() -> cluster.node(victim).takenStates() == times);
      }
      damage(victim);
      update(connection);
      await().atMost(DEADLINE).until(() -> cluster.node(victim).failure() != null);
      assertInstanceOf(StateDiffersException.class, cluster.node(victim).failure());
      update(connection);
    }
  }

  @Test
  void majorityThatDiffersIsWrongBecauseTheLeaderHasAnsweredClients() throws Exception {
    cluster = LocalCluster.started(directory, 3);
    try (Connection connection = cluster.connect()) {
      fill(connection);
      String leader = cluster.leader();
      List<String> others =
          cluster.nodes().keySet().stream().filter(id -> !id.equals(leader)).toList();
      others.forEach(this::damage);
      update(connection);
      others.forEach(this::awaitTakeover);
      assertEquals(ALL_EQUAL, LocalCluster.verify(connection));
      cluster.stop(leader);
      try (Statement statement = connection.createStatement();
          ResultSet row = statement.executeQuery("SELECT V FROM T WHERE ID = 500")) {
        row.next();
        assertEquals("x", row.getString(1));
      }
    }
  }
}
