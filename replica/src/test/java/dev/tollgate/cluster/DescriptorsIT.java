package dev.tollgate.cluster;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A node that may open few files and sockets. */
class DescriptorsIT {
  private static final int DESCRIPTORS = 320;
  private static final int CLIENTS = 600;

  @TempDir Path directory;

  @Test
  void moreClientsThanDescriptorsDoNotRuinANode() throws Exception {
    try (ClusterProcesses cluster = new ClusterProcesses("DescriptorsIT", directory, 1)) {
      NodeProcess node = cluster.node("n1");
      assertEquals(0, terminate(node));
      node.limitDescriptors(DESCRIPTORS);
      node.startAndAwait();
      try (Connection connection = cluster.connect("")) {
        List<Socket> clients = connect(cluster.clientPort(node));
        try {
          // whatever these answer, classes are loaded for them that were not needed before
          for (String sql : STATEMENTS) {
            attempt(connection, sql);
          }
        } finally {
          for (Socket client : clients) {
            client.close();
          }
        }
      }
      await().atMost(ClusterProcesses.DEADLINE).until(() -> !node.isAlive() || serves(cluster));
      assertTrue(node.isAlive(), "it has closed connections beyond what it may open");
      assertTrue(
          Files.readString(node.log())
              .contains("this process may have " + DESCRIPTORS + " files and sockets open"));
    }
  }

  private static final List<String> STATEMENTS =
      List.of(
          "DROP TABLE IF EXISTS T",
          "CREATE TABLE T(ID INT PRIMARY KEY, V VARCHAR)",
          "INSERT INTO T VALUES(1, 'a'), (2, 'b')",
          "MERGE INTO T KEY(ID) VALUES(2, UPPER('c'))",
          "SELECT V, COUNT(*) OVER (ORDER BY ID) FROM T WHERE V LIKE 'a%' GROUP BY ID, V",
          "SELECT JSON_OBJECT('a': 1), REGEXP_REPLACE('a', 'a', 'b'), CURRENT_TIMESTAMP",
          "DELETE FROM T WHERE ID = 2",
          "SELECT try_acquire_lock('x')",
          "DROP TABLE T");

  private static int terminate(NodeProcess node) throws InterruptedException {
    int status = node.terminate();
    return status == 128 + 15 ? 0 : status;
  }

  private static List<Socket> connect(int port) {
    List<Socket> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      try {
        clients.add(new Socket(InetAddress.getLoopbackAddress(), port));
      } catch (IOException e) {
        // refused, which is as good
        return clients;
      }
    }
    return clients;
  }

  private static String attempt(Connection connection, String sql) {
    try (Statement statement = connection.createStatement()) {
      return String.valueOf(statement.execute(sql));
    } catch (SQLException e) {
      return e.toString();
    }
  }

  private static boolean serves(ClusterProcesses cluster) {
    try (Connection connection = cluster.connect("");
        Statement statement = connection.createStatement()) {
      for (String sql : STATEMENTS) {
        statement.execute(sql);
      }
      try (ResultSet row = statement.executeQuery("SELECT 1")) {
        return row.next();
      }
    } catch (SQLException e) {
      return false;
    }
  }
}
