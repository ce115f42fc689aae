package dev.tollgate.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * Nodes and drivers of this version together with those of a former one. {@code .ci/compatibility
 * COMMIT} builds those and runs this test.
 */
@EnabledIfSystemProperty(named = "tollgate.former", matches = ".+")
@Timeout(600)
class CompatibilityIT {
  private static final String FORMER = System.getProperty("tollgate.former", "");
  private static final String CURRENT =
      System.getProperty("tollgate.server.classpath", System.getProperty("java.class.path"));
  private static final int CLIENTS = 8;

  @TempDir Path directory;
  private final List<AutoCloseable> open = new ArrayList<>();
  private ClusterProcesses cluster;

  @AfterEach
  void stop() throws Exception {
    for (AutoCloseable closeable : open) {
      closeable.close();
    }
  }

  private void start(String classPath) throws Exception {
    cluster = ClusterProcesses.from(classPath, "CompatibilityIT", directory);
    open.add(cluster);
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      statement.execute(RotationClients.TABLE);
      for (int client = 0; client < 2 * CLIENTS; client++) {
        statement.execute("INSERT INTO DONE VALUES(" + client + ", 0)");
      }
    }
  }

  private Connection connect() throws SQLException {
    return cluster.connect("failoverTimeout=30s");
  }

  private ClientProcess clients(String classPath, int first) throws Exception {
    ClientProcess clients =
        new ClientProcess(classPath, directory, cluster.url("failoverTimeout=60s"), first, CLIENTS);
    open.add(0, clients);
    clients.awaitWork();
    return clients;
  }

  private void restart(NodeProcess node, ClientProcess... working) throws Exception {
    node.terminate();
    for (ClientProcess clients : working) {
      clients.awaitWork();
    }
    node.startAndAwait();
    for (ClientProcess clients : working) {
      clients.awaitWork();
    }
  }

  private List<String> rows(String query) throws SQLException {
    try (Connection connection = connect();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(query)) {
      List<String> found = new ArrayList<>();
      while (rows.next()) {
        found.add(rows.getString(1));
      }
      return found;
    }
  }

  private void assertDone(long cycles) throws SQLException {
    assertEquals(List.of(Long.toString(cycles)), rows("SELECT SUM(N) FROM DONE"));
  }

  @Test
  void formerDriverWorksWithNodesOfThisVersion() throws Exception {
    start(null);
    ClientProcess clients = clients(FORMER, 0);
    restart(cluster.leader(), clients);
    assertDone(clients.end());
  }

  @Test
  void driverOfThisVersionWorksWithFormerNodes() throws Exception {
    start(FORMER);
    ClientProcess clients = clients(CURRENT, 0);
    restart(cluster.leader(), clients);
    assertDone(clients.end());
  }

  @Test
  void nodesAreUpgradedOneAfterTheOtherAndNoStatementFails() throws Exception {
    start(FORMER);
    ClientProcess former = clients(FORMER, 0);
    ClientProcess current = clients(CURRENT, CLIENTS);
    List<NodeProcess> leaderLast = new ArrayList<>(cluster.nodes());
    NodeProcess leader = cluster.leader();
    leaderLast.remove(leader);
    leaderLast.add(leader);
    for (NodeProcess node : leaderLast) {
      node.runFrom(null);
      restart(node, former, current);
    }
    assertEquals(List.of("EQUAL", "EQUAL", "EQUAL"), column("CALL verify_replicas()", "VERDICT"));
    column("CALL upgrade_cluster()", "NODE_ID");
    assertEquals(
        List.of("1"),
        rows("SELECT DISTINCT KNOWN_FEATURE_LEVEL - FEATURE_LEVEL + 1 FROM TOLLGATE.NODES"));
    assertDone(former.end() + current.end());
  }

  private List<String> column(String call, String column) throws SQLException {
    try (Connection connection = connect();
        Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(call)) {
      List<String> found = new ArrayList<>();
      while (rows.next()) {
        found.add(rows.getString(column));
      }
      return found;
    }
  }
}
