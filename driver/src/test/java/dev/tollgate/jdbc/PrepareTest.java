package dev.tollgate.jdbc;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.fake.FakeCluster;
import dev.tollgate.wire.Request;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLSyntaxErrorException;
import java.sql.Statement;
import java.sql.Types;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What preparing a statement finds out, and how often the node is asked for it. */
class PrepareTest {
  private static final int FORWARD = ResultSet.TYPE_FORWARD_ONLY;
  private static final int READ_ONLY = ResultSet.CONCUR_READ_ONLY;
  private static final PreparedInfo INFO = new PreparedInfo(true, 0, List.of(), List.of());

  private FakeCluster cluster;
  private Connection connection;

  @BeforeEach
  void open() throws Exception {
    cluster = FakeCluster.start(1);
    connection = DriverManager.getConnection(cluster.url(""));
    run(connection, "CREATE TABLE T(ID INT PRIMARY KEY, V VARCHAR)");
    run(connection, "INSERT INTO T VALUES(1, 'one'), (2, 'two'), (3, 'three')");
  }

  @AfterEach
  void close() throws Exception {
    connection.close();
    cluster.close();
  }

  private static void run(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private int prepares() {
    return cluster.others(Request.Prepare.class).size();
  }

  /** One of the ways to prepare. */
  private interface Way {
    PreparedStatement prepare(String sql) throws SQLException;
  }

  @Test
  void everyWayToPrepareSaysWhatIsWrong() throws Exception {
    List<Way> ways =
        List.of(
            connection::prepareStatement,
            sql -> connection.prepareStatement(sql, FORWARD, READ_ONLY),
            sql ->
                connection.prepareStatement(
                    sql, FORWARD, READ_ONLY, ResultSet.HOLD_CURSORS_OVER_COMMIT),
            sql -> connection.prepareStatement(sql, Statement.RETURN_GENERATED_KEYS),
            sql -> connection.prepareStatement(sql, new int[] {1}),
            sql -> connection.prepareStatement(sql, new String[] {"ID"}),
            connection::prepareCall,
            sql -> connection.prepareCall(sql, FORWARD, READ_ONLY),
            sql ->
                connection.prepareCall(
                    sql, FORWARD, READ_ONLY, ResultSet.HOLD_CURSORS_OVER_COMMIT));
    for (Way way : ways) {
      assertEquals("42S02", refusal(way, "SELECT * FROM MISSING WHERE ID = ?"));
      assertEquals("42S22", refusal(way, "UPDATE T SET MISSING = 1"));
      assertEquals("42001", refusal(way, "DELETE FROM T WHERE"));
      way.prepare("INSERT INTO T VALUES(4, ?)").close();
    }
  }

  private static String refusal(Way way, String sql) {
    return assertThrows(SQLSyntaxErrorException.class, () -> way.prepare(sql)).getSQLState();
  }

  @Test
  void textThatWasPreparedCostsNoRoundTrip() throws Exception {
    int executed = cluster.received().size();
    for (int i = 0; i < 5; i++) {
      try (PreparedStatement p = connection.prepareStatement("UPDATE T SET V = 'x'")) {
        assertEquals(3, p.executeUpdate());
      }
    }
    assertEquals(1, prepares());
    assertEquals(executed + 5, cluster.received().size());
  }

  @Test
  void longLivedStatementIsPreparedOnce() throws Exception {
    try (PreparedStatement p = connection.prepareStatement("EXPLAIN SELECT * FROM T WHERE ID=?")) {
      for (int i = 0; i < 3; i++) {
        run(connection, "CREATE TABLE OTHER" + i + "(ID INT)");
        assertTrue(p.execute());
      }
    }
    assertEquals(1, prepares());
  }

  @Test
  void refusalIsNotKept() throws Exception {
    try (Connection other = DriverManager.getConnection(cluster.url(""))) {
      assertEquals("42S02", refusal(connection::prepareStatement, "SELECT * FROM LATER"));
      run(other, "CREATE TABLE LATER(ID INT)");
      try (PreparedStatement p = connection.prepareStatement("SELECT * FROM LATER")) {
        assertFalse(p.executeQuery().next());
      }
      run(other, "DROP TABLE LATER");
      try (PreparedStatement p = connection.prepareStatement("SELECT * FROM LATER")) {
        assertEquals(
            "42S02", assertThrows(SQLException.class, p::executeQuery).getSQLState(), "late");
      }
      assertEquals("42S02", refusal(connection::prepareStatement, "SELECT * FROM LATER"));
    }
  }

  @Test
  void columnsAreThoseThatOthersHaveMadeMeanwhile() throws Exception {
    try (Connection other = DriverManager.getConnection(cluster.url(""))) {
      connection.prepareStatement("SELECT * FROM T").close();
      run(other, "ALTER TABLE T ADD COLUMN Z INT");
      try (PreparedStatement p = connection.prepareStatement("SELECT * FROM T")) {
        assertEquals(3, p.getMetaData().getColumnCount());
        assertEquals(3, p.getMetaData().getColumnCount());
        assertEquals(3, p.executeQuery().getMetaData().getColumnCount());
        assertEquals(2, prepares());
        run(connection, "ALTER TABLE T ADD COLUMN Y INT");
        assertEquals(4, p.getMetaData().getColumnCount());
      }
    }
  }

  @Test
  void whatTheConnectionKeepsItselfIsNotAsked() throws Exception {
    for (String sql : List.of("COMMIT", "ROLLBACK", "SET AUTOCOMMIT ON", "SET QUERY_TIMEOUT 0")) {
      try (PreparedStatement p = connection.prepareStatement(sql)) {
        p.execute();
      }
    }
    assertEquals(0, prepares());
  }

  @Test
  void openPagesSurviveThatSomethingElseIsPrepared() throws Exception {
    try (PreparedStatement p = connection.prepareStatement("SELECT ID FROM T ORDER BY ID")) {
      p.setFetchSize(1);
      try (ResultSet rows = p.executeQuery()) {
        for (int id = 1; id <= 3; id++) {
          assertTrue(rows.next());
          assertEquals(id, rows.getInt(1));
          connection.prepareStatement("SELECT " + id + " FROM T").close();
        }
      }
    }
    assertEquals(4, prepares());
  }

  @Test
  void preparingWaitsForALeader() throws Exception {
    cluster.lead(null);
    CompletableFuture<Integer> count =
        CompletableFuture.supplyAsync(
            () -> {
              try (PreparedStatement p = connection.prepareStatement("DELETE FROM T")) {
                return p.executeUpdate();
              } catch (SQLException e) {
                throw new IllegalStateException(e);
              }
            });
    // the node was asked, and answered that it does not lead
    await().until(() -> prepares() > 0);
    assertFalse(count.isDone());
    cluster.lead(cluster.node(0));
    assertEquals(3, count.get(20, TimeUnit.SECONDS));
  }

  @Test
  void changeIsAskedForItsValuesBeforeItsRows() throws Exception {
    String sql = "DELETE FROM T WHERE ID = ?";
    try (PreparedStatement p = connection.prepareStatement(sql);
        Statement statement = connection.createStatement()) {
      assertEquals("90012", assertThrows(SQLException.class, p::executeQuery).getSQLState());
      SQLException e = assertThrows(SQLException.class, () -> statement.executeQuery(sql));
      assertEquals("90012", e.getSQLState());
      p.setInt(1, 1);
      assertEquals("90002", assertThrows(SQLException.class, p::executeQuery).getSQLState());
    }
  }

  @Test
  void clusterWithoutALeaderIsSaidAtPrepare() throws Exception {
    try (Connection hasty = DriverManager.getConnection(cluster.url("failoverTimeout=200"))) {
      cluster.lead(null);
      SQLException e =
          assertThrows(SQLException.class, () -> hasty.prepareStatement("DELETE FROM T"));
      assertEquals("08001", e.getSQLState());
    }
  }

  @Test
  void textOfAStatementShowsItsValuesAsInH2() throws Exception {
    String sql = "SELECT V FROM T WHERE ID = ? AND V LIKE ?";
    try (Connection h2 = DriverManager.getConnection("jdbc:h2:mem:")) {
      run(h2, "CREATE TABLE T(ID INT PRIMARY KEY, V VARCHAR)");
      try (PreparedStatement theirs = h2.prepareStatement(sql);
          PreparedStatement ours = connection.prepareStatement(sql)) {
        assertEquals(afterTheName(theirs), afterTheName(ours));
        for (PreparedStatement each : List.of(theirs, ours)) {
          each.setInt(1, 7);
          each.setString(2, "o'n\n%");
        }
        assertTrue(afterTheName(ours).contains("7"), ours.toString());
        assertEquals(afterTheName(theirs), afterTheName(ours));
        for (PreparedStatement each : List.of(theirs, ours)) {
          each.setNull(1, Types.INTEGER);
        }
        assertEquals(afterTheName(theirs), afterTheName(ours));
      }
      try (PreparedStatement theirs = h2.prepareStatement("DELETE FROM T");
          PreparedStatement ours = connection.prepareStatement("DELETE FROM T")) {
        assertEquals(afterTheName(theirs), afterTheName(ours));
      }
    }
  }

  /** H2 numbers its statements. */
  private static String afterTheName(PreparedStatement statement) {
    return statement.toString().replaceFirst("^prep\\d+", "prep");
  }

  @Test
  void leastUsedIsForgottenFirst() {
    PreparedInfo.Cache cache = new PreparedInfo.Cache();
    for (int i = 0; i < PreparedInfo.Cache.MAX_STATEMENTS; i++) {
      cache.put("SELECT " + i, INFO);
    }
    assertNotNull(cache.get("SELECT 0"));
    cache.put("SELECT -1", INFO);
    assertNotNull(cache.get("SELECT 0"), "used lately");
    assertNull(cache.get("SELECT 1"));
    assertNotNull(cache.get("SELECT 2"));
  }

  @Test
  void longTextsAreNotKept() {
    PreparedInfo.Cache cache = new PreparedInfo.Cache();
    String longest = "x".repeat(PreparedInfo.Cache.MAX_SQL_CHARS);
    cache.put(longest, INFO);
    cache.put(longest + "x", INFO);
    assertNotNull(cache.get(longest));
    assertNull(cache.get(longest + "x"));
  }

  @Test
  void textsHaveAMaximumTogether() {
    PreparedInfo.Cache cache = new PreparedInfo.Cache();
    int fit = PreparedInfo.Cache.MAX_CHARS / PreparedInfo.Cache.MAX_SQL_CHARS;
    for (int i = 0; i < fit; i++) {
      cache.put(longText(i), INFO);
      cache.put(longText(i), INFO);
    }
    assertNotNull(cache.get(longText(0)));
    cache.put("one more", INFO);
    assertNull(cache.get(longText(1)));
    assertNotNull(cache.get(longText(2)));
    cache.clear();
    cache.put(longText(0), INFO);
    assertNotNull(cache.get(longText(0)));
  }

  private static String longText(int number) {
    return (number + "x".repeat(PreparedInfo.Cache.MAX_SQL_CHARS))
        .substring(0, PreparedInfo.Cache.MAX_SQL_CHARS);
  }
}
