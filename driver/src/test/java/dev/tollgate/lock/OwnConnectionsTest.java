package dev.tollgate.lock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.lang.reflect.Proxy;
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
import org.junit.jupiter.api.function.Executable;

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

  /** A node that falls silent under a request on a connection says as much as a search. */
  @Test
  void callersThatWaitedForARequestInVainDoNotLookForANode() throws Exception {
    try (OwnConnections connections =
        new OwnConnections(
            () -> {
              attempts.incrementAndGet();
              return openConnection();
            })) {
      long began = System.nanoTime();
      List<Connection> lent = new ArrayList<>();
      for (int i = 0; i < LockLimits.SHORT_REQUESTS; i++) {
        lent.add(connections.forShortRequest());
      }
      List<CompletableFuture<SQLException>> all = new ArrayList<>();
      while (all.size() < CALLERS) {
        all.add(call(connections));
      }
      while (connections.waitingForTurn() < CALLERS) {
        Thread.onSpinWait();
      }
      long came = System.nanoTime() - began;
      while (System.nanoTime() - began < 20 * came) {
        Thread.onSpinWait();
      }
      connections.failed(began, new SQLException("silent", "08007", 90909));
      lent.forEach(connections::discard);
      for (CompletableFuture<SQLException> one : all) {
        SQLException failure = one.get(30, TimeUnit.SECONDS);
        assertEquals("08001", failure.getSQLState());
        assertTrue(failure.getMessage().contains("silent"), failure::getMessage);
      }
    }
    assertEquals(LockLimits.SHORT_REQUESTS, attempts.get());
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

  private static Connection openConnection() {
    return (Connection)
        Proxy.newProxyInstance(
            OwnConnectionsTest.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) ->
                switch (method.getName()) {
                  case "equals" -> proxy == arguments[0];
                  case "hashCode" -> System.identityHashCode(proxy);
                  case "isClosed" -> false;
                  default -> null;
                });
  }

  private static void assertRefused(String limit, Executable request) {
    SQLException refused = assertThrows(SQLException.class, request);
    assertEquals("53300", refused.getSQLState());
    assertTrue(refused.getMessage().contains("LockLimits." + limit), refused.getMessage());
  }

  @Test
  void worksTakeNoPlacesOfReleasesAndWaits() throws Exception {
    try (OwnConnections connections = new OwnConnections(OwnConnectionsTest::openConnection)) {
      List<Connection> works = new ArrayList<>();
      for (int i = 0; i < LockLimits.WORKS; i++) {
        works.add(connections.forWork());
      }
      assertRefused("WORKS", connections::forWork);
      List<Connection> waits = new ArrayList<>();
      for (int i = 0; i < LockLimits.WAITING_REQUESTS; i++) {
        waits.add(connections.forWaiting());
      }
      assertRefused("WAITING_REQUESTS", connections::forWaiting);
      List<Connection> requests = new ArrayList<>();
      for (int i = 0; i < LockLimits.SHORT_REQUESTS; i++) {
        requests.add(connections.forShortRequest());
      }
      requests.forEach(connections::giveBack);
      waits.forEach(connections::giveBack);
      assertRefused("WORKS", connections::forWork);
      connections.giveBackAfterWork(works.get(0));
      connections.forWork();
    }
  }

  @Test
  void failureToOpenTakesNoPlace() throws Exception {
    AtomicInteger failures = new AtomicInteger(2 * LockLimits.WORKS);
    try (OwnConnections connections =
        new OwnConnections(
            () -> {
              if (failures.getAndDecrement() > 0) {
                throw new SQLException("no node is reachable", "08001", 90067);
              }
              return openConnection();
            })) {
      for (int i = 0; i < 2 * LockLimits.WORKS; i++) {
        SQLException failed = assertThrows(SQLException.class, connections::forWork);
        assertEquals("08001", failed.getSQLState());
      }
      connections.forWork();
    }
  }
}
