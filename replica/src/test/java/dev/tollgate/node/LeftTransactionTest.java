package dev.tollgate.node;

import static dev.tollgate.node.RawClient.execute;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.cluster.Ports;
import dev.tollgate.cluster.Relay;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.transport.ClusterSession;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.TransactionMode;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Transactions of processes whose connections end without a goodbye. */
@Timeout(60)
class LeftTransactionTest {
  private static final Duration DEADLINE = Duration.ofSeconds(20);
  private static final Request.SessionOptions OPTIONS =
      new Request.SessionOptions(ReadConsistency.LINEARIZABLE, 0);

  private Node node;
  private RawClient client;
  private Reply.SessionReady session;

  @BeforeEach
  void beginTransaction() throws Exception {
    node = new Node(LoopbackSettings.of("left", null));
    node.start();
    assertTrue(node.awaitLeadership(DEADLINE));
    client = connect("4711 2026-11-28T00:00:00Z");
    session = open(client);
    call(client, execute(1, TransactionMode.AUTOCOMMIT, "CREATE TABLE T(ID INT)"));
    call(client, execute(2, TransactionMode.READ_COMMITTED, "INSERT INTO T VALUES(1)"));
  }

  @AfterEach
  void stop() throws Exception {
    client.close();
    node.close();
  }

  private RawClient connect(String process) throws IOException {
    RawClient connected = new RawClient(node.listenAddress());
    assertInstanceOf(Reply.Welcome.class, connected.greet(process));
    return connected;
  }

  private RawClient connect() throws IOException {
    return connect("4711 2026-11-28T00:00:00Z");
  }

  private static Reply.SessionReady open(RawClient by) throws IOException {
    return assertInstanceOf(
        Reply.SessionReady.class, by.call(new Request.OpenSession(60_000, 60_000, OPTIONS)));
  }

  private static void call(RawClient by, Request request) throws IOException {
    assertInstanceOf(Reply.Result.class, by.call(request));
  }

  private void attach(RawClient by) throws IOException {
    assertInstanceOf(
        Reply.SessionReady.class,
        by.call(
            new Request.AttachSession(
                session.sessionId(), session.secret(), /* leaderOnly= */ true, OPTIONS)));
  }

  private boolean isInTransaction() {
    return node.replica().facts().isInTransaction(new SessionId(session.sessionId()));
  }

  /** Longer than a process has to come back. */
  private void assertTransactionLasts() {
    await().atMost(DEADLINE).during(Duration.ofMillis(1_500)).until(this::isInTransaction);
  }

  private void awaitEnd() {
    await().atMost(DEADLINE).until(() -> !isInTransaction());
  }

  @Test
  void clientThatComesBackTooLateIsToldWhatBecameOfItsTransaction() throws Exception {
    client.close();
    awaitEnd();
    try (RawClient back = connect()) {
      attach(back);
      Reply.Failure lost =
          assertInstanceOf(
              Reply.Failure.class,
              back.call(execute(3, TransactionMode.READ_COMMITTED, "INSERT INTO T VALUES(2)")));
      assertEquals("40001", lost.sqlState());
      assertTrue(lost.message().contains("did not come back within 1 s"), lost.message());
      call(back, execute(4, TransactionMode.READ_COMMITTED, "INSERT INTO T VALUES(2)"));
    }
  }

  @Test
  void clientThatAttachesItsSessionInTimeGoesOn() throws Exception {
    client.close();
    try (RawClient back = connect()) {
      attach(back);
      assertTransactionLasts();
      call(back, execute(3, TransactionMode.READ_COMMITTED, "COMMIT"));
    }
  }

  @Test
  void heartbeatIsASignOfLife() throws Exception {
    client.close();
    try (RawClient control = connect()) {
      assertInstanceOf(
          Reply.HeartbeatAck.class,
          control.call(new Request.Heartbeat(List.of(session.sessionId()), List.of())));
      assertTransactionLasts();
    }
    awaitEnd();
  }

