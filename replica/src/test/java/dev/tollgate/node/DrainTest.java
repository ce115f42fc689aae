package dev.tollgate.node;

import static dev.tollgate.node.RawClient.execute;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.node.client.HeldQueries;
import dev.tollgate.store.SqlDatabase;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A node that stops first lets its clients finish what they have under way. */
@Timeout(60)
@SuppressWarnings("try") // queries are held for as long as something is open
class DrainTest {
  private static final Duration DEADLINE = Duration.ofSeconds(30);

  /** A node waits longer than this for what is under way. */
  private static final long SOON_NANOS = SECONDS.toNanos(4);

  private static final Request OPEN =
      new Request.OpenSession(
          60_000, 60_000, new Request.SessionOptions(ReadConsistency.LINEARIZABLE, 60_000));

  private final List<RawClient> clients = new ArrayList<>();
  private Node node;
  private InetSocketAddress address;
  private boolean stops;

  @BeforeEach
  void start() throws Exception {
    node = new Node(LoopbackSettings.of("n1", null), new SqlDatabase());
    node.start();
    assertTrue(node.awaitLeadership(DEADLINE));
    address = node.listenAddress();
  }

  @AfterEach
  void stop() throws IOException {
    for (RawClient client : clients) {
      client.close();
    }
    if (!stops) {
      node.close();
    }
  }

  private RawClient connect() throws IOException {
    RawClient client = new RawClient(address);
    clients.add(client);
    client.hello();
    return client;
  }

  private RawClient session() throws IOException {
    RawClient client = connect();
    assertInstanceOf(Reply.SessionReady.class, client.call(OPEN));
    return client;
  }

  /** Sends a query, and returns once the node has it. */
  private static void sendQuery(RawClient client) throws IOException {
    client.write(execute(1, "SELECT 17"));
    assertInstanceOf(Reply.Ok.class, client.call(new Request.Ping()));
  }

  /** Has the node stop, and returns once it takes no more connections. */
  private CompletableFuture<Long> stopping() {
    stops = true;
    CompletableFuture<Long> tookNanos = new CompletableFuture<>();
    long begun = System.nanoTime();
    new Thread(
            () -> {
              node.close();
              tookNanos.complete(System.nanoTime() - begun);
            })
        .start();
    await().atMost(DEADLINE).until(this::takesNoConnections);
    return tookNanos;
  }

  private boolean takesNoConnections() {
    try (Socket socket = new Socket(address.getAddress(), address.getPort())) {
      return !socket.isConnected();
    } catch (IOException e) {
      return true;
    }
  }

  private static boolean isGone(RawClient client) throws IOException {
    try {
      return client.isClosedByNode();
    } catch (SocketException e) {
      return true;
    }
  }

  @Test
  void connectionsOnWhichNothingIsDueAreClosedAtOnce() throws Exception {
    RawClient idle = session();
    RawClient stranger = new RawClient(address);
    clients.add(stranger);
    CompletableFuture<Long> stopped = stopping();
    assertTrue(isGone(idle));
    assertTrue(isGone(stranger));
    assertTrue(stopped.get() < SOON_NANOS);
  }

  @Test
  void requestUnderWayIsAnswered() throws Exception {
    RawClient client = session();
    CompletableFuture<Long> stopped;
    try (HeldQueries held =
        new HeldQueries(node.workers(), node.pipeline(), node.replica().facts())) {
      sendQuery(client);
      stopped = stopping();
      assertFalse(client.hasHeardSomething());
      assertFalse(stopped.isDone());
    }
    assertInstanceOf(Reply.Result.class, client.receive());
    assertTrue(isGone(client));
    assertTrue(stopped.get() < SOON_NANOS);
  }

  @Test
  void openResultIsReadToItsEnd() throws Exception {
    try (Connection connection =
            DriverManager.getConnection("jdbc:tollgate://127.0.0.1:" + address.getPort() + "/");
        Statement statement = connection.createStatement()) {
      statement.setFetchSize(10);
      try (ResultSet rows = statement.executeQuery("SELECT X FROM SYSTEM_RANGE(1, 100)")) {
        assertTrue(rows.next());
        CompletableFuture<Long> stopped = stopping();
        int read = 1;
        while (rows.next()) {
          read++;
        }
        assertEquals(100, read);
        assertTrue(stopped.get() < SOON_NANOS);
      }
      connection.abort(Runnable::run);
    }
  }

  /** The wait is in the replicated state, where the next leader finds it. */
  @Test
  void requestThatWaitsForALockIsSentOnAtOnce() throws Exception {
    RawClient holder = session();
    assertInstanceOf(Reply.Result.class, holder.call(execute(1, "SELECT acquire_lock('job')")));
    RawClient waiting = session();
    waiting.write(execute(1, "SELECT acquire_lock('job')"));
    await()
        .atMost(DEADLINE)
        .until(
            () ->
                node.replica()
                    .state()
                    .look(state -> state.locks().iterator().next().waiters().size() == 1));
    CompletableFuture<Long> stopped = stopping();
    assertInstanceOf(Reply.NotLeader.class, waiting.receive());
    assertTrue(isGone(waiting));
    assertTrue(stopped.get() < SOON_NANOS);
  }

  /** No lease expires because a query of another connection takes its time. */
  @Test
  void leasesAreRenewedUntilTheEndIfNoOtherNodeCanDoThat() throws Exception {
    RawClient keeper = connect();
    Request heartbeat = new Request.Heartbeat(List.of(), List.of());
    assertInstanceOf(Reply.HeartbeatAck.class, keeper.call(heartbeat));
    RawClient client = session();
    CompletableFuture<Long> stopped;
    try (HeldQueries held =
        new HeldQueries(node.workers(), node.pipeline(), node.replica().facts())) {
      sendQuery(client);
      stopped = stopping();
      assertInstanceOf(Reply.HeartbeatAck.class, keeper.call(heartbeat));
    }
    assertTrue(isGone(keeper));
    assertTrue(stopped.get() < SOON_NANOS);
  }

  @Test
  void clientThatNeverEndsDoesNotKeepTheNodeFromStopping() throws Exception {
    RawClient client = session();
    CompletableFuture<Long> stopped;
    try (HeldQueries held =
        new HeldQueries(node.workers(), node.pipeline(), node.replica().facts())) {
      sendQuery(client);
      stopped = stopping();
      assertTrue(isGone(client));
    }
    long nanos = stopped.get();
    assertTrue(nanos > SOON_NANOS && nanos < 2 * SOON_NANOS, nanos + " ns");
  }
}
