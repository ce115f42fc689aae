package dev.tollgate.node;

import static dev.tollgate.node.RawClient.execute;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.Capacity;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.node.client.ClientLimits;
import dev.tollgate.node.client.HeldQueries;
import dev.tollgate.node.client.Workers;
import dev.tollgate.store.Poison;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SeriesEnding;
import dev.tollgate.wire.SqlState;
import dev.tollgate.wire.TransactionMode;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A statement that is canceled in a queue is answered while the queue still stands. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@SuppressWarnings("try") // what holds a queue is there to be closed
class CanceledInQueueTest {
  private static final byte[] NO_PARAMETERS = {0, 0};

  private static final Request.SessionOptions OPTIONS =
      new Request.SessionOptions(ReadConsistency.LINEARIZABLE, 0);

  /** More than a node has threads to try writes. */
  private static final int FLOOD = 8;

  /** More queries than one connection may have under way. */
  private static final int OF_ONE_CONNECTION = 40;

  private static final int CONNECTIONS = 40;
  private static final int STATEMENTS_OF_EACH = 10;

  @TempDir Path directory;
  private final CountDownLatch held = new CountDownLatch(1);
  private final CountDownLatch free = new CountDownLatch(1);
  private Node node;
  private RawClient client;
  private RawClient control;
  private Reply.SessionReady session;
  private long sequence;

  @BeforeEach
  void open() throws Exception {
    start();
    session = open(client);
    done(client.call(execute(++sequence, "CREATE TABLE T(ID INT PRIMARY KEY)")));
  }

