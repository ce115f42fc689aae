package dev.tollgate.liquibase;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.tollgate.cluster.ClusterProcesses;
import dev.tollgate.cluster.NodeProcess;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A run on three nodes goes on when the leader is killed before each kind of statement. */
@Tag("nightly")
class LostLeaderTest {
  @TempDir private Path directory;
  private CompletableFuture<String> returning = CompletableFuture.completedFuture("");

  private void loseLeader(ClusterProcesses cluster) throws Exception {
    returning.get();
    NodeProcess leader = cluster.leader();
    leader.kill();
    returning = leader.start();
  }

  @Test
  void updateGoesOnUnderTheNextLeader() throws Exception {
    ChangeLog changes = new ChangeLog(directory);
    for (int i = 1; i <= 20; i++) {
      changes.changeSet(
          Integer.toString(i),
          "CREATE TABLE t" + i + "(id INT);",
          "INSERT INTO t" + i + " VALUES (1);",
          "ALTER TABLE t" + i + " ADD COLUMN more INT;");
    }
    try (ClusterProcesses cluster = new ClusterProcesses("liquibase-3", directory, 3)) {
      Connection connection = cluster.connect("failoverTimeout=30s");
      for (String before :
          new String[] {
            "CREATE TABLE t5",
            "INSERT INTO t10",
            "ALTER TABLE t15",
            "INSERT INTO PUBLIC.DATABASECHANGELOG"
          }) {
        connection =
            new InterruptedConnection(connection, before, () -> loseLeader(cluster)).connection();
      }
      changes.run(connection, Map.of(), liquibase -> liquibase.update(""));
      try (Connection other = cluster.connect("")) {
        assertEquals("20", TollgateNode.ask(other, "SELECT COUNT(*) FROM databasechangelog"));
        assertEquals(
            "20",
            TollgateNode.ask(
                other,
                "SELECT COUNT(*) FROM INFORMATION_SCHEMA.COLUMNS WHERE COLUMN_NAME = 'MORE'"));
        assertEquals("1", TollgateNode.ask(other, "SELECT COUNT(*) FROM t10"));
      }
    }
  }
}
