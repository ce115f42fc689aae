package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.store.h2.SqlValue;
import dev.tollgate.wire.KeyRequest;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.TransactionMode;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a node does with a request under which its client has lost connections. */
@Timeout(60)
class LostQueryTest {
  private static final String INSERT = "INSERT INTO T VALUES(1)";

  private Node node;
  private RawClient client;
  private long sequence;

  @BeforeEach
  void start() throws Exception {
    node = new Node(LoopbackSettings.of("n1", null));
    node.start();
    client = new RawClient(node.listenAddress());
    client.hello();
    assertInstanceOf(
        Reply.SessionReady.class,
        client.call(
            new Request.OpenSession(
                60_000, 15_000, new Request.SessionOptions(ReadConsistency.LINEARIZABLE, 10_000))));
    assertInstanceOf(Reply.Result.class, run(0, "CREATE TABLE T(ID INT)"));
  }

  @AfterEach
  void stop() throws Exception {
    assertNull(node.failure());
    client.close();
    node.close();
  }

  private Reply run(int losses, String sql) throws IOException {
    sequence++;
    return again(losses, sql);
  }

  private Reply again(int losses, String sql) throws IOException {
    return client.callAfterLosses(
        losses,
        new Request.Execute(
            sequence,
            true,
            TransactionMode.AUTOCOMMIT,
            false,
            sql,
            new KeyRequest.None(),
            0,
            0,
            List.of(SqlValue.encodeFirst(List.of(), 0))));
  }

  private static void assertFailed(String state, Reply reply) {
    Reply.Failure failure = assertInstanceOf(Reply.Failure.class, reply);
    assertEquals(state, failure.sqlState(), failure.message());
    assertTrue(failure.message().contains("lost"), failure.message());
  }

  @Test
  void queryRunsOnceMoreAndNotAThirdTime() throws Exception {
    for (String sql :
        List.of(
            "SELECT * FROM T",
            "TABLE T",
            "WITH R AS (SELECT 1) SELECT * FROM R",
            "EXPLAIN ANALYZE SELECT * FROM T",
            "SCRIPT",
            "SELECT * FROM TOLLGATE.LOCKS")) {
      assertInstanceOf(Reply.Result.class, run(1, sql), sql);
      assertFailed("53200", run(2, sql));
      assertInstanceOf(Reply.Result.class, run(0, sql), sql);
    }
  }

  @Test
  void descriptionRunsOnceMoreAndNotAThirdTime() throws Exception {
    Request.Prepare prepare = new Request.Prepare("SELECT * FROM T");
    assertInstanceOf(Reply.Prepared.class, client.callAfterLosses(1, prepare));
    assertFailed("53200", client.callAfterLosses(2, prepare));
    Request.Metadata tables = new Request.Metadata(13, SqlValue.encodeFirst(List.of(), 0));
    assertInstanceOf(Reply.Result.class, client.callAfterLosses(1, tables));
    assertFailed("53200", client.callAfterLosses(2, tables));
  }

  @Test
  void changeIsRepeatedAsOftenAsItIsSent() throws Exception {
    assertInstanceOf(Reply.Result.class, run(0, INSERT));
    for (int losses = 1; losses < 300; losses += 50) {
      assertInstanceOf(Reply.Result.class, again(losses, INSERT));
    }
    assertInstanceOf(Reply.Result.class, run(9, "SELECT acquire_lock('a')"));
    assertInstanceOf(Reply.Result.class, run(9, "CALL verify_replicas()"));
    assertInstanceOf(Reply.Result.class, run(9, "DELETE FROM T WHERE ID = 1"));
  }

  @Test
  void argumentsOfALockFunctionAreNotComputedAThirdTimeAndItsOutcomeIsUnknown() throws Exception {
    String sql = "SELECT acquire_lock((SELECT 'a' || COUNT(*) FROM T))";
    assertInstanceOf(Reply.Result.class, run(0, sql));
    assertInstanceOf(Reply.Result.class, again(1, sql));
    assertFailed("08007", again(2, sql));
  }
}
