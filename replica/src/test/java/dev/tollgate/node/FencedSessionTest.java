package dev.tollgate.node;

import static dev.tollgate.node.TestSql.run;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** SET FENCED is a part of the session, and outlives the node and the connection to it. */
class FencedSessionTest {
  @TempDir Path directory;

  @Test
  void fenceOutlivesARestartFromASnapshot() throws Exception {
    try (LocalCluster cluster = LocalCluster.started(directory, 1);
        Connection runner = cluster.connect();
        Connection other = cluster.connect()) {
      fence(runner, other);
      run(other, "CALL take_snapshot()");
      cluster.stopAll();
      cluster.startAll();
      requireFenced(runner, other);
    }
  }

  @Test
  void fenceOutlivesTheLeader() throws Exception {
    try (LocalCluster cluster = LocalCluster.started(directory, 3);
        Connection runner = cluster.connect();
        Connection other = cluster.connect()) {
      fence(runner, other);
      cluster.stop(cluster.leader());
      requireFenced(runner, other);
    }
  }

  private static void fence(Connection runner, Connection other) throws SQLException {
    run(runner, "CREATE TABLE T(V INT)");
    run(runner, "SET FENCED BY LOCK 'migrate' TOKEN " + acquire(other));
  }

  /** The fence lets writes through as long as the lock is held, and none afterwards. */
  private static void requireFenced(Connection runner, Connection other) throws SQLException {
    run(runner, "INSERT INTO T VALUES(1)");
    run(other, "SELECT force_release_lock('migrate')");
    for (String sql : new String[] {"INSERT INTO T VALUES(2)", "DROP TABLE T"}) {
      SQLException refused = assertThrows(SQLException.class, () -> run(runner, sql));
      assertEquals("23T01", refused.getSQLState(), sql);
    }
    run(runner, "SET NOT FENCED");
    run(runner, "DROP TABLE T");
  }

  private static long acquire(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet token = statement.executeQuery("SELECT acquire_lock('migrate')")) {
      assertTrue(token.next());
      return token.getLong(1);
    }
  }
}
