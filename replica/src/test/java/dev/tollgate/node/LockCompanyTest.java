package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.tollgate.lock.FencedLock;
import dev.tollgate.lock.FencedReadWriteLock;
import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.HeldLocks;
import dev.tollgate.lock.LeaderElection;
import dev.tollgate.lock.Leadership;
import dev.tollgate.lock.Lease;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockException;
import dev.tollgate.lock.LockLimits;
import dev.tollgate.lock.LockLostException;
import dev.tollgate.lock.LockOptions;
import dev.tollgate.lock.Waiter;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Who else wants a lock, and callers that do not wait for it, in one process and on three nodes.
 */
@SuppressWarnings("LockNotBeforeTry") // locks are what is tested
@ParameterizedClass
@ValueSource(ints = {0, 3})
@Timeout(120)
class LockCompanyTest {
  /** Zero for a node within this process. */
  @Parameter int nodes;

  @TempDir Path directory;
  private LocalCluster cluster;
  private LockClient client;
  private LockClient other;
  private Connection administrator;

  @BeforeEach
  void open() throws Exception {
    String url = "jdbc:tollgate:mem:" + UUID.randomUUID();
    if (nodes > 0) {
      cluster = LocalCluster.started(directory, nodes);
      url = cluster.url() + "?failoverTimeout=40s";
    }
    client = LockClient.connect(url);
    other = LockClient.connect(url);
    administrator = DriverManager.getConnection(url);
  }

  @AfterEach
  void close() throws SQLException {
    client.close();
    other.close();
    administrator.close();
    if (cluster != null) {
      cluster.close();
    }
  }

  private static ConditionFactory soon() {
    return Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .pollInterval(Duration.ofMillis(5))
        .pollInSameThread();
  }

  private void force(String lock) throws SQLException {
    try (Statement statement = administrator.createStatement()) {
      statement.execute("SELECT force_release_lock('" + lock + "')");
    }
  }

  private static HeldLock granted(CompletableFuture<HeldLock> future) throws Exception {
    return future.get(30, TimeUnit.SECONDS);
  }

  @Test
  void callerThatDoesNotWaitGetsTheLockInTurn() throws Exception {
    HeldLock first = granted(client.acquireAsync("job"));
    CompletableFuture<HeldLock> second = client.acquireAsync("job", owner("second"));
    soon().until(() -> client.countWaiters("job") == 1);
    CompletableFuture<HeldLock> third = other.acquireAsync("job", owner("third"));
    soon().until(() -> client.countWaiters("job") == 2);
    assertEquals(
        List.of(new Waiter(1, "second", false), new Waiter(2, "third", false)),
        other.waiters("job"));
    assertEquals(List.of(), other.waiters("another"));
    assertFalse(second.isDone());
    first.close();
    HeldLock next = granted(second);
    assertTrue(next.isHeld() && next.token() > first.token());
    assertFalse(third.isDone());
    next.close();
    granted(third).close();
    assertEquals(0, client.countWaiters("job"));
  }

  private static LockOptions owner(String name) {
    return LockOptions.DEFAULT.owner(name);
  }

  @Test
  void futureThatIsCanceledLeavesTheLineAndNoGrant() throws Exception {
    HeldLock lock = client.acquire("job");
    CompletableFuture<HeldLock> canceled = other.acquireAsync("job");
    CompletableFuture<HeldLock> timed = other.acquireAsync("job");
    soon().until(() -> client.countWaiters("job") == 2);
    assertTrue(canceled.cancel(false));
    assertThrows(ExecutionException.class, () -> timed.orTimeout(1, TimeUnit.MILLISECONDS).get());
    soon().until(() -> client.countWaiters("job") == 0);
    lock.close();
    for (int i = 0; i < 50; i++) {
      // the cancellation meets the request anywhere on its way, or comes too late
      CompletableFuture<HeldLock> request = other.acquireAsync("job");
      if (!request.cancel(false)) {
        request.join().close();
      }
    }
    soon().until(() -> other.counts().waiting() == 0 && other.counts().locks() == 0);
    client.acquire("job").close();
  }

  @Test
  void waitersBeyondTheLimitAreRefusedAndTheOthersWait() throws Exception {
    assumeTrue(nodes == 0, "it is a limit of the client");
    HeldLock lock = client.acquire("job");
    List<CompletableFuture<HeldLock>> waiting = new ArrayList<>();
    for (int i = 0; i < LockLimits.WAITING_REQUESTS; i++) {
      waiting.add(other.acquireAsync("job"));
    }
    ExecutionException refused =
        assertThrows(ExecutionException.class, () -> other.acquireAsync("job").get());
    assertTrue(
        assertInstanceOf(LockException.class, refused.getCause())
            .getMessage()
            .contains("LockLimits.WAITING_REQUESTS"));
    soon().until(() -> client.countWaiters("job") == LockLimits.WAITING_REQUESTS);
    // they asked on threads of their own, so their line is in any order
    CompletableFuture<?>[] closed =
        waiting.stream()
            .map(next -> next.thenAccept(HeldLock::close))
            .toArray(CompletableFuture[]::new);
    lock.close();
    CompletableFuture.allOf(closed).get(60, TimeUnit.SECONDS);
    client.acquire("job");
    CompletableFuture<HeldLock> last = other.acquireAsync("job");
    soon().until(() -> client.countWaiters("job") == 1);
    other.close();
    assertThrows(ExecutionException.class, () -> last.get(30, TimeUnit.SECONDS));
  }

