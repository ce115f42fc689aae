package dev.tollgate.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.lock.FencedLock;
import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.HeldLocks;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockException;
import dev.tollgate.lock.LockLostException;
import dev.tollgate.lock.LockOptions;
import dev.tollgate.node.LoopbackSettings;
import dev.tollgate.node.Node;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Locks that heartbeats do not renew, and locks that are extended. */
@Timeout(60)
class FixedTermTest {
  private static final Duration BRIEF = Duration.ofMillis(600);
  private static final Duration LONG = Duration.ofMinutes(10);
  private static final LockOptions TERM = LockOptions.DEFAULT.fixedTerm(BRIEF);

  private static final String BRIEFLY_PATIENT = "?failoverTimeout=300ms&connectTimeout=300ms";

  private static Node node;
  private static String url;

  private LockClient client;
  private LockClient other;
  private Connection connection;

  @BeforeAll
  static void startNode() throws Exception {
    node = new Node(LoopbackSettings.of("n1", null));
    node.start();
    url = urlOf(node);
  }

  @AfterAll
  static void stopNode() {
    node.close();
  }

  private static String urlOf(Node running) {
    return "jdbc:tollgate://127.0.0.1:" + running.listenAddress().getPort() + "/";
  }

  @BeforeEach
  void open() throws Exception {
    client = LockClient.connect(url);
    other = LockClient.connect(url);
    connection = DriverManager.getConnection(url);
  }

  @AfterEach
  void close() throws SQLException {
    for (String lock : List.of("job", "a", "b")) {
      number("SELECT force_release_lock('" + lock + "')");
    }
    client.close();
    other.close();
    connection.close();
  }

  /** A lock of a cluster that does not answer from now on. */
  private static HeldLock lockOfADeadCluster(
      LockClient cut, Node dying, List<LockLostException> told) throws Exception {
    LockOptions options = LockOptions.DEFAULT.fixedTerm(Duration.ofSeconds(2));
    HeldLock lock = cut.tryAcquire("job", options).orElseThrow();
    lock.lease().onLost(told::add);
    dying.close();
    return lock;
  }

  private static ConditionFactory soon() {
    return Awaitility.await().atMost(Duration.ofSeconds(30)).pollInterval(Duration.ofMillis(5));
  }

