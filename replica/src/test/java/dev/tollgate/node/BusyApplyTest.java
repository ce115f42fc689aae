package dev.tollgate.node;

import static dev.tollgate.node.RawClient.execute;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.log.RaftSettings;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import dev.tollgate.wire.TransactionMode;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLTimeoutException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/** What clients of a node hear while it applies an entry that does not end. */
@Tag("alone") // it measures how long others wait
@SuppressWarnings("try") // what makes the replica busy is there to be closed
class BusyApplyTest {
  private static final long TTL_MILLIS = 60_000;
  private static final Request.SessionOptions OPTIONS =
      new Request.SessionOptions(ReadConsistency.LINEARIZABLE, 0);

  private static final String NEVER_ENDS =
      "SELECT COUNT(*) FROM SYSTEM_RANGE(1, 1000000) A, SYSTEM_RANGE(1, 1000000) B"
          + " WHERE A.X + B.X = 1";
  private static final Duration DEADLINE = Duration.ofSeconds(20);

  /** More than a node has threads of any kind. */
  private static final int MANY = 40;

  @TempDir Path directory;

  private final List<RawClient> clients = new ArrayList<>();
  private Node node;

  @BeforeEach
  void start() throws Exception {
    node =
        new Node(
            LoopbackSettings.of("busy", RaftSettings.alone("busy", directory.resolve("data"))));
    node.start();
    assertTrue(node.awaitLeadership(DEADLINE));
  }

  @AfterEach
  void stop() throws IOException {
    for (RawClient client : clients) {
      client.close();
    }
    node.close();
  }

  /** One request after the apply became busy, and what has to come back all the same. */
  private interface Exchange {
    void run(RawClient known, Reply.SessionReady session) throws IOException;
  }

  @Test
  void helloIsAnswered() throws Exception {
    whileBusy((known, session) -> connect());
  }

  @Test
  void sessionIsAttached() throws Exception {
    whileBusy((known, session) -> assertEquals(session, connect().call(attach(session))));
  }

  @Test
  void strangerIsRefused() throws Exception {
    whileBusy(
        (known, session) ->
            assertFailure(
                SqlState.CONNECTION_REFUSED,
                connect()
                    .call(
                        new Request.AttachSession(
                            session.sessionId(), session.secret() + 1, true, OPTIONS))));
  }

  @Test
  void heartbeatIsAcknowledged() throws Exception {
    whileBusy(
        (known, session) ->
            assertEquals(
                new Reply.HeartbeatAck(List.of(), List.of()), known.call(heartbeat(session))));
  }

  @Test
  void leaseIsRenewedByAStatementThatTheNodeHasNotSeen() throws Exception {
    RawClient first = connect();
    open(first);
    assertInstanceOf(Reply.Result.class, first.call(execute(1, "SELECT create_lease(60000)")));
    try (BusyApply busy = new BusyApply(node.replica())) {
      assertInstanceOf(Reply.Result.class, first.call(execute(2, "SELECT  renew_lease(1)")));
    }
  }

  /** Their answers come when the entry has been applied; until then nobody else waits for them. */
  @TestFactory
  Stream<DynamicTest> othersAreServedWhileThisWaits() {
    return Stream.of(
            execute(2, "SELECT holds_lock('a', 1)"),
            execute(2, "SELECT lock_token('a')"),
            execute(2, "SELECT acquire_lock('a')"),
            execute(2, "SELECT renew_lease(77)"),
            execute(2, "SELECT * FROM TOLLGATE.LOCKS"),
            execute(2, "INSERT INTO T VALUES(1)"),
            inTransaction(2, "INSERT INTO T VALUES(1)"),
            inTransaction(2, "SELECT * FROM T"),
            execute(2, "CALL take_snapshot()"),
            new Request.Prepare("SELECT * FROM TOLLGATE.LOCKS WHERE lock_name = ?"),
            new Request.OpenSnapshot(false),
            new Request.OpenSnapshot(true),
            new Request.ReleaseOwnLease(),
            new Request.CloseSession())
        .map(
            request ->
                DynamicTest.dynamicTest(
                    request.toString(), () -> assertOthersAreServedDuring(request)));
  }

