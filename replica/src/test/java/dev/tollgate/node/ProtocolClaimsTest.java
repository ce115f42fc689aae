package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.tollgate.store.h2.SqlValue;
import dev.tollgate.value.StatementResult;
import dev.tollgate.wire.Frame;
import dev.tollgate.wire.KeyRequest;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.TransactionMode;
import dev.tollgate.wire.WireWriter;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What docs/protocol.md tells the author of another driver and our own driver never does. */
class ProtocolClaimsTest {
  private static final Request.SessionOptions OPTIONS =
      new Request.SessionOptions(ReadConsistency.LINEARIZABLE, 60_000);
  private static final byte[] NO_PARAMETERS = SqlValue.encodeFirst(List.of(), 0);
  private static final byte[] MALFORMED = {0, 1, 99};

  private Node node;
  private RawClient client;
  private Reply.SessionReady session;

  @BeforeEach
  void openSession() throws Exception {
    node = new Node(LoopbackSettings.of("n1", null));
    node.start();
    client = connect();
    session = (Reply.SessionReady) client.call(new Request.OpenSession(60_000, 15_000, OPTIONS));
  }

  @AfterEach
  void stop() throws Exception {
    client.close();
    node.close();
  }

  private RawClient connect() throws IOException {
    RawClient connected = new RawClient(node.listenAddress());
    connected.hello();
    return connected;
  }

  private static Request.Execute execute(long sequence, String sql) {
    return execute(sequence, sql, /* trusted= */ true, NO_PARAMETERS);
  }

  private static Request.Execute execute(
      long sequence, String sql, boolean trusted, byte[] parameters) {
    return new Request.Execute(
        sequence,
        trusted,
        TransactionMode.AUTOCOMMIT,
        /* batch= */ false,
        sql,
        new KeyRequest.None(),
        0,
        0,
        List.of(parameters));
  }

  private static void assertFails(String state, Reply reply) {
    assertEquals(state, assertInstanceOf(Reply.Failure.class, reply).sqlState());
  }

  private static int kindOf(Reply reply) {
    return assertInstanceOf(Reply.Result.class, reply).body()[0];
  }

  @Test
  void connectionKeepsItsSessionWhenAnotherAttachesIt() throws IOException {
    try (RawClient other = connect()) {
      assertInstanceOf(
          Reply.SessionReady.class,
          other.call(
              new Request.AttachSession(
                  session.sessionId(), session.secret(), /* leaderOnly= */ true, OPTIONS)));
      assertEquals(StatementResult.ROWS, kindOf(client.call(execute(1, "SELECT 1"))));
      assertEquals(StatementResult.ROWS, kindOf(other.call(execute(2, "SELECT 1"))));
      assertEquals(StatementResult.ROWS, kindOf(client.call(execute(3, "SELECT 1"))));
    }
  }

  @Test
  void connectionGoesOnAfterAMalformedValue() throws IOException {
    assertFails("08004", client.call(execute(1, "SELECT CAST(? AS INT)", true, MALFORMED)));
    assertEquals(StatementResult.ROWS, kindOf(client.call(execute(2, "SELECT 1"))));
  }

  @Test
  void onlyALockFunctionAmongOthersGivesTheRowsOfAChange() throws IOException {
    assertEquals(StatementResult.ROWS, kindOf(client.call(execute(1, "SELECT acquire_lock('a')"))));
    assertEquals(
        StatementResult.CHANGED_ROWS,
        kindOf(
            client.call(execute(2, "SELECT try_acquire_lock('b' || X) FROM SYSTEM_RANGE(1, 2)"))));
  }

  @Test
  void cancelSaysThatTheLeaderDoesNotKnowTheSession() throws IOException {
    long id = session.sessionId();
    assertInstanceOf(Reply.Ok.class, client.call(new Request.Cancel(id, session.secret(), 1)));
    assertFails("08006", client.call(new Request.Cancel(id, session.secret() + 1, 1)));
    assertFails("08006", client.call(new Request.Cancel(id + 1, session.secret(), 1)));
  }

  @Test
  void numberThatIsPassedTellsNothing() throws IOException {
    assertEquals(StatementResult.COUNT, kindOf(client.call(execute(1, "CREATE TABLE T(ID INT)"))));
    assertEquals(StatementResult.COUNT, kindOf(client.call(execute(5, "INSERT INTO T VALUES(1)"))));
    assertFails("08007", client.call(execute(4, "INSERT INTO T VALUES(2)")));
  }

  @Test
  void lockFunctionThatIsSentAgainWithoutTrustFails() throws IOException {
    String sql = "SELECT acquire_lock('a')";
    assertEquals(StatementResult.ROWS, kindOf(client.call(execute(1, sql))));
    assertFails("55T01", client.call(execute(1, sql, /* trusted= */ false, NO_PARAMETERS)));
    assertEquals(StatementResult.ROWS, kindOf(client.call(execute(1, sql))));
  }

  @Test
  void requestsAreAnsweredOutOfOrderAndAfterTheirDeadline() throws IOException {
    try (RawClient holder = connect()) {
      holder.call(new Request.OpenSession(60_000, 15_000, OPTIONS));
      holder.call(execute(1, "SELECT acquire_lock('a')"));

      writeWithDeadline(execute(1, "SELECT acquire_lock('a')"), 1);
      assertInstanceOf(Reply.Prepared.class, client.call(new Request.Prepare("SELECT 1")));
      holder.call(execute(2, "SELECT release_lock('a')"));
      assertEquals(StatementResult.ROWS, kindOf(client.receive()));
    }
  }

  private void writeWithDeadline(Request request, int deadlineMillis) throws IOException {
    WireWriter body = new WireWriter();
    request.write(body);
    Frame frame = new Frame(request.type(), 1, deadlineMillis, body.toByteArray());
    WireWriter out = new WireWriter();
    frame.writeHeader(out);
    out.raw(frame.body(), 0, frame.body().length);
    client.send(out.toByteArray());
  }
}
