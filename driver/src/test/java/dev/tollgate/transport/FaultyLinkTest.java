package dev.tollgate.transport;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.tollgate.fake.FakeCluster;
import dev.tollgate.fake.FaultyLink;
import dev.tollgate.fake.FaultyLink.Fault;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A session whose leader is reached over a network in which things go wrong. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FaultyLinkTest {
  private static final Duration SHORT = Duration.ofMillis(700);
  private static final Duration LONG = Duration.ofSeconds(30);

  private final ClusterRegistry registry = Client.registry();
  private final ClusterRegistry standardRegistry = Client.standardRegistry();
  private FakeCluster cluster;
  private FaultyLink link;

  @BeforeEach
  void start() throws Exception {
    cluster = FakeCluster.start(2);
    link = new FaultyLink(cluster.node(0));
  }

  @AfterEach
  void stop() throws Exception {
    link.close();
    cluster.close();
  }

  private ClusterSession open(Duration failover) throws Exception {
    return open(registry, failover);
  }

  private ClusterSession open(ClusterRegistry registry, Duration failover) throws Exception {
    ClusterSession session =
        registry.open(
            Client.target(cluster.node(0).address()), Client.settings(failover), Duration.ZERO);
    Client.run(session, "CREATE TABLE T(ID INT)");
    return session;
  }

  /** Sends an INSERT in another thread, and waits until it has got as far as it can. */
  private CompletableFuture<Long> insert(ClusterSession session, Fault fault) {
    int before = cluster.executed().size();
    link.suffer(fault);
    CompletableFuture<Long> inserted =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return Client.update(session, "INSERT INTO T VALUES(1)");
              } catch (TransportException e) {
                throw new IllegalStateException(e);
              }
            });
    if (fault.reachesNode()) {
      await().until(() -> cluster.executed().size() > before);
    }
    return inserted;
  }

  private static CompletableFuture<String> query(ClusterSession session, String sql) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return Client.query(session, sql);
          } catch (TransportException e) {
            throw new IllegalStateException(e);
          }
        });
  }

  private void assertInsertedOnce(CompletableFuture<Long> inserted) throws Exception {
    assertEquals(1, inserted.get(30, TimeUnit.SECONDS));
    assertEquals(1L, cluster.peek("SELECT COUNT(*) FROM T"));
    assertEquals(
        List.of(1L, 2L), cluster.executed().stream().map(Request.Execute::sequence).toList());
  }

  private void assertNothingIsLeft() {
    await("all connections are closed").until(() -> link.openConnections() == 0);
    await("also the direct ones").until(() -> cluster.node(1).openConnections() == 0);
    await("the control thread has ended")
        .until(
            () ->
                Thread.getAllStackTraces().keySet().stream()
                    .noneMatch(thread -> thread.getName().startsWith("tollgate-control-")));
    assertEquals(0, registry.size());
    assertEquals(0, standardRegistry.size());
  }

  @ParameterizedTest
  @EnumSource
  void statementGoesToTheNextLeader(Fault fault) throws Exception {
    try (ClusterSession session = open(LONG)) {
      CompletableFuture<Long> inserted = insert(session, fault);
      cluster.lead(cluster.node(1));
      assertInsertedOnce(inserted);
      assertEquals("1", Client.query(session, "SELECT COUNT(*) FROM T"));
    }
    assertNothingIsLeft();
  }

  @ParameterizedTest
  @EnumSource
  void statementGetsThroughOnceTheNetworkIsWell(Fault fault) throws Exception {
    try (ClusterSession session = open(LONG)) {
      CompletableFuture<Long> inserted = insert(session, fault);
      link.suffer(Fault.NONE);
      assertInsertedOnce(inserted);
    }
    assertNothingIsLeft();
  }

  @ParameterizedTest
  @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
  void withoutAnotherWayTheOutcomeIsUnknown(Fault fault) throws Exception {
    ClusterSession session = open(SHORT);
    CompletableFuture<Long> inserted = insert(session, fault);
    ExecutionException e =
        assertThrows(ExecutionException.class, () -> inserted.get(30, TimeUnit.SECONDS));
    TransportException failure =
        assertInstanceOf(TransportException.class, e.getCause().getCause());
    assertEquals(SqlState.OUTCOME_UNKNOWN.state(), failure.failure().sqlState(), e.toString());
    assertFalse(session.isOpen());
    assertNothingIsLeft();
  }

  /** One that takes longer than a silent node is given. */
  @Test
  void largeAnswerOverASlowNetworkArrives() throws Exception {
    try (ClusterSession session = open(standardRegistry, SHORT)) {
      int received = cluster.received().size();
      link.slowDown(2048, Duration.ofMillis(25));
      String text = Client.query(session, "SELECT REPEAT('x', 400000)");
      assertEquals(400_000, text.length());
      assertEquals(received + 1, cluster.received().size(), "it was sent once");
    }
  }

  /** The system takes all of it at once, and the node has the last byte seconds later. */
  @Test
  void largeStatementOverASlowNetworkIsSentOnce() throws Exception {
    try (ClusterSession session = open(standardRegistry, SHORT)) {
      link.slowDown(2048, Duration.ofMillis(25));
      assertEquals("400000", Client.query(session, "SELECT LENGTH('" + "x".repeat(400_000) + "')"));
      assertEquals(List.of(), cluster.others(Request.AttachSession.class), "on its connection");
    }
    assertNothingIsLeft();
  }

  /** More than the system takes at once: most of it is still to be sent when time is over. */
  @Test
  void statementLargerThanAllBuffersIsSentOnce() throws Exception {
    try (ClusterSession session = open(standardRegistry, SHORT)) {
      link.slowDown(8192, Duration.ofMillis(3));
      assertEquals(
          "14000000", Client.query(session, "SELECT LENGTH('" + "x".repeat(14_000_000) + "')"));
      assertEquals(List.of(), cluster.others(Request.AttachSession.class), "on its connection");
    }
    assertNothingIsLeft();
  }

  @Test
  void largeAnswerThatComesToAHaltIsAskedForAgain() throws Exception {
    try (ClusterSession session = open(LONG)) {
      int received = cluster.received().size();
      link.slowDown(2048, Duration.ofMillis(10));
      CompletableFuture<String> answer = query(session, "SELECT REPEAT('x', 400000)");
      await().until(() -> cluster.received().size() > received);
      link.suffer(Fault.SILENT);
      cluster.lead(cluster.node(1));
      assertEquals(400_000, answer.get(30, TimeUnit.SECONDS).length());
    }
  }

  /**
   * The time for a failover begins when the last byte has come, not when the statement was sent.
   */
  @Test
  void longAnswerDoesNotUseUpTheBudget() throws Exception {
    try (ClusterSession session = open(SHORT)) {
      link.slowDown(2048, Duration.ofMillis(10));
      CompletableFuture<String> answer = query(session, "SELECT REPEAT('x', 600000)");
      await().atLeast(SHORT).until(() -> link.passedBytes() > 300_000);
      link.suffer(Fault.SILENT);
      cluster.lead(cluster.node(1));
      assertEquals(600_000, answer.get(30, TimeUnit.SECONDS).length());
    }
  }

  @Test
  void slowNetworkDelaysSmallAnswersAndNoMore() throws Exception {
    link.slowDown(16, Duration.ofMillis(5));
    try (ClusterSession session = open(LONG)) {
      for (int i = 0; i < 5; i++) {
        assertEquals(String.valueOf(i), Client.query(session, "SELECT " + i));
      }
    }
    assertNothingIsLeft();
  }
}
