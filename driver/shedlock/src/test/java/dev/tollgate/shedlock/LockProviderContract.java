package dev.tollgate.shedlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.LockClient;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockExtender;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.LockingTaskExecutor.TaskResult;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.support.KeepAliveLockProvider;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** What ShedLock expects of a provider, and what ours adds. All tests of a class share nodes. */
@Timeout(120)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class LockProviderContract {
  static final Duration BRIEF = Duration.ofMillis(500);
  static final Duration LONG = Duration.ofMinutes(10);
  private static final String JOB = "job";

  private LockClient client;
  private LockClient otherClient;
  private Connection connection;

  /** Of this process, and of another one. */
  LockProvider provider;

  LockProvider other;

  abstract String url();

  /** Disturbs the nodes while locks are in use, if they can be disturbed. */
  void disturb() {}

  @BeforeEach
  void open() throws SQLException {
    client = LockClient.connect(url());
    otherClient = LockClient.connect(url());
    provider = new TollgateLockProvider(client);
    other = new TollgateLockProvider(otherClient);
    connection = DriverManager.getConnection(url());
  }

  @AfterEach
  void close() throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String lock : List.of(JOB, "second", "another", "first")) {
        statement.execute("SELECT force_release_lock('" + lock + "')");
      }
    }
    connection.close();
    client.close();
    otherClient.close();
  }

  @AfterAll
  void stop() {}

  static LockConfiguration job(Duration atMost, Duration atLeast) {
    return new LockConfiguration(Instant.now(), JOB, atMost, atLeast);
  }

  private static Optional<SimpleLock> lock(LockProvider from, Duration atMost) {
    return from.lock(job(atMost, Duration.ZERO));
  }

  private SimpleLock locked(Duration atMost) {
    return lock(provider, atMost).orElseThrow();
  }

  private void assertLocked() {
    assertTrue(lock(provider, LONG).isEmpty());
    assertTrue(lock(other, LONG).isEmpty());
  }

  private void assertFree() {
    lock(other, LONG).orElseThrow().unlock();
    lock(provider, LONG).orElseThrow().unlock();
  }

  static ConditionFactory soon() {
    return Awaitility.await().atMost(Duration.ofSeconds(60)).pollInterval(Duration.ofMillis(5));
  }

  /** Nobody gets the lock, unless this test was slow. */
  private static void assertKept(LockProvider asking, long begin) {
    Optional<SimpleLock> early = lock(asking, LONG);
    assertTrue(early.isEmpty() || System.nanoTime() - begin > BRIEF.toNanos());
    early.ifPresent(SimpleLock::unlock);
  }

  private void awaitTime(long sinceNanos, Duration passed) {
    soon().until(() -> System.nanoTime() - sinceNanos > passed.toNanos());
  }

  /** The lock is granted to another process by and by. */
  private SimpleLock awaitLock() {
    SimpleLock[] granted = new SimpleLock[1];
    soon()
        .until(
            () -> {
              lock(other, LONG).ifPresent(lock -> granted[0] = lock);
              return granted[0] != null;
            });
    return granted[0];
  }

  /** Returns when another process was granted the lock. */
  private long awaitFree() {
    SimpleLock granted = awaitLock();
    long now = System.nanoTime();
    granted.unlock();
    return now;
  }

  private long number(String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getLong(1);
    }
  }

  private static void assertNotValid(Executable use) {
    assertThrows(IllegalStateException.class, use);
  }

  @Test
  void lockIsHeldByOneUntilItIsUnlocked() {
    SimpleLock lock = locked(LONG);
    assertLocked();
    disturb();
    assertLocked();
    lock.unlock();
    assertFree();
  }

  @Test
  void locksOfOtherNamesAreFree() {
    SimpleLock lock = locked(LONG);
    SimpleLock second =
        other.lock(new LockConfiguration(Instant.now(), "another", LONG, LONG)).orElseThrow();
    second.unlock();
    lock.unlock();
    assertFree();
  }

  @Test
  void lockThatIsNotUnlockedEndsAfterLockAtMostFor() {
    long begin = System.nanoTime();
    SimpleLock lock = locked(BRIEF);
    assertLocked();
    long end = awaitFree();
    assertTrue(end - begin >= BRIEF.toNanos() * 99 / 100, end - begin + " ns");
    SimpleLock next = lock(other, LONG).orElseThrow();
    lock.unlock();
    assertLocked();
    next.unlock();
  }

  @Test
  void lockStaysLockedForLockAtLeastFor() {
    long begin = System.nanoTime();
    SimpleLock lock = provider.lock(job(LONG, BRIEF)).orElseThrow();
    lock.unlock();
    disturb();
    assertKept(provider, begin);
    long end = awaitFree();
    assertTrue(end - begin >= BRIEF.toNanos(), end - begin + " ns");
  }

  @Test
  void lockIsFreeAtOnceIfItWasHeldForLockAtLeastFor() {
    long begin = System.nanoTime();
    SimpleLock lock = provider.lock(job(LONG, BRIEF)).orElseThrow();
    awaitTime(begin, BRIEF.plusMillis(10));
    assertLocked();
    lock.unlock();
    assertFree();
  }

  @Test
  void extendedLockOutlivesItsFirstTimeAndIsUnlocked() {
    long begin = System.nanoTime();
    SimpleLock lock = locked(BRIEF);
    SimpleLock extended = lock.extend(LONG, Duration.ZERO).orElseThrow();
    awaitTime(begin, BRIEF.plusMillis(100));
    assertLocked();
    SimpleLock again = extended.extend(LONG, Duration.ZERO).orElseThrow();
    assertLocked();
    again.unlock();
    assertFree();
  }

  @Test
  void extensionCountsLockAtLeastForAnew() {
    SimpleLock lock = locked(LONG);
    long begin = System.nanoTime();
    lock.extend(LONG, BRIEF).orElseThrow().unlock();
    assertKept(other, begin);
    long end = awaitFree();
    assertTrue(end - begin >= BRIEF.toNanos(), end - begin + " ns");
  }

  @Test
  void lockThatHasEndedIsNotExtended() {
    SimpleLock lock = locked(BRIEF);
    SimpleLock sameTime = locked("second", BRIEF);
    awaitFree();
    assertEquals(Optional.empty(), lock.extend(LONG, Duration.ZERO));
    assertEquals(Optional.empty(), lock.extend(BRIEF, Duration.ZERO));
    lock.unlock();
    soon().until(() -> other.lock(second(LONG)).isPresent());
    assertEquals(Optional.empty(), sameTime.extend(BRIEF, Duration.ZERO));
    sameTime.unlock();
    assertFree();
  }

  private static LockConfiguration second(Duration atMost) {
    return new LockConfiguration(Instant.now(), "second", atMost, Duration.ZERO);
  }

  private SimpleLock locked(String name, Duration atMost) {
    return provider
        .lock(new LockConfiguration(Instant.now(), name, atMost, Duration.ZERO))
        .orElseThrow();
  }

  @Test
  void lockThatWasUnlockedOrExtendedIsOfNoMoreUse() {
    SimpleLock lock = locked(LONG);
    SimpleLock extended = lock.extend(LONG, Duration.ZERO).orElseThrow();
    assertNotValid(() -> lock.extend(LONG, Duration.ZERO));
    assertNotValid(lock::unlock);
    assertLocked();
    extended.unlock();
    assertNotValid(extended::unlock);
    assertNotValid(() -> extended.extend(LONG, Duration.ZERO));
    assertFree();
  }

  @Test
  void lockThatAnOperatorHasTakenAwayIsNotExtended() throws SQLException {
    SimpleLock lock = locked(LONG);
    assertEquals(1, number("SELECT force_release_lock('job')"));
    SimpleLock next = lock(other, LONG).orElseThrow();
    assertEquals(Optional.empty(), lock.extend(LONG.plusMinutes(1), Duration.ZERO));
    assertLocked();
    lock.unlock();
    assertLocked();
    next.unlock();
  }

  @Test
  void lockOfAClientThatIsClosedStaysLocked() {
    LockClient closing = LockClient.connect(url());
    long begin = System.nanoTime();
    SimpleLock lock = lock(new TollgateLockProvider(closing), BRIEF).orElseThrow();
    closing.close();
    lock.unlock();
    assertKept(other, begin);
    awaitFree();
  }

  @Test
  void taskHasItsTokenOnItsThread() throws Throwable {
    assertThrows(IllegalStateException.class, TollgateShedLock::currentToken);
    TaskResult<Long> done =
        new DefaultLockingTaskExecutor(provider)
            .executeWithLock(
                () -> {
                  long outer = TollgateShedLock.currentToken();
                  assertEquals(outer, number("SELECT lock_token('job')"));
                  new DefaultLockingTaskExecutor(provider)
                      .executeWithLock(
                          (Runnable) () -> assertTrue(TollgateShedLock.currentToken() > outer),
                          second(LONG));
                  assertEquals(outer, TollgateShedLock.currentToken());
                  LockExtender.extendActiveLock(LONG, Duration.ZERO);
                  assertEquals(outer, TollgateShedLock.currentToken());
                  LockExtender.extendActiveLock(LONG.plusMinutes(1), Duration.ZERO);
                  assertEquals(TollgateShedLock.currentToken(), number("SELECT lock_token('job')"));
                  return TollgateShedLock.currentToken() - outer;
                },
                job(LONG, Duration.ZERO));
    assertTrue(done.wasExecuted());
    assertTrue(done.getResult() > 0);
    assertThrows(IllegalStateException.class, TollgateShedLock::current);
    assertFree();
  }

  @Test
  void taskThatTakesTooLongCannotWrite() throws Throwable {
    execute("CREATE TABLE IF NOT EXISTS LEDGER(ID INT) FENCED BY LOCK 'job'");
    String state =
        new DefaultLockingTaskExecutor(provider)
            .executeWithLock(
                () -> {
                  HeldLock lock = TollgateShedLock.current();
                  lock.run(c -> c.createStatement().executeUpdate("INSERT INTO LEDGER VALUES(1)"));
                  soon().until(() -> !lock.isHeld());
                  SimpleLock next = awaitLock();
                  try {
                    execute(
                        "INSERT INTO LEDGER VALUES(2) FENCED BY LOCK 'job' TOKEN " + lock.token());
                    return "written";
                  } catch (SQLException e) {
                    return e.getSQLState();
                  } finally {
                    next.unlock();
                  }
                },
                job(BRIEF, Duration.ZERO))
            .getResult();
    assertEquals("23T01", state);
    assertEquals(1, number("SELECT COUNT(*) FROM LEDGER"));
    execute("ALTER TABLE LEDGER NOT FENCED", "DROP TABLE LEDGER");
  }

  private void execute(String... statements) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      for (String sql : statements) {
        if (sql.startsWith("ALTER")) {
          statement.execute("SELECT acquire_lock('job')");
        }
        statement.execute(sql);
      }
    }
  }

  @Test
  void keepAliveExtendsTheLockUnderItsToken() throws SQLException {
    HandScheduler scheduler = new HandScheduler();
    Duration atMost = Duration.ofSeconds(30);
    SimpleLock lock =
        new KeepAliveLockProvider(new TollgateLockProvider(client), scheduler)
            .lock(job(atMost, Duration.ZERO))
            .orElseThrow();
    HeldLock held = TollgateShedLock.current();
    Duration before = held.lease().remaining();
    awaitTime(System.nanoTime(), Duration.ofMillis(50));
    scheduler.runTask();
    assertTrue(held.lease().remaining().compareTo(before.minusMillis(30)) > 0);
    assertEquals(held.token(), number("SELECT lock_token('job')"));
    assertFalse(scheduler.isCancelled());
    assertLocked();
    assertEquals(1, number("SELECT force_release_lock('job')"));
    scheduler.runTask();
    assertTrue(scheduler.isCancelled());
    assertFalse(held.isHeld());
    lock.unlock();
    assertFree();
  }

  @Test
  void whatTollgateDoesNotHaveIsRefused() {
    assertRefused("'job' is not asked for: ttl is PT48H", job(Duration.ofDays(2), LONG));
    LockConfiguration longName =
        new LockConfiguration(Instant.now(), "x".repeat(256), LONG, Duration.ZERO);
    assertRefused("has 256 characters", longName);
  }

  private void assertRefused(String message, LockConfiguration configuration) {
    IllegalArgumentException refused =
        assertThrows(IllegalArgumentException.class, () -> provider.lock(configuration));
    assertTrue(refused.getMessage().contains(message), refused.getMessage());
  }

  @Test
  void countersOfManyThreadsLoseNothing() throws Exception {
    new CounterRace(this::url, Duration.ZERO).run(8, 60);
  }

  @Test
  void lockAtLeastForHoldsWhateverTheThreadsDo() throws Exception {
    new CounterRace(this::url, Duration.ofMillis(100)).run(3, 2);
  }
}
