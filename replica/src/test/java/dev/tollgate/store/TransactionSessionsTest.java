package dev.tollgate.store;

import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.core.StalledError;
import dev.tollgate.core.command.SessionId;
import dev.tollgate.store.h2.H2Database;
import dev.tollgate.store.schema.SystemSchema;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class TransactionSessionsTest {
  private static final SessionId OWNER = new SessionId(1);

  private final H2Database database = SystemSchema.newDatabase();

  private final ExecutorService threads = Executors.newSingleThreadExecutor();

  @AfterEach
  void close() {
    threads.shutdownNow();
    database.close();
  }

  @Test
  void queryThatNeverEndsStopsTheReplica() throws Exception {
    TransactionSessions sessions = new TransactionSessions(database, /* stopMillis= */ 200);
    sessions.begin(OWNER);
    Thread query =
        new Thread(() -> sessions.find(OWNER).enter(() -> {}), "a-query-that-never-ends");
    query.start();
    query.join();
    StalledError stalled = assertThrows(StalledError.class, () -> sessions.take(OWNER));
    assertTrue(stalled.getMessage().contains("a query of session 1"), stalled.getMessage());
    assertTrue(stalled.getCause().getMessage().contains("a-query-that-never-ends"));
  }

  @Test
  void queryThatEndsWhenItIsCanceledMakesWay() throws Exception {
    TransactionSessions sessions = new TransactionSessions(database, /* stopMillis= */ 50_000);
    sessions.begin(OWNER);
    TransactionSessions.OpenTransaction transaction = sessions.find(OWNER);
    CountDownLatch entered = new CountDownLatch(1);
    CountDownLatch canceled = new CountDownLatch(1);
    Future<?> query =
        threads.submit(
            () -> {
              transaction.enter(canceled::countDown);
              entered.countDown();
              canceled.await();
              transaction.leave();
              return null;
            });
    entered.await();
    assertSame(transaction, sessions.take(OWNER));
    TransactionSessions.release(transaction);
    query.get();
  }
}
