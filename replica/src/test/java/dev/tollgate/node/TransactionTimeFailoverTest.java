package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A transaction keeps its time with the next leader, and on a node that replays the log. */
@Timeout(180)
class TransactionTimeFailoverTest {
  private static final String NOW = "SELECT CURRENT_TIMESTAMP(9)";

  @TempDir private Path directory;

  private static List<OffsetDateTime> column(Connection connection, String sql)
      throws SQLException {
    List<OffsetDateTime> values = new ArrayList<>();
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      while (rows.next()) {
        values.add(rows.getObject(1, OffsetDateTime.class));
      }
    }
    return values;
  }

  private static void run(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  @Test
  void nextLeaderHasTheTimeOfTheTransaction() throws Exception {
    try (LocalCluster cluster = LocalCluster.started(directory, 3);
        Connection connection = cluster.connect();
        Connection other = cluster.connect()) {
      run(
          connection,
          "CREATE TABLE T(ID INT PRIMARY KEY, AT TIMESTAMP(9) WITH TIME ZONE DEFAULT"
              + " CURRENT_TIMESTAMP(9))");
      connection.setAutoCommit(false);
      OffsetDateTime begun = column(connection, NOW).get(0);
      run(connection, "INSERT INTO T(ID) VALUES(1)");
      String first = cluster.leader();
      cluster.stop(first);
      assertEquals(List.of(begun), column(connection, NOW));
      run(connection, "INSERT INTO T(ID) VALUES(2)");
      cluster.start(first);
      run(connection, "INSERT INTO T(ID, AT) " + NOW.replace("SELECT", "SELECT 3,"));
      connection.commit();
      assertEquals(Collections.nCopies(3, begun), column(other, "SELECT AT FROM T"));
      await()
          .atMost(Duration.ofSeconds(60))
          .untilAsserted(
              () -> {
                Map<String, String> verdicts = LocalCluster.verify(other);
                assertEquals(3, verdicts.size());
                assertEquals(Set.of("EQUAL"), Set.copyOf(verdicts.values()));
              });
    }
  }
}
