package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.ref.WeakReference;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** An application may open and close nodes as long as it runs. */
class ClosedNodeTest {
  private static final Duration DEADLINE = Duration.ofSeconds(30);

  /** Less than any timer of a node takes. */
  private static final Duration SOON = Duration.ofSeconds(8);

  @TempDir Path directory;

  @Test
  void nothingIsKeptOfANodeInADirectory() throws Exception {
    assertForgotten(closedAfterAStatement());
  }

  @Test
  void nothingIsKeptOfANodeInMemory() throws Exception {
    assertForgotten(closedInMemory());
    await()
        .atMost(SOON)
        .until(
            () ->
                Thread.getAllStackTraces().keySet().stream()
                    .noneMatch(thread -> thread.getName().startsWith("tollgate-gone")));
  }

  private static void assertForgotten(WeakReference<Node> closed) {
    await()
        .atMost(SOON)
        .until(
            () -> {
              System.gc();
              return closed.get() == null;
            });
  }

  private WeakReference<Node> closedAfterAStatement() throws Exception {
    try (LocalCluster cluster = LocalCluster.started(directory, 1)) {
      try (Connection connection = cluster.connect();
          Statement statement = connection.createStatement()) {
        statement.execute("CREATE TABLE T(ID INT)");
      }
      return new WeakReference<>(cluster.nodes().get(cluster.leader()));
    }
  }

  private static WeakReference<Node> closedInMemory() throws Exception {
    try (Node node = new Node(NodeSettings.embedded("gone", null))) {
      node.start();
      assertTrue(node.awaitLeadership(DEADLINE));
      return new WeakReference<>(node);
    }
  }
}
