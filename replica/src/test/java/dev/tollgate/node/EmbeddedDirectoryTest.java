package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.log.ratis.NodeDirectory;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A directory that an application is to open, and that is not one of a node alone. */
class EmbeddedDirectoryTest {
  /** Less than an application waits for a node that does not become ready. */
  private static final Duration AT_ONCE = Duration.ofSeconds(20);

  @TempDir Path directory;

  @Test
  void directoryIsInUseWhileItsNodeRuns() throws Exception {
    Path data;
    try (LocalCluster cluster = LocalCluster.started(directory, 1)) {
      data = cluster.data(cluster.leader());
      assertTrue(NodeDirectory.isInUse(data));
    }
    assertFalse(NodeDirectory.isInUse(data));
    assertFalse(NodeDirectory.isInUse(directory.resolve("none")));
  }

  @Test
  void directoryOfAMemberOfALargerClusterIsRefused() throws Exception {
    Path data;
    String leader;
    try (LocalCluster cluster = LocalCluster.started(directory, 3)) {
      leader = cluster.leader();
      try (Connection connection = cluster.connect()) {
        assertTrue(connection.isValid(10));
      }
      data = cluster.data(leader);
    }
    long begun = System.nanoTime();
    SQLException refused =
        assertThrows(
            SQLException.class,
            () -> DriverManager.getConnection("jdbc:tollgate:embedded:" + data).close());
    assertTrue(System.nanoTime() - begun < AT_ONCE.toNanos(), "it is refused at once");
    assertEquals("08001", refused.getSQLState());
    assertTrue(
        refused
            .getMessage()
            .contains("is the data directory of node " + leader + " in a cluster of 3 nodes"),
        refused.getMessage());
    assertTrue(
        refused.getMessage().contains("tollgate server --id " + leader), refused.getMessage());
  }
}
