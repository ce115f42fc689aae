package dev.tollgate.transport;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.fake.FakeCluster;
import dev.tollgate.wire.Reply;
import dev.tollgate.wire.Request;
import dev.tollgate.wire.SqlState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(value = 30, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ControlLinkTest {
  private static final Duration LEASE = Duration.ofSeconds(15);

  private FakeCluster cluster;
  private ClusterTarget target;

  @BeforeEach
  void start() throws Exception {
    cluster = FakeCluster.start(2);
    target = Client.target(cluster.node(0).address(), cluster.node(1).address());
  }

  @AfterEach
  void stop() throws Exception {
    cluster.close();
  }

  private ClusterSession open(ClusterRegistry registry, Duration lease) throws TransportException {
    return registry.open(target, Client.withLease(lease), Duration.ZERO);
  }

  private Request.Execute last() {
    return cluster.received().get(cluster.received().size() - 1);
  }

  private List<Thread> controlThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals("tollgate-control-" + target))
        .collect(Collectors.toList());
  }

  @Test
  void oneConnectionBeatsForAllSessionsOfTheProcess() throws Exception {
    ClusterRegistry registry = Client.registry();
    List<ClusterSession> sessions = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      sessions.add(open(registry, Duration.ofMillis(300)));
    }
    await()
        .until(
            () ->
                cluster.heartbeats().stream()
                    .anyMatch(
                        beat -> Set.copyOf(beat.sessions()).equals(Set.of(1L, 2L, 3L, 4L, 5L))));
    assertEquals(6, cluster.node(0).openConnections(), "five sessions and one control connection");
    assertEquals(1, controlThreads().size());
    assertTrue(controlThreads().get(0).isDaemon());
    sessions.forEach(ClusterSession::close);
  }

  @Test
  void aHeartbeatIsSentEveryThirdOfTheShortestTtl() throws Exception {
    ClusterRegistry registry = Client.registry();
    try (ClusterSession session = open(registry, Duration.ofMillis(300))) {
      int before = cluster.heartbeats().size();
      long start = System.nanoTime();
      await().until(() -> cluster.heartbeats().size() >= before + 10);
      long millis = (System.nanoTime() - start) / 1_000_000;
      assertTrue(millis >= 600, "10 heartbeats in " + millis + " ms");
      assertTrue(session.isOpen());
    }
  }

  @Test
  void aShorterTtlThatComesLaterIsHeededAtOnce() throws Exception {
    ClusterRegistry registry = Client.sleepyRegistry();
    try (ClusterSession slow = open(registry, LEASE);
        ClusterSession quick = open(registry, Duration.ofMillis(200))) {
      assertTrue(slow.isOpen());
      await()
          .atMost(Duration.ofSeconds(1))
          .until(
              () ->
                  cluster.heartbeats().stream()
                          .filter(beat -> beat.sessions().contains(quick.id()))
                          .count()
                      >= 3);
    }
  }

  @Test
  void heartbeatsGoOnWhileAStatementWaits() throws Exception {
    ClusterRegistry registry = Client.registry();
    try (ClusterSession session = open(registry, Duration.ofMillis(300))) {
      var hold = cluster.node(0).holdStatements();
      CompletableFuture<Void> statement = CompletableFuture.runAsync(() -> ignore(session));
      int before = cluster.heartbeats().size();
      await().until(() -> cluster.heartbeats().size() >= before + 4);
      assertFalse(statement.isDone());
      hold.countDown();
      statement.get(5, TimeUnit.SECONDS);
    }
  }

  private static void ignore(ClusterSession session) {
    try {
      Client.run(session, "SELECT 1");
    } catch (TransportException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aLeaseThatWasNotRenewedInTimeIsNotTrusted() throws Exception {
    Client.ManualClock clock = new Client.ManualClock();
    ClusterRegistry registry = Client.registry(clock);
    try (ClusterSession session = open(registry, LEASE)) {
      await().until(() -> !cluster.heartbeats().isEmpty());
      cluster.node(0).ignoreHeartbeats(true);
      Client.run(session, "SELECT 1");
      assertTrue(last().ownLeaseTrusted());
      clock.advance(LEASE.minusMillis(16));
      Client.run(session, "SELECT 2");
      assertTrue(last().ownLeaseTrusted());
      clock.advance(Duration.ofMillis(1));
      Client.run(session, "SELECT 3");
      assertFalse(last().ownLeaseTrusted(), "I8: no proof, no trust");
    }
  }

  @Test
  void aStatementRenewsALeaseWhoseProofIsOverBeforeItIsSent() throws Exception {
    Client.ManualClock clock = new Client.ManualClock();
    ClusterRegistry registry = Client.registry(clock);
    try (ClusterSession session = open(registry, LEASE)) {
      await().until(() -> !cluster.heartbeats().isEmpty());
      clock.advance(LEASE.multipliedBy(2));
      Client.run(session, "SELECT 1");
      assertTrue(last().ownLeaseTrusted());
    }
  }

  @Test
  void theProofCountsFromWhenTheHeartbeatWasSent() {
    Renewal renewal = new Renewal(Renewal.Kind.SESSION, 1, LEASE, 0, () -> {});
    renewal.renewed(Duration.ofSeconds(10).toNanos());
    // of 15 s a thousandth less, for the leader counts on another clock
    assertTrue(renewal.isProven(Duration.ofMillis(24_985).toNanos() - 1));
    assertFalse(renewal.isProven(Duration.ofMillis(24_985).toNanos()));
    renewal.renewed(Duration.ofSeconds(5).toNanos());
    assertTrue(renewal.isProven(Duration.ofSeconds(24).toNanos()), "an old answer takes nothing");
    renewal.lose();
    renewal.renewed(Duration.ofSeconds(30).toNanos());
    assertFalse(renewal.isProven(Duration.ofSeconds(31).toNanos()), "lost is lost");
    assertEquals(Duration.ZERO, renewal.remaining(0));
  }

  @Test
  void aLossIsToldOnceAndNotAtAllToWhoeverHasLeft() {
    AtomicInteger losses = new AtomicInteger();
    Renewal lost = new Renewal(Renewal.Kind.LEASE, 1, LEASE, 0, losses::incrementAndGet);
    lost.lose();
    lost.lose();
    assertEquals(1, losses.get());
    Renewal left = new Renewal(Renewal.Kind.LEASE, 2, LEASE, 0, losses::incrementAndGet);
    left.retire();
    left.lose();
    assertEquals(1, losses.get());
    assertFalse(left.isProven(0));
  }

  @Test
  void aLateAcknowledgementProvesNoMoreThanItsHeartbeat() throws Exception {
    Client.ManualClock clock = new Client.ManualClock();
    try (ClusterSession session = open(Client.patientRegistry(clock), LEASE);
        KeptLease lease = session.keepAlive(17, LEASE, Duration.ZERO, () -> {})) {
      await().until(() -> !cluster.heartbeats().isEmpty());
      var hold = cluster.node(0).holdHeartbeats();
      cluster.heartbeats().clear();
      clock.advance(Duration.ofSeconds(6));
      await().until(() -> !cluster.heartbeats().isEmpty());
      clock.advance(Duration.ofSeconds(8));
      assertEquals(Duration.ofMillis(985), lease.remaining());
      cluster.node(0).ignoreHeartbeats(true);
      hold.countDown();
      await().until(() -> lease.remaining().equals(Duration.ofMillis(6_985)));
    }
  }

  /** The cluster ends the own lease together with its session. */
  @Test
  void theProofOfAnOwnLeaseEndsWithTheSessionIfThatHasLessTime() {
    Renewal renewal = Renewal.ofSession(1, Duration.ofSeconds(5), LEASE, 0);
    assertTrue(renewal.isProven(Duration.ofMillis(4_995).toNanos() - 1));
    assertFalse(renewal.isProven(Duration.ofMillis(4_995).toNanos()));
    renewal.renewed(Duration.ofSeconds(3).toNanos());
    assertFalse(renewal.isProven(Duration.ofSeconds(8).toNanos()));
  }

  @Test
  void theProofSurvivesAnOverflowOfTheClock() {
    long sent = Long.MAX_VALUE - Duration.ofSeconds(1).toNanos();
    Renewal renewal = new Renewal(Renewal.Kind.SESSION, 1, LEASE, sent, () -> {});
    assertTrue(renewal.isProven(sent + Duration.ofSeconds(14).toNanos()));
    assertFalse(renewal.isProven(sent + Duration.ofSeconds(15).toNanos()));
  }

  @Test
  void aLostSessionFailsItsNextStatementWithoutARoundTrip() throws Exception {
    ClusterRegistry registry = Client.registry();
    ClusterSession session = open(registry, LEASE);
    await().until(() -> !cluster.heartbeats().isEmpty());
    cluster.loseSessions();
    await().until(() -> !session.isAlive(Duration.ofSeconds(1)));
    TransportException e =
        assertThrows(TransportException.class, () -> Client.run(session, "SELECT 1"));
    assertEquals(SqlState.SESSION_GONE.state(), e.failure().sqlState());
    assertTrue(cluster.received().isEmpty());
  }

  @Test
  void aLossIsAlsoLearnedFromTheAcknowledgement() throws Exception {
    ClusterRegistry registry = Client.registry();
    ClusterSession session = open(registry, Duration.ofMillis(300));
    await().until(() -> !cluster.heartbeats().isEmpty());
    cluster.forgetSessions();
    await().until(() -> !session.isAlive(Duration.ofSeconds(1)));
    assertFalse(session.isOpen());
  }

  @Test
  void createdLeasesAreKeptAliveAndTheirLossIsToldOnce() throws Exception {
    ClusterRegistry registry = Client.registry();
    try (ClusterSession session = open(registry, LEASE)) {
      AtomicInteger losses = new AtomicInteger();
      KeptLease lease =
          session.keepAlive(17, Duration.ofMillis(300), Duration.ZERO, losses::incrementAndGet);
      await()
          .until(
              () -> cluster.heartbeats().stream().anyMatch(b -> b.leases().equals(List.of(17L))));
      assertTrue(lease.isProven());
      assertTrue(lease.remaining().toMillis() > 0);
      cluster.loseLease(17);
      await().until(() -> losses.get() == 1);
      assertFalse(lease.isProven());
      cluster.loseLease(17);
      assertEquals(1, losses.get());
      KeptLease closed =
          session.keepAlive(18, Duration.ofMillis(300), Duration.ZERO, losses::incrementAndGet);
      closed.close();
      cluster.loseLease(18);
      assertEquals(1, losses.get());
      assertTrue(session.isAlive(Duration.ofSeconds(1)));
    }
  }

  /** A restored backup is another cluster, whose locks know nothing of the leases of this one. */
  @Test
  void leasesOfAClusterThatAnotherOneHasReplacedAreLostAtOnce() throws Exception {
    try (ClusterSession session = open(Client.registry(), LEASE)) {
      AtomicInteger losses = new AtomicInteger();
      KeptLease lease = session.keepAlive(17, LEASE, Duration.ZERO, losses::incrementAndGet);
      cluster.become("B");
      cluster.node(0).breakConnections();
      await().atMost(Duration.ofSeconds(5)).until(() -> losses.get() == 1);
      assertFalse(lease.isProven());
      assertFalse(lease.remaining().toMillis() > 0);
    }
  }

  /** The wrong address in a URL: the cluster of the lease may be back in a moment. */
  @Test
  void leasesAreKeptWhileHalfOfTheNodesMayBelongToTheirCluster() throws Exception {
    try (ClusterSession session = open(Client.registry(), LEASE)) {
      AtomicInteger losses = new AtomicInteger();
      KeptLease lease = session.keepAlive(17, LEASE, Duration.ZERO, losses::incrementAndGet);
      cluster.node(1).stop();
      cluster.become("B");
      int before = cluster.node(0).accepted();
      cluster.node(0).breakConnections();
      await().until(() -> cluster.node(0).accepted() >= before + 3);
      assertEquals(0, losses.get());
      assertTrue(lease.isProven());
    }
  }

  /** A pool may close all connections while a lock is held. */
  @Test
  void aCreatedLeaseIsKeptAliveAfterItsSessionHasEnded() throws Exception {
    ClusterRegistry registry = Client.registry();
    ClusterSession session = open(registry, LEASE);
    KeptLease lease = session.keepAlive(17, Duration.ofMillis(300), Duration.ZERO, () -> {});
    session.close();
    cluster.heartbeats().clear();
    await().until(() -> cluster.heartbeats().size() > 3);
    assertEquals(List.of(17L), cluster.heartbeats().get(3).leases());
    assertTrue(lease.isProven());
    assertEquals(1, registry.size());
    lease.close();
    lease.close();
    assertEquals(0, registry.size());
    await().until(() -> controlThreads().isEmpty());
  }

  @Test
  void theProofOfACreatedLeaseCountsFromItsCreation() throws Exception {
    Client.ManualClock clock = new Client.ManualClock();
    try (ClusterSession session = open(Client.registry(clock), LEASE);
        KeptLease lease = session.keepAlive(17, LEASE, Duration.ofSeconds(14), () -> {})) {
      assertEquals(Duration.ofMillis(985), lease.remaining());
    }
  }

  @Test
  void closingInAnInterruptedThreadStillEndsTheSession() throws Exception {
    ClusterSession session = open(Client.registry(), LEASE);
    Thread.currentThread().interrupt();
    session.close();
    assertTrue(Thread.interrupted());
    assertEquals(0, cluster.openSessions());
  }

  /** Some containers interrupt all threads that they find when they stop an application. */
  @Test
  void aForeignInterruptEndsNoHeartbeats() throws Exception {
    try (ClusterSession session = open(Client.registry(), LEASE)) {
      await().until(() -> !cluster.heartbeats().isEmpty());
      controlThreads().get(0).interrupt();
      cluster.lead(cluster.node(1));
      cluster.node(0).stop();
      cluster.heartbeats().clear();
      await().until(() -> !cluster.heartbeats().isEmpty());
      assertTrue(session.isOpen());
    }
  }

  /** A session that is being closed waits for its statement, also in an interrupted thread. */
  @Test
  void closingInAnInterruptedThreadWaitsForTheStatementUnderWay() throws Exception {
    ClusterSession session = open(Client.registry(), LEASE);
    cluster.node(0).holdStatements();
    CompletableFuture<Reply> underWay =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return Client.run(session, "SELECT 1");
              } catch (TransportException e) {
                throw new IllegalStateException(e);
              }
            });
    await().until(() -> cluster.received().size() == 1);
    Thread.currentThread().interrupt();
    session.close();
    assertTrue(Thread.interrupted());
    assertEquals(1, cluster.others(Request.CloseSession.class).size());
    underWay.get(10, TimeUnit.SECONDS);
  }

  @Test
  void closingEndsTheSessionAtTheNextLeader() throws Exception {
    ClusterSession session = open(Client.registry(), LEASE);
    cluster.lead(cluster.node(1));
    cluster.node(0).stop();
    session.close();
    assertEquals(0, cluster.openSessions());
  }

  @Test
  void theControlConnectionFollowsTheLeader() throws Exception {
    ClusterRegistry registry = Client.registry();
    try (ClusterSession session = open(registry, Duration.ofMillis(300))) {
      await().until(() -> !cluster.heartbeats().isEmpty());
      cluster.lead(cluster.node(1));
      cluster.heartbeats().clear();
      await().until(() -> cluster.heartbeats().size() > 3);
      cluster.lead(null);
      cluster.node(1).stop();
      cluster.heartbeats().clear();
      cluster.lead(cluster.node(0));
      await().until(() -> cluster.heartbeats().size() > 3);
      assertTrue(session.isAlive(Duration.ofSeconds(5)));
    }
  }

  @Test
  void locksAreNamedOnceOnEachConnectionAndAgainIfTheNodeHadNoRoom() throws Exception {
    ClusterRegistry registry = Client.registry();
    List<Long> lost = new CopyOnWriteArrayList<>();
    try (ClusterSession session = open(registry, LEASE)) {
      KeptLease lease = session.keepAlive(17, Duration.ofMillis(300), Duration.ZERO, () -> {});
      cluster.refuseWatches(1);
      Request.WatchLocks first = new Request.WatchLocks(List.of(17L), List.of(41L));
      LockWatch kept = lease.watchLock(41, Duration.ZERO, () -> lost.add(41L));
      await().until(() -> cluster.others(Request.WatchLocks.class).size() == 2);
      assertEquals(List.of(first, first), cluster.others(Request.WatchLocks.class));

      // what the leader sends after its answer comes after it
      LockWatch marks = lease.watchLock(42, Duration.ZERO, () -> lost.add(42L));
      cluster.loseLock(17, 42);
      await().until(() -> lost.equals(List.of(42L)));
      marks.close();
      int named = cluster.others(Request.WatchLocks.class).size();
      lease.watchLock(43, Duration.ZERO, () -> lost.add(43L));
      assertEquals(named, cluster.others(Request.WatchLocks.class).size(), "the lease is watched");
      cluster.loseLock(17, 43);
      await().until(() -> lost.equals(List.of(42L, 43L)));

      lease.watchLock(44, Duration.ZERO, () -> lost.add(44L)).close();
      cluster.lead(null);
      cluster.node(0).stop();
      cluster.lead(cluster.node(1));
      await().until(() -> cluster.others(Request.WatchLocks.class).size() == named + 1);
      assertEquals(first, cluster.others(Request.WatchLocks.class).get(named));
      cluster.loseLock(17, 44);
      cluster.loseLock(17, 41);
      await().until(() -> lost.equals(List.of(42L, 43L, 41L)));
      kept.close();
    }
  }

  /** The first node of the URL answers, but does not hear who leads now. */
  @Test
  void aFormerLeaderThatIsCutOffDoesNotStopHeartbeats() throws Exception {
    ClusterRegistry registry = Client.registry();
    try (ClusterSession session = open(registry, Duration.ofMillis(300))) {
      await().until(() -> !cluster.heartbeats().isEmpty());
      cluster.node(0).isolate();
      cluster.lead(cluster.node(1));
      cluster.heartbeats().clear();
      await()
          .until(
              () ->
                  cluster.heartbeats().stream()
                          .filter(beat -> beat.sessions().contains(session.id()))
                          .count()
                      > 3);
      assertTrue(session.isOpen());
    }
  }

  @Test
  void aSilentLeaderDoesNotStopHeartbeats() throws Exception {
    ClusterRegistry registry = Client.registry();
    try (ClusterSession session = open(registry, Duration.ofMillis(300))) {
      await().until(() -> !cluster.heartbeats().isEmpty());
      cluster.node(0).fallSilent(true);
      cluster.lead(cluster.node(1));
      cluster.heartbeats().clear();
      await().until(() -> cluster.heartbeats().size() > 3);
      assertTrue(session.isOpen());
    }
  }

  @Test
  void withoutALeaderTheControlThreadDoesNotSpin() throws Exception {
    ClusterRegistry registry = Client.registry();
    try (ClusterSession session = open(registry, Duration.ofMillis(300))) {
      await().until(() -> !cluster.heartbeats().isEmpty());
      cluster.lead(null);
      int before = cluster.node(0).accepted() + cluster.node(1).accepted();
      await().pollDelay(Duration.ofSeconds(1)).until(() -> true);
      int tries = cluster.node(0).accepted() + cluster.node(1).accepted() - before;
      assertTrue(tries > 0 && tries < 60, tries + " connections in a second");
      assertTrue(session.isOpen());
    }
  }

  @Test
  void nothingIsLeftAfterTheLastSession() throws Exception {
    ClusterRegistry registry = Client.registry();
    for (int round = 0; round < 3; round++) {
      ClusterSession first = open(registry, LEASE);
      ClusterSession second = open(registry, LEASE);
      Client.run(first, "SELECT 1");
      first.close();
      assertEquals(1, registry.size());
      await().until(() -> controlThreads().size() == 1);
      second.close();
      assertEquals(0, registry.size());
      await().until(() -> controlThreads().isEmpty());
      await().until(() -> cluster.node(0).openConnections() == 0);
      await().until(() -> cluster.node(1).openConnections() == 0);
      assertEquals(0, cluster.openSessions());
    }
  }

  @Test
  void aSessionThatWasDroppedGetsNoMoreHeartbeats() throws Exception {
    ClusterRegistry registry = Client.registry();
    ClusterSession kept = open(registry, Duration.ofMillis(300));
    long droppedId = openAndDrop(registry);
    await()
        .until(
            () -> {
              System.gc();
              int size = cluster.heartbeats().size();
              return size > 0 && !cluster.heartbeats().get(size - 1).sessions().contains(droppedId);
            });
    assertTrue(kept.isOpen());
    kept.close();
    await().until(() -> controlThreads().isEmpty());
    assertEquals(0, registry.size());
  }

  private long openAndDrop(ClusterRegistry registry) throws TransportException {
    ClusterSession dropped = open(registry, Duration.ofMillis(300));
    long id = dropped.id();
    await()
        .until(() -> cluster.heartbeats().stream().anyMatch(beat -> beat.sessions().contains(id)));
    assertNotNull(dropped);
    return id;
  }

  @Test
  void cancellingReachesTheNodeThatRunsTheStatement() throws Exception {
    ClusterRegistry registry = Client.registry();
    try (ClusterSession session = open(registry, LEASE)) {
      cluster.node(0).holdStatements();
      CompletableFuture<Reply> answer =
          CompletableFuture.supplyAsync(
              () -> {
                try {
                  return Client.run(session, "SELECT 1");
                } catch (TransportException e) {
                  throw new IllegalStateException(e);
                }
              });
      await().until(() -> cluster.received().size() == 1);
      session.cancel();
      Reply.Failure failure = (Reply.Failure) answer.get(5, TimeUnit.SECONDS);
      assertEquals(SqlState.CANCELLED.state(), failure.sqlState());
      cluster.node(0).holdNothing();
      assertEquals("2", Client.query(session, "SELECT 2"));
      session.cancel();
      // the thread that waits for the answer may cancel, too
      assertEquals(
          Set.of(1L),
          cluster.others(Request.Cancel.class).stream()
              .map(Request.Cancel::sequence)
              .collect(Collectors.toSet()),
          "nothing else was under way");
    }
  }
}
