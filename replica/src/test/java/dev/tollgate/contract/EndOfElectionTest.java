package dev.tollgate.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.lock.LeaderElection;
import dev.tollgate.lock.Leadership;
import dev.tollgate.lock.LockClient;
import java.lang.reflect.Proxy;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How candidacies end with their client. */
@Timeout(60)
class EndOfElectionTest {
  private final String url = "jdbc:tollgate:mem:" + UUID.randomUUID();
  private final BlockingQueue<Leadership> terms = new LinkedBlockingQueue<>();

  /** A leader has been told to stop, and cleans up. */
  private final CountDownLatch cleansUp = new CountDownLatch(1);

  private final CountDownLatch mayStop = new CountDownLatch(1);
  private final AtomicInteger laterInterrupts = new AtomicInteger();
  private LockClient client;
  private LockClient other;

  @BeforeEach
  void open() {
    client = LockClient.connect(url);
    other = LockClient.connect(url);
  }

  @AfterEach
  void close() {
    mayStop.countDown();
    client.close();
    other.close();
  }

  private static ConditionFactory soon() {
    return Awaitility.await().atMost(Duration.ofSeconds(30)).pollInterval(Duration.ofMillis(5));
  }

  /** Takes its time when it is told to stop. */
  private void lead(Leadership term) {
    terms.add(term);
    try {
      new CountDownLatch(1).await();
    } catch (InterruptedException e) {
      cleansUp.countDown();
      cleanUp();
    }
  }

  private void cleanUp() {
    while (mayStop.getCount() > 0) {
      try {
        mayStop.await();
      } catch (InterruptedException e) {
        laterInterrupts.incrementAndGet();
      }
    }
  }

  private Leadership next() throws InterruptedException {
    Leadership term = terms.poll(30, TimeUnit.SECONDS);
    assertTrue(term != null, "no candidate is elected");
    return term;
  }

  /** Until then its former leader may be at work. */
  private void assertStillLed() {
    Awaitility.await()
        .atMost(Duration.ofSeconds(10))
        .during(Duration.ofMillis(500))
        .until(() -> other.holder("billing").isPresent());
  }

  @Test
  void threadThatWasInterruptedWaitsForTheLeaderToReturn() throws Exception {
    client.elect("billing", "a", this::lead);
    next();
    CompletableFuture<Boolean> closing =
        CompletableFuture.supplyAsync(
            () -> {
              Thread.currentThread().interrupt();
              client.close();
              return Thread.interrupted();
            });
    assertTrue(cleansUp.await(30, TimeUnit.SECONDS));
    assertStillLed();
    assertFalse(closing.isDone());
    mayStop.countDown();
    assertTrue(closing.get(30, TimeUnit.SECONDS), "the thread is still interrupted");
    soon().until(() -> other.holder("billing").isEmpty());
  }

  @Test
  void leaderThatCleansUpIsNotInterruptedOnceMore() throws Exception {
    LeaderElection a = client.elect("billing", "a", this::lead);
    next();
    a.resign();
    assertTrue(cleansUp.await(30, TimeUnit.SECONDS));
    CompletableFuture<Void> closing = CompletableFuture.runAsync(client::close);
    assertStillLed();
    mayStop.countDown();
    closing.get(30, TimeUnit.SECONDS);
    assertEquals(0, laterInterrupts.get());
  }

  /** A process that has many of them would take as many ttls to end. */
  @Test
  void allElectionsEndAtOnce() throws Exception {
    int elections = 4;
    CyclicBarrier allStop = new CyclicBarrier(elections);
    List<CompletableFuture<Integer>> stopped = new ArrayList<>();
    for (int i = 0; i < elections; i++) {
      CompletableFuture<Integer> one = new CompletableFuture<>();
      stopped.add(one);
      client.elect(
          "billing" + i,
          "a",
          term -> {
            terms.add(term);
            try {
              new CountDownLatch(1).await();
            } catch (InterruptedException e) {
              one.complete(allStop.await(10, TimeUnit.SECONDS));
            }
          });
    }
    for (int i = 0; i < elections; i++) {
      next();
    }
    client.close();
    for (CompletableFuture<Integer> one : stopped) {
      assertTrue(one.isDone() && !one.isCompletedExceptionally(), "it was told after the others");
    }
  }

  /** It was told to stop, has not, and may still be at work. */
  @Test
  void lockOfALeaderThatDoesNotReturnIsLeftToExpire() throws Exception {
    client.elect("billing", "a", Duration.ofSeconds(2), this::lead);
    next();
    client.close();
    assertTrue(other.holder("billing").isPresent());
    soon().until(() -> other.holder("billing").isEmpty());
    assertEquals(1, mayStop.getCount());
  }

