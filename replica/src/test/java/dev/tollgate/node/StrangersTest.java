package dev.tollgate.node;

import static dev.tollgate.node.RawClient.execute;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.Capacity;
import dev.tollgate.node.client.ClientLimits;
import dev.tollgate.node.client.ConnectionLimits;
import dev.tollgate.store.SqlDatabase;
import dev.tollgate.wire.Frame;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import dev.tollgate.wire.WireWriter;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Connections that say nothing, stop, or take more than their share, and a client beside them. */
@Timeout(120)
class StrangersTest {
  private static final int MAX_CONNECTIONS = 50;
  private static final int LARGE = 4 << 20;
  private static final int CALLS = 600;
  private static final String NEVER_ENDS =
      "SELECT COUNT(*) FROM SYSTEM_RANGE(1, 1000000) A, SYSTEM_RANGE(1, 1000000) B"
          + " WHERE A.X + B.X = 1";
  private static final Request.SessionOptions OPTIONS =
      new Request.SessionOptions(ReadConsistency.LINEARIZABLE, 60_000);

  private static final Request OPEN = new Request.OpenSession(60_000, 60_000, OPTIONS);

  private final List<RawClient> clients = new ArrayList<>();
  private Node node;

  @AfterEach
  void stop() throws IOException {
    for (RawClient client : clients) {
      client.close();
    }
    node.close();
  }

  private void start(ClientLimits limits) throws Exception {
    start(limits, MAX_CONNECTIONS);
  }

  private void start(ClientLimits limits, int maxConnections) throws Exception {
    node =
        new Node(
            new NodeSettings(
                "n1",
                null,
                null,
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                maxConnections,
                Duration.ZERO),
            new SqlDatabase(),
            limits,
            Capacity.STANDARD);
    node.start();
    assertTrue(node.awaitLeadership(Duration.ofSeconds(30)));
  }

  private static ConnectionLimits connections(int silenceMillis, int statementsPerSecond) {
    return new ConnectionLimits(2_000, silenceMillis, 0, statementsPerSecond, 4);
  }

  private RawClient connect() throws IOException {
    RawClient client = new RawClient(node.listenAddress());
    clients.add(client);
    return client;
  }

  private RawClient session() throws IOException {
    RawClient client = connect();
    client.hello();
    assertInstanceOf(Reply.SessionReady.class, client.call(OPEN));
    return client;
  }

