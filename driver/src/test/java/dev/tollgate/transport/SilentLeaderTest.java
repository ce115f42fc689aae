package dev.tollgate.transport;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.fake.FakeCluster;
import dev.tollgate.fake.FakeNode;
import dev.tollgate.wire.KeyRequest;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.TransactionMode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Silence is noticed after three hours here, so whatever moves does so because it was told. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SilentLeaderTest {
  private static final Duration LONG = Duration.ofSeconds(20);

  private final ClusterRegistry registry = Client.patientRegistry(System::nanoTime);
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private FakeCluster cluster;

  @BeforeEach
  void start() throws Exception {
    cluster = FakeCluster.start(3);
  }

  @AfterEach
  void stop() throws Exception {
    threads.shutdownNow();
    cluster.close();
  }

  private ClusterSession open(ClusterRegistry registry, ReadConsistency consistency)
      throws TransportException {
    return registry.open(allNodes(), settings(consistency), Duration.ZERO);
  }

  private ClusterTarget allNodes() {
    return Client.target(
        cluster.node(0).address(), cluster.node(1).address(), cluster.node(2).address());
  }

  /** No attempt to connect ends by itself before the test does. */
  private static SessionSettings settings(ReadConsistency consistency) {
    SessionSettings usual = Client.settings(consistency, LONG);
    return new SessionSettings(
        usual.session(),
        usual.lease(),
        usual.lockWait(),
        usual.failover(),
        LONG,
        usual.network(),
        usual.readConsistency(),
        usual.application());
  }

  private ClusterSession open() throws TransportException {
    return open(registry, ReadConsistency.LINEARIZABLE);
  }

  /** The follower at which the process waits for news. */
  private FakeNode watched() {
    return await()
        .until(
            () ->
                List.of(cluster.node(1), cluster.node(2)).stream()
                    .filter(FakeNode::isWatched)
                    .findFirst()
                    .orElse(null),
            found -> found != null);
  }

  private FakeNode notWatched() {
    return watched() == cluster.node(1) ? cluster.node(2) : cluster.node(1);
  }

  /** The leader stands still, and another node leads. */
  private void replaceLeader(FakeNode next) {
    cluster.node(0).fallSilent(true);
    cluster.lead(next);
  }

  private CompletableFuture<String> querying(ClusterSession session) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return Client.query(session, "SELECT 1");
          } catch (TransportException e) {
            throw new IllegalStateException(e);
          }
        },
        threads);
  }

  private CompletableFuture<Long> updating(ClusterSession session, String sql) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return Client.update(session, sql);
          } catch (TransportException e) {
            throw new IllegalStateException(e);
          }
        },
        threads);
  }

  @Test
  void aStatementThatWaitsMovesToTheNewLeaderAndTakesEffectOnce() throws Exception {
    try (ClusterSession session = open()) {
      Client.run(session, "CREATE TABLE T(ID INT)");
      FakeNode next = notWatched();
      cluster.node(0).holdStatements();
      CompletableFuture<Long> update = updating(session, "INSERT INTO T VALUES(1)");
      await().until(() -> cluster.received().size() == 2);
      cluster.node(0).fallSilent(true);
      // carried out, and not answered
      cluster.node(0).release();
      await().until(() -> cluster.executed().size() == 2);
      cluster.lead(next);
      assertEquals(1, update.get(20, TimeUnit.SECONDS));
      assertEquals(1L, cluster.peek("SELECT COUNT(*) FROM T"));
      assertEquals(2, cluster.executed().size());
    }
  }

  @Test
  void theWatchedNodeMayBeTheNextLeader() throws Exception {
    try (ClusterSession session = open()) {
      FakeNode next = watched();
      replaceLeader(next);
      assertEquals("1", Client.query(session, "SELECT 1"));
      assertTrue(session.isOpen());
    }
  }

  @Test
  void heartbeatsMoveToo() throws Exception {
    try (ClusterSession session =
        registry.open(allNodes(), Client.withLease(Duration.ofMillis(300)), Duration.ZERO)) {
      FakeNode next = notWatched();
      await().until(() -> !cluster.heartbeats().isEmpty());
      replaceLeader(next);
      cluster.heartbeats().clear();
      await().until(() -> cluster.heartbeats().size() > 3);
      assertTrue(session.isOpen());
    }
  }

  @Test
  void aConnectionThatWaitsForNothingMovesWithItsNextRequest() throws Exception {
    try (ClusterSession session = open()) {
      FakeNode next = notWatched();
      await().until(() -> cluster.node(0).openConnections() == 2);
      replaceLeader(next);
      // the control connection goes at once
      await().until(() -> cluster.node(0).openConnections() == 1);
      assertEquals("7", Client.query(session, "SELECT 7"));
      await().until(() -> cluster.node(0).openConnections() == 0);
    }
  }

  @Test
  void rowsOfALeaderThatLivesOnAreStillFetched() throws Exception {
    try (ClusterSession session = open()) {
      FakeNode next = notWatched();
      Execution query =
          session.run(
              new ClusterSession.Statement(
                  "SELECT X FROM SYSTEM_RANGE(1, 3)",
                  TransactionMode.AUTOCOMMIT,
                  false,
                  new KeyRequest.None(),
                  0,
                  1,
                  Client.statement("", Duration.ZERO).parameterSets(),
                  Duration.ZERO));
      cluster.lead(next);
      await().until(() -> cluster.node(0).openConnections() == 1);
      assertTrue(session.fetch(query, 1, 1) instanceof Reply.Result);
    }
  }

  private static Execution threeRows(ClusterSession session) throws TransportException {
    Execution query =
        session.run(
            new ClusterSession.Statement(
                "SELECT X FROM SYSTEM_RANGE(1, 3)",
                TransactionMode.AUTOCOMMIT,
                false,
                new KeyRequest.None(),
                0,
                1,
                Client.statement("", Duration.ZERO).parameterSets(),
                Duration.ZERO));
    session.hasRows(query, true);
    return query;
  }

  @Test
  void rowsAreStillFetchedAfterTheSessionHasMoved() throws Exception {
    try (ClusterSession session = open()) {
      FakeNode next = notWatched();
      Execution query = threeRows(session);
      cluster.lead(next);
      await().until(() -> lastKnownTerm() == cluster.term());
      assertEquals("7", Client.query(session, "SELECT 7"));
      await().until(() -> next.openConnections() == 2);
      assertTrue(session.fetch(query, 1, 1) instanceof Reply.Result);
      assertEquals("8", Client.query(session, "SELECT 8"));
      assertTrue(session.fetch(query, 1, 1) instanceof Reply.Result);
      session.hasRows(query, false);
      await().until(() -> cluster.node(0).openConnections() == 0);
    }
  }

  /** It might answer, and its rows would be gone. */
  @Test
  void theAnswerOfANodeThatHasRowsIsWaitedFor() throws Exception {
    try (ClusterSession session = open()) {
      FakeNode next = notWatched();
      Execution query = threeRows(session);
      cluster.node(0).holdStatements();
      CompletableFuture<String> other = querying(session);
      await().until(() -> cluster.received().size() == 2);
      cluster.lead(next);
      await().until(() -> lastKnownTerm() == cluster.term());
      cluster.node(0).release();
      assertEquals("1", other.get(20, TimeUnit.SECONDS));
      assertTrue(session.fetch(query, 1, 1) instanceof Reply.Result);
    }
  }

  @Test
  void connectionsWithRowsEndWithTheSession() throws Exception {
    try (ClusterSession session = open()) {
      FakeNode next = notWatched();
      threeRows(session);
      cluster.lead(next);
      await().until(() -> lastKnownTerm() == cluster.term());
      assertEquals("7", Client.query(session, "SELECT 7"));
      assertEquals(1, cluster.node(0).openConnections());
    }
    await().until(() -> cluster.node(0).openConnections() == 0);
  }

  @Test
  void aSessionThatReadsAnywhereIsNotTouched() throws Exception {
    try (ClusterSession session = open(registry, ReadConsistency.ANY)) {
      FakeNode next = notWatched();
      cluster.node(0).holdStatements();
      CompletableFuture<String> query = querying(session);
      await().until(() -> cluster.received().size() == 1);
      cluster.lead(next);
      await().until(() -> lastKnownTerm() == cluster.term());
      cluster.node(0).release();
      assertEquals("1", query.get(20, TimeUnit.SECONDS));
      assertEquals(1, cluster.received().size(), "it was sent once");
    }
  }

  /** The term that the process named with its last question for the leader. */
  private long lastKnownTerm() {
    List<Request.AwaitLeader> asked = cluster.others(Request.AwaitLeader.class);
    return asked.get(asked.size() - 1).knownTerm();
  }

  @Test
  void oldNewsDoNotCloseConnectionsToThePresentLeader() throws Exception {
    // afterwards the watch tries the silent node for as long as an attempt to connect may take
    try (ClusterSession session = registry.open(allNodes(), Client.settings(LONG), Duration.ZERO)) {
      FakeNode watched = watched();
      FakeNode next = notWatched();
      replaceLeader(next);
      assertEquals("1", Client.query(session, "SELECT 1"));
      await().until(() -> lastKnownTerm() == 2 && watched.isWatched());
      await().until(() -> next.openConnections() == 2);
      int attached = cluster.others(Request.AttachSession.class).size();
      int asked = cluster.others(Request.AwaitLeader.class).size();
      watched.tell(
          new Reply.Leader(
              1,
              "node0",
              new Reply.ClusterView(cluster.node(0).address(), List.of(next.address()))));
      await().until(() -> cluster.others(Request.AwaitLeader.class).size() > asked);
      assertEquals("2", Client.query(session, "SELECT 2"));
      assertEquals(attached, cluster.others(Request.AttachSession.class).size());
    }
  }

  @Test
  void theWatchMovesWhenItsNodeDies() throws Exception {
    try (ClusterSession session = open()) {
      FakeNode first = watched();
      FakeNode other = notWatched();
      first.stop();
      await().until(other::isWatched);
      replaceLeader(other);
      assertEquals("1", Client.query(session, "SELECT 1"));
    }
  }

  @Test
  void theWatchMovesWhenItsNodeLeads() throws Exception {
    try (ClusterSession session = open()) {
      FakeNode first = watched();
      FakeNode other = notWatched();
      cluster.lead(first);
      await().until(() -> other.isWatched() || cluster.node(0).isWatched());
      await().until(() -> !first.isWatched());
      assertTrue(session.isOpen());
    }
  }

  @Test
  void nodesOfAnEarlierVersionAreNotAsked() throws Exception {
    for (int i = 0; i < 3; i++) {
      cluster.node(i).beOfVersion(4);
    }
    try (ClusterSession session = open(Client.registry(), ReadConsistency.LINEARIZABLE)) {
      await().until(() -> cluster.node(1).accepted() > 0 && cluster.node(2).accepted() > 0);
      replaceLeader(cluster.node(2));
      assertEquals("1", Client.query(session, "SELECT 1"), "silence tells, as before");
      assertEquals(List.of(), cluster.others(Request.AwaitLeader.class));
    }
  }

  /** The URL names one node; its view of the cluster names the others. */
  @Test
  void theOthersOfOneSeedAreWatched() throws Exception {
    try (ClusterSession session =
        registry.open(
            Client.target(cluster.node(0).address()), Client.settings(LONG), Duration.ZERO)) {
      FakeNode next = notWatched();
      replaceLeader(next);
      assertEquals("1", Client.query(session, "SELECT 1"));
    }
  }

  @Test
  void aClusterOfOneNodeIsNotWatched() throws Exception {
    try (FakeCluster small = FakeCluster.start(1);
        ClusterSession session =
            registry.open(
                Client.target(small.node(0).address()), Client.settings(LONG), Duration.ZERO)) {
      await().until(() -> !small.heartbeats().isEmpty());
      assertEquals("1", Client.query(session, "SELECT 1"));
      assertEquals(2, small.node(0).accepted());
      assertEquals(List.of(), small.others(Request.AwaitLeader.class));
    }
  }

  @Test
  void anAttemptToReachTheFormerLeaderEndsToo() throws Exception {
    try (ClusterSession session = open()) {
      FakeNode next = notWatched();
      await().until(() -> cluster.node(0).openConnections() == 2);
      cluster.node(0).fallSilent(true);
      CompletableFuture<ClusterSession> opening =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return open();
                } catch (TransportException e) {
                  throw new IllegalStateException(e);
                }
              },
              threads);
      await().until(() -> cluster.node(0).openConnections() == 3);
      assertFalse(opening.isDone());
      cluster.lead(next);
      opening.get(LONG.toSeconds() / 2, TimeUnit.SECONDS).close();
      assertTrue(session.isOpen());
    }
  }

  @Test
  void aHundredSessionsMoveAFewAtATime() throws Exception {
    int count = Dials.AT_A_TIME + 36;
    List<ClusterSession> sessions = new ArrayList<>();
    try {
      for (int i = 0; i < count; i++) {
        sessions.add(open());
      }
      Client.run(sessions.get(0), "CREATE TABLE T(ID INT)");
      FakeNode next = notWatched();
      cluster.node(0).holdStatements();
      List<CompletableFuture<Long>> updates = new ArrayList<>();
      for (ClusterSession session : sessions) {
        updates.add(updating(session, "INSERT INTO T VALUES(1)"));
      }
      await().until(() -> cluster.received().size() == count + 1);
      next.holdHellos();
      replaceLeader(next);
      // besides them the control connection, which waits in no line
      await().until(() -> next.greeting() == Dials.AT_A_TIME + 1);
      next.releaseHellos();
      for (CompletableFuture<Long> update : updates) {
        assertEquals(1, update.get(30, TimeUnit.SECONDS));
      }
      assertEquals(Dials.AT_A_TIME + 1, next.mostGreeting());
      assertEquals((long) count, cluster.peek("SELECT COUNT(*) FROM T"));
    } finally {
      cluster.node(0).fallSilent(false);
      sessions.forEach(ClusterSession::abort);
    }
  }
}
