package dev.tollgate.spring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.cluster.Ports;
import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.Lease;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockException;
import dev.tollgate.lock.LockLostException;
import dev.tollgate.lock.LockOptions;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.springframework.dao.CannotAcquireLockException;

/** What a lock registry of Spring Integration promises, whichever version asks for it. */
@ParameterizedClass
@Timeout(60)
@SuppressWarnings("LockNotBeforeTry") // locks are what is tested
abstract class LockRegistryContract {
  private static final Duration TTL = Duration.ofSeconds(20);
  private static final Duration LONGER = Duration.ofSeconds(40);

  /** The methods of a registry, without the types that differ. */
  interface Subject {
    RegistryLock obtain(Object key);

    void renewLock(Object key);

    void renewLock(Object key, Duration ttl);

    void expireUnusedOlderThan(long ageMillis);
  }

  @Parameter Transport transport;

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private Transport.RunningNode node;
  private LockClient client;
  private LockClient elsewhere;
  private Subject registry;
  private Subject other;

  abstract Subject registry(LockClient client, LockOptions options, String prefix);

  @BeforeEach
  void open() throws Exception {
    node = transport.start();
    client = LockClient.connect(node.url());
    elsewhere = LockClient.connect(node.url());
    registry = registry(client, LockOptions.DEFAULT, "");
    other = registry(elsewhere, LockOptions.DEFAULT, "");
  }

  @AfterEach
  void close() throws Exception {
    threads.shutdownNow();
    client.close();
    elsewhere.close();
    node.close();
  }

  private <T> T inAnotherThread(Callable<T> task) throws Exception {
    return threads.submit(task).get(30, TimeUnit.SECONDS);
  }

  private boolean isFreeForOthers(String key) throws Exception {
    return inAnotherThread(
        () -> {
          RegistryLock lock = other.obtain(key);
          boolean locked = lock.tryLock();
          if (locked) {
            lock.unlock();
          }
          return locked;
        });
  }

  private void takeAway(RegistryLock lock) throws Exception {
    HeldLock held = lock.held();
    node.execute("SELECT revoke_lease(" + held.lease().id() + ")");
    await().until(() -> hasEnded(held));
  }

  /** The cluster tells only with a heartbeat; the question finds out at once. */
  private static boolean hasEnded(HeldLock held) {
    try {
      held.lease().extend();
      return false;
    } catch (LockLostException e) {
      return true;
    }
  }

  @Test
  void lockOfADeadThreadIsFreeWhenItsTermIsOver() throws Exception {
    RegistryLock lock = registry.obtain("a");
    Thread thread = new Thread(() -> lock.lock(Duration.ofMillis(800)));
    thread.start();
    thread.join(30_000);
    assertFalse(thread.isAlive());
    assertTrue(lock.tryLock(30, TimeUnit.SECONDS));
    lock.unlock();
  }

  @Test
  void locksAreReentrantByThread() throws Exception {
    RegistryLock lock = registry.obtain("a");
    lock.lock();
    lock.lockInterruptibly();
    assertTrue(lock.tryLock());
    assertTrue(registry.obtain("a").tryLock(1, TimeUnit.SECONDS));
    long token = lock.held().token();
    for (int i = 0; i < 4; i++) {
      assertEquals(token, registry.obtain("a").held().token());
      assertFalse(isFreeForOthers("a"));
      assertFalse(inAnotherThread(() -> registry.obtain("a").tryLock()));
      registry.obtain("a").unlock();
    }
    assertTrue(isFreeForOthers("a"));
  }

  @Test
  void tokensGrowFromRegistryToRegistry() throws Exception {
    long last = 0;
    for (Subject each : new Subject[] {registry, other, registry}) {
      RegistryLock lock = each.obtain("a");
      lock.lock();
      assertTrue(lock.held().token() > last);
      last = lock.held().token();
      lock.unlock();
    }
  }

  @Test
  void waitsAreGrantedWhenTheLockIsFreeAndEndWithTheirTime() throws Exception {
    RegistryLock lock = registry.obtain("a");
    lock.lock();
    assertFalse(inAnotherThread(() -> other.obtain("a").tryLock(50, TimeUnit.MILLISECONDS)));
    assertFalse(inAnotherThread(() -> other.obtain("a").tryLock(-1, TimeUnit.SECONDS)));
    Future<Boolean> waiting = threads.submit(() -> other.obtain("a").tryLock(30, TimeUnit.SECONDS));
    await().until(() -> countWaiters() == 1);
    lock.unlock();
    assertTrue(waiting.get(10, TimeUnit.SECONDS));
  }

