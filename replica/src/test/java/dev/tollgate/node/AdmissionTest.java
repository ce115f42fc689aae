package dev.tollgate.node;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.Capacity;
import dev.tollgate.h2.Meter;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.node.client.ClientLimits;
import dev.tollgate.node.client.HeldQueries;
import dev.tollgate.node.client.Workers;
import dev.tollgate.store.Poison;
import dev.tollgate.store.SqlDatabase;
import dev.tollgate.store.h2.SqlValue;
import dev.tollgate.wire.KeyRequest;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SeriesEnding;
import dev.tollgate.wire.TransactionMode;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.h2.message.DbException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A write whose read takes too much never enters the log. */
@Timeout(60)
class AdmissionTest {
  private static final Request.SessionOptions OPTIONS =
      new Request.SessionOptions(ReadConsistency.LINEARIZABLE, 0);

  private static final String TRIED =
      "INSERT INTO T SELECT COUNT(SQRT(X)) AS POISON FROM SYSTEM_RANGE(1, ?)";

  private static final long SEED = 41;

  /** A query may take 2,500 times as many. */
  private static final long STEPS_PER_CHECK = 10_000;

  /** More than a node has threads to try writes. */
  private static final int FLOOD = 20;

  @TempDir Path directory;
  private Node node;
  private RawClient client;
  private Reply.SessionReady session;
  private long sequence;
  private final CountDownLatch held = new CountDownLatch(1);
  private final AtomicInteger tries = new AtomicInteger();
  private volatile int failing;
  private volatile int ending;
  private final CountDownLatch free = new CountDownLatch(1);

  private void start(long rehearsalMillis) throws Exception {
    start(rehearsalMillis, new SqlDatabase());
  }

  private void start(long rehearsalMillis, SqlDatabase database) throws Exception {
    start(ClientLimits.STANDARD.withRehearsalMillis(rehearsalMillis), database);
  }

  private void start(ClientLimits limits, SqlDatabase database) throws Exception {
    node =
        new Node(
            LoopbackSettings.of("leader", RaftSettings.alone("leader", directory.resolve("data"))),
            database,
            limits,
            Capacity.STANDARD);
    node.start();
    assertTrue(node.awaitLeadership(Duration.ofSeconds(20)));
    // what a node appends of its own accord changes the digest too
    await()
        .atMost(Duration.ofSeconds(20))
        .until(
            () ->
                node.replica().identity().clusterId() != null
                    && !node.replica().facts().nodes().isEmpty());
    client = new RawClient(node.listenAddress());
    client.hello();
  }

  private void open() throws Exception {
    session = open(client);
    sequence = 0;
  }

  private static Reply.SessionReady open(RawClient opening) throws Exception {
    return assertInstanceOf(
        Reply.SessionReady.class, opening.call(new Request.OpenSession(60_000, 60_000, OPTIONS)));
  }

  private void attach() throws Exception {
    client.call(
        new Request.AttachSession(
            session.sessionId(), session.secret(), /* leaderOnly= */ true, OPTIONS));
  }

  /**
   * A database that counts the tries of poisoned statements. One try overflows the stack; another
   * one lasts until something cancels it.
   */
  private SqlDatabase counting() {
    return Poison.database(
        database -> {
          if (!Thread.currentThread().getName().contains("rehearsals")) {
            return false;
          }
          int number = tries.incrementAndGet();
          if (number == ending) {
            held.countDown();
            await()
                .pollInSameThread()
                .pollInterval(Duration.ofMillis(10))
                .until(AdmissionTest::isCanceled);
          }
          return number == failing;
        });
  }

  /** Takes steps on the thread of a query until its watch ends it; the query meets that again. */
  private static boolean isCanceled() {
    try {
      Meter.steps(STEPS_PER_CHECK);
      return false;
    } catch (DbException canceled) {
      return true;
    }
  }

