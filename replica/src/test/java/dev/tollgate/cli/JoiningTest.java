package dev.tollgate.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tollgate.core.command.Environment;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.node.Node;
import dev.tollgate.node.NodeSettings;
import dev.tollgate.wire.SqlState;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Properties;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a cluster is asked before a new node is added to it. */
class JoiningTest {
  @TempDir Path directory;

  private static Environment environment(String timeZones) {
    return new Environment(
        new TreeMap<>(Map.of("characters", "1", "time zones", timeZones)), "Java " + timeZones);
  }

  private Node node() throws IOException {
    return new Node(
        new NodeSettings(
            "n1",
            RaftSettings.alone("n1", directory.resolve("n1")),
            null,
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            10,
            Duration.ZERO,
            () -> environment("2025a")));
  }

  @Test
  void nodeThatWouldComputeOtherwiseIsNotAdded() throws Exception {
    try (Node node = node()) {
      node.start();
      String url =
          "jdbc:tollgate://127.0.0.1:"
              + Objects.requireNonNull(node.listenAddress()).getPort()
              + "/?failoverTimeout=40s";
      try (Connection connection = DriverManager.getConnection(url);
          Statement statement = connection.createStatement()) {
        // the first leader states its environment a moment after it leads
        statement.execute("CREATE TABLE T(ID INT PRIMARY KEY)");
        assertEquals(
            "node n2 runs on Java 2026a, and the cluster on Java 2025a, which differs in: time"
                + " zones. Start the node with that runtime",
            refusal(url, "n2", "2026a"));
        try (ResultSet nodes =
            statement.executeQuery("SELECT 1 FROM TOLLGATE.NODES WHERE NODE_ID = 'n2'")) {
          assertFalse(nodes.next());
        }
        // one step further: this cluster of one has no address for other nodes
        assertEquals("node n1 was started without", refusal(url, "n2", "2025a").substring(0, 27));
        // or because an earlier request has had its effect, which the node waits for
        assertEquals(
            SqlState.ADMINISTRATION.state(), refused(url, "n1", "2025a").getSQLState(), "its name");
        assertEquals(
            "node n1 belongs to the cluster already", refusal(url, "n1", "2025a").substring(0, 38));
      }
    }
  }

  private static String refusal(String url, String id, String timeZones) {
    return refused(url, id, timeZones).getMessage();
  }

  private static SQLException refused(String url, String id, String timeZones) {
    Joining joining =
        new Joining(
            url, new Properties(), id, "127.0.0.1:1", "127.0.0.1:2", environment(timeZones));
    return assertThrows(SQLException.class, joining::run);
  }
}
