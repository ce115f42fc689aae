package dev.tollgate.contract;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.lock.FencedLock;
import dev.tollgate.lock.FencedReadWriteLock;
import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.Lease;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockException;
import dev.tollgate.lock.LockLimits;
import dev.tollgate.lock.LockLostException;
import dev.tollgate.lock.LockOptions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What {@link Lock} and {@link java.util.concurrent.locks.ReadWriteLock} demand, kept by the views
 * of a lock of the cluster.
 */
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // locks are what is tested
class ThreadLockTest {
  private final String url = "jdbc:tollgate:mem:" + UUID.randomUUID();
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private LockClient client;
  private LockClient elsewhere;
  private Connection connection;

  @BeforeEach
  void open() throws SQLException {
    client = LockClient.connect(url);
    elsewhere = LockClient.connect(url);
    connection = DriverManager.getConnection(url);
  }

  @AfterEach
  void close() throws SQLException {
    threads.shutdownNow();
    client.close();
    elsewhere.close();
    connection.close();
  }

  private <T> T inAnotherThread(Callable<T> task) throws Exception {
    return threads.submit(task).get(30, TimeUnit.SECONDS);
  }

  private void execute(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  @Test
  void isReentrantByThread() throws Exception {
    FencedLock lock = client.asLock("job");
    lock.lock();
    long token = lock.held().token();
    client.asLock("job").lock();
    assertTrue(lock.tryLock());
    assertTrue(lock.tryLock(1, TimeUnit.SECONDS));
    lock.lockInterruptibly();
    assertEquals(token, lock.held().token());
    for (int i = 0; i < 4; i++) {
      lock.unlock();
      assertFalse(inAnotherThread(() -> client.asLock("job").tryLock()));
      assertFalse(inAnotherThread(() -> elsewhere.asLock("job").tryLock()));
    }
    lock.unlock();
    assertTrue(
        inAnotherThread(
            () -> {
              FencedLock theirs = elsewhere.asLock("job");
              boolean locked = theirs.tryLock();
              assertTrue(theirs.held().token() > token);
              theirs.unlock();
              return locked;
            }));
  }

  private FencedLock withTerm(Duration term) {
    return client.asLock("job", LockOptions.DEFAULT.fixedTerm(term));
  }

  private static boolean isLeft(FencedLock lock, Duration atLeast) {
    return lock.held().lease().remaining().compareTo(atLeast) >= 0;
  }

  @Test
  void reentryWithALongerTermExtends() throws Exception {
    for (boolean forReading : List.of(false, true)) {
      LockOptions longer = LockOptions.DEFAULT.fixedTerm(Duration.ofMinutes(5));
      LockOptions brief = LockOptions.DEFAULT.fixedTerm(Duration.ofSeconds(20));
      FencedReadWriteLock brieflyLocked = client.asReadWriteLock("job", brief);
      FencedReadWriteLock longLocked = client.asReadWriteLock("job", longer);
      FencedLock first = forReading ? brieflyLocked.readLock() : brieflyLocked.writeLock();
      FencedLock second = forReading ? longLocked.readLock() : longLocked.writeLock();
      first.lock();
      long token = first.held().token();
      second.lock();
      assertTrue(isLeft(second, Duration.ofMinutes(4)), "the longer term counts");
      assertTrue(second.held().lease().isFixed());
      assertTrue(second.held().token() > token);
      assertTrue(first.isHeldByCurrentThread());
      long extended = second.held().token();
      assertTrue(first.tryLock());
      assertTrue(isLeft(first, Duration.ofMinutes(4)), "a shorter term takes nothing away");
      assertEquals(extended, first.held().token());
      first.unlock();
      second.unlock();
      assertFalse(inAnotherThread(() -> elsewhere.asLock("job").tryLock()));
      first.unlock();
      assertTrue(inAnotherThread(() -> isFree(elsewhere)));
    }
  }

  private static boolean isFree(LockClient client) {
    FencedLock lock = client.asLock("job");
    boolean free = lock.tryLock();
    if (free) {
      lock.unlock();
    }
    return free;
  }

  @Test
  void reentryWithTheSameTermBeginsItAnewUnderTheSameToken() throws Exception {
    FencedLock lock = withTerm(Duration.ofMinutes(1));
    lock.lock();
    HeldLock held = lock.held();
    Duration left = held.lease().remaining();
    await().until(() -> held.lease().remaining().compareTo(left.minusMillis(20)) < 0);
    Duration later = held.lease().remaining();
    assertTrue(lock.tryLock(1, TimeUnit.SECONDS));
    assertEquals(held, lock.held());
    assertTrue(isLeft(lock, later));
    lock.unlock();
    lock.unlock();
  }

  @Test
  void reentryWithoutATermIsRenewedUntilItIsUnlocked() throws Exception {
    FencedLock brief = withTerm(Duration.ofMillis(800));
    FencedLock renewed = client.asLock("job", LockOptions.DEFAULT.ttl(Duration.ofMillis(700)));
    brief.lock();
    long beganNanos = System.nanoTime();
    renewed.lock();
    assertFalse(renewed.held().lease().isFixed());
    await().until(() -> System.nanoTime() - beganNanos > Duration.ofMillis(1_500).toNanos());
    assertTrue(renewed.isHeldByCurrentThread());
    brief.lock();
    assertFalse(brief.held().lease().isFixed(), "a term is shorter than no term");
    brief.unlock();
    renewed.unlock();
    brief.unlock();
    assertTrue(inAnotherThread(() -> isFree(elsewhere)));
  }

  @Test
  void reentryThatFindsALossDoesNotCount() throws Exception {
    for (FencedLock second : List.of(withTerm(Duration.ofMinutes(5)), client.asLock("job"))) {
      FencedLock first = withTerm(Duration.ofMinutes(1));
      first.lock();
      execute("SELECT force_release_lock('job')");
      assertThrows(LockLostException.class, second::lock);
      assertThrows(LockLostException.class, second::tryLock);
      assertEquals(1, first.holdCount());
      assertThrows(LockLostException.class, first::unlock);
      assertEquals(0, first.holdCount());
    }
  }

  @Test
  void reentryWithInterruptOnLossInterrupts() throws Exception {
    FencedLock lock = client.asLock("job");
    lock.lock();
    client.asLock("job", LockOptions.DEFAULT.interruptOnLoss()).lock();
    execute("SELECT force_release_lock('job')");
    assertThrows(
        InterruptedException.class, () -> new CountDownLatch(1).await(30, TimeUnit.SECONDS));
    lock.unlock();
    assertThrows(LockLostException.class, lock::unlock);
  }

  /** There was no place for its listener. */
  @Test
  void interruptThatWasRefusedIsAskedForAgain() throws Exception {
    FencedLock interrupting = client.asLock("job", LockOptions.DEFAULT.interruptOnLoss());
    FencedLock lock = client.asLock("job");
    lock.lock();
    List<Lease> leases = new ArrayList<>();
    for (int i = 0; i < LockLimits.LISTENER_LANES; i++) {
      Lease lease = client.newLease(Duration.ofMinutes(10));
      lease.onLost(lost -> {});
      leases.add(lease);
    }
    assertThrows(LockException.class, interrupting::lock);
    assertEquals(1, lock.holdCount());
    leases.get(0).close();
    interrupting.lock();
    execute("SELECT force_release_lock('job')");
    assertThrows(
        InterruptedException.class, () -> new CountDownLatch(1).await(30, TimeUnit.SECONDS));
    lock.unlock();
    assertThrows(LockLostException.class, lock::unlock);
  }

  /** A thread that dies, or stands still, without having unlocked. */
  private void lockAndDie(FencedLock lock) throws InterruptedException {
    Thread thread = new Thread(lock::lock);
    thread.start();
    thread.join(30_000);
    assertFalse(thread.isAlive());
  }

  @Test
  void turnOfADeadThreadEndsWithTheTermOfItsLock() throws Exception {
    lockAndDie(withTerm(Duration.ofMillis(800)));
    FencedLock lock = client.asLock("job");
    assertFalse(lock.tryLock());
    assertTrue(lock.tryLock(30, TimeUnit.SECONDS));
    lock.unlock();
    lockAndDie(withTerm(Duration.ofMillis(800)));
    await().pollInSameThread().atMost(Duration.ofSeconds(30)).until(lock::tryLock);
    lock.unlock();
    lockAndDie(withTerm(Duration.ofMillis(800)));
    lock.lock();
    lock.unlock();
  }

  @Test
  void turnOfADeadThreadEndsWithTheLossOfItsLock() throws Exception {
    lockAndDie(client.asLock("job"));
    Future<Boolean> waiting =
        threads.submit(() -> client.asLock("job").tryLock(30, TimeUnit.SECONDS));
    execute("SELECT force_release_lock('job')");
    assertTrue(waiting.get(30, TimeUnit.SECONDS));
  }

  @Test
  void turnEndsWithALockThatIsReleasedWithoutUnlock() throws Exception {
    FencedLock lock = client.asLock("job");
    lock.lock();
    HeldLock first = lock.held();
    first.close();
    assertTrue(inAnotherThread(() -> isFree(client)));
    assertThrows(LockLostException.class, lock::unlock);
    lock.lock();
    lock.held().lease().close();
    assertTrue(inAnotherThread(() -> isFree(client)));
    assertThrows(LockLostException.class, lock::unlock);
    assertTrue(inAnotherThread(() -> isFree(client)));
  }

  @Test
  void formerHolderThatUnlocksTakesNoTurnAway() throws Exception {
    FencedLock lock = client.asLock("job");
    lock.lock();
    execute("SELECT force_release_lock('job')");
    CountDownLatch mayUnlock = new CountDownLatch(1);
    CountDownLatch locked = new CountDownLatch(1);
    Future<?> next =
        threads.submit(
            () -> {
              lock.lock();
              locked.countDown();
              mayUnlock.await();
              lock.unlock();
              return null;
            });
    assertTrue(locked.await(30, TimeUnit.SECONDS));
    assertThrows(LockLostException.class, lock::unlock);
    assertFalse(lock.tryLock());
    mayUnlock.countDown();
    next.get(30, TimeUnit.SECONDS);
    assertTrue(lock.tryLock());
    lock.unlock();
  }

  @Test
  void closedClientEndsTheWaitsOfItsThreads() throws Exception {
    FencedLock lock = client.asLock("job");
    lock.lock();
    List<Throwable> ends = new CopyOnWriteArrayList<>();
    List<Thread> waiting = new ArrayList<>();
    for (int i = 0; i < 2; i++) {
      Thread thread = new Thread(lock::lock);
      thread.setDaemon(true);
      thread.setUncaughtExceptionHandler((of, thrown) -> ends.add(thrown));
      thread.start();
      waiting.add(thread);
    }
    for (Thread thread : waiting) {
      await().until(() -> thread.getState() == Thread.State.WAITING);
    }
    client.close();
    await().atMost(Duration.ofSeconds(30)).until(() -> ends.size() == 2);
    for (Throwable end : ends) {
      assertEquals("the lock client is closed", end.getMessage());
    }
    assertThrows(IllegalStateException.class, () -> client.asLock("other").tryLock());
  }

  @Test
  void lockThatWasExtendedByItsHeldLockIsUnlocked() throws Exception {
    FencedLock lock = client.asLock("job");
    lock.lock();
    HeldLock first = lock.held();
    HeldLock second = first.extend(Duration.ofSeconds(40));
    assertEquals(second, lock.held());
    HeldLock third = second.extend(Duration.ofSeconds(50));
    assertEquals(third, lock.held());
    assertFalse(inAnotherThread(() -> isFree(client)));
    lock.unlock();
    assertFalse(third.isHeld());
    assertTrue(inAnotherThread(() -> isFree(elsewhere)));
  }

  /** Its threads are equal by name, as those of some pools are. */
  private static final class EqualThread extends Thread {
    EqualThread(Runnable work) {
      super(work, "worker");
    }

    @Override
    public boolean equals(Object other) {
      return other instanceof EqualThread;
    }

    @Override
    public int hashCode() {
      return 7;
    }
  }

  @Test
  void threadsThatAreEqualAreTwo() throws Exception {
    FencedLock lock = client.asLock("job");
    CountDownLatch locked = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    Thread one =
        new EqualThread(
            () -> {
              lock.lock();
              locked.countDown();
              awaitThrough(mayEnd);
              lock.unlock();
            });
    one.start();
    assertTrue(locked.await(30, TimeUnit.SECONDS));
    List<Boolean> taken = new CopyOnWriteArrayList<>();
    Thread two = new EqualThread(() -> taken.add(lock.tryLock() || lock.isHeldByCurrentThread()));
    two.start();
    two.join(30_000);
    mayEnd.countDown();
    one.join(30_000);
    assertEquals(List.of(false), taken);
  }

  private static void awaitThrough(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void hasTheTtlAndTheOwnerOfItsOptions() throws Exception {
    LockOptions options = LockOptions.DEFAULT.ttl(Duration.ofSeconds(40)).owner("me").shared();
    FencedLock lock = client.asLock("job", options);
    lock.lock();
    assertEquals(Duration.ofSeconds(40), lock.held().lease().ttl());
    assertEquals("me", elsewhere.holder("job").orElseThrow().candidate());
    lock.unlock();
  }

  @Test
  void threadsThatDoNotHaveItMayNotUnlockIt() throws Exception {
    FencedLock lock = client.asLock("job");
    assertThrows(IllegalMonitorStateException.class, lock::unlock);
    lock.lock();
    inAnotherThread(() -> assertThrows(IllegalMonitorStateException.class, lock::unlock));
    inAnotherThread(() -> assertThrows(IllegalMonitorStateException.class, lock::held));
    lock.unlock();
    assertThrows(IllegalMonitorStateException.class, lock::unlock);
    assertThrows(UnsupportedOperationException.class, lock::newCondition);
  }

  @Test
  void tryLockWaitsNoLongerThanItMay() throws Exception {
    client.asLock("job").lock();
    assertFalse(inAnotherThread(() -> client.asLock("job").tryLock(20, TimeUnit.MILLISECONDS)));
    assertFalse(inAnotherThread(() -> elsewhere.asLock("job").tryLock(20, TimeUnit.MILLISECONDS)));
    Future<Boolean> patient =
        threads.submit(() -> elsewhere.asLock("job").tryLock(1, TimeUnit.MINUTES));
    client.asLock("job").unlock();
    assertTrue(patient.get(30, TimeUnit.SECONDS));
  }

  @Test
  void interruptEndsLockInterruptiblyAndNotLock() throws Exception {
    FencedLock lock = client.asLock("job");
    lock.lock();
    for (LockClient each : List.of(client, elsewhere)) {
      Future<?> interruptible =
          threads.submit(
              () -> {
                assertThrows(
                    InterruptedException.class, () -> each.asLock("job").lockInterruptibly());
                return null;
              });
      interruptible.cancel(true);
    }
    Thread stubborn =
        new Thread(
            () -> {
              elsewhere.asLock("job").lock();
              assertTrue(Thread.currentThread().isInterrupted());
              elsewhere.asLock("job").unlock();
            });
    stubborn.start();
    awaitWaiter();
    stubborn.interrupt();
    awaitWaiter();
    lock.unlock();
    stubborn.join(30_000);
    assertFalse(stubborn.isAlive());
  }

  private void awaitWaiter() {
    await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () -> {
              try (Statement statement = connection.createStatement();
                  var row = statement.executeQuery("SELECT COUNT(*) FROM TOLLGATE.LOCK_WAITERS")) {
                return row.next() && row.getInt(1) == 1;
              }
            });
  }

  @Test
  void counterIsIncrementedByOneThreadAtATime() throws Exception {
    int[] counter = {0};
    List<Callable<Void>> tasks = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      Lock lock = (i % 2 == 0 ? client : elsewhere).asLock("job");
      tasks.add(
          () -> {
            for (int n = 0; n < 10; n++) {
              lock.lock();
              try {
                counter[0]++;
              } finally {
                lock.unlock();
              }
            }
            return null;
          });
    }
    for (Future<Void> task : threads.invokeAll(tasks)) {
      task.get();
    }
    assertEquals(80, counter[0]);
  }