  /** A network may break one of two connections. */
  @Test
  void processWithAnotherConnectionHasNotLeft() throws Exception {
    try (RawClient control = connect()) {
      assertInstanceOf(
          Reply.HeartbeatAck.class, control.call(new Request.Heartbeat(List.of(), List.of())));
      client.close();
      assertTransactionLasts();
    }
    awaitEnd();
  }

  @Test
  void otherProcessesAreNoSignOfLife() throws Exception {
    try (RawClient another = connect("4712 2026-11-28T00:00:00Z")) {
      assertInstanceOf(
          Reply.HeartbeatAck.class, another.call(new Request.Heartbeat(List.of(), List.of())));
      client.close();
      awaitEnd();
    }
  }

  @Test
  void sessionThatAnotherProcessHasAttachedGoesOn() throws Exception {
    try (RawClient another = connect("4712 2026-11-28T00:00:00Z")) {
      attach(another);
      client.close();
      assertTransactionLasts();
      call(another, execute(3, TransactionMode.READ_COMMITTED, "COMMIT"));
    }
  }

  /** It may be well, and come back with its session. */
  @Test
  void clientWhoseConnectionTheNodeHasEndedHasNotLeft() throws Exception {
    client.sendFrame(0x06, new byte[] {1});
    assertInstanceOf(Reply.Failure.class, client.receive());
    assertTransactionLasts();
  }

  /** Many clients may share such a name. */
  @Test
  void clientThatDoesNotNameItsProcessNeverLeaves() throws Exception {
    RawClient nameless = connect("");
    Reply.SessionReady other = open(nameless);
    call(nameless, execute(1, TransactionMode.READ_COMMITTED, "INSERT INTO T VALUES(3)"));
    client.close();
    nameless.close();
    awaitEnd();
    assertTrue(node.replica().facts().isInTransaction(new SessionId(other.sessionId())));
  }

  /** The driver has one connection for the session, and one for its heartbeats. */
  @Test
  void driverKeepsItsTransactionWhenAProxyEndsAllItsConnections() throws Exception {
    int port = Ports.free();
    try (Relay proxy = new Relay(port, node.listenAddress().getPort());
        Connection connection = DriverManager.getConnection("jdbc:tollgate://127.0.0.1:" + port);
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      statement.executeUpdate("INSERT INTO T VALUES(7)");
      SessionId own = new SessionId(connection.unwrap(ClusterSession.class).id());
      for (int i = 0; i < 3; i++) {
        proxy.endConnections();
        await()
            .atMost(DEADLINE)
            .during(Duration.ofMillis(1_500))
            .until(() -> node.replica().facts().isInTransaction(own));
      }
      connection.commit();
    }
  }

  /** What the client sent last is carried out after its connection has ended. */
  @Test
  void statementUnderWayLeavesNoTransaction() throws Exception {
    call(client, execute(3, TransactionMode.READ_COMMITTED, "COMMIT"));
    client.write(execute(4, TransactionMode.READ_COMMITTED, "INSERT INTO T VALUES(5)"));
    client.close();
    await()
        .atMost(DEADLINE)
        .until(
            () ->
                node.replica()
                        .state()
                        .look(state -> state.session(new SessionId(session.sessionId())))
                        .lastSequence()
                    == 4);
    awaitEnd();
  }

  /** The node may be about to send an answer when it sees the end of the connection. */
  @Test
  void processesThatEndWhileAnswersAreOnTheWayHaveLeft() throws Exception {
    List<SessionId> all = new ArrayList<>();
    for (int round = 0; round < 150; round++) {
      RawClient ending = connect("5000 " + round);
      all.add(new SessionId(open(ending).sessionId()));
      call(ending, execute(1, TransactionMode.READ_COMMITTED, "INSERT INTO T VALUES(9)"));
      for (int i = 2; i < 6; i++) {
        ending.write(execute(i, TransactionMode.READ_COMMITTED, "INSERT INTO T VALUES(9)"));
      }
      ending.close();
    }
    await()
        .atMost(DEADLINE)
        .untilAsserted(
            () ->
                assertEquals(
                    List.of(),
                    all.stream().filter(node.replica().facts()::isInTransaction).toList()));
  }
}
