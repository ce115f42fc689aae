package dev.tollgate.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.Leader;
import dev.tollgate.lock.LeaderElection;
import dev.tollgate.lock.Leadership;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockException;
import dev.tollgate.lock.LockLimits;
import dev.tollgate.lock.LockLostException;
import dev.tollgate.lock.LockOptions;
import dev.tollgate.lock.Watch;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Candidates of one process; ElectionIT has those of several. */
@Timeout(60)
class LeaderElectionTest {
  private static final Duration BRIEF = Duration.ofMillis(600);

  private final String url = "jdbc:tollgate:mem:" + UUID.randomUUID();
  private final BlockingQueue<Leadership> terms = new LinkedBlockingQueue<>();
  private LockClient client;
  private LockClient other;
  private Connection connection;

  @BeforeEach
  void open() throws SQLException {
    client = LockClient.connect(url);
    other = LockClient.connect(url);
    connection = DriverManager.getConnection(url);
  }

  @AfterEach
  void close() throws SQLException {
    client.close();
    other.close();
    connection.close();
  }

  private static ConditionFactory soon() {
    return Awaitility.await().atMost(Duration.ofSeconds(30)).pollInterval(Duration.ofMillis(5));
  }

  private void execute(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private Leadership next() throws InterruptedException {
    Leadership term = terms.poll(30, TimeUnit.SECONDS);
    assertTrue(term != null, "no candidate is elected");
    return term;
  }

  private void leadUntilInterrupted(Leadership term) throws InterruptedException {
    terms.add(term);
    new CountDownLatch(1).await();
  }

  @Test
  void oneCandidateLeadsAndTheNextFollowsWhenItResigns() throws Exception {
    LeaderElection a = client.elect("billing", "a", this::leadUntilInterrupted);
    Leadership first = next();
    assertEquals("a", first.candidate());
    assertEquals("billing", first.election());
    assertTrue(a.isLeader() && first.isLeader());
    assertEquals(Optional.of(new Leader("a", first.token())), a.currentLeader());
    LeaderElection b = other.elect("billing", "b", this::leadUntilInterrupted);
    soon().until(() -> waiting() == 1);
    assertFalse(b.isLeader());
    assertEquals(b.currentLeader(), a.currentLeader());
    a.resign();
    Leadership second = next();
    assertEquals("b", second.candidate());
    assertTrue(second.token() > first.token());
    assertFalse(first.isLeader());
    assertThrows(LockLostException.class, first::assertLeader);
    b.close();
    assertEquals("a", next().candidate(), "it stands again");
    a.close();
    assertEquals(Optional.empty(), client.holder("billing"));
  }

  private int waiting() throws SQLException {
    try (Statement statement = connection.createStatement();
        var row = statement.executeQuery("SELECT COUNT(*) FROM TOLLGATE.LOCK_WAITERS")) {
      row.next();
      return row.getInt(1);
    }
  }

  @Test
  void lossInterruptsTheLeaderAndItStandsAgain() throws Exception {
    List<String> reasons = new CopyOnWriteArrayList<>();
    CompletableFuture<Boolean> interrupted = new CompletableFuture<>();
    LeaderElection a =
        client.elect(
            "billing",
            "a",
            BRIEF,
            term -> {
              terms.add(term);
              try {
                new CountDownLatch(1).await();
              } catch (InterruptedException e) {
                interrupted.complete(term.isLeader());
              }
            });
    Leadership first = next();
    first.ended().thenAccept(reasons::add);
    execute("SELECT revoke_lease(" + first.lock().lease().id() + ")");
    assertEquals(false, interrupted.get(30, TimeUnit.SECONDS));
    soon().until(() -> reasons.equals(List.of("the lock is lost, or cannot be proven")));
    assertTrue(next().token() > first.token());
    a.close();
  }

  @Test
  void termEndsWhenTheCandidateReturnsOrFails() throws Exception {
    LeaderElection a =
        client.elect(
            "billing",
            "a",
            term -> {
              terms.add(term);
              if (terms.size() == 2) {
                throw new IllegalStateException("on purpose");
              }
              if (terms.size() == 3) {
                new CountDownLatch(1).await();
              }
            });
    soon().until(() -> terms.size() == 3);
    long last = 0;
    for (Leadership term : terms) {
      assertTrue(term.token() > last);
      assertEquals(term.token() == a.leadership().orElseThrow().token(), term.isLeader());
      last = term.token();
    }
    a.close();
  }

  /** The next candidate is not elected before the work of the last leader has ended. */
  @Test
  void leaderThatTakesItsTimeToStopStillHoldsTheLock() throws Exception {
    CountDownLatch mayStop = new CountDownLatch(1);
    CountDownLatch interrupted = new CountDownLatch(1);
    LeaderElection a =
        client.elect(
            "billing",
            "a",
            BRIEF,
            term -> {
              terms.add(term);
              try {
                new CountDownLatch(1).await();
              } catch (InterruptedException e) {
                interrupted.countDown();
                mayStop.await();
              }
            });
    Leadership first = next();
    LeaderElection b = other.elect("billing", "b", this::leadUntilInterrupted);
    soon().until(() -> waiting() == 1);
    a.resign();
    assertTrue(interrupted.await(30, TimeUnit.SECONDS));
    assertFalse(first.isLeader());
    assertEquals("a", b.currentLeader().orElseThrow().candidate());
    mayStop.countDown();
    assertEquals("b", next().candidate());
  }

  @Test
  void listenersAreToldOfEachLeader() throws Exception {
    List<Optional<Leader>> leaders = new CopyOnWriteArrayList<>();
    Watch watch = other.onHolderChange("billing", leaders::add);
    soon().until(() -> leaders.equals(List.of(Optional.empty())));
    LeaderElection a = client.elect("billing", "a", this::leadUntilInterrupted);
    Leader first = new Leader("a", next().token());
    soon().until(() -> leaders.size() == 2);
    assertEquals(Optional.of(first), leaders.get(1));
    List<Optional<Leader>> late = new CopyOnWriteArrayList<>();
    Watch second = a.onLeaderChange(late::add);
    soon().until(() -> late.equals(List.of(Optional.of(first))));
    second.close();
    a.close();
    soon().until(() -> leaders.size() == 3);
    assertEquals(Optional.empty(), leaders.get(2));
    watch.close();
    client.acquire("billing").close();
    assertEquals(3, leaders.size());
    assertEquals(1, late.size());
  }

  /** A node has at most 64 requests of a connection without an answer, heartbeats among them. */
  @Test
  void manyListenersDoNotKeepHeartbeatsOut() throws Exception {
    List<Optional<Leader>> told = new CopyOnWriteArrayList<>();
    for (int i = 0; i < LockLimits.LISTENERS; i++) {
      client.onHolderChange("billing", told::add);
    }
    soon().until(() -> told.size() == LockLimits.LISTENERS);
    LockException refused =
        assertThrows(LockException.class, () -> client.onHolderChange("x", told::add));
    assertTrue(refused.getMessage().contains("LockLimits.LISTENERS"), refused.getMessage());
    HeldLock lock = other.tryAcquire("billing", LockOptions.DEFAULT.ttl(BRIEF)).orElseThrow();
    long end = System.nanoTime() + BRIEF.multipliedBy(2).toNanos();
    soon().until(() -> System.nanoTime() > end);
    assertTrue(lock.isHeld());
    lock.close();
    soon().until(() -> told.get(told.size() - 1).isEmpty());
  }

  @Test
  void closedClientEndsItsElections() throws Exception {
    LeaderElection a = client.elect("billing", "a", this::leadUntilInterrupted);
    Leadership first = next();
    client.close();
    assertFalse(first.isLeader());
    assertFalse(a.isLeader());
    assertEquals(Optional.empty(), other.holder("billing"));
    assertThrows(IllegalStateException.class, () -> client.elect("billing", "a", term -> {}));
  }
}