  /** An application closes the election before the client, in a try block for example. */
  @Test
  void lockOfALeaderWhoseElectionWasClosedBeforeIsLeftToExpire() throws Exception {
    LeaderElection a = client.elect("billing", "a", Duration.ofSeconds(2), this::lead);
    next();
    a.close();
    assertEquals("a", other.holder("billing").orElseThrow().candidate());
    long beganNanos = System.nanoTime();
    client.close();
    assertTrue(other.holder("billing").isPresent(), "released while its leader was at work");
    assertTrue(
        System.nanoTime() - beganNanos < Duration.ofMillis(1_900).toNanos(),
        "the leader had its time when the election was closed");
    soon().until(() -> other.holder("billing").isEmpty());
    assertEquals(1, mayStop.getCount());
  }

  /** As a leader does that closes the Spring context of its client. */
  @Test
  void lockOfALeaderThatClosesItsClientIsLeftToExpire() throws Exception {
    CompletableFuture<Boolean> stillHeld = new CompletableFuture<>();
    client.elect(
        "billing",
        "a",
        Duration.ofSeconds(2),
        term -> {
          client.close();
          boolean interrupted = Thread.interrupted();
          stillHeld.complete(
              interrupted && !term.isLeader() && other.holder("billing").isPresent());
          cleanUp();
        });
    assertTrue(stillHeld.get(30, TimeUnit.SECONDS), "released while its leader was at work");
    soon().until(() -> other.holder("billing").isEmpty());
    assertEquals(1, mayStop.getCount());
  }

  @Test
  void leaderThatClosesItsElectionReleasesItsLockWhenItReturns() throws Exception {
    BlockingQueue<LeaderElection> election = new LinkedBlockingQueue<>();
    election.add(
        client.elect(
            "billing",
            "a",
            term -> {
              election.take().close();
              assertTrue(Thread.interrupted());
              terms.add(term);
              cleanUp();
            }));
    next();
    assertStillLed();
    mayStop.countDown();
    soon().until(() -> other.holder("billing").isEmpty());
  }

  @Test
  void candidacyThatBeginsWhileItsClientEndsLeavesNoThread() throws Exception {
    String name = "race-" + UUID.randomUUID();
    for (int i = 0; i < 200; i++) {
      LockClient brief = LockClient.connect(url);
      CyclicBarrier both = new CyclicBarrier(2);
      CompletableFuture<Void> stands =
          CompletableFuture.runAsync(
              () -> {
                await(both);
                try {
                  brief.elect(name, "a", term -> {});
                } catch (IllegalStateException e) {
                  assertEquals("the lock client is closed", e.getMessage());
                }
              });
      await(both);
      brief.close();
      stands.get(30, TimeUnit.SECONDS);
    }
    soon().until(() -> threads("tollgate-election-" + name) == 0);
  }

  private static void await(CyclicBarrier barrier) {
    try {
      barrier.await(30, TimeUnit.SECONDS);
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }

  private static long threads(String name) {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().equals(name))
        .count();
  }

  /** A pool may throw what no driver does. */
  @Test
  void candidateStandsAgainWhateverGoesWrong() throws Exception {
    AtomicInteger failures = new AtomicInteger();
    DataSource pool =
        (DataSource)
            Proxy.newProxyInstance(
                DataSource.class.getClassLoader(),
                new Class<?>[] {DataSource.class},
                (proxy, method, arguments) -> {
                  switch (failures.incrementAndGet()) {
                    case 1 -> throw new UnsupportedOperationException("on purpose");
                    case 2 -> throw new StackOverflowError("on purpose");
                    default -> {
                      return DriverManager.getConnection(url);
                    }
                  }
                });
    try (LockClient pooled = LockClient.of(pool)) {
      pooled.elect("billing", "a", this::lead);
      next();
      mayStop.countDown();
    }
  }

  @Test
  void candidateThatFailsSaysWhy() throws Exception {
    BlockingQueue<String> reasons = new LinkedBlockingQueue<>();
    client.elect(
        "billing",
        "a",
        term -> {
          term.ended().thenAccept(reasons::add);
          throw new IllegalStateException("on purpose");
        });
    assertEquals(
        "the candidate has failed: java.lang.IllegalStateException: on purpose",
        reasons.poll(30, TimeUnit.SECONDS));
  }

  @Test
  void closedClientElectsNobody() {
    client.close();
    assertThrows(IllegalStateException.class, () -> client.elect("billing", "a", term -> {}));
  }
}