  @Test
  void lossIsNotHiddenFromTheThreadThatLockedIt() throws Exception {
    FencedLock lock = client.asLock("job");
    lock.lock();
    lock.lock();
    execute("SELECT force_release_lock('job')");
    assertThrows(LockLostException.class, () -> lock.held().confirm());
    assertThrows(LockLostException.class, lock::lock);
    lock.unlock();
    assertThrows(LockLostException.class, lock::unlock);
    lock.lock();
    lock.unlock();
  }

  @Test
  void readersReadTogetherAndWritersWriteAlone() throws Exception {
    FencedReadWriteLock lock = client.asReadWriteLock("job");
    FencedReadWriteLock other = elsewhere.asReadWriteLock("job");
    lock.readLock().lock();
    lock.readLock().lock();
    assertTrue(
        inAnotherThread(
            () -> {
              boolean read = other.readLock().tryLock() && lock.readLock().tryLock();
              lock.readLock().unlock();
              other.readLock().unlock();
              return read;
            }));
    assertFalse(inAnotherThread(() -> other.writeLock().tryLock()));
    assertFalse(lock.writeLock().tryLock(), "its own read lock is in the way");
    assertThrows(IllegalMonitorStateException.class, () -> lock.writeLock().lock());
    lock.readLock().unlock();
    lock.readLock().unlock();
    lock.writeLock().lock();
    lock.readLock().lock();
    lock.writeLock().unlock();
    assertThrows(IllegalMonitorStateException.class, () -> lock.writeLock().unlock());
    assertFalse(inAnotherThread(() -> other.readLock().tryLock()));
    lock.readLock().unlock();
    assertTrue(inAnotherThread(() -> other.writeLock().tryLock()));
  }
}