  /** A database whose poisoned statements last until {@link #free}. */
  private SqlDatabase holding() {
    return Poison.database(
        database -> {
          held.countDown();
          try {
            free.await();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
          return false;
        });
  }

  @AfterEach
  void stop() throws Exception {
    free.countDown();
    assertNull(node.failure());
    client.close();
    node.close();
  }

  /** A node that counts tries, with a table for what {@link #TRIED} reads. */
  private void startCounting() throws Exception {
    start(ClientLimits.STANDARD, counting());
    open();
    done(execute("CREATE TABLE T(A INT)"));
  }

  private Reply execute(String sql, Object... parameters) throws Exception {
    return client.call(request(++sequence, sql, parameters));
  }

  private static Request.Execute request(long number, String sql, Object... parameters) {
    List<SqlValue> values =
        List.of(parameters).stream()
            .map(value -> SqlValue.ofNumber(((Number) value).longValue()))
            .toList();
    return new Request.Execute(
        number,
        true,
        TransactionMode.AUTOCOMMIT,
        false,
        sql,
        new KeyRequest.None(),
        0,
        0,
        List.of(SqlValue.encodeFirst(values, values.size())));
  }

  private void done(Reply reply) {
    assertInstanceOf(Reply.Result.class, reply, () -> reply.toString());
  }

  private static void refused(Reply reply) {
    Reply.Failure failure = assertInstanceOf(Reply.Failure.class, reply);
    assertEquals("54001", failure.sqlState(), failure.message());
    assertTrue(failure.message().contains("the leader tried"), failure.message());
  }

  /** The digest of all that this node has done. */
  private long applied() {
    return node.replica().digest().value();
  }

  @Test
  void writeWhoseReadTakesTooLongIsNotInTheLog() throws Exception {
    start(0);
    open();
    done(execute("CREATE TABLE T(A INT)"));
    done(execute("CREATE SEQUENCE Q"));
    long before = applied();
    refused(execute("INSERT INTO T VALUES (1)"));
    refused(execute("INSERT INTO T SELECT X FROM SYSTEM_RANGE(1, ?)", 10));
    refused(execute("UPDATE T SET A = 2"));
    refused(execute("DELETE FROM T"));
    refused(execute("MERGE INTO T USING (SELECT 1 AS B) S ON A = B WHEN MATCHED THEN DELETE"));
    refused(execute("CREATE VIEW V AS SELECT A FROM T"));
    refused(
        client.call(
            new Request.ExecuteSeries(
                ++sequence,
                true,
                TransactionMode.AUTOCOMMIT,
                SeriesEnding.RUN_ALL,
                List.of(
                    new Request.SeriesStatement(
                        "INSERT INTO T VALUES (5)", SqlValue.encodeFirst(List.of(), 0))))));
    assertEquals(before, applied());
    done(execute("INSERT INTO T SELECT NEXT VALUE FOR Q"));
    assertNotEquals(before, applied());
  }

  @Test
  void writeWhoseReadNeedsMoreStackThanThereIsStopsNothing() throws Exception {
    start(ClientLimits.STANDARD.rehearsalMillis(), Poison.database(database -> true));
    open();
    done(execute("CREATE TABLE T(A INT)"));
    long before = applied();
    refused(execute("INSERT INTO T SELECT 666 AS POISON"));
    assertEquals(before, applied());
    done(execute("INSERT INTO T SELECT 1"));
  }

  @Test
  void shapeIsKnownForTheSizesThatWereTried() throws Exception {
    startCounting();
    done(execute(TRIED, 10));
    assertEquals(1, tries.get());
    done(execute(TRIED, 12));
    assertEquals(1, tries.get());
    done(execute(TRIED, 45_000));
    assertEquals(2, tries.get());
    done(execute(TRIED, 500));
    assertEquals(2, tries.get());
    done(execute(TRIED, 1));
    assertEquals(3, tries.get());
    done(execute("INSERT INTO T SELECT 7 AS POISON"));
    assertEquals(4, tries.get());
    done(execute("INSERT INTO T SELECT 5 AS POISON"));
    assertEquals(4, tries.get());
    done(execute("INSERT INTO T SELECT 9999 AS POISON"));
    assertEquals(5, tries.get());
  }

  @Test
  void everySetOfABatchIsTried() throws Exception {
    startCounting();
    failing = 2;
    long before = applied();
    refused(client.call(batch(TRIED, List.of(number(1), number(45_000)))));
    assertEquals(before, applied());
    assertInstanceOf(
        Reply.BatchResult.class, client.call(batch(TRIED, List.of(number(1), number(1)))));
    assertEquals(2, tries.get());
  }

  @Test
  void everyStatementOfASeriesIsTried() throws Exception {
    startCounting();
    failing = 2;
    long before = applied();
    String one = TRIED.replace("?", "1");
    refused(client.call(series(one, TRIED.replace("?", "45_000"))));
    assertEquals(before, applied());
    assertInstanceOf(Reply.BatchResult.class, client.call(series(one, one)));
    assertEquals(2, tries.get());
  }

  @Test
  void readThatADefinitionEndedIsTriedAgain() throws Exception {
    startCounting();
    ending = 1;
    client.write(request(++sequence, TRIED, 45_000));
    held.await();
    try (RawClient other = new RawClient(node.listenAddress())) {
      other.hello();
      open(other);
      done(other.call(request(1, "CREATE TABLE OTHER(A INT)")));
    }
    done(client.receive());
    assertEquals(2, tries.get());
  }

  @Test
  void readThatDidNotBeginIsTriedLater() throws Exception {
    startCounting();
    String write = "INSERT INTO T SELECT A AS POISON FROM LATER";
    assertInstanceOf(Reply.Failure.class, execute(write));
    done(execute("CREATE TABLE LATER(A INT)"));
    assertEquals(0, tries.get());
    done(execute(write));
    assertEquals(1, tries.get());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "INSERT INTO T VALUES (?, ?, UPPER(? || 'POISON'))",
        "UPDATE T SET A = ?, B = CONCAT(?, 'POISON') WHERE ID = CHAR_LENGTH(?)"
      })
  void fewSetsOfABatchOfOrdinaryValuesAreTried(String sql) throws Exception {
    start(ClientLimits.STANDARD, counting());
    open();
    done(execute("CREATE TABLE T(ID INT PRIMARY KEY, A VARCHAR, B VARCHAR)"));
    Random random = new Random(SEED);
    for (int id = 0; id < 10_000; ) {
      List<byte[]> sets = new ArrayList<>();
      for (int i = 0; i < Protocol.MAX_BATCH_SETS; i++) {
        List<SqlValue> values =
            List.of(
                SqlValue.ofNumber(id++),
                SqlValue.ofText(name(random)),
                SqlValue.ofText(name(random)));
        sets.add(SqlValue.encodeFirst(values, values.size()));
      }
      Reply reply = client.call(batch(sql, sets));
      assertInstanceOf(Reply.BatchResult.class, reply, reply::toString);
    }
    assertTrue(tries.get() > 0 && tries.get() < 50, tries.get() + " tries, seed " + SEED);
  }

