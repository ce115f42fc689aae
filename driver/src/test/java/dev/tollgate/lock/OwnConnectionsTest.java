package dev.tollgate.lock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class OwnConnectionsTest {
  private static final int CALLERS = 64;

  private final ExecutorService callers = Executors.newCachedThreadPool();
  private final AtomicInteger attempts = new AtomicInteger();
  private final Semaphore mayFail = new Semaphore(0);
  private final CountDownLatch allTry = new CountDownLatch(LockLimits.SHORT_REQUESTS);

  @AfterEach
  void stop() {
    callers.shutdownNow();
  }

  private Connection findNoNode() throws SQLException {
    attempts.incrementAndGet();
    allTry.countDown();
    mayFail.acquireUninterruptibly();
    throw new SQLException("no node is reachable", "08001", 90067);
  }

  private CompletableFuture<SQLException> call(OwnConnections connections) {
    return CompletableFuture.supplyAsync(
        () -> assertThrows(SQLException.class, connections::forShortRequest), callers);
  }

  /**
   * Each attempt takes as long as failoverTimeout says: one after the other, they would take the
   * last caller 16 times as long.
   */
  @Test
  void callersDoNotLookForANodeOneAfterTheOther() throws Exception {
    try (OwnConnections connections = new OwnConnections(this::findNoNode)) {
      List<CompletableFuture<SQLException>> all = new ArrayList<>();
      for (int i = 0; i < LockLimits.SHORT_REQUESTS; i++) {
        all.add(call(connections));
      }
      assertTrue(allTry.await(30, TimeUnit.SECONDS));
      while (all.size() < CALLERS) {
        all.add(call(connections));
      }
      while (connections.waitingForTurn() < CALLERS - LockLimits.SHORT_REQUESTS) {
        Thread.onSpinWait();
      }
      mayFail.release(2 * LockLimits.SHORT_REQUESTS);
      for (CompletableFuture<SQLException> one : all) {
        SQLException failure = one.get(30, TimeUnit.SECONDS);
        assertEquals("08001", failure.getSQLState());
        assertEquals("no node is reachable", failure.getMessage());
      }
    }
    assertTrue(attempts.get() <= 2 * LockLimits.SHORT_REQUESTS, attempts + " attempts");
  }

  /** What others have tried before says nothing of now. */
  @Test
  void callerThatComesLaterLooksForItself() throws Exception {
    try (OwnConnections connections = new OwnConnections(this::findNoNode)) {
      mayFail.release(2);
      assertThrows(SQLException.class, connections::forShortRequest);
      assertThrows(SQLException.class, connections::forShortRequest);
    }
    assertEquals(2, attempts.get());
  }
}