  private long number(String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getLong(1);
    }
  }

  @Test
  void endsWithItsTermAndTellsItsListenersOnce() throws Exception {
    List<LockLostException> told = new CopyOnWriteArrayList<>();
    HeldLock lock = client.tryAcquire("job", TERM).orElseThrow();
    long granted = System.nanoTime();
    lock.lease().onLost(told::add);
    assertTrue(lock.isHeld());
    assertTrue(lock.lease().isFixed());
    assertTrue(lock.lease().remaining().compareTo(BRIEF) < 0);
    assertEquals(Optional.empty(), other.tryAcquire("job"));
    long asked = System.nanoTime();
    while (lock.isHeld()) {
      assertTrue(asked - granted < BRIEF.toNanos(), "held for " + (asked - granted) + " ns");
      asked = System.nanoTime();
    }
    soon().until(() -> told.size() == 1);
    assertThrows(LockLostException.class, lock::assertHeld);
    assertThrows(LockLostException.class, () -> lock.extend(BRIEF));
    assertThrows(LockLostException.class, () -> lock.extend(LONG));
    try (HeldLock next = other.acquire("job")) {
      assertTrue(next.token() > lock.token());
    }
    assertEquals(1, told.size());
  }

  @Test
  void threadIsInterruptedWhenTheTermIsOver() throws Exception {
    assertTrue(client.tryAcquire("job", TERM.interruptOnLoss()).isPresent());
    assertThrows(
        InterruptedException.class, () -> new CountDownLatch(1).await(30, TimeUnit.SECONDS));
  }

  @Test
  void termBeginsWithTheGrantAndNotWithTheWait() throws Exception {
    Duration term = Duration.ofSeconds(3);
    HeldLock first = other.tryAcquire("job", LockOptions.DEFAULT).orElseThrow();
    CompletableFuture<Duration> left =
        CompletableFuture.supplyAsync(
            () -> {
              LockOptions options = LockOptions.DEFAULT.fixedTerm(term).waitFor(LONG);
              try (HeldLock lock = client.tryAcquire("job", options).orElseThrow()) {
                return lock.lease().remaining();
              } catch (InterruptedException e) {
                throw new IllegalStateException(e);
              }
            });
    soon().until(() -> number("SELECT COUNT(*) FROM TOLLGATE.LOCK_WAITERS") == 1);
    long begin = System.nanoTime();
    // heartbeats come each second
    soon().until(() -> System.nanoTime() - begin > Duration.ofMillis(800).toNanos());
    first.close();
    assertTrue(left.get().toMillis() > 2_500, left.get().toString());
  }

  @Test
  void sameTermIsExtendedUnderTheSameToken() throws Exception {
    HeldLock lock = client.tryAcquire("job", TERM).orElseThrow();
    long begin = System.nanoTime();
    while (System.nanoTime() - begin < 2 * BRIEF.toNanos()) {
      assertSame(lock, lock.extend(BRIEF));
    }
    lock.confirm();
    assertEquals(lock.token(), number("SELECT lock_token('job')"));
    assertEquals(Optional.empty(), other.tryAcquire("job"));
    soon().until(() -> !lock.isHeld());
  }

  @Test
  void anotherTermMovesTheLockAndItsListenersUnderAHigherToken() throws Exception {
    List<LockLostException> told = new CopyOnWriteArrayList<>();
    HeldLock lock =
        client.tryAcquire("job", LockOptions.DEFAULT.fixedTerm(LONG).owner("me")).orElseThrow();
    lock.lease().onLost(told::add);
    HeldLock longer = lock.extend(LONG.plusMinutes(5));
    assertNotSame(lock, longer);
    assertFalse(lock.isHeld());
    assertTrue(longer.token() > lock.token());
    assertTrue(longer.lease().isFixed());
    assertEquals("me", longer.lease().owner());
    assertTrue(longer.lease().remaining().compareTo(LONG) > 0);
    assertEquals(1, number("SELECT COUNT(*) FROM TOLLGATE.LEASES WHERE OWNER = 'me'"));
    assertThrows(IllegalStateException.class, () -> lock.extend(LONG));
    HeldLock shorter = longer.extend(BRIEF);
    soon().until(() -> told.size() == 1);
    assertFalse(shorter.isHeld());
    soon().until(() -> other.tryAcquire("job").isPresent());
  }

  @Test
  void sharedLockIsExtendedToo() throws Exception {
    LockOptions shared = LockOptions.DEFAULT.shared();
    HeldLock lock = client.tryAcquire("job", shared.fixedTerm(BRIEF)).orElseThrow();
    try (HeldLock longer = lock.extend(LONG);
        HeldLock reader = other.tryAcquire("job", shared).orElseThrow()) {
      longer.confirm();
      reader.confirm();
      assertEquals(Optional.empty(), other.tryAcquire("job"));
    }
  }

  @Test
  void locksThatShareALeaseAreExtendedTogether() throws Exception {
    HeldLocks locks = client.tryAcquireAll(List.of("a", "b"), TERM).orElseThrow();
    HeldLock first = locks.lock("a");
    IllegalStateException refused =
        assertThrows(IllegalStateException.class, () -> first.extend(LONG));
    assertTrue(refused.getMessage().contains("extend it by the ttl of the lease, PT0.6S"));
    assertSame(first, first.extend(BRIEF));
    locks.assertHeld();
    soon().until(() -> !locks.isHeld());
  }

  @Test
  void lockThatWasTakenAwayIsNotExtended() throws Exception {
    HeldLock lock = client.tryAcquire("job", TERM.fixedTerm(LONG)).orElseThrow();
    assertEquals(1, number("SELECT force_release_lock('job')"));
    assertThrows(LockLostException.class, () -> lock.extend(LONG.plusMinutes(1)));
    assertFalse(lock.isHeld());
    HeldLock second = client.tryAcquire("job", TERM.fixedTerm(LONG)).orElseThrow();
    assertEquals(1, number("SELECT revoke_lease(" + second.lease().id() + ")"));
    assertThrows(LockLostException.class, () -> second.extend(LONG));
    assertFalse(second.isHeld());
  }

  @Test
  void termGoesOnWhenTheClientIsClosedAndEndsInTime() throws Exception {
    LockClient closing = LockClient.connect(url);
    HeldLock lock = closing.tryAcquire("job", TERM.fixedTerm(Duration.ofSeconds(1))).orElseThrow();
    closing.close();
    assertFalse(lock.isHeld());
    assertEquals(Optional.empty(), other.tryAcquire("job"));
    try (HeldLock next = other.tryAcquire("job", Duration.ofSeconds(30)).orElseThrow()) {
      assertTrue(next.token() > lock.token());
    }
  }

  @Test
  void lockIsHeldUntilItsDeadlineAndNotLongerIfNoNodeAnswers() throws Exception {
    List<LockLostException> told = new CopyOnWriteArrayList<>();
    Node dying = new Node(LoopbackSettings.of("n1", null));
    dying.start();
    try (LockClient cut = LockClient.connect(urlOf(dying) + BRIEFLY_PATIENT)) {
      HeldLock lock = lockOfADeadCluster(cut, dying, told);
      LockException unanswered =
          assertThrows(LockException.class, () -> lock.extend(Duration.ofSeconds(2)));
      assertTrue(unanswered.sqlState().startsWith("08"), unanswered.sqlState());
      soon().until(() -> !lock.isHeld());
      assertThrows(LockLostException.class, () -> lock.extend(Duration.ofSeconds(2)));
      soon().until(() -> told.size() == 1);
    }
  }

  @Test
  void lockThatCannotBeReleasedAfterAWhileIsLeftToItsTerm() throws Exception {
    List<LockLostException> told = new CopyOnWriteArrayList<>();
    Node dying = new Node(LoopbackSettings.of("n1", null));
    dying.start();
    try (LockClient cut = LockClient.connect(urlOf(dying) + BRIEFLY_PATIENT)) {
      HeldLock lock = lockOfADeadCluster(cut, dying, told);
      assertThrows(LockException.class, () -> lock.releaseAfter(Duration.ofSeconds(1)));
      assertFalse(lock.isHeld());
      assertEquals(List.of(), told);
    }
  }

  @Test
  void threadLockIsExtendedForItsThread() {
    FencedLock lock = client.asLock("job", TERM.fixedTerm(LONG));
    assertThrows(IllegalMonitorStateException.class, () -> lock.extend(LONG));
    assertTrue(lock.tryLock());
    assertTrue(lock.tryLock());
    long token = lock.held().token();
    lock.extend(LONG);
    assertEquals(token, lock.held().token());
    lock.extend(BRIEF);
    assertTrue(lock.held().token() > token);
    HeldLock held = lock.held();
    soon().until(() -> !held.isHeld());
    lock.unlock();
    assertThrows(LockLostException.class, lock::unlock);
  }
}