  /** Starts a node that tries poisoned writes until {@link #free}. */
  private void start() throws Exception {
    node =
        new Node(
            LoopbackSettings.of("queues", RaftSettings.alone("queues", directory.resolve("data"))),
            Poison.database(
                database -> {
                  held.countDown();
                  try {
                    free.await();
                  } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                  }
                  return false;
                }),
            ClientLimits.STANDARD.withRehearsalWaitMillis(600_000),
            Capacity.STANDARD);
    node.start();
    assertTrue(node.awaitLeadership(Duration.ofSeconds(20)));
    client = new RawClient(node.listenAddress());
    client.hello();
    control = new RawClient(node.listenAddress());
    control.hello();
  }

  private static Reply.SessionReady open(RawClient opening) throws Exception {
    return assertInstanceOf(
        Reply.SessionReady.class, opening.call(new Request.OpenSession(60_000, 60_000, OPTIONS)));
  }

  @AfterEach
  void close() throws Exception {
    free.countDown();
    client.close();
    control.close();
    node.close();
  }

  private static void done(Reply reply) {
    assertInstanceOf(Reply.Result.class, reply, reply::toString);
  }

  private HeldQueries hold(Workers.Kind kind) {
    return new HeldQueries(kind, node.workers(), node.pipeline(), node.replica().facts());
  }

  private int queued(Workers.Kind kind) {
    return node.service().figures().queued().get(kind);
  }

  private void cancel(long canceled) throws Exception {
    assertEquals(
        new Reply.Ok(),
        control.call(new Request.Cancel(session.sessionId(), session.secret(), canceled)));
  }

  /** Sends a request, cancels it once it is in the queue, and finds that it has left the queue. */
  private void assertCanceledIn(IntSupplier queue, Request request) throws Exception {
    int before = queue.getAsInt();
    client.write(request);
    await().until(() -> queue.getAsInt() > before || client.hasHeardSomething());
    cancel(sequence);
    Reply.Failure failure = assertInstanceOf(Reply.Failure.class, client.receive());
    assertEquals(SqlState.CANCELLED.state(), failure.sqlState(), failure.message());
    assertEquals(before, queue.getAsInt());
  }

  private void assertCanceledIn(Workers.Kind kind, Request request) throws Exception {
    assertCanceledIn(() -> queued(kind), request);
  }

  private void assertEmpty() throws Exception {
    done(client.call(execute(++sequence, "INSERT INTO T VALUES (1), (2), (3)")));
  }

  @Test
  void queryThatWaitsForAThread() throws Exception {
    try (HeldQueries queries = hold(Workers.Kind.QUERIES)) {
      assertCanceledIn(Workers.Kind.QUERIES, execute(++sequence, "SELECT ID FROM T"));
    }
    done(client.call(execute(++sequence, "SELECT ID FROM T")));
  }

  @Test
  void queryThatWaitsForOthersOfItsConnection() throws Exception {
    try (HeldQueries queries = hold(Workers.Kind.QUERIES)) {
      for (int i = 0; i < OF_ONE_CONNECTION; i++) {
        client.write(execute(++sequence, "SELECT ID FROM T"));
      }
      cancel(sequence);
      Reply.Failure failure = assertInstanceOf(Reply.Failure.class, client.receive());
      assertEquals(SqlState.CANCELLED.state(), failure.sqlState(), failure.message());
    }
    for (int i = 1; i < OF_ONE_CONNECTION; i++) {
      done(client.receive());
    }
  }

  @Test
  void writeThatWaitsToBePlanned() throws Exception {
    try (HeldQueries plans = hold(Workers.Kind.PLANS)) {
      assertCanceledIn(Workers.Kind.PLANS, execute(++sequence, "INSERT INTO T VALUES (1)"));
    }
    assertEmpty();
  }

  @Test
  void longStatementThatWaitsToBePlanned() throws Exception {
    String text = "INSERT INTO T VALUES (1)" + " ".repeat(10_000);
    try (HeldQueries queries = hold(Workers.Kind.QUERIES)) {
      assertCanceledIn(Workers.Kind.QUERIES, execute(++sequence, text));
    }
    assertEmpty();
  }

  @Test
  void seriesThatWaitsToBePlanned() throws Exception {
    try (HeldQueries plans = hold(Workers.Kind.PLANS)) {
      assertCanceledIn(Workers.Kind.PLANS, series("INSERT INTO T VALUES (1)"));
    }
    assertEmpty();
  }

  @Test
  void endOfATransactionIsCarriedOut() throws Exception {
    for (String end : List.of("ROLLBACK", " commit")) {
      TransactionMode open = TransactionMode.READ_COMMITTED;
      done(client.call(execute(++sequence, open, "INSERT INTO T VALUES (9)")));
      try (HeldQueries plans = hold(Workers.Kind.PLANS)) {
        int before = queued(Workers.Kind.PLANS);
        client.write(execute(++sequence, open, end));
        await().until(() -> queued(Workers.Kind.PLANS) > before);
        cancel(sequence);
        assertTrue(queued(Workers.Kind.PLANS) > before);
      }
      done(client.receive());
    }
    assertEmpty();
    Reply.Failure twice =
        assertInstanceOf(
            Reply.Failure.class, client.call(execute(++sequence, "INSERT INTO T VALUES (9)")));
    assertEquals("23505", twice.sqlState(), "it was committed");
  }

  private Request.ExecuteSeries series(String sql) {
    return new Request.ExecuteSeries(
        ++sequence,
        true,
        TransactionMode.AUTOCOMMIT,
        SeriesEnding.RUN_ALL,
        List.of(new Request.SeriesStatement(sql, NO_PARAMETERS)));
  }

  @Test
  void lockCallThatWaitsForItsArguments() throws Exception {
    try (HeldQueries calls = hold(Workers.Kind.CALLS)) {
      assertCanceledIn(Workers.Kind.CALLS, execute(++sequence, "SELECT acquire_lock('jo' || 'b')"));
    }
    try (Connection connection = connect();
        Statement statement = connection.createStatement();
        ResultSet token = statement.executeQuery("SELECT try_acquire_lock('job')")) {
      assertTrue(token.next());
      assertTrue(token.getLong(1) > 0, "the lock is free");
    }
  }

  @Test
  void writeThatWaitsToBeTried() throws Exception {
    List<RawClient> flood = new ArrayList<>();
    try {
      for (int i = 0; i < FLOOD; i++) {
        RawClient other = new RawClient(node.listenAddress());
        flood.add(other);
        other.hello();
        open(other);
        other.write(execute(1, "INSERT INTO T SELECT " + (10 + i) + " AS POISON" + i));
      }
      held.await();
      await().until(() -> queued(Workers.Kind.REHEARSALS) > 0);
      assertCanceledIn(
          Workers.Kind.REHEARSALS, execute(++sequence, "INSERT INTO T SELECT 1 AS POISON"));
      assertCanceledIn(Workers.Kind.REHEARSALS, series("INSERT INTO T SELECT 2 AS POISON"));
      free.countDown();
      for (RawClient other : flood) {
        done(other.receive());
      }
    } finally {
      for (RawClient other : flood) {
        other.close();
      }
    }
    assertEmpty();
  }

  @Test
  void transactionThatWaitsForASnapshot() throws Exception {
    node.service().snapshotNeedsGap(true);
    assertCanceledIn(
        () -> node.service().figures().heldTransactions(),
        execute(++sequence, TransactionMode.READ_COMMITTED, "INSERT INTO T VALUES (1)"));
    node.service().snapshotNeedsGap(false);
    assertEmpty();
  }

  /** Only the log knows what the first one did. */
  @Test
  void repetitionOfAnAppliedWriteHasTheAnswerOfTheLog() throws Exception {
    Request.Execute insert = execute(++sequence, "INSERT INTO T VALUES (7)");
    done(client.call(insert));
    client.close();
    control.close();
    node.close();
    start();
    client.call(
        new Request.AttachSession(
            session.sessionId(), session.secret(), /* leaderOnly= */ true, OPTIONS));
    try (HeldQueries plans = hold(Workers.Kind.PLANS)) {
      int before = queued(Workers.Kind.PLANS);
      client.write(insert);
      await().until(() -> queued(Workers.Kind.PLANS) > before);
      cancel(sequence);
    }
    done(client.receive());
    assertEmpty();
  }

  private Connection connect() throws SQLException {
    return DriverManager.getConnection(
        "jdbc:tollgate://127.0.0.1:" + node.listenAddress().getPort());
  }

  @Test
  void rowsOfTheTransactionAreFreeAtOnce() throws Exception {
    done(client.call(execute(++sequence, "INSERT INTO T VALUES (1)")));
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      connection.setAutoCommit(false);
      statement.executeUpdate("UPDATE T SET ID = 2");
      try (HeldQueries queries = hold(Workers.Kind.QUERIES)) {
        statement.execute("SET QUERY_TIMEOUT 1");
        SQLException late =
            assertThrows(SQLException.class, () -> statement.executeQuery("SELECT ID FROM T"));
        assertEquals("57014", late.getSQLState(), late.getMessage());
        connection.rollback();
        done(client.call(execute(++sequence, "UPDATE T SET ID = 3")));
      }
    }
  }

  /** However small the timeout and however busy the node, a connection does not end by it. */
  @Test
  void timeoutsUnderLoadEndNoConnection() throws Exception {
    List<CompletableFuture<Integer>> all = new ArrayList<>();
    for (int i = 0; i < CONNECTIONS; i++) {
      int number = i;
      all.add(CompletableFuture.supplyAsync(() -> late(number), task -> new Thread(task).start()));
    }
    int late = 0;
    for (CompletableFuture<Integer> one : all) {
      late += one.get(50, TimeUnit.SECONDS);
    }
    assertTrue(late > 0, "no statement was late");
  }

  /** Returns how many statements were late. */
  private int late(int number) {
    int late = 0;
    try (Connection connection = connect();
        Statement statement = connection.createStatement()) {
      statement.execute("SET QUERY_TIMEOUT 1");
      for (int i = 0; i < STATEMENTS_OF_EACH; i++) {
        try {
          statement.execute(
              i % 2 == 0
                  ? "SELECT SUM(X) FROM SYSTEM_RANGE(1, 100000) WHERE X <> " + (number + i)
                  : "INSERT INTO T VALUES (" + (1000 + number * STATEMENTS_OF_EACH + i) + ")");
        } catch (SQLException e) {
          assertEquals("57014", e.getSQLState(), e.getMessage());
          late++;
        }
      }
      statement.execute("SET QUERY_TIMEOUT 0");
      assertTrue(connection.isValid(20));
      return late;
    } catch (SQLException e) {
      throw new AssertionError("connection " + number, e);
    }
  }
}
