package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
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
import dev.tollgate.wire.WireWriter;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A client that sends another request under a number that it has used. */
@Timeout(60)
class RepeatedNumberTest {
  private static final Duration DEADLINE = Duration.ofSeconds(20);
  private static final long SEQUENCE = 5;
  private static final Request.SessionOptions OPTIONS =
      new Request.SessionOptions(ReadConsistency.LINEARIZABLE, 60_000);

  /** A request that goes through the log. */
  private record Sent(String sql, TransactionMode mode, boolean batch, List<Long> parameters) {
    Request.Execute request(boolean trusted, int pageRows) {
      List<byte[]> sets = new ArrayList<>();
      if (parameters.isEmpty()) {
        sets.add(SqlValue.encodeFirst(List.of(), 0));
      }
      for (Long parameter : parameters) {
        sets.add(SqlValue.encodeFirst(List.of(SqlValue.ofNumber(parameter)), 1));
      }
      return new Request.Execute(
          SEQUENCE, trusted, mode, batch, sql, new KeyRequest.None(), 0, pageRows, sets);
    }

    boolean opensTransaction() {
      return mode != TransactionMode.AUTOCOMMIT;
    }

    boolean isQuery() {
      return sql.startsWith("SELECT *");
    }

    boolean waits() {
      return sql.contains("'busy'");
    }
  }

  private static Sent sent(String sql, Long... parameters) {
    return new Sent(sql, TransactionMode.AUTOCOMMIT, parameters.length > 1, List.of(parameters));
  }

  private static final List<Sent> REQUESTS =
      List.of(
          sent("SELECT acquire_lock('busy')"),
          sent("SELECT acquire_lock('free')"),
          sent("SELECT create_lease(60000)"),
          sent("SELECT release_lock('free')"),
          sent("INSERT INTO T VALUES(?)", 10L),
          sent("INSERT INTO T VALUES(?)", 11L),
          sent("INSERT INTO T VALUES(?)", 12L, 13L),
          sent("SET SCHEMA PUBLIC"),
          sent("SET FENCING TOKEN 3 FOR LOCK 'x'"),
          sent("SET FENCED BY LOCK 'x' TOKEN 3"),
          sent("COMMIT"),
          new Sent("INSERT INTO T VALUES(?)", TransactionMode.READ_COMMITTED, false, List.of(10L)),
          new Sent("SAVEPOINT S", TransactionMode.READ_COMMITTED, false, List.of()),
          new Sent("SELECT * FROM T", TransactionMode.SERIALIZABLE, false, List.of()));

  private static boolean mayFollow(Sent first, Sent second) {
    // a query in a transaction that is open does not go through the log
    return !first.equals(second) && !(second.isQuery() && first.opensTransaction());
  }

  private Node node;
  private Connection other;

  @BeforeEach
  void start() throws Exception {
    node = new Node(LoopbackSettings.of("n1", null));
    node.start();
    other =
        DriverManager.getConnection(
            "jdbc:tollgate://127.0.0.1:" + node.listenAddress().getPort() + "/");
    run("CREATE TABLE T(ID INT)");
    run("SELECT acquire_lock('busy')");
  }

  @AfterEach
  void stop() throws Exception {
    assertNull(node.failure());
    other.close();
    node.close();
  }

  @Test
  void anotherRequestUnderAKnownNumberEndsTheConnectionAndChangesNothing() throws Exception {
    for (Sent first : REQUESTS) {
      for (Sent second : REQUESTS) {
        if (mayFollow(first, second)) {
          sendBoth(first, second);
        }
      }
    }
  }

  private void sendBoth(Sent first, Sent second) throws Exception {
    String what = first + ", then " + second;
    try (RawClient client = connect();
        RawClient next = connect()) {
      Reply.SessionReady session =
          (Reply.SessionReady) client.call(new Request.OpenSession(60_000, 15_000, OPTIONS));
      Reply answer = send(client, first);
      String before = state();
      Reply.Failure refused =
          assertInstanceOf(
              Reply.Failure.class, client.call(second.request(/* trusted= */ true, 0)), what);
      assertEquals("08P01", refused.sqlState(), what + ": " + refused.message());
      assertTrue(client.isClosedByNode(), what);
      assertEquals(before, state(), what);

      next.call(
          new Request.AttachSession(
              session.sessionId(), session.secret(), /* leaderOnly= */ true, OPTIONS));
      if (first.waits()) {
        sendFrame(next, first);
        run("SELECT release_lock('busy')");
        assertInstanceOf(Reply.Result.class, next.receive(), what);
      } else if (!first.isQuery()) {
        Reply again = next.call(first.request(/* trusted= */ false, /* pageRows= */ 7));
        boolean ownLease = first.sql().contains("_lock(");
        assertTrue(ownLease || bytes(answer).equals(bytes(again)), what + ": " + again);
      }
      next.call(new Request.CloseSession());
    }
    run("SELECT acquire_lock('busy')");
    run("DELETE FROM T");
  }

  private Reply send(RawClient client, Sent first) throws Exception {
    if (!first.waits()) {
      Reply answer = client.call(first.request(/* trusted= */ true, 0));
      assertTrue(!(answer instanceof Reply.Failure), first + ": " + answer);
      return answer;
    }
    sendFrame(client, first);
    await()
        .atMost(DEADLINE)
        .until(() -> rows("SELECT COUNT(*) FROM TOLLGATE.LOCK_WAITERS").equals("[1]"));
    return new Reply.Ok();
  }

  private static void sendFrame(RawClient client, Sent sent) throws IOException {
    WireWriter body = new WireWriter();
    Request.Execute request = sent.request(/* trusted= */ true, 0);
    request.write(body);
    client.sendFrame(request.type(), body.toByteArray());
  }

  private static String bytes(Reply reply) {
    WireWriter out = new WireWriter();
    reply.write(out);
    return HexFormat.of().formatHex(out.toByteArray());
  }

  private RawClient connect() throws IOException {
    RawClient client = new RawClient(node.listenAddress());
    client.hello();
    return client;
  }

  /** What a request could have changed. */
  private String state() throws SQLException {
    return rows("SELECT * FROM T")
        + rows("SELECT LOCK_NAME, TOKEN, LEASE_ID FROM TOLLGATE.LOCKS ORDER BY 1")
        + rows("SELECT LOCK_NAME, LEASE_ID FROM TOLLGATE.LOCK_WAITERS")
        + rows("SELECT LEASE_ID FROM TOLLGATE.LEASES ORDER BY 1")
        + rows("SELECT COUNT(*) FROM TOLLGATE.TRANSACTIONS");
  }

  private String rows(String sql) throws SQLException {
    try (Statement statement = other.createStatement();
        ResultSet result = statement.executeQuery(sql)) {
      List<String> rows = new ArrayList<>();
      int columns = result.getMetaData().getColumnCount();
      while (result.next()) {
        StringBuilder row = new StringBuilder();
        for (int i = 1; i <= columns; i++) {
          row.append(i == 1 ? "" : " ").append(result.getString(i));
        }
        rows.add(row.toString());
      }
      return rows.toString();
    }
  }

  private void run(String sql) throws SQLException {
    try (Statement statement = other.createStatement()) {
      statement.execute(sql);
    }
  }
}