  /** A few words, some with an accent. */
  private static String name(Random random) {
    StringBuilder name = new StringBuilder();
    for (int word = random.nextInt(4); word >= 0; word--) {
      for (int length = random.nextInt(12); length >= 0; length--) {
        name.append(random.nextInt(30) == 0 ? '\u00e9' : (char) ('a' + random.nextInt(26)));
      }
      name.append(' ');
    }
    return name.toString();
  }

  private static byte[] number(long number) {
    return SqlValue.encodeFirst(List.of(SqlValue.ofNumber(number)), 1);
  }

  private Request.ExecuteSeries series(String first, String second) {
    byte[] none = SqlValue.encodeFirst(List.of(), 0);
    return new Request.ExecuteSeries(
        ++sequence,
        true,
        TransactionMode.AUTOCOMMIT,
        SeriesEnding.RUN_ALL,
        List.of(
            new Request.SeriesStatement(first, none), new Request.SeriesStatement(second, none)));
  }

  private Request.Execute batch(String sql, List<byte[]> sets) {
    return new Request.Execute(
        ++sequence, true, TransactionMode.AUTOCOMMIT, true, sql, new KeyRequest.None(), 0, 0, sets);
  }

  @Test
  void repetitionOfAnAppliedRequestIsAnswered() throws Exception {
    start(ClientLimits.STANDARD.rehearsalMillis());
    open();
    done(execute("CREATE TABLE T(A INT)"));
    Request.Execute insert = request(++sequence, "INSERT INTO T SELECT X FROM SYSTEM_RANGE(1, 7)");
    Reply.Result first = assertInstanceOf(Reply.Result.class, client.call(insert));
    client.close();
    node.close();
    start(0);
    attach();
    Reply.Result again = assertInstanceOf(Reply.Result.class, client.call(insert));
    assertArrayEquals(first.body(), again.body());
    refused(execute("INSERT INTO T SELECT X FROM SYSTEM_RANGE(1, 7)"));
  }

  @Test
  void connectionDoesNotKeepOthersFromTrying() throws Exception {
    start(ClientLimits.STANDARD.withRehearsalWaitMillis(60_000), holding());
    open();
    done(execute("CREATE TABLE T(A INT)"));
    try (RawClient flood = new RawClient(node.listenAddress())) {
      flood.hello();
      for (int i = 0; i < FLOOD; i++) {
        open(flood);
        flood.write(request(1, "INSERT INTO T SELECT 1 AS POISON" + i));
      }
      held.await();
      done(execute("INSERT INTO T SELECT 2"));
      free.countDown();
      for (int i = 0; i < FLOOD; i++) {
        done(flood.receive());
      }
    }
  }

  @Test
  @SuppressWarnings("try") // rehearsals are held for as long as something is open
  void requestThatWaitedTooLongIsRefusedUnlessItWasApplied() throws Exception {
    start(ClientLimits.STANDARD, new SqlDatabase());
    open();
    done(execute("CREATE TABLE T(A INT)"));
    Request.Execute insert = request(++sequence, "INSERT INTO T SELECT X FROM SYSTEM_RANGE(1, 7)");
    Reply.Result first = assertInstanceOf(Reply.Result.class, client.call(insert));
    client.close();
    node.close();
    start(ClientLimits.STANDARD.withRehearsalWaitMillis(0), new SqlDatabase());
    attach();
    Request.Execute next = request(++sequence, "INSERT INTO T SELECT 1");
    for (Request.Execute planned : List.of(insert, next)) {
      // its plan is kept, so requests are taken in their order
      client.call(new Request.Prepare(planned.sql()));
    }
    try (HeldQueries rehearsals =
        new HeldQueries(
            Workers.Kind.REHEARSALS, node.workers(), node.pipeline(), node.replica().facts())) {
      client.write(next);
      Reply.Result again = assertInstanceOf(Reply.Result.class, client.call(insert));
      assertArrayEquals(first.body(), again.body());
      Reply.Failure late =
          assertInstanceOf(Reply.Failure.class, execute("INSERT INTO T SELECT 2 AS B"));
      assertEquals("53T01", late.sqlState(), late.message());
      assertTrue(late.message().contains("waited for 0 ms"), late.message());
    }
    done(client.receive());
  }
}
