package dev.tollgate.transport;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.fake.FakeCluster;
import dev.tollgate.wire.Protocol;
import dev.tollgate.wire.ReadConsistency;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FailoverTest {
  private static final Duration SHORT = Duration.ofMillis(500);
  private static final Duration LONG = Duration.ofSeconds(10);

  private final ClusterRegistry registry = Client.registry();
  private FakeCluster cluster;

  @BeforeEach
  void start() throws Exception {
    cluster = FakeCluster.start(3);
  }

  @AfterEach
  void stop() throws Exception {
    cluster.close();
  }

  private ClusterSession open(Duration failover) throws TransportException {
    return open(Client.settings(failover));
  }

  private ClusterSession open(SessionSettings settings) throws TransportException {
    ClusterTarget all =
        Client.target(
            cluster.node(0).address(), cluster.node(1).address(), cluster.node(2).address());
    return registry.open(all, settings, Duration.ZERO);
  }

  private static TransportException failing(ClusterSession session, String sql) {
    return assertThrows(TransportException.class, () -> Client.run(session, sql));
  }

  private static void assertState(SqlState expected, TransportException e) {
    assertEquals(expected.state(), e.failure().sqlState(), e.getMessage());
  }

  /** Whether the process waits somewhere for news of the leader. */
  private boolean isWatched() {
    return IntStream.range(0, 3).anyMatch(node -> cluster.node(node).isWatched());
  }

  private List<Long> receivedSequences() {
    return cluster.received().stream().map(Request.Execute::sequence).toList();
  }

  private List<Long> executedSequences() {
    return cluster.executed().stream().map(Request.Execute::sequence).toList();
  }

  @Test
  void aRequestThatDidNotArriveIsSentAgain() throws Exception {
    try (ClusterSession session = open(LONG)) {
      cluster.node(0).dropBeforeExecuting(2);
      Client.run(session, "CREATE TABLE T(ID INT)");
      assertEquals(List.of(1L, 1L, 1L), receivedSequences());
      assertEquals(List.of(1L), executedSequences());
    }
  }

  @Test
  void aNodeIsToldHowManyConnectionsWereLostUnderARequest() throws Exception {
    try (ClusterSession session = open(LONG)) {
      cluster.node(0).dropBeforeExecuting(2);
      Client.run(session, "SELECT 1");
      cluster.node(0).dropAfterExecuting(1);
      Client.run(session, "SELECT 2");
      Client.run(session, "SELECT 3");
      assertEquals(List.of(0, 1, 2, 0, 1, 0), cluster.losses());
    }
  }

  @Test
  void aNodeThatDoesNotLeadAndOneThatHasNoRoomAreNoLoss() throws Exception {
    try (ClusterSession session = open(LONG)) {
      Client.run(session, "CREATE TABLE T(ID INT)");
      await().until(() -> !cluster.heartbeats().isEmpty() && isWatched());
      cluster.leadUntold(cluster.node(2));
      Client.run(session, "SELECT 1");
      assertEquals(List.of(0, 0, 0), cluster.losses());
      cluster.node(2).dropBeforeExecuting(1);
      cluster.node(2).beBusyAfterDrop(1);
      Client.run(session, "SELECT 2");
      assertEquals(List.of(0, 0, 0, 0, 1, 1), cluster.losses());
    }
  }

  @Test
  void aDescriptionSaysHowManyConnectionsWereLostUnderIt() throws Exception {
    try (ClusterSession session = open(LONG)) {
      Client.run(session, "SELECT 1");
      cluster.node(0).fallSilent(true);
      CompletableFuture<Void> released =
          CompletableFuture.runAsync(
              () -> {
                await().until(() -> cluster.node(0).openConnections() == 0);
                cluster.node(0).fallSilent(false);
              });
      assertInstanceOf(Reply.Prepared.class, session.ask(new Request.Prepare("SELECT 1")));
      released.join();
      assertEquals(List.of(0, 1), cluster.losses());
    }
  }

  @Test
  void aNodeOfAnEarlierVersionIsNotTold() throws Exception {
    cluster.node(0).beOfVersion(Protocol.LOSSES_VERSION - 1);
    try (ClusterSession session = open(LONG)) {
      cluster.node(0).dropBeforeExecuting(2);
      Client.run(session, "SELECT 1");
      assertEquals(List.of(0, 0, 0), cluster.losses());
    }
  }

  /** Its sessions are in UTC, and times of another zone would be stored wrongly. */
  @Test
  void aNodeOfAnEarlierVersionTakesNoSessionInAZone() throws Exception {
    cluster.node(0).beOfVersion(Protocol.TIME_ZONE_VERSION - 1);
    SessionSettings berlin = Client.in("Europe/Berlin", Client.settings(LONG));
    TransportException refused = assertThrows(TransportException.class, () -> open(berlin));
    assertEquals(SqlState.NOT_SUPPORTED.state(), refused.failure().sqlState());
    assertTrue(refused.getMessage().contains("set timeZone=UTC"), refused.getMessage());
    try (ClusterSession session = open(LONG)) {
      Client.run(session, "SELECT 1");
    }
  }

  @Test
  void aRequestWhoseAnswerGotLostTakesEffectOnce() throws Exception {
    try (ClusterSession session = open(LONG)) {
      Client.run(session, "CREATE TABLE T(ID INT)");
      cluster.node(0).dropAfterExecuting(1);
      assertEquals(2, Client.update(session, "INSERT INTO T VALUES(1),(2)"));
      assertEquals(List.of(1L, 2L, 2L), receivedSequences());
      assertEquals(List.of(1L, 2L), executedSequences());
      assertEquals(2L, cluster.peek("SELECT COUNT(*) FROM T"));
    }
  }

  @Test
  void aBusyNodeIsBelievedOnlyAboutARequestThatWasNotSentBefore() throws Exception {
    try (ClusterSession session = open(LONG)) {
      Client.run(session, "CREATE TABLE T(ID INT)");
      cluster.node(0).dropAfterExecuting(1);
      cluster.node(0).beBusyAfterDrop(2);
      assertEquals(1, Client.update(session, "INSERT INTO T VALUES(1)"));
      assertEquals(List.of(1L, 2L, 2L, 2L, 2L), receivedSequences());
      assertEquals(1L, cluster.peek("SELECT COUNT(*) FROM T"));
      cluster.node(0).beBusyAfterDrop(1);
      Reply refused = Client.run(session, "INSERT INTO T VALUES(2)");
      assertEquals(SqlState.BUSY.state(), ((Reply.Failure) refused).sqlState());
      assertTrue(session.isOpen());
    }
  }

  @Test
  void sequencesRiseByOnePerStatement() throws Exception {
    try (ClusterSession session = open(LONG)) {
      Client.run(session, "SELECT 1");
      Client.run(session, "SELEC 1");
      Client.run(session, "SELECT 1");
      assertEquals(List.of(1L, 2L, 3L), receivedSequences());
    }
  }

  /** Which the former leader names; news would come before the statement, or after it. */
  @Test
  void theSessionFollowsTheLeader() throws Exception {
    try (ClusterSession session = open(LONG)) {
      Client.run(session, "SELECT 1");
      await().until(() -> !cluster.heartbeats().isEmpty() && isWatched());
      cluster.leadUntold(cluster.node(2));
      assertEquals("2", Client.query(session, "SELECT 2"));
      assertEquals(List.of(1L, 2L, 2L), receivedSequences());
      assertEquals(1, cluster.openSessions());
    }
  }

  /** A session, its leases and its tokens mean nothing there. */
  @Test
  void nodesOfAnotherClusterUnderTheSameAddressesAreRefused() throws Exception {
    try (ClusterSession session = open(LONG)) {
      Client.run(session, "SELECT 1");
      cluster.become("B");
      cluster.node(0).dropBeforeExecuting(1);
      TransportException e = failing(session, "SELECT 2");
      String expected = "of cluster B, but the connections of this process are to cluster A";
      assertTrue(e.getMessage().contains(expected), e.getMessage());
    }
  }

  /** An older version does not say, and takes part while nodes are upgraded. */
  @Test
  void nodesThatDoNotSayTheirClusterAreNotRefused() throws Exception {
    try (ClusterSession session = open(LONG)) {
      Client.run(session, "SELECT 1");
      cluster.become(null);
      cluster.node(0).dropBeforeExecuting(1);
      assertEquals("2", Client.query(session, "SELECT 2"));
    }
  }

  @Test
  void sessionsThatMoveTogetherAreToldOfInOneLineForThoseWhoLookForIt() throws Exception {
    List<String> lines = new CopyOnWriteArrayList<>();
    Logger logger = Logger.getLogger("dev.tollgate.transport");
    Handler handler = new LineHandler(lines);
    logger.addHandler(handler);
    logger.setLevel(Level.FINE);
    try (ClusterSession one = open(LONG);
        ClusterSession other = open(LONG)) {
      cluster.lead(cluster.node(2));
      Client.run(one, "SELECT 1");
      Client.run(other, "SELECT 1");
      // nothing failed, so an application does not see it at INFO
      String line = "FINE sessions moved: 2 to " + cluster.node(2).address();
      await().until(() -> lines.stream().anyMatch(told -> told.contains(line)));
      assertEquals(1, lines.size(), lines::toString);
    } finally {
      logger.setLevel(null);
      logger.removeHandler(handler);
    }
  }

  /** Keeps what is logged, as text. */
  private static final class LineHandler extends Handler {
    private final List<String> lines;

    LineHandler(List<String> lines) {
      this.lines = lines;
    }

    @Override
    public void publish(LogRecord entry) {
      String message = entry.getMessage();
      if (message.contains("sessions moved")) {
        lines.add(entry.getLevel() + " " + message.substring(message.indexOf("sessions")));
      } else if (entry.getLevel().intValue() > Level.FINE.intValue()) {
        lines.add(entry.getLevel() + " " + message);
      }
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  @Test
  void aSessionGoesToTheLeaderFromAnyNode() throws Exception {
    try (ClusterSession session =
        registry.open(
            Client.target(cluster.node(2).address()), Client.settings(LONG), Duration.ZERO)) {
      assertEquals("1", Client.query(session, "SELECT 1"));
      cluster.node(0).stop();
      cluster.node(2).stop();
      cluster.lead(cluster.node(1));
      assertEquals("2", Client.query(session, "SELECT 2"), "node 1 was not in the URL");
    }
  }

  @Test
  void aKilledLeaderIsReplacedByTheNextOne() throws Exception {
    try (ClusterSession session = open(LONG)) {
      Client.run(session, "SELECT 1");
      cluster.lead(null);
      cluster.node(0).stop();
      CompletableFuture<String> answer =
          CompletableFuture.supplyAsync(() -> uncheckedQuery(session, "SELECT 2"));
      await().until(() -> cluster.node(1).accepted() > 2);
      assertFalse(answer.isDone());
      cluster.lead(cluster.node(1));
      assertEquals("2", answer.get(5, TimeUnit.SECONDS));
    }
  }

  @Test
  void anInterruptedCallGoesOnUntilTheNextLeader() throws Exception {
    try (ClusterSession session = open(LONG)) {
      Client.run(session, "SELECT 1");
      cluster.lead(null);
      cluster.node(0).stop();
      FutureTask<String> answer =
          new FutureTask<>(
              () ->
                  Client.query(session, "SELECT 2") + " " + Thread.currentThread().isInterrupted());
      Thread calling = new Thread(answer);
      calling.start();
      await().until(() -> calling.getState() == Thread.State.TIMED_WAITING);
      calling.interrupt();
      int accepted = cluster.node(1).accepted();
      await("it is tried again").until(() -> cluster.node(1).accepted() > accepted + 3);
      assertFalse(answer.isDone());
      cluster.lead(cluster.node(1));
      assertEquals("2 true", answer.get(5, TimeUnit.SECONDS));
    }
  }

  private static String uncheckedQuery(ClusterSession session, String sql) {
    try {
      return Client.query(session, sql);
    } catch (TransportException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aSilentLeaderIsLeftForAnother() throws Exception {
    try (ClusterSession session = open(LONG)) {
      Client.run(session, "SELECT 1");
      cluster.node(0).fallSilent(true);
      cluster.lead(cluster.node(1));
      assertEquals("2", Client.query(session, "SELECT 2"));
    }
  }

  @Test
  void aNodeThatStopsReadingDoesNotHangALargeStatement() throws Exception {
    try (ClusterSession session = open(LONG)) {
      Client.run(session, "SELECT 1");
      cluster.node(0).goDeaf(true);
      cluster.lead(cluster.node(1));
      String large = "x".repeat(12_000_000);
      assertEquals(
          String.valueOf(large.length()), Client.query(session, "SELECT LENGTH('" + large + "')"));
      cluster.node(0).goDeaf(false);
    }
  }

  @Test
  void waitingForALockDoesNotUseUpTheBudget() throws Exception {
    try (ClusterSession session = open(SHORT)) {
      CountDownLatch hold = cluster.node(0).holdStatements();
      CompletableFuture<String> answer =
          CompletableFuture.supplyAsync(() -> uncheckedQuery(session, "SELECT 1"));
      assertThrows(
          java.util.concurrent.TimeoutException.class,
          () -> answer.get(SHORT.toMillis() * 3, TimeUnit.MILLISECONDS));
      assertEquals(1, cluster.received().size());
      cluster.lead(cluster.node(1));
      cluster.node(0).stop();
      assertEquals("1", answer.get(5, TimeUnit.SECONDS), "there was budget for a failover");
      hold.countDown();
    }
  }

  @Test
  void withoutAnyNodeAStatementThatWasNotSentDidNothing() throws Exception {
    ClusterSession session = open(SHORT);
    cluster.node(0).stop();
    cluster.node(1).stop();
    cluster.node(2).stop();
    // long enough idle that the driver looks before it sends
    await().pollDelay(Duration.ofMillis(150)).until(() -> true);
    assertState(SqlState.NO_QUORUM, failing(session, "SELECT 1"));
    assertFalse(session.isOpen());
    assertState(SqlState.SESSION_GONE, failing(session, "SELECT 1"));
  }

  @Test
  void withoutAnAnswerTheOutcomeIsUnknown() throws Exception {
    ClusterSession session = open(SHORT);
    Client.run(session, "CREATE TABLE T(ID INT)");
    cluster.node(0).dropAfterExecuting(1);
    cluster.node(0).stepDownAfterDrop(true);
    assertState(SqlState.OUTCOME_UNKNOWN, failing(session, "INSERT INTO T VALUES(1)"));
    assertFalse(session.isOpen());
    assertEquals(1L, cluster.peek("SELECT COUNT(*) FROM T"));
  }

  @Test
  void aClusterWithoutALeaderIsAskedUntilTheBudgetEndsButNotInABusyLoop() throws Exception {
    ClusterSession session = open(SHORT);
    Client.run(session, "SELECT 1");
    cluster.lead(null);
    int acceptedBefore = cluster.node(1).accepted();
    long start = System.nanoTime();
    TransportException unanswered = failing(session, "SELECT 1");
    assertState(SqlState.OUTCOME_UNKNOWN, unanswered);
    assertTrue(unanswered.getMessage().contains("a query changes nothing"), unanswered::toString);
    long millis = (System.nanoTime() - start) / 1_000_000;
    assertTrue(millis >= SHORT.toMillis() && millis < SHORT.toMillis() * 4, millis + " ms");
    int tries = cluster.node(1).accepted() - acceptedBefore;
    assertTrue(tries >= 3 && tries <= 30, tries + " tries");
  }

  @Test
  void aNodeThatTakesTheSessionAndNotItsStatementsIsNotAskedInABusyLoop() throws Exception {
    ClusterSession session = open(SHORT);
    cluster.node(0).dropBeforeExecuting(1_000_000);
    assertState(SqlState.OUTCOME_UNKNOWN, failing(session, "SELECT 1"));
    assertTrue(cluster.received().size() <= 30, cluster.received().size() + " tries");
  }

  @Test
  void aSessionThatIsGoneEndsTheConnection() throws Exception {
    ClusterSession session = open(LONG);
    Reply failure = Client.run(session, "SELEC 1");
    assertTrue(failure instanceof Reply.Failure);
    assertTrue(session.isOpen());
    cluster.loseSessions();
    assertEquals("08006", outcome(session, "SELECT 1").sqlState());
    assertFalse(session.isOpen());
  }

  private static Reply.Failure outcome(ClusterSession session, String sql) {
    try {
      return (Reply.Failure) Client.run(session, sql);
    } catch (TransportException e) {
      return e.failure();
    }
  }

  @Test
  void aSessionThatIsGoneAfterAWriteLeavesTheOutcomeUnknown() throws Exception {
    ClusterSession session = open(LONG);
    Client.run(session, "CREATE TABLE T(ID INT)");
    cluster.node(0).dropAfterExecuting(1);
    cluster.node(0).loseSessionsAfterDrop(true);
    assertState(SqlState.OUTCOME_UNKNOWN, failing(session, "INSERT INTO T VALUES(1)"));
    assertFalse(session.isOpen());
  }

  @Test
  void aSessionThatIsGoneAtTheSecondSendingLeavesTheOutcomeUnknown() throws Exception {
    ClusterSession session = open(LONG);
    Client.run(session, "CREATE TABLE T(ID INT)");
    cluster.node(0).dropAfterExecuting(1);
    cluster.node(0).forgetSessionsOnAttach(true);
    assertState(SqlState.OUTCOME_UNKNOWN, failing(session, "INSERT INTO T VALUES(1)"));
  }

  @Test
  void aSessionThatIsGoneAfterAQuestionIsJustGone() throws Exception {
    ClusterSession session = open(LONG);
    cluster.forgetSessions();
    cluster.node(0).breakConnections();
    await().pollDelay(Duration.ofMillis(150)).until(() -> true);
    TransportException e =
        assertThrows(TransportException.class, () -> session.ask(new Request.Prepare("SELECT 1")));
    assertState(SqlState.SESSION_GONE, e);
  }

  @Test
  void anySessionReadsWhereItIsAndWritesAtTheLeader() throws Exception {
    ClusterTarget followerFirst =
        Client.target(cluster.node(2).address(), cluster.node(0).address());
    try (ClusterSession session =
        registry.open(followerFirst, Client.settings(ReadConsistency.ANY, LONG), Duration.ZERO)) {
      await("only the control connection is at the leader")
          .until(() -> cluster.node(0).openConnections() == 1);
      assertEquals("1", Client.query(session, "SELECT 1"));
      assertEquals(List.of(1L), receivedSequences(), "the follower answered");
      Client.run(session, "CREATE TABLE T(ID INT)");
      assertEquals(List.of(1L, 2L, 2L), receivedSequences(), "the follower sent it on");
      assertEquals(List.of(1L, 2L), executedSequences());
      assertEquals(2, cluster.node(0).openConnections());
    }
  }

  @Test
  void aFollowerDoesNotKeepAnySessionFromALeaderThatCameBack() throws Exception {
    ClusterTarget followerFirst =
        Client.target(cluster.node(2).address(), cluster.node(0).address());
    try (ClusterSession session =
        registry.open(followerFirst, Client.settings(ReadConsistency.ANY, LONG), Duration.ZERO)) {
      cluster.node(0).stop();
      CompletableFuture<Reply> written =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return Client.run(session, "CREATE TABLE T(ID INT)");
                } catch (TransportException e) {
                  throw new CompletionException(e);
                }
              });
      await("the follower has sent it on").until(() -> !receivedSequences().isEmpty());
      int tried = cluster.node(2).accepted();
      await("and is tried again").until(() -> cluster.node(2).accepted() > tried + 2);
      cluster.node(0).start();
      assertInstanceOf(Reply.Result.class, written.get(20, TimeUnit.SECONDS));
    }
  }

  @Test
  void nodesThatRefuseAreNotAskedAgain() {
    for (int i = 0; i < 3; i++) {
      cluster
          .node(i)
          .refuse(new Reply.Failure(SqlState.CONNECTION_REFUSED, "version 1 is too old"));
    }
    long start = System.nanoTime();
    TransportException e = assertThrows(TransportException.class, () -> open(LONG));
    assertState(SqlState.CONNECTION_REFUSED, e);
    assertTrue(e.getMessage().contains("version 1 is too old"), e.getMessage());
    assertTrue(System.nanoTime() - start < LONG.toNanos() / 2);
    assertEquals(0, registry.size());
  }

  @Test
  void aNodeThatIsFullIsNotMistakenForOneThatIsGone() {
    for (int i = 0; i < 3; i++) {
      cluster.node(i).turnAway(new Reply.Failure(SqlState.TOO_MANY, "1000 connections"));
    }
    TransportException e = assertThrows(TransportException.class, () -> open(LONG));
    assertState(SqlState.TOO_MANY, e);
  }

  @Test
  void aStoppedNodeIsNotTriedFirstForever() throws Exception {
    try (ClusterSession first = open(LONG)) {
      cluster.node(0).fallSilent(true);
      cluster.lead(cluster.node(1));
      assertEquals("2", Client.query(first, "SELECT 2"));
      int tries = cluster.node(0).accepted();
      try (ClusterSession second = open(LONG)) {
        assertEquals("3", Client.query(second, "SELECT 3"));
      }
      assertEquals(tries, cluster.node(0).accepted());
    }
  }

  @Test
  void openingWithoutAnyNodeSaysWhoWasAsked() throws IOException {
    for (int i = 0; i < 3; i++) {
      cluster.node(i).stop();
    }
    TransportException e = assertThrows(TransportException.class, () -> open(SHORT));
    assertState(SqlState.NO_QUORUM, e);
    assertTrue(e.getMessage().contains(cluster.node(1).address()), e.getMessage());
    assertTrue(e.getMessage().contains("refused"), e.getMessage());
    assertEquals(0, registry.size());
  }

  @Test
  void openingIsBoundByItsLimit() {
    cluster.lead(null);
    long start = System.nanoTime();
    assertThrows(
        TransportException.class,
        () ->
            registry.open(
                Client.target(cluster.node(0).address()),
                Client.settings(LONG),
                Duration.ofMillis(300)));
    assertTrue(System.nanoTime() - start < 3_000_000_000L);
  }

  @Test
  void aStatementCanBeAskedForItsOutcomeAgain() throws Exception {
    try (ClusterSession session = open(LONG)) {
      Client.run(session, "CREATE TABLE T(ID INT)");
      Execution insert = session.run(Client.statement("INSERT INTO T VALUES(1)", Duration.ZERO));
      session.repeat(insert);
      assertEquals(List.of(1L, 2L, 2L), receivedSequences());
      assertEquals(1L, cluster.peek("SELECT COUNT(*) FROM T"));
      Client.run(session, "SELECT 1");
      TransportException late =
          assertThrows(TransportException.class, () -> session.repeat(insert));
      assertState(SqlState.CONFLICT, late);
      assertTrue(session.isOpen());
    }
  }

  @Test
  void statementsOfSeveralThreadsNeverShareANumber() throws Exception {
    try (ClusterSession session = open(LONG)) {
      List<CompletableFuture<Void>> threads = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        threads.add(
            CompletableFuture.runAsync(
                () -> {
                  for (int n = 0; n < 50; n++) {
                    assertEquals("" + n, uncheckedQuery(session, "SELECT " + n));
                  }
                }));
      }
      for (CompletableFuture<Void> thread : threads) {
        thread.get(20, TimeUnit.SECONDS);
      }
      assertEquals(200, cluster.received().size());
      assertEquals(
          LongStream.rangeClosed(1, 200).boxed().toList(), receivedSequences(), "and in order");
    }
  }
}
