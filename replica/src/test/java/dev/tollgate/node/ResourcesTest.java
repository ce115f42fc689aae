package dev.tollgate.node;

import static dev.tollgate.node.RawClient.execute;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.tollgate.core.Capacity;
import dev.tollgate.log.RaftSettings;
import dev.tollgate.node.client.ClientLimits;
import dev.tollgate.node.client.ConnectionLimits;
import dev.tollgate.store.SqlDatabase;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import dev.tollgate.wire.TransactionMode;
import java.io.IOException;
import java.net.SocketException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/**
 * Clients that take all that a node gives are refused at a limit, which the refusal names, and a
 * bystander goes on taking and giving up its lock. The node logs no error, even when it stops while
 * clients wait. The limits are small here, but for those of threads.
 */
@Tag("alone") // it measures how long others wait
class ResourcesTest {
  private static final ClientLimits LIMITS =
      new ClientLimits(
          /* queuedPlans= */ 5,
          /* queuedRehearsals= */ 5,
          /* rehearsalMillis= */ 5_000,
          /* rehearsalWaitMillis= */ 5_000,
          /* queuedCalls= */ 5,
          /* queuedQueries= */ 5,
          /* queuedFiles= */ 5,
          /* requestBytes= */ 2 << 20,
          /* requestsPerConnection= */ 8,
          /* unreadBytes= */ 1 << 20,
          /* unreadBytesInAll= */ 4 << 20,
          /* heldTransactions= */ 5,
          /* holderWatches= */ 5,
          /* holderWatchesPerUser= */ 5,
          /* loginAddresses= */ 5,
          /* loginUsers= */ 10,
          new ConnectionLimits(2_000, 10_000, 0, 0, 4));

  private static final Capacity CAPACITY =
      new Capacity(
          /* sessions= */ 60,
          /* sessionsPerUser= */ 60,
          /* leases= */ 60,
          /* leasesPerUser= */ 60,
          /* holds= */ 40,
          /* holdsPerUser= */ 1_000,
          /* transactionsPerUser= */ 100,
          /* holdersPerLock= */ 10,
          /* holdersPerLockAndUser= */ 10,
          /* waitersPerLock= */ 10,
          /* waitersPerLockAndLease= */ 10,
          /* lockDefinitions= */ 10,
          /* waitingStatements= */ 10,
          /* waitingStatementsPerUser= */ 10,
          /* waitingBytes= */ 1 << 20,
          /* waitingBytesPerUser= */ 1 << 20,
          /* answerBytes= */ 1 << 20);

  private static final String NEVER_ENDS =
      "SELECT COUNT(*) FROM SYSTEM_RANGE(1, 1000000) A, SYSTEM_RANGE(1, 1000000) B"
          + " WHERE A.X + B.X = 1";

  /** What half of the bystander's calls take at most, and nine of ten on a machine at leisure. */
  private static final Duration TYPICAL = Duration.ofMillis(100);

  /**
   * No call takes longer, however busy the machine is: those that wait for others take for ever.
   */
  private static final Duration WORST = Duration.ofSeconds(5);

  private static final int CALLS_MEANWHILE = 30;
  private static final Request.SessionOptions OPTIONS =
      new Request.SessionOptions(ReadConsistency.LINEARIZABLE, 60_000);

