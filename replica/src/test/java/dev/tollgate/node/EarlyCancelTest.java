package dev.tollgate.node;

import static dev.tollgate.node.RawClient.execute;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SeriesEnding;
import dev.tollgate.wire.SqlState;
import dev.tollgate.wire.TransactionMode;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Cancellations that reach the node before the statement that they name. */
@Timeout(60)
class EarlyCancelTest {
  private static final byte[] NO_PARAMETERS = {0, 0};
  private static final String NEVER_ENDS =
      "SELECT COUNT(*) FROM SYSTEM_RANGE(1, 1000000) A, SYSTEM_RANGE(1, 1000000) B"
          + " WHERE A.X + B.X = 1";

  private Node node;
  private RawClient client;
  private RawClient control;
  private Reply.SessionReady session;
  private long sequence;

  @BeforeEach
  void open() throws Exception {
    node = new Node(LoopbackSettings.of("early", null));
    node.start();
    assertTrue(node.awaitLeadership(Duration.ofSeconds(20)));
    client = new RawClient(node.listenAddress());
    client.hello();
    control = new RawClient(node.listenAddress());
    control.hello();
    Request.SessionOptions options = new Request.SessionOptions(ReadConsistency.LINEARIZABLE, 0);
    session =
        assertInstanceOf(
            Reply.SessionReady.class,
            client.call(new Request.OpenSession(60_000, 60_000, options)));
    run("CREATE TABLE T(ID INT PRIMARY KEY)");
  }

  @AfterEach
  void close() throws Exception {
    client.close();
    control.close();
    node.close();
  }

  private void run(String sql) throws Exception {
    assertInstanceOf(Reply.Result.class, client.call(execute(++sequence, sql)));
  }

  private void cancelNext() throws Exception {
    Request cancel = new Request.Cancel(session.sessionId(), session.secret(), sequence + 1);
    assertEquals(new Reply.Ok(), control.call(cancel));
  }

  private void assertCanceled(Reply reply) {
    Reply.Failure failure = assertInstanceOf(Reply.Failure.class, reply);
    assertEquals(SqlState.CANCELLED.state(), failure.sqlState(), failure.message());
  }

  @Test
  void queryEnds() throws Exception {
    cancelNext();
    assertCanceled(client.call(execute(++sequence, NEVER_ENDS)));
    run("SELECT 1");
  }

  @Test
  void writeChangesNothing() throws Exception {
    cancelNext();
    assertCanceled(client.call(execute(++sequence, "INSERT INTO T VALUES (1)")));
    run("INSERT INTO T VALUES (1)");
  }

  @Test
  void writeOfATransactionLeavesTheTransactionOpen() throws Exception {
    TransactionMode open = TransactionMode.READ_COMMITTED;
    assertInstanceOf(
        Reply.Result.class, client.call(execute(++sequence, open, "INSERT INTO T VALUES (1)")));
    cancelNext();
    assertCanceled(client.call(execute(++sequence, open, "INSERT INTO T VALUES (2)")));
    cancelNext();
    assertInstanceOf(Reply.Result.class, client.call(execute(++sequence, open, "COMMIT")));
    run("INSERT INTO T VALUES (2)");
  }

  @Test
  void seriesChangesNothing() throws Exception {
    cancelNext();
    assertCanceled(
        client.call(
            new Request.ExecuteSeries(
                ++sequence,
                true,
                TransactionMode.AUTOCOMMIT,
                SeriesEnding.RUN_ALL,
                List.of(new Request.SeriesStatement("INSERT INTO T VALUES (1)", NO_PARAMETERS)))));
    run("INSERT INTO T VALUES (1)");
  }

  @Test
  void waitForALockDoesNotBegin() throws Exception {
    try (Connection other =
            DriverManager.getConnection(
                "jdbc:tollgate://127.0.0.1:" + node.listenAddress().getPort());
        Statement statement = other.createStatement()) {
      statement.execute("SELECT acquire_lock('job')");
      cancelNext();
      assertCanceled(client.call(execute(++sequence, "SELECT acquire_lock('job', 60000)")));
    }
  }

  /** A write that was carried out, and is sent again, has the answer that it had. */
  @Test
  void repetitionOfWhatWasCarriedOutIsNotCanceled() throws Exception {
    run("INSERT INTO T VALUES (1)");
    sequence--;
    cancelNext();
    run("INSERT INTO T VALUES (1)");
  }

  @Test
  void connectionSurvivesAQueryTimeoutOfAMillisecond() throws SQLException {
    String url = "jdbc:tollgate://127.0.0.1:" + node.listenAddress().getPort();
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      for (int i = 0; i < 120; i++) {
        statement.execute("SET QUERY_TIMEOUT 1");
        try {
          statement.executeQuery(NEVER_ENDS + " + " + i);
          throw new AssertionError("a query without an end has ended");
        } catch (SQLException late) {
          assertEquals("57014", late.getSQLState(), late.getMessage());
        }
        statement.execute("SET QUERY_TIMEOUT 0");
      }
      assertTrue(connection.isValid(5));
    }
  }
}
