package dev.tollgate.node;

import static dev.tollgate.node.RawClient.execute;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.node.client.HeldQueries;
import dev.tollgate.value.StatementResult;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.TransactionMode;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A transaction that is rolled back when its next query has been taken and does not run yet. */
@Timeout(60)
class LostTransactionTest {
  private static final String ROWS = "SELECT COUNT(*) FROM T";

  private Node node;
  private RawClient client;
  private long session;

  @BeforeEach
  void beginTransaction() throws Exception {
    node = new Node(LoopbackSettings.of("lost", null));
    node.start();
    assertTrue(node.awaitLeadership(Duration.ofSeconds(20)));
    client = new RawClient(node.listenAddress());
    client.hello();
    session =
        assertInstanceOf(
                Reply.SessionReady.class,
                client.call(
                    new Request.OpenSession(
                        60_000,
                        60_000,
                        new Request.SessionOptions(ReadConsistency.LINEARIZABLE, 0))))
            .sessionId();
    call(execute(1, TransactionMode.AUTOCOMMIT, "CREATE TABLE T(ID INT)"));
    call(execute(2, TransactionMode.READ_COMMITTED, "INSERT INTO T VALUES(1)"));
  }

  @AfterEach
  void stop() throws Exception {
    client.close();
    node.close();
  }

  @Test
  void queryThatWaitedForAThreadDoesNotSeeCommittedDataInstead() throws Exception {
    assertLost(ROWS);
  }

  @Test
  void argumentsThatWaitedForAThreadAreNotThoseOfCommittedDataInstead() throws Exception {
    assertLost("SELECT create_lease((SELECT 60000 + COUNT(*) FROM T))");
  }

  private void assertLost(String sql) throws Exception {
    // the plan is kept now, so that the event loop itself hands the next one to the workers
    call(execute(3, TransactionMode.READ_COMMITTED, sql));
    long transaction = number("SELECT MAX(TRANSACTION_ID) FROM TOLLGATE.TRANSACTIONS");
    try (HeldQueries held =
        new HeldQueries(node.workers(), node.pipeline(), node.replica().facts())) {
      client.write(execute(5, TransactionMode.READ_COMMITTED, sql));
      // requests of a connection are taken in turn
      assertEquals(new Reply.Ok(), client.call(new Request.Ping()));
      held.abort(session, transaction);
    }
    Reply.Failure lost = assertInstanceOf(Reply.Failure.class, client.receive());
    assertEquals("40001", lost.sqlState(), lost.message());
  }

  private long number(String sql) throws Exception {
    Reply.Result result = call(execute(4, TransactionMode.READ_COMMITTED, sql));
    StatementResult.Rows rows = (StatementResult.Rows) StatementResult.read(result.body(), null);
    return rows.rows().page().rows().get(0)[0].getLong();
  }

  private Reply.Result call(Request request) throws Exception {
    return assertInstanceOf(Reply.Result.class, client.call(request));
  }
}