  private static void awaitSignOfLife(RawClient client) throws IOException {
    await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () -> {
              client.send(new byte[1]);
              return client.hasHeardSomething();
            });
    assertInstanceOf(Reply.Ok.class, client.receive());
  }

  private static byte[] beginOf(int bodyBytes, int sent) {
    WireWriter begin = new WireWriter();
    new Frame(new Request.Prepare("").type(), 7, 0, new byte[bodyBytes]).writeHeader(begin);
    begin.raw(new byte[sent], 0, sent);
    return begin.toByteArray();
  }

  @Test
  void connectionsThatDoNotSayHelloAreClosed() throws Exception {
    start(ClientLimits.STANDARD.with(connections(300, 0)));
    RawClient client = session();
    RawClient silent = connect();
    RawClient stops = connect();
    stops.send(new byte[] {0, 0});
    assertTrue(isGone(silent));
    assertTrue(isGone(stops));
    assertInstanceOf(Reply.Ok.class, client.call(new Request.Ping()));
  }

  @Test
  void clientThatStopsWithinARequestIsDisconnected() throws Exception {
    start(ClientLimits.STANDARD.with(connections(300, 0)));
    RawClient client = session();
    for (int sent : new int[] {1, 3, 4, 17, 18, 1_000}) {
      RawClient stops = session();
      byte[] begin = beginOf(LARGE, 1_000);
      stops.send(Arrays.copyOf(begin, sent));
      assertTrue(isGone(stops), "after " + sent + " bytes");
    }
    assertInstanceOf(Reply.Ok.class, client.call(new Request.Ping()));
  }

  /** Returns true once the node has closed the connection. */
  private static boolean isGone(RawClient client) throws IOException {
    try {
      return client.isClosedByNode();
    } catch (SocketException e) {
      return true; // the node had not read all that was sent
    }
  }

  @Test
  void silentConnectionsTakeNoPlacesOfClients() throws Exception {
    start(ClientLimits.STANDARD);
    for (int i = 0; i < 4 * MAX_CONNECTIONS; i++) {
      connect();
    }
    for (int i = 0; i < MAX_CONNECTIONS; i++) {
      session();
      connect();
    }
    RawClient tooMany = connect();
    Reply reply = tooMany.call(new Request.Hello(1, 1, "app", "host", "1"));
    assertRefused(SqlState.TOO_MANY, "the node has 50 connections", reply);
    assertTrue(isGone(tooMany));
    clients.get(clients.size() - 3).close();
    await()
        .atMost(Duration.ofSeconds(30))
        .ignoreExceptions()
        .until(
            () ->
                connect().call(new Request.Hello(1, 1, "app", "host", "1"))
                    instanceof Reply.Welcome);
  }

  /** A request counts while it arrives, and one that is refused disturbs none after it. */
  @Test
  void requestsThatDoNotEndAreBoundedInAll() throws Exception {
    start(ClientLimits.STANDARD.withRequestBytes(2 << 20));
    RawClient holds = session();
    holds.send(beginOf(LARGE, (2 << 20) - (100 << 10)));
    awaitSignOfLife(holds); // which does not come before the node has counted what it has read
    RawClient refused = session();
    refused.send(beginOf(LARGE, 1 << 20));
    Reply reply = refused.receive();
    while (reply instanceof Reply.Ok) {
      reply = refused.receive();
    }
    assertRefused(SqlState.BUSY, "at most 2097152 may be under way", reply);
    refused.send(new byte[LARGE - (1 << 20)]);
    assertInstanceOf(Reply.Ok.class, refused.call(new Request.Ping()));
    holds.close();
    await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () ->
                refused.call(execute(System.nanoTime(), "SELECT 1" + " ".repeat(500_000)))
                    instanceof Reply.Result);
  }

  @Test
  void oneConnectionDoesNotTakeAllThreadsOfQueries() throws Exception {
    start(ClientLimits.STANDARD);
    RawClient greedy = session();
    for (int i = 1; i <= 60; i++) {
      greedy.write(execute(i, NEVER_ENDS + " AND " + i + " > 0"));
    }
    RawClient other = session();
    assertInstanceOf(Reply.Result.class, other.call(execute(1, "SELECT COUNT(*) FROM (VALUES 1)")));
    greedy.close();
    assertInstanceOf(Reply.Result.class, other.call(execute(2, "SELECT COUNT(*) FROM (VALUES 2)")));
  }

  @Test
  void statementsOfOneConnectionCanBeLimited() throws Exception {
    start(ClientLimits.STANDARD.with(connections(10_000, 5)));
    RawClient fast = session();
    Reply reply = null;
    for (int i = 1; i < 1_000 && !(reply instanceof Reply.Failure); i++) {
      reply = fast.call(execute(i, "SELECT 1"));
    }
    assertRefused(SqlState.BUSY, "more than 5 statements in a second", reply);
    assertInstanceOf(Reply.Result.class, session().call(execute(1, "SELECT 1")));
  }

  /**
   * {@code -Dtollgate.strangers=10000} makes as many silent connections, and a tenth as many that
   * begin something like TLS and go no further.
   */
  @Test
  void strangersDoNotDelayAClient() throws Exception {
    start(ClientLimits.STANDARD, NodeSettings.MAX_CONNECTIONS);
    int count = Integer.getInteger("tollgate.strangers", 1_000);
    RawClient client = session();
    long sequence = 0;
    List<Long> alone = new ArrayList<>();
    for (int i = 0; i < CALLS; i++) {
      alone.add(micros(client, ++sequence));
    }
    byte[] tls = {0x16, 3, 1, 2, 0};
    List<Long> beside = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      connect();
      if (i % 10 == 0) {
        connect().send(tls);
        beside.add(micros(client, ++sequence));
      }
    }
    for (int i = 0; i < CALLS; i++) {
      beside.add(micros(client, ++sequence));
    }
    assertInstanceOf(Reply.SessionReady.class, session().call(OPEN), "others can come");
    System.out.println(
        "StrangersTest: p99 alone "
            + percentile(alone)
            + " us, beside "
            + count
            + " silent connections "
            + percentile(beside)
            + " us, at most "
            + beside.stream().mapToLong(Long::longValue).max().orElseThrow()
            + " us");
    assertTrue(percentile(beside) < 1_000_000, percentile(beside) + " us");
  }

  private static long micros(RawClient client, long sequence) throws IOException {
    long begun = System.nanoTime();
    Reply reply = client.call(execute(sequence, "SELECT acquire_lock('a')"));
    assertInstanceOf(Reply.Result.class, reply);
    return (System.nanoTime() - begun) / 1_000;
  }

  private static long percentile(List<Long> micros) {
    return micros.stream().sorted().skip(micros.size() * 99L / 100).findFirst().orElseThrow();
  }

  /** A client that reads none of its answers, and one that reads its own. */
  @Test
  void slowReaderDoesNotDelayAClient() throws Exception {
    start(ClientLimits.STANDARD);
    RawClient client = session();
    long sequence = 0;
    List<Long> alone = new ArrayList<>();
    for (int i = 0; i < CALLS; i++) {
      alone.add(micros(client, ++sequence));
    }
    RawClient slow = session();
    List<Long> beside = new ArrayList<>();
    for (int i = 1; i <= 60; i++) {
      slow.write(execute(i, "SELECT REPEAT('x', 1000000)"));
      for (int j = 0; j < CALLS / 60; j++) {
        beside.add(micros(client, ++sequence));
      }
    }
    System.out.println(
        "StrangersTest: p99 alone "
            + percentile(alone)
            + " us, beside a slow reader "
            + percentile(beside)
            + " us");
    assertTrue(percentile(beside) < 1_000_000, percentile(beside) + " us");
  }

  private static void assertRefused(SqlState state, String limit, Reply reply) {
    Reply.Failure failure = assertInstanceOf(Reply.Failure.class, reply);
    assertEquals(state.state(), failure.sqlState(), failure.message());
    assertTrue(failure.message().contains(limit), failure.message());
  }
}