  private int countWaiters() throws Exception {
    try (Statement statement = node.connection().createStatement();
        ResultSet rows = statement.executeQuery("SELECT COUNT(*) FROM TOLLGATE.LOCK_WAITERS")) {
      rows.next();
      return rows.getInt(1);
    }
  }

  @Test
  void interruptsEndOneKindOfWaitAndAreKeptByTheOther() throws Exception {
    RegistryLock lock = registry.obtain("a");
    lock.lock();
    AtomicReference<Thread> waiter = new AtomicReference<>();
    Future<?> interrupted =
        threads.submit(
            () -> {
              waiter.set(Thread.currentThread());
              assertThrows(InterruptedException.class, other.obtain("a")::lockInterruptibly);
            });
    await().until(() -> countWaiters() == 1);
    waiter.get().interrupt();
    interrupted.get(10, TimeUnit.SECONDS);
    await().until(() -> countWaiters() == 0);

    CountDownLatch begun = new CountDownLatch(1);
    Future<Boolean> patient =
        threads.submit(
            () -> {
              waiter.set(Thread.currentThread());
              begun.countDown();
              other.obtain("a").lock();
              boolean flag = Thread.interrupted();
              other.obtain("a").unlock();
              return flag;
            });
    begun.await();
    await().until(() -> countWaiters() == 1);
    waiter.get().interrupt();
    assertFalse(patient.isDone());
    lock.unlock();
    assertTrue(patient.get(20, TimeUnit.SECONDS), "the interrupt was swallowed");
  }

  @Test
  void onlyTheThreadThatHasItUnlocksIt() throws Exception {
    RegistryLock lock = registry.obtain("a");
    assertThrows(IllegalMonitorStateException.class, lock::unlock);
    assertThrows(IllegalMonitorStateException.class, lock::held);
    lock.lock();
    inAnotherThread(() -> assertThrows(IllegalMonitorStateException.class, lock::unlock));
    inAnotherThread(
        () -> assertThrows(IllegalMonitorStateException.class, () -> registry.renewLock("a")));
    assertFalse(isFreeForOthers("a"));
    lock.unlock();
    assertThrows(UnsupportedOperationException.class, lock::newCondition);
  }

  @Test
  void lossIsReportedByUnlockAndRenewalAndReentry() throws Exception {
    RegistryLock lock = registry.obtain("a");
    lock.lock();
    long token = lock.held().token();
    takeAway(lock);
    assertThrows(LockLostException.class, lock::lock);
    assertThrows(LockLostException.class, lock::tryLock);
    assertThrows(LockLostException.class, () -> registry.renewLock("a"));
    assertTrue(isFreeForOthers("a"));
    LockLostException lost = assertThrows(LockLostException.class, lock::unlock);
    assertTrue(lost.getMessage().contains("lock 'a' under token " + token), lost.getMessage());
    assertThrows(IllegalMonitorStateException.class, lock::unlock);
    lock.lock();
    assertTrue(lock.held().token() > token);
    lock.unlock();
  }

  /** The ttl is long: a heartbeat would tell too late. */
  @Test
  void lockThatIsTakenAwayIsLostAtOnce() throws Exception {
    RegistryLock lock = registry.obtain("a");
    lock.lock();
    HeldLock held = lock.held();
    node.execute("SELECT force_release_lock('a')");
    await().atMost(LockClient.DEFAULT_TTL.dividedBy(10)).until(() -> !held.isHeld());
    assertThrows(LockLostException.class, lock::tryLock);
    assertThrows(LockLostException.class, () -> registry.renewLock("a"));
    assertThrows(LockLostException.class, lock::unlock);
    lock.lock();
    node.execute("SELECT force_release_lock('a')");
    assertThrows(LockLostException.class, lock::unlock, "whether known or not");
  }

  @Test
  void fixedTermEndsUnlessItIsRenewed() throws Exception {
    RegistryLock lock = registry.obtain("a");
    lock.lock(Duration.ofMillis(400));
    assertTrue(lock.held().lease().isFixed());
    assertTrue(
        inAnotherThread(() -> other.obtain("a").tryLock(Duration.ofSeconds(30), TTL)),
        "the term has not ended");
    assertThrows(LockLostException.class, () -> registry.renewLock("a"));
    assertThrows(LockLostException.class, lock::unlock);
  }

  @Test
  void reentryHasTheLongerTermAndNoTermIsLongest() throws Exception {
    RegistryLock lock = registry.obtain("a");
    lock.lock(TTL);
    long token = lock.held().token();
    registry.obtain("a").lock(TTL);
    assertEquals(token, lock.held().token(), "the term begins anew");
    assertTrue(lock.tryLock(Duration.ZERO, LONGER));
    assertEquals(LONGER, lock.held().lease().ttl());
    assertTrue(lock.held().token() > token);
    assertTrue(lock.held().lease().isFixed());
    lock.lock();
    assertFalse(lock.held().lease().isFixed(), "heartbeats renew it until it is unlocked");
    lock.lock(TTL);
    assertFalse(lock.held().lease().isFixed());
    for (int i = 0; i < 5; i++) {
      assertFalse(isFreeForOthers("a"));
      lock.unlock();
    }
    assertTrue(isFreeForOthers("a"));
  }