  private void assertOthersAreServedDuring(Request request) throws Exception {
    List<RawClient> waiting = new ArrayList<>();
    for (int i = 0; i < MANY; i++) {
      RawClient client = connect();
      open(client);
      client.call(execute(1, "CREATE TABLE IF NOT EXISTS T(ID INT)"));
      waiting.add(client);
    }
    RawClient bystander = connect();
    Reply.SessionReady session = open(bystander);
    try (BusyApply busy = new BusyApply(node.replica())) {
      for (RawClient client : waiting) {
        client.write(request);
      }
      for (int i = 0; i < 2; i++) {
        assertEquals(session, connect().call(attach(session)));
        assertEquals(
            new Reply.HeartbeatAck(List.of(), List.of()), bystander.call(heartbeat(session)));
      }
    }
    for (RawClient client : waiting) {
      client.receive();
      client.call(new Request.CloseSession());
    }
  }

  @Test
  void queryIsCancelled() throws Exception {
    RawClient querying = connect();
    Reply.SessionReady session = open(querying);
    querying.write(execute(1, NEVER_ENDS));
    try (BusyApply busy = new BusyApply(node.replica())) {
      RawClient control = connect();
      Request cancel = new Request.Cancel(session.sessionId(), session.secret(), 1);
      // the first may come before the query has begun
      await()
          .atMost(DEADLINE)
          .until(
              () -> {
                control.write(cancel);
                return querying.hasHeardSomething();
              });
      assertFailure(SqlState.CANCELLED, querying.receive());
    }
  }

  /** It looks at the fences before it reads any table. */
  @Test
  void scriptHasAQueryTimeout() throws Exception {
    String url =
        "jdbc:tollgate://127.0.0.1:" + node.listenAddress().getPort() + "/?readConsistency=any";
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE T(ID INT)");
      statement.setQueryTimeout(1);
      try (BusyApply busy = new BusyApply(node.replica())) {
        SQLTimeoutException late =
            assertThrows(SQLTimeoutException.class, () -> statement.executeQuery("SCRIPT"));
        assertEquals("57014", late.getSQLState());
      }
      try (ResultSet script = statement.executeQuery("SCRIPT")) {
        assertTrue(script.next());
      }
    }
  }

  private void whileBusy(Exchange exchange) throws Exception {
    RawClient known = connect();
    Reply.SessionReady session = open(known);
    try (BusyApply busy = new BusyApply(node.replica())) {
      // more often than there are event loops
      for (int i = 0; i < 4; i++) {
        exchange.run(known, session);
      }
      assertEquals(new Reply.Ok(), known.call(new Request.Ping()));
    }
  }

  private RawClient connect() throws IOException {
    RawClient client = new RawClient(node.listenAddress());
    clients.add(client);
    client.hello();
    return client;
  }

  private static Reply.SessionReady open(RawClient client) throws IOException {
    return assertInstanceOf(
        Reply.SessionReady.class,
        client.call(new Request.OpenSession(TTL_MILLIS, TTL_MILLIS, OPTIONS)));
  }

  private static Request.AttachSession attach(Reply.SessionReady session) {
    return new Request.AttachSession(session.sessionId(), session.secret(), true, OPTIONS);
  }

  private static Request.Heartbeat heartbeat(Reply.SessionReady session) {
    return new Request.Heartbeat(List.of(session.sessionId()), List.of());
  }

  private static Request.Execute inTransaction(long sequence, String sql) {
    return execute(sequence, TransactionMode.READ_COMMITTED, sql);
  }

  private static void assertFailure(SqlState state, Reply reply) {
    assertEquals(state.state(), assertInstanceOf(Reply.Failure.class, reply).sqlState());
  }
}