  private static final Logger ROOT = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);

  @TempDir Path directory;

  private final ListAppender<ILoggingEvent> errors = new ListAppender<>();

  private final List<RawClient> clients = new ArrayList<>();
  private Node node;
  private RawClient bystander;
  private long bystanderSequence;

  @BeforeEach
  void start() throws Exception {
    errors.start();
    ROOT.addAppender(errors);
    node =
        new Node(
            LoopbackSettings.of("small", RaftSettings.alone("small", directory.resolve("data"))),
            new SqlDatabase(),
            LIMITS,
            CAPACITY);
    node.start();
    assertTrue(node.awaitLeadership(Duration.ofSeconds(30)));
    bystander = session();
    bystander.call(execute(++bystanderSequence, "CREATE TABLE T(ID INT, V VARCHAR)"));
    lockCall();
  }

  @AfterEach
  void stop() throws IOException {
    for (RawClient client : clients) {
      client.close();
    }
    node.close();
    ROOT.detachAppender(errors);
    assertEquals(List.of(), errors.list.stream().filter(e -> e.getLevel() == Level.ERROR).toList());
  }

  @Test
  void queriesThatNeverEnd() throws Exception {
    for (int i = 0; i < 40; i++) {
      RawClient client = session();
      client.write(execute(1, NEVER_ENDS));
    }
    assertRefused(SqlState.BUSY, "5 queries wait for a thread", firstAnswer());
    assertBystanderIsServed();
  }

  @Test
  void argumentsThatAreQueries() throws Exception {
    for (int i = 0; i < 40; i++) {
      RawClient client = session();
      client.write(execute(1, "SELECT acquire_lock('x' || (" + NEVER_ENDS + "))"));
    }
    assertRefused(SqlState.BUSY, "5 queries wait for a thread", firstAnswer());
    assertBystanderIsServed();
  }

  @Test
  void oneConnectionThatAsksWithoutEnd() throws Exception {
    RawClient greedy = session();
    for (int i = 1; i <= 40; i++) {
      greedy.write(execute(i, NEVER_ENDS));
    }
    assertRefused(SqlState.BUSY, "the connection has 8 requests", greedy.receive());
    RawClient other = session();
    assertInstanceOf(Reply.Result.class, other.call(execute(1, "SELECT COUNT(*) FROM T")));
    assertBystanderIsServed();
  }

  @Test
  void queriesOfClientsThatAreGone() throws Exception {
    for (int i = 0; i < 20; i++) {
      RawClient client = session();
      client.write(execute(1, NEVER_ENDS));
    }
    int before = clients.size();
    RawClient other = session();
    for (RawClient client : clients.subList(1, before)) {
      client.close();
    }
    Reply reply = other.call(execute(1, "SELECT COUNT(*) FROM T"));
    assertInstanceOf(Reply.Result.class, reply, "their threads are free again");
  }

  @Test
  void requestsOfManyBytes() throws Exception {
    for (int i = 0; i < 8; i++) {
      RawClient client = session();
      client.write(execute(1, NEVER_ENDS + " ".repeat(900_000)));
    }
    assertRefused(SqlState.BUSY, "at most 2097152 may be under way", firstAnswer());
    assertBystanderIsServed();
  }

  @Test
  void answersThatAreNotRead() throws Exception {
    // the answers to the eight requests that the node takes at least are more than the operating
    // system keeps for the two of them
    RawClient lazy = session(new RawClient(node.listenAddress(), 16 << 10));
    String sql = "SELECT REPEAT('x', 1000000)";
    lazy.call(execute(1, sql)); // it is planned now, so the others do not wait for a plan
    AtomicInteger sequence = new AtomicInteger(1);
    for (int i = 0; i < 400 && isSent(lazy, execute(sequence.incrementAndGet(), sql)); i++) {}
    assertBystanderIsServed();
    await("the connection is closed")
        .atMost(Duration.ofSeconds(40))
        .until(() -> !isSent(lazy, execute(sequence.incrementAndGet(), sql)));
    assertBystanderIsServed();
  }

  /** False if the node has closed the connection. */
  private static boolean isSent(RawClient client, Request request) throws IOException {
    try {
      client.write(request);
      return true;
    } catch (SocketException e) {
      return false;
    }
  }

  @Test
  void sessions() throws Exception {
    Reply reply = null;
    for (int i = 0; i <= CAPACITY.sessions() && !(reply instanceof Reply.Failure); i++) {
      reply = connect().call(new Request.OpenSession(60_000, 60_000, OPTIONS));
    }
    assertRefused(SqlState.TOO_MANY, "open sessions is 60", reply);
    assertBystanderIsServed();
  }

  @Test
  void leases() throws Exception {
    Reply reply = repeated("SELECT create_lease(60000)", CAPACITY.leases() + 1);
    assertRefused(SqlState.TOO_MANY, "live leases is 60", reply);
    assertBystanderIsServed();
  }

  @Test
  void heldLocks() throws Exception {
    Reply reply =
        session()
            .call(execute(1, "SELECT SUM(try_acquire_lock('l' || X)) FROM SYSTEM_RANGE(1, 100)"));
    assertRefused(SqlState.TOO_MANY, "held locks is 40", reply);
    assertBystanderIsServed();
  }

  @Test
  void holdersOfOneLock() throws Exception {
    Reply reply = byEach("SELECT acquire_shared_lock('x')", CAPACITY.holdersPerLock() + 1);
    assertRefused(SqlState.TOO_MANY, "in shared mode is 10", reply);
    assertBystanderIsServed();
  }

  @Test
  void waitersForOneLock() throws Exception {
    assertInstanceOf(Reply.Result.class, session().call(execute(1, "SELECT acquire_lock('x')")));
    for (int i = 0; i <= CAPACITY.waitersPerLock(); i++) {
      session().write(execute(1, "SELECT acquire_lock('x')"));
    }
    assertRefused(SqlState.TOO_MANY, "wait for lock 'x' is 10", firstAnswer());
    assertBystanderIsServed();
  }

  @Test
  void requestsThatWaitForAnotherHolder() throws Exception {
    RawClient gone = session();
    for (int i = 0; i < LIMITS.holderWatches(); i++) {
      gone.write(new Request.AwaitHolder("l" + i % 2, 0));
    }
    assertInstanceOf(Reply.NodeStatus.class, gone.call(new Request.AskNodeStatus()));
    RawClient client = session();
    Request answeredAtOnce = new Request.AwaitHolder("l0", -1);
    assertRefused(SqlState.TOO_MANY, "has 5 requests that wait", client.call(answeredAtOnce));
    assertBystanderIsServed();

    gone.close();
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    Reply reply = client.call(answeredAtOnce);
    while (reply instanceof Reply.Failure && System.nanoTime() < deadline) {
      reply = client.call(answeredAtOnce);
    }
    assertInstanceOf(Reply.Holder.class, reply, "the places of a client that is gone are free");
  }

  @Test
  void statementsThatWait() throws Exception {
    RawClient alone = session();
    alone.call(execute(1, TransactionMode.SERIALIZABLE, "INSERT INTO T VALUES(0, 'a')"));
    for (int i = 0; i <= CAPACITY.waitingStatements(); i++) {
      RawClient client = session();
      client.call(execute(1, "SET LOCK_TIMEOUT 60000"));
      client.write(execute(2, "INSERT INTO T VALUES(1, 'b')"));
    }
    assertRefused(SqlState.TOO_MANY, "10 statements", firstAnswer());
    assertBystanderIsServed();
  }

  /** The bystander's own lock, by a statement that has to be planned and computed. */
  private void lockCall() throws IOException {
    long n = ++bystanderSequence;
    String sql = "SELECT acquire_lock(LOWER('BY') || 'stander') -- " + n;
    Reply reply = bystander.call(execute(n, sql));
    assertInstanceOf(Reply.Result.class, reply, reply::toString);
  }

  private void assertBystanderIsServed() throws IOException {
    List<Long> nanos = new ArrayList<>();
    for (int i = 0; i < CALLS_MEANWHILE; i++) {
      long begin = System.nanoTime();
      lockCall();
      nanos.add(System.nanoTime() - begin);
    }
    Collections.sort(nanos);
    long median = TimeUnit.NANOSECONDS.toMillis(nanos.get(CALLS_MEANWHILE / 2));
    long worst = TimeUnit.NANOSECONDS.toMillis(nanos.get(CALLS_MEANWHILE - 1));
    System.out.println(
        "ResourcesTest: a bystander waited " + median + ", at most " + worst + " ms");
    assertTrue(median < TYPICAL.toMillis(), "typically " + median + " ms");
    assertTrue(worst < WORST.toMillis(), "once " + worst + " ms");
  }

  /** The first answer to any of the requests under way. */
  private Reply firstAnswer() throws IOException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (System.nanoTime() < deadline) {
      for (RawClient client : clients) {
        if (client.hasHeardSomething()) {
          return client.receive();
        }
      }
    }
    throw new AssertionError("nobody was refused");
  }

  private Reply repeated(String sql, int times) throws IOException {
    RawClient client = session();
    Reply reply = null;
    for (int i = 1; i <= times; i++) {
      reply = client.call(execute(i, sql));
    }
    assertNotNull(reply);
    return reply;
  }

  private Reply byEach(String sql, int sessions) throws IOException {
    Reply reply = null;
    for (int i = 0; i < sessions; i++) {
      reply = session().call(execute(1, sql));
    }
    assertNotNull(reply);
    return reply;
  }

  private RawClient connect() throws IOException {
    return greeted(new RawClient(node.listenAddress()));
  }

  private RawClient greeted(RawClient client) throws IOException {
    clients.add(client);
    client.hello();
    return client;
  }

  private RawClient session() throws IOException {
    return session(new RawClient(node.listenAddress()));
  }

  private RawClient session(RawClient client) throws IOException {
    greeted(client);
    assertInstanceOf(
        Reply.SessionReady.class, client.call(new Request.OpenSession(60_000, 60_000, OPTIONS)));
    return client;
  }

  private static void assertRefused(SqlState state, String limit, Reply reply) {
    Reply.Failure failure = assertInstanceOf(Reply.Failure.class, reply);
    assertEquals(state.state(), failure.sqlState(), failure.message());
    assertTrue(failure.message().contains(limit), failure.message());
  }
}
