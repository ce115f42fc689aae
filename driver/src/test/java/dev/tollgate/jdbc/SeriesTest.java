package dev.tollgate.jdbc;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.fake.FakeCluster;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SeriesEnding;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Batches of different texts, and pipelined transactions: what travels, and how often. */
@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SeriesTest {
  private FakeCluster cluster;
  private Connection connection;

  @BeforeEach
  void open() throws Exception {
    cluster = FakeCluster.start(2);
    connect("");
  }

  @AfterEach
  void close() throws Exception {
    connection.close();
    cluster.close();
  }

  private void connect(String properties) throws SQLException {
    if (connection != null) {
      connection.close();
    }
    connection = DriverManager.getConnection(cluster.url(properties));
    try (Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE IF NOT EXISTS T(ID INT PRIMARY KEY, V INT DEFAULT 0)");
    }
    cluster.received().clear();
    cluster.receivedSeries().clear();
  }

  private int[] batch(String... texts) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String text : texts) {
        statement.addBatch(text);
      }
      return statement.executeBatch();
    }
  }

  private static String insert(int id) {
    return "INSERT INTO T(ID) VALUES(" + id + ")";
  }

  private long rows() throws SQLException {
    return (long) cluster.peek("SELECT COUNT(*) FROM T");
  }

  private List<String> receivedTexts() {
    return cluster.received().stream().map(Request.Execute::sql).toList();
  }

  private void pipeline() throws SQLException {
    connection.setAutoCommit(false);
    connection.unwrap(TollgateConnection.class).pipelineTransaction();
  }

  private int update(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      return statement.executeUpdate(sql);
    }
  }

  private static void assertState(String state, SQLException e) {
    assertEquals(state, e.getSQLState(), e.getMessage());
  }

  @Test
  void batchOfDifferentTextsIsOneRequest() throws Exception {
    assertArrayEquals(
        new int[] {1, 1, 2, 1},
        batch(insert(1), insert(2), "UPDATE T SET V=V+1", "DELETE FROM T WHERE ID=2"));
    assertEquals(List.of(), receivedTexts());
    assertEquals(1, cluster.receivedSeries().size());
    assertEquals(SeriesEnding.RUN_ALL, cluster.receivedSeries().get(0).ending());
    assertEquals(1, rows());
  }

  @Test
  void eachStatementThatFailsIsReportedAndTheOthersAreDone() throws Exception {
    BatchUpdateException e =
        assertThrows(
            BatchUpdateException.class,
            () -> batch(insert(1), insert(1), insert(2), "UPDATE NOWHERE SET V=1", insert(3)));
    int failed = Statement.EXECUTE_FAILED;
    assertArrayEquals(new int[] {1, failed, 1, failed, 1}, e.getUpdateCounts());
    assertArrayEquals(new long[] {1, failed, 1, failed, 1}, e.getLargeUpdateCounts());
    assertState("23505", e);
    assertTrue(e.getNextException().getMessage().contains(insert(1)), "names the statement");
    assertState("42S02", e.getNextException().getNextException());
    assertNull(e.getNextException().getNextException().getNextException());
    assertEquals(3, rows());
  }

  @Test
  void whatIsNoChangeOfRowsOrLocksTravelsAlone() throws Exception {
    assertArrayEquals(
        new int[] {1, 0, 1, 1, 1},
        batch(
            insert(1),
            "CREATE TABLE U(ID INT)",
            "INSERT INTO U VALUES(1)",
            insert(2),
            "INSERT INTO T SELECT {fn MOD(7, 4)}, 0"));
    assertEquals(
        List.of(insert(1), "CREATE TABLE U(ID INT)", "INSERT INTO T SELECT MOD(7, 4), 0"),
        receivedTexts().stream()
            .map(text -> text.replaceAll(" +", " ").replace(" ,", ","))
            .toList());
    assertEquals(1, cluster.receivedSeries().size());
    assertFalse(StatementKind.isForSeries("UPDATE t SET v = 1 LOCKED\nBY 'job'"));
    assertFalse(StatementKind.isForSeries("COMMIT"));
    assertTrue(StatementKind.isForSeries("/* why */ merge INTO t VALUES('BLOCKED')"));
  }

  @Test
  void batchTakesEffectOnceThoughItsAnswerGotLost() throws Exception {
    cluster.node(0).dropAfterExecuting(1);
    assertArrayEquals(new int[] {1, 1}, batch(insert(1), insert(2)));
    assertEquals(2, cluster.receivedSeries().size());
    assertEquals(1, cluster.executedSeries().size());
    assertEquals(
        cluster.receivedSeries().get(0).sequence(), cluster.receivedSeries().get(1).sequence());
    assertEquals(2, rows());
  }

  @Test
  void batchOfMoreTextsThanANodeTakesIsSentInParts() throws Exception {
    try (Statement statement = connection.createStatement()) {
      for (int i = 0; i < Protocol.MAX_SERIES_STATEMENTS + 2; i++) {
        statement.addBatch(insert(i));
      }
      assertEquals(Protocol.MAX_SERIES_STATEMENTS + 2, statement.executeLargeBatch().length);
      assertArrayEquals(new int[0], statement.executeBatch(), "the batch is empty again");
      statement.addBatch(insert(-1));
      statement.clearBatch();
      assertEquals(0, statement.executeBatch().length);
    }
    assertEquals(
        List.of(Protocol.MAX_SERIES_STATEMENTS, 2),
        cluster.receivedSeries().stream().map(series -> series.statements().size()).toList());
  }

  @Test
  void batchThatFitsNoFrameIsSentInParts() throws Exception {
    String padding = "/*" + "x".repeat(3 << 20) + "*/";
    assertEquals(4, batch(insert(1) + padding, insert(2) + padding, insert(3), insert(4)).length);
    assertEquals(1, cluster.received().size());
    assertEquals(
        List.of(3),
        cluster.receivedSeries().stream().map(series -> series.statements().size()).toList());
  }

  @Test
  void closedStatementTakesNoBatch() throws Exception {
    Statement statement = connection.createStatement();
    statement.close();
    assertState("90007", assertThrows(SQLException.class, () -> statement.addBatch(insert(1))));
    assertState("90007", assertThrows(SQLException.class, statement::executeBatch));
  }

  @Test
  void nodeOfAnEarlierVersionGetsOneByOne() throws Exception {
    cluster.node(0).speakVersion(4);
    connect("");
    assertArrayEquals(new int[] {1, 1}, batch(insert(1), insert(2)));
    assertEquals(List.of(insert(1), insert(2)), receivedTexts());
    cluster.received().clear();
    pipeline();
    update(insert(3));
    update(insert(4));
    connection.commit();
    assertEquals(List.of(insert(3), insert(4), "COMMIT"), receivedTexts());
    assertEquals(4, rows());
    pipeline();
    update(insert(5));
    update(insert(1));
    update(insert(6));
    assertState("23505", assertThrows(SQLException.class, connection::commit));
    connection.rollback();
    assertEquals(4, rows());
  }

  @Test
  void seriesThatWasSentGoesToNoNodeThatDoesNotKnowIt() throws Exception {
    cluster.node(1).speakVersion(4);
    connect("failoverTimeout=2s");
    cluster.node(0).dropAfterExecuting(1);
    cluster.node(0).stepDownAfterDrop(true);
    pipeline();
    update(insert(1));
    CompletableFuture<SQLException> failure =
        CompletableFuture.supplyAsync(() -> assertThrows(SQLException.class, connection::commit));
    await().until(() -> cluster.executedSeries().size() == 1);
    cluster.lead(cluster.node(1));
    assertState("08007", failure.get());
    assertEquals(List.of(), receivedTexts());
    assertEquals(1, cluster.executedSeries().size());
  }

  @Test
  void pipelinedChangesTravelWithTheCommit() throws Exception {
    pipeline();
    assertEquals(Statement.SUCCESS_NO_INFO, update(insert(1)));
    try (PreparedStatement insert = connection.prepareStatement("INSERT INTO T VALUES(?, ?)")) {
      for (int id = 2; id <= 3; id++) {
        insert.setInt(1, id);
        insert.setInt(2, 10 * id);
        assertEquals(Statement.SUCCESS_NO_INFO, insert.executeUpdate());
        assertEquals(Statement.SUCCESS_NO_INFO, insert.getUpdateCount());
      }
    }
    assertEquals(0, cluster.receivedSeries().size());
    connection.commit();
    assertEquals(1, cluster.receivedSeries().size());
    assertEquals(SeriesEnding.COMMIT, cluster.receivedSeries().get(0).ending());
    assertEquals(List.of(), receivedTexts());
    assertEquals(50L, cluster.peek("SELECT SUM(V) FROM T"));
    assertEquals(1, update(insert(4)), "pipelining has ended with the transaction");
    connection.commit();
    assertEquals(4, rows());
  }

  @Test
  void statementThatNeedsItsResultSendsTheChangesBeforeIt() throws Exception {
    pipeline();
    update(insert(1));
    update(insert(2));
    try (Statement statement = connection.createStatement();
        ResultSet count = statement.executeQuery("SELECT COUNT(*) FROM T")) {
      assertTrue(count.next());
      assertEquals(2, count.getInt(1));
    }
    assertEquals(SeriesEnding.STOP_AT_FAILURE, cluster.receivedSeries().get(0).ending());
    update("UPDATE T SET V=7");
    try (Statement statement = connection.createStatement()) {
      assertEquals(
          1, statement.executeUpdate(insert(3), Statement.RETURN_GENERATED_KEYS), "has keys");
    }
    assertEquals(2, cluster.receivedSeries().size());
    connection.rollback();
    assertEquals(0, rows());
  }

  @Test
  void failureComesWithTheCommitAndOnlyARollbackFollows() throws Exception {
    pipeline();
    update(insert(1));
    update("INSERT INTO T(ID) VALUES(1), (2)");
    update(insert(3));
    SQLException e = assertThrows(SQLException.class, connection::commit);
    assertState("23505", e);
    assertTrue(e.getMessage().contains("VALUES(1), (2)"), e.getMessage());
    SQLException again = assertThrows(SQLException.class, connection::commit);
    assertState("25P02", again);
    assertTrue(again.getMessage().contains("VALUES(1), (2)"), again.getMessage());
    assertState("25P02", assertThrows(SQLException.class, () -> update(insert(4))));
    assertState("25P02", assertThrows(SQLException.class, () -> connection.setAutoCommit(true)));
    try (Statement statement = connection.createStatement()) {
      assertState(
          "25P02", assertThrows(SQLException.class, () -> statement.executeQuery("SELECT 1")));
    }
    assertEquals(1, cluster.receivedSeries().size());
    connection.rollback();
    assertEquals(0, rows());
    assertEquals(1, update(insert(5)));
    connection.commit();
    assertEquals(1, rows());
  }

  @Test
  void rollbackSendsNothingThatWasGathered() throws Exception {
    pipeline();
    update(insert(1));
    connection.rollback();
    assertEquals(0, cluster.receivedSeries().size());
    assertEquals(List.of(), receivedTexts());
    assertEquals(0, rows());
  }

  @Test
  void commitWhoseAnswerGotLostTakesEffectOnce() throws Exception {
    pipeline();
    update(insert(1));
    update("UPDATE T SET V=V+1");
    cluster.node(0).dropAfterExecuting(1);
    connection.commit();
    assertEquals(2, cluster.receivedSeries().size());
    assertEquals(1, cluster.executedSeries().size());
    assertEquals(1, cluster.peek("SELECT V FROM T"));
  }

  @Test
  void pipelineOfMoreStatementsThanARequestHasIsSentInParts() throws Exception {
    pipeline();
    for (int i = 0; i < Protocol.MAX_SERIES_STATEMENTS + 1; i++) {
      update(insert(i));
    }
    assertEquals(1, cluster.receivedSeries().size());
    connection.commit();
    assertEquals(2, cluster.receivedSeries().size());
    assertEquals(Protocol.MAX_SERIES_STATEMENTS + 1, rows());
  }

  @Test
  void parametersThatFitNoFrameAreSentInParts() throws Exception {
    pipeline();
    String big = "x".repeat(Protocol.MAX_FRAME_BYTES / 2 - 10_000);
    try (PreparedStatement update =
        connection.prepareStatement("UPDATE T SET V = LENGTH(?) WHERE ID = 1")) {
      for (int i = 0; i < 3; i++) {
        update.setString(1, big);
        update.executeUpdate();
      }
    }
    connection.commit();
    assertEquals(
        List.of(2, 1),
        cluster.receivedSeries().stream().map(series -> series.statements().size()).toList());
  }

  @Test
  void autocommitHasNoPipeline() throws Exception {
    TollgateConnection own = connection.unwrap(TollgateConnection.class);
    assertState("25P01", assertThrows(SQLException.class, own::pipelineTransaction));
    assertEquals(1, update(insert(1)));
  }

  @Test
  void workThatEndsInAPoolEndsItsPipeline() throws Exception {
    connection.beginRequest();
    pipeline();
    update(insert(1));
    assertState("25001", assertThrows(SQLException.class, connection::endRequest));
    connection.rollback();
    connection.unwrap(TollgateConnection.class).pipelineTransaction();
    connection.beginRequest();
    connection.endRequest();
    assertEquals(1, update(insert(1)));
  }
}