  @Test
  void whatAFutureCannotDoIsRefusedAtOnce() {
    for (LockOptions options :
        List.of(
            LockOptions.DEFAULT.waitFor(Duration.ofSeconds(1)),
            LockOptions.DEFAULT.interruptOnLoss())) {
      assertThrows(IllegalArgumentException.class, () -> client.acquireAsync("job", options));
    }
    assertThrows(IllegalArgumentException.class, () -> client.waiters(""));
  }

  @Test
  void lockKnowsHowOftenItsThreadHasIt() throws Exception {
    FencedLock lock = client.asLock("job");
    assertEquals(0, lock.holdCount());
    assertFalse(lock.isHeldByCurrentThread());
    lock.lock();
    lock.lock();
    assertEquals(2, client.asLock("job").holdCount(), "all views are the same lock");
    assertTrue(lock.isHeldByCurrentThread());
    assertFalse(CompletableFuture.supplyAsync(lock::isHeldByCurrentThread).get());
    assertEquals(0, CompletableFuture.supplyAsync(lock::holdCount).get());
    lock.unlock();
    assertEquals(1, lock.holdCount());
    force("job");
    soon().until(() -> !lock.isHeldByCurrentThread());
    assertEquals(1, lock.holdCount(), "it has to be unlocked all the same");
    assertThrows(LockLostException.class, lock::unlock);
    assertEquals(0, lock.holdCount());
    FencedReadWriteLock both = client.asReadWriteLock("job");
    both.writeLock().lock();
    both.readLock().lock();
    assertEquals(1, both.readLock().holdCount());
    both.writeLock().unlock();
    assertEquals(0, both.writeLock().holdCount());
    assertFalse(both.writeLock().isHeldByCurrentThread());
    assertTrue(both.readLock().isHeldByCurrentThread());
    both.readLock().unlock();
  }

  @Test
  void listenerOfALockIsToldOnceHoweverItIsLost() throws Exception {
    BlockingQueue<String> losses = new LinkedBlockingQueue<>();
    HeldLocks both = client.tryAcquireAll(List.of("a", "b"), LockOptions.DEFAULT).orElseThrow();
    both.locks().forEach(lock -> lock.onLost(lost -> losses.add(lost.getMessage())));
    force("a");
    assertLost("lock 'a'", losses);
    both.lock("a").onLost(lost -> losses.add(lost.getMessage()));
    assertLost("lock 'a'", losses);
    HeldLock b = both.lock("b");
    b.confirm();
    Lease lease = b.lease();
    try (Statement statement = administrator.createStatement()) {
      statement.execute("SELECT revoke_lease(" + lease.id() + ")");
    }
    assertLost("lock 'b'", losses);
    HeldLock moved = client.acquire("c");
    moved.onLost(lost -> losses.add(lost.getMessage()));
    HeldLock longer = moved.extend(Duration.ofMinutes(2));
    force("c");
    assertLost("lock 'c' is no longer held under token " + longer.token(), losses);
    HeldLock closed = client.acquire("d");
    closed.onLost(lost -> losses.add(lost.getMessage()));
    closed.close();
    force("d");
    assertEquals(0, losses.size());
  }

  private static void assertLost(String what, BlockingQueue<String> losses) throws Exception {
    String said = losses.poll(30, TimeUnit.SECONDS);
    assertTrue(said != null && said.startsWith(what), () -> "told: " + said);
    assertEquals(0, losses.size());
  }

  @Test
  void leadershipIsAwaited() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    LeaderElection first = client.elect("e", "first", term -> end.await());
    Leadership term = first.awaitLeadership(Duration.ofSeconds(30)).orElseThrow();
    assertTrue(term.isLeader() && first.isLeader());
    LeaderElection second = other.elect("e", "second", next -> new CountDownLatch(1).await());
    assertTrue(second.awaitLeadership(Duration.ofMillis(1)).isEmpty());
    assertTrue(second.awaitLeadership(Duration.ZERO).isEmpty());
    CompletableFuture<Leadership> awaits =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return second.awaitLeadership(Duration.ofSeconds(Long.MAX_VALUE)).orElseThrow();
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            });
    first.close();
    assertTrue(awaits.get(30, TimeUnit.SECONDS).token() > term.token());
    second.close();
    assertTrue(second.awaitLeadership(Duration.ofSeconds(30)).isEmpty(), "it stands no longer");
  }
}
