package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.log.LogClock;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.log.ShiftedClock;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Nodes whose wall clocks are years off. */
class WrongClocksTest {
  private static final Duration DEADLINE = Duration.ofSeconds(40);
  private static final Duration YEARS = Duration.ofDays(50 * 365);

  @TempDir Path directory;

  private final Map<String, ShiftedClock> clocks = new TreeMap<>();
  private LocalCluster cluster;

  @BeforeEach
  void choose() throws IOException {
    cluster = new LocalCluster(directory, 3, Duration.ZERO, RaftSettings.SNAPSHOT_LOG_BYTES);
    cluster.useClocks(
        id -> clocks.computeIfAbsent(id, any -> new ShiftedClock()).withZone(ZoneOffset.UTC));
  }

  @AfterEach
  void stop() {
    cluster.close();
  }

  private void start(Function<String, Duration> ahead) throws IOException {
    for (String id : new String[] {"n1", "n2", "n3"}) {
      clocks.put(id, new ShiftedClock());
      clocks.get(id).setAhead(ahead.apply(id));
    }
    cluster.startAllAndAwait();
  }

  private void set(String id, Duration ahead) {
    clocks.get(id).setAhead(ahead);
  }

  /** By how much the time of a new entry is ahead of the true time; negative if it is behind. */
  private static Duration ahead(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE IF NOT EXISTS entry_time (at TIMESTAMP WITH TIME ZONE)");
      statement.execute("DELETE FROM entry_time");
      statement.execute("INSERT INTO entry_time VALUES (CURRENT_TIMESTAMP)");
      try (ResultSet rows = statement.executeQuery("SELECT at FROM entry_time")) {
        assertTrue(rows.next());
        return Duration.between(Instant.now(), rows.getTimestamp(1).toInstant());
      }
    }
  }

  private static void assertRight(Connection connection) throws SQLException {
    Duration ahead = ahead(connection);
    assertTrue(ahead.abs().compareTo(LogClock.BOUND) < 0, "ahead by " + ahead);
  }

  @Test
  void leaderWhoseClockJumpsYearsAheadAndBackStampsTheTimeOfTheOthers() throws Exception {
    start(id -> Duration.ZERO);
    try (Connection connection = cluster.connect()) {
      assertRight(connection);
      String leader = cluster.leader();
      set(leader, YEARS);
      assertRight(connection);
      assertEquals(leader, cluster.leader());
      try (Statement statement = connection.createStatement()) {
        assertEquals(
            1,
            number(
                statement,
                "SELECT COUNT(*) FROM TOLLGATE.NODES WHERE CLOCK_AHEAD_MS > 60000 AND NODE_ID = '"
                    + leader
                    + "' AND NODE_ROLE = 'LEADER'"));
        assertEquals(
            2,
            number(
                statement,
                "SELECT COUNT(*) FROM TOLLGATE.NODES WHERE ABS(CLOCK_AHEAD_MS) < 60000"));
      }
      set(leader, Duration.ZERO);
      assertRight(connection);
      set(leader, YEARS.negated().dividedBy(2));
      assertRight(connection);
    }
  }

  @Test
  void nodeThatIsElectedWithAWrongClockStampsTheTimeOfTheOthers() throws Exception {
    start(id -> Duration.ZERO);
    try (Connection connection = cluster.connect()) {
      String wrong = cluster.follower();
      set(wrong, YEARS);
      assertRight(connection);
      try (Statement statement = connection.createStatement()) {
        statement.execute("CALL transfer_leadership('" + wrong + "')");
      }
      await().atMost(DEADLINE).until(() -> cluster.leader().equals(wrong));
      assertRight(connection);
    }
  }

  @Test
  void nodeThatStartsWithAWrongClockStampsTheTimeOfTheOthers() throws Exception {
    start(id -> Duration.ZERO);
    cluster.stopAll();
    start(id -> id.equals("n2") ? YEARS : Duration.ZERO);
    try (Connection connection = cluster.connect()) {
      assertRight(connection);
    }
  }

  /** The clocks of all were wrong: nothing tells them from right ones. */
  @Test
  void administratorSetsTheTimeOfTheLogBack() throws Exception {
    start(id -> YEARS);
    try (Connection connection = cluster.connect();
        Connection other = cluster.connect();
        Statement statement = connection.createStatement();
        Statement operator = other.createStatement()) {
      assertTrue(ahead(connection).compareTo(YEARS.minusMinutes(1)) > 0);
      long token = number(statement, "SELECT acquire_lock('before')");
      clocks.values().forEach(clock -> clock.setAhead(Duration.ZERO));
      Node leader = cluster.node(cluster.leader());
      await()
          .atMost(DEADLINE)
          .until(
              () -> {
                ahead(connection);
                LogClock.Look look = leader.clock();
                return look.agreed() && look.logStands();
              });
      assertTrue(ahead(connection).compareTo(YEARS.minusMinutes(1)) > 0, "it stands");
      operator.execute("CALL reset_log_time()");
      assertRight(connection);
      assertFalse(leader.clock().logStands());
      assertEquals(token, number(statement, "SELECT lock_token('before')"), "it is still held");
      assertEquals(0, number(operator, "SELECT COALESCE(try_acquire_lock('before'), 0)"));
      assertTrue(number(operator, "SELECT acquire_lock('after')") > token);
      statement.execute("SELECT release_lock('before')");
      assertTrue(number(operator, "SELECT acquire_lock('before')") > token);
      operator.execute("CALL reset_log_time()");
      assertRight(connection);
      LocalCluster.verify(connection).values().forEach(verdict -> assertEquals("EQUAL", verdict));
    }
    cluster.stopAll();
    cluster.startAllAndAwait();
    try (Connection connection = cluster.connect()) {
      assertRight(connection);
    }
  }

  @Test
  void timeOfTheLogIsNotSetBackWhileNoMajorityAgrees() throws Exception {
    start(id -> Duration.ZERO);
    try (Connection connection = cluster.connect();
        Statement statement = connection.createStatement()) {
      assertRight(connection);
      setEachWrong();
      SQLException refused =
          assertThrows(SQLException.class, () -> statement.execute("CALL reset_log_time()"));
      assertEquals("55T04", refused.getSQLState());
      assertTrue(refused.getMessage().contains("no majority agree"), refused.getMessage());
    }
  }

  private static long number(Statement statement, String sql) throws SQLException {
    try (ResultSet rows = statement.executeQuery(sql)) {
      assertTrue(rows.next());
      return rows.getLong(1);
    }
  }

  /** Sets every clock wrong in its own way, and waits until the leader knows. */
  private void setEachWrong() {
    Node leader = cluster.node(cluster.leader());
    set("n1", YEARS);
    set("n2", YEARS.dividedBy(2).negated());
    set("n3", YEARS.dividedBy(3));
    await().atMost(DEADLINE).until(() -> !leader.clock().agreed());
  }

  @Test
  void timeGoesOnWhileEveryClockIsWrongInItsOwnWay() throws Exception {
    start(id -> Duration.ZERO);
    try (Connection connection = cluster.connect()) {
      assertRight(connection);
      setEachWrong();
      assertRight(connection);
      String successor = cluster.follower();
      try (Statement statement = connection.createStatement()) {
        statement.execute("CALL transfer_leadership('" + successor + "')");
      }
      assertRight(connection);
    }
  }
}