  /** Durations that no clock can count: a wait goes on, and a term is refused by its bounds. */
  @Test
  void durationsThatAreTooLongAreCountedOrRefused() throws Exception {
    Duration forever = Duration.ofSeconds(Long.MAX_VALUE);
    RegistryLock lock = registry.obtain("a");
    assertTrue(lock.tryLock(forever, TTL));
    assertThrows(IllegalArgumentException.class, () -> registry.renewLock("a", forever));
    lock.unlock();
    for (Executable request :
        List.<Executable>of(() -> lock.lock(forever), () -> lock.tryLock(TTL, forever))) {
      String said = assertThrows(IllegalArgumentException.class, request).getMessage();
      assertTrue(said.contains("from 100 ms to 24 h"), said);
    }
    assertTrue(isFreeForOthers("a"));
  }

  @Test
  void renewalGivesTheTermAnew() throws Exception {
    RegistryLock lock = registry.obtain("a");
    assertTrue(lock.tryLock(Duration.ofSeconds(5), TTL));
    long token = lock.held().token();
    Lease lease = lock.held().lease();
    Duration before = lease.remaining();
    await().until(() -> lease.remaining().compareTo(before.minusMillis(20)) < 0);
    Duration later = lease.remaining();
    registry.renewLock("a");
    assertTrue(lease.remaining().compareTo(later) > 0);
    assertEquals(token, lock.held().token());

    registry.renewLock("a", LONGER);
    assertEquals(LONGER, lock.held().lease().ttl());
    assertTrue(lock.held().token() > token);
    assertFalse(isFreeForOthers("a"));
    lock.unlock();
    assertTrue(isFreeForOthers("a"));
  }

  @Test
  void locksWithoutATermKeepTheirTtlAndTheirToken() throws Exception {
    RegistryLock lock = registry(client, LockOptions.DEFAULT.ttl(TTL), "").obtain("a");
    lock.lock();
    HeldLock held = lock.held();
    registry.renewLock("a");
    registry.renewLock("a", LONGER);
    assertEquals(held.token(), lock.held().token());
    assertEquals(TTL, lock.held().lease().ttl());
    lock.unlock();
  }

  @Test
  void expiryTakesNothingAwayThatIsHeld() throws Exception {
    RegistryLock lock = registry.obtain("a");
    lock.lock();
    registry.expireUnusedOlderThan(0);
    assertTrue(lock.held().isHeld());
    assertFalse(isFreeForOthers("a"));
    lock.unlock();
  }

  @Test
  void keysAreNamesBehindAPrefix() throws Exception {
    Subject prefixed = registry(client, LockOptions.DEFAULT.owner("me"), "orders/");
    RegistryLock lock = prefixed.obtain("7");
    lock.lock();
    assertEquals("me", elsewhere.holder("orders/7").orElseThrow().candidate());
    assertTrue(isFreeForOthers("7"));
    lock.unlock();
    assertThrows(IllegalArgumentException.class, () -> registry.obtain(7));
    assertThrows(IllegalArgumentException.class, () -> registry.obtain(""));
    assertThrows(IllegalArgumentException.class, () -> prefixed.obtain("x".repeat(250)));
    assertThrows(IllegalArgumentException.class, () -> lock.lock(Duration.ofMillis(1)));
  }

  @Test
  void clusterThatDoesNotAnswerGrantsNothing() throws Exception {
    String nobody =
        "jdbc:tollgate://127.0.0.1:"
            + Ports.free()
            + "/?failoverTimeout=100ms&connectTimeout=300ms";
    try (LockClient cutOff = LockClient.connect(nobody)) {
      RegistryLock lock = registry(cutOff, LockOptions.DEFAULT, "").obtain("a");
      CannotAcquireLockException refused =
          assertThrows(CannotAcquireLockException.class, lock::tryLock);
      assertEquals(LockException.class, refused.getCause().getClass());
      assertThrows(CannotAcquireLockException.class, lock::lock);
      assertThrows(CannotAcquireLockException.class, lock::lockInterruptibly);
      assertThrows(CannotAcquireLockException.class, () -> lock.tryLock(1, TimeUnit.MILLISECONDS));
      assertThrows(IllegalMonitorStateException.class, lock::unlock);
    }
  }
}
