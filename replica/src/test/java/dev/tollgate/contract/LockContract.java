package dev.tollgate.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.jdbc.TollgateConnection;
import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.HeldLocks;
import dev.tollgate.lock.Lease;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockLostException;
import dev.tollgate.lock.LockOptions;
import dev.tollgate.transport.ClusterSession;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

/** What the lock API promises over every way to Tollgate. All tests of a class share a node. */
@Timeout(60)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class LockContract {
  private static final Duration DEADLINE = Duration.ofSeconds(30);

  /** Heartbeats find out about a loss soon. */
  private static final LockOptions BRIEF = LockOptions.DEFAULT.ttl(Duration.ofMillis(600));

  private static final Duration LONG = Duration.ofMinutes(10);

  private ExecutorService threads;
  private LockClient client;
  private LockClient other;
  private Connection connection;

  /** A URL of this test's node. */
  abstract String url();

  abstract LockClient client();

  @BeforeEach
  void openClients() throws SQLException {
    threads = Executors.newCachedThreadPool();
    client = client();
    other = client();
    connection = DriverManager.getConnection(url());
    awaitNoLeases();
  }

  @AfterEach
  void closeClients() throws SQLException {
    threads.shutdownNow();
    client.close();
    other.close();
    connection.close();
    clientsAreClosed();
  }

  /** After each test, ends what its clients were made with. */
  void clientsAreClosed() {}

  /** After all tests, ends what they were run on. */
  @AfterAll
  void stop() {}

  private static ConditionFactory soon() {
    return Awaitility.await().atMost(DEADLINE).pollInterval(Duration.ofMillis(5));
  }

  private long number(String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getLong(1);
    }
  }

  private void execute(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private void awaitWaiters(String lock, int count) {
    soon()
        .until(
            () ->
                number(
                        "SELECT COUNT(*) FROM TOLLGATE.LOCK_WAITERS WHERE LOCK_NAME = '"
                            + lock
                            + "'")
                    == count);
  }

  /** Nothing is held or waited for; leases kept for the next locks end with their clients. */
  private void awaitNothingLeft() {
    soon().until(() -> number("SELECT COUNT(*) FROM TOLLGATE.LOCKS") == 0);
    client.close();
    other.close();
    awaitNoLeases();
  }

  private void awaitNoLeases() {
    soon().until(() -> leases() == 0);
  }

  private long leases() throws SQLException {
    return number("SELECT COUNT(*) FROM TOLLGATE.LEASES");
  }

  @Test
  void lockIsHeldUntilItIsClosedAndTheNextTokenIsHigher() throws Exception {
    long token;
    try (HeldLock lock = client.acquire("job")) {
      token = lock.token();
      assertEquals("job", lock.name());
      assertTrue(lock.isHeld());
      lock.assertHeld();
      lock.confirm();
      assertEquals(token, number("SELECT lock_token('job')"));
      assertEquals(Optional.empty(), other.tryAcquire("job"));
      assertTrue(lock.lease().remaining().compareTo(LockClient.DEFAULT_TTL) <= 0);
      assertTrue(lock.lease().remaining().compareTo(Duration.ofSeconds(5)) > 0);
    }
    try (HeldLock next = other.tryAcquire("job").orElseThrow()) {
      assertTrue(next.token() > token);
    }
    awaitNothingLeft();
  }

  @Test
  void waitThatRunsOutIsEmptyAndLeavesNothing() throws Exception {
    try (HeldLock lock = client.acquire("job")) {
      assertEquals(Optional.empty(), other.tryAcquire("job", Duration.ofMillis(50)));
      soon().until(() -> leases() == 1);
      assertTrue(lock.isHeld());
    }
  }

  @Test
  void waitersAreServedInLine() throws Exception {
    List<Integer> order = new CopyOnWriteArrayList<>();
    List<Future<?>> all = new CopyOnWriteArrayList<>();
    try (HeldLock lock = client.acquire("job")) {
      for (int i = 0; i < 3; i++) {
        int number = i;
        all.add(
            threads.submit(
                () -> {
                  try (HeldLock mine = other.acquire("job")) {
                    order.add(number);
                    mine.assertHeld();
                  }
                  return null;
                }));
        awaitWaiters("job", i + 1);
      }
      assertTrue(lock.isHeld());
      assertEquals(List.of(), order);
    }
    for (Future<?> each : all) {
      each.get(30, TimeUnit.SECONDS);
    }
    assertEquals(List.of(0, 1, 2), order);
  }

  @Test
  void sharedHoldersHoldTogetherAndKeepOthersOut() throws Exception {
    LockOptions shared = LockOptions.DEFAULT.shared();
    try (HeldLock one = client.tryAcquire("job", shared).orElseThrow();
        HeldLock two = other.tryAcquire("job", shared).orElseThrow()) {
      assertTrue(one.isHeld() && two.isHeld());
      assertTrue(two.token() > one.token());
      assertEquals(Optional.empty(), client.tryAcquire("job"));
    }
    client.tryAcquire("job").orElseThrow().close();
  }

  @Test
  void interruptEndsAWaitAndLeavesNoGrant() throws Exception {
    HeldLock lock = client.acquire("job");
    Future<HeldLock> waiting = threads.submit(() -> other.acquire("job"));
    awaitWaiters("job", 1);
    waiting.cancel(true);
    awaitWaiters("job", 0);
    lock.close();
    awaitNothingLeft();
    assertEquals(0, number("SELECT COUNT(*) FROM TOLLGATE.LOCKS"));
  }

  /** The interrupt meets the grant on its way, wherever it is. */
  @Test
  void interruptAtTheMomentOfTheGrantLeavesNoGhost() throws Exception {
    LockOptions patient = LockOptions.DEFAULT.waitFor(LONG);
    int interrupted = 0;
    try (Lease lease = other.newLease(LONG)) {
      for (int round = 0; round < 10; round++) {
        boolean underLease = round % 2 == 0;
        HeldLock lock = client.acquire("job");
        CompletableFuture<Optional<HeldLock>> end = new CompletableFuture<>();
        Thread waiter =
            new Thread(
                () -> {
                  try {
                    end.complete(
                        underLease
                            ? lease.tryAcquire("job", patient)
                            : other.tryAcquire("job", patient));
                  } catch (InterruptedException e) {
                    end.complete(Optional.empty());
                  }
                });
        waiter.start();
        awaitWaiters("job", 1);
        Future<?> release = threads.submit(lock::close);
        for (int i = 0; i < round * 8_000; i++) {
          Thread.onSpinWait();
        }
        waiter.interrupt();
        Optional<HeldLock> granted = end.get(30, TimeUnit.SECONDS);
        release.get(30, TimeUnit.SECONDS);
        if (granted.isPresent()) {
          assertTrue(granted.get().isHeld());
          granted.get().close();
        } else {
          interrupted++;
        }
        soon().until(() -> number("SELECT COUNT(*) FROM TOLLGATE.LOCKS") == 0);
        // this one, and one for the next lock of either client
        soon().until(() -> leases() <= 3);
        assertTrue(lease.isAlive());
      }
    }
    assertTrue(interrupted > 0);
    awaitNothingLeft();
  }

  @Test
  void leaseOfAReleasedLockServesTheNext() throws Exception {
    List<LockLostException> losses = new CopyOnWriteArrayList<>();
    HeldLock first = client.acquire("a");
    first.lease().onLost(losses::add);
    first.close();
    HeldLock second = client.acquire("b");
    assertEquals(first.lease().id(), second.lease().id());
    assertTrue(second.token() > first.token());
    assertFalse(first.lease().isAlive());
    assertEquals(Duration.ZERO, first.lease().remaining());
    first.lease().close();
    first.close();
    second.confirm();
    assertEquals(Optional.empty(), other.tryAcquire("b"));

    execute("SELECT revoke_lease(" + second.lease().id() + ")");
    soon().until(() -> !second.isHeld());
    assertEquals(List.of(), losses);
  }

  @Test
  void leaseServesOnlyALockThatWantsTheSame() throws Exception {
    LockOptions options = LockOptions.DEFAULT.ttl(Duration.ofSeconds(7)).owner("me");
    HeldLock first = client.tryAcquire("a", options).orElseThrow();
    first.close();
    long lease = first.lease().id();
    List<LockOptions> others =
        List.of(LockOptions.DEFAULT, options.owner("you"), options.ttl(Duration.ofSeconds(8)));
    for (LockOptions differing : others) {
      try (HeldLock lock = client.tryAcquire("a", differing).orElseThrow()) {
        assertTrue(lock.lease().id() > lease);
      }
    }
    try (HeldLock lock = client.tryAcquire("a", options.shared()).orElseThrow()) {
      assertEquals(lease, lock.lease().id());
    }
    awaitNothingLeft();
  }

  @Test
  void fixedTermBeginsAnewWithTheLeaseOfAnEarlierLock() throws Exception {
    LockOptions options = LockOptions.DEFAULT.ttl(Duration.ofSeconds(6));
    HeldLock first = client.tryAcquire("a", options).orElseThrow();
    first.close();
    String left = "SELECT REMAINING_MS FROM TOLLGATE.LEASES WHERE LEASE_ID = ";
    soon().until(() -> number(left + first.lease().id()) < 5_500);
    HeldLock second =
        client.tryAcquire("a", options.fixedTerm(Duration.ofSeconds(6))).orElseThrow();
    assertEquals(first.lease().id(), second.lease().id());
    assertTrue(second.lease().isFixed());
    assertTrue(second.lease().remaining().toMillis() > 5_500, second.lease()::toString);
    second.close();
    HeldLock third = client.tryAcquire("a", options).orElseThrow();
    assertTrue(third.lease().id() > first.lease().id(), "heartbeats do not begin again");
    third.close();
  }

  @Test
  void refusedRequestLeavesItsLeaseToTheNext() throws Exception {
    HeldLock taken = other.acquire("a");
    LockOptions options = LockOptions.DEFAULT.fixedTerm(Duration.ofSeconds(6));
    for (int i = 0; i < 3; i++) {
      assertEquals(Optional.empty(), client.tryAcquire("a", options));
      assertEquals(2, leases());
    }
    taken.close();
    awaitNothingLeft();
  }

  @Test
  void spareLeaseThatTheClusterHasEndedIsReplaced() throws Exception {
    HeldLock first = client.acquire("a");
    first.close();
    execute("SELECT revoke_lease(" + first.lease().id() + ")");
    try (HeldLock second = client.tryAcquire("a").orElseThrow()) {
      assertTrue(second.lease().id() > first.lease().id());
    }
    HeldLock third = client.acquire("a");
    third.close();
    execute("SELECT revoke_lease(" + third.lease().id() + ")");
    assertTrue(client.tryAcquireAll(List.of("a", "b"), LockOptions.DEFAULT).isPresent());
  }

  @Test
  void fewLeasesAreKeptForTheNextLocks() throws Exception {
    List<HeldLock> locks = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      locks.add(client.acquire("lock " + i));
    }
    assertEquals(20, leases());
    locks.forEach(HeldLock::close);
    soon().until(() -> leases() == 16);
    assertEquals(0, number("SELECT COUNT(*) FROM TOLLGATE.LOCKS"));
    awaitNothingLeft();
  }

  @Test
  void leaseOfALockEndsWithTheLastOfItsLocks() throws Exception {
    HeldLock first = client.acquire("a");
    HeldLock second = first.lease().tryAcquire("b").orElseThrow();
    HeldLock third = other.acquire("c");
    first.close();
    second.confirm();
    assertEquals(0, number("SELECT COUNT(*) FROM TOLLGATE.LOCKS WHERE LOCK_NAME = 'a'"));
    second.close();
    assertFalse(second.lease().isAlive());

    HeldLock moved = client.acquire("a");
    HeldLock host = client.acquire("b");
    HeldLock guest = moved.transferTo(host.lease());
    host.close();
    guest.confirm();
    guest.close();
    assertFalse(guest.lease().isAlive());
    third.close();
    awaitNothingLeft();
  }

  @Test
  void oneOfSeveralLocksIsClosedAlone() throws Exception {
    HeldLocks several =
        client.tryAcquireAll(List.of("a", "b", "c"), LockOptions.DEFAULT).orElseThrow();
    several.lock("a").close();
    several.lock("b").confirm();
    several.lock("c").confirm();
    assertEquals(2, number("SELECT COUNT(*) FROM TOLLGATE.LOCKS"));
    several.lock("b").releaseAfter(Duration.ZERO);
    several.lock("c").confirm();
    several.close();
    several.close();
    assertEquals(0, number("SELECT COUNT(*) FROM TOLLGATE.LOCKS"));
    awaitNothingLeft();
  }

  @Test
  void lockThatWasTakenByForceIsNotExtended() throws Exception {
    for (LockOptions options :
        List.of(BRIEF.fixedTerm(Duration.ofSeconds(20)), BRIEF.ttl(Duration.ofSeconds(20)))) {
      List<LockLostException> losses = new CopyOnWriteArrayList<>();
      HeldLock lock = client.tryAcquire("job", options).orElseThrow();
      lock.lease().onLost(losses::add);
      execute("SELECT force_release_lock('job')");
      HeldLock next = other.acquire("job");
      assertThrows(LockLostException.class, () -> lock.extend(Duration.ofSeconds(20)));
      assertFalse(lock.isHeld());
      soon().until(() -> losses.size() == 1);
      assertTrue(losses.get(0).getMessage().contains("force_release_lock"), losses::toString);
      lock.close();
      next.confirm();
      next.close();
    }
  }

  @Test
  void lockStaysIfItCannotMoveToALeaseThatHasEnded() throws Exception {
    HeldLock lock = client.acquire("job");
    Lease ended = client.newLease(Duration.ofSeconds(20));
    execute("SELECT revoke_lease(" + ended.id() + ")");
    assertThrows(LockLostException.class, () -> lock.transferTo(ended));
    assertFalse(ended.isAlive());
    lock.confirm();
    lock.close();
  }

  @Test
  void interruptedThreadDoesNotEvenAsk() throws Exception {
    Thread.currentThread().interrupt();
    assertThrows(InterruptedException.class, () -> client.acquire("job"));
    assertFalse(Thread.interrupted());
    awaitNothingLeft();
  }

  @Test
  void interruptedThreadDoesNotAskWithoutAWaitEither() throws Exception {
    Lease lease = client.newLease(LONG);
    List<Executable> requests =
        List.of(
            () -> client.tryAcquire("job", Duration.ZERO),
            () -> client.tryAcquireAll(List.of("job", "other"), LockOptions.DEFAULT),
            () -> lease.tryAcquire("job", LockOptions.DEFAULT));
    for (Executable request : requests) {
      Thread.currentThread().interrupt();
      assertThrows(InterruptedException.class, request);
      assertFalse(Thread.interrupted());
    }
    assertEquals(0, number("SELECT COUNT(*) FROM TOLLGATE.LOCKS"));
    Thread.currentThread().interrupt();
    assertTrue(client.tryAcquire("job").isPresent(), "this one cannot be interrupted");
    assertTrue(Thread.interrupted());
  }

  @Test
  void leaseWaitsForAsLongAsAClient() throws Exception {
    Lease lease = client.newLease(LONG);
    LockOptions patient = LockOptions.DEFAULT.waitFor(Duration.ofDays(400));
    assertTrue(lease.tryAcquire("job", patient).isPresent());
    Future<Optional<HeldLocks>> waiting =
        threads.submit(() -> other.newLease(LONG).tryAcquireAll(List.of("free", "job"), patient));
    awaitWaiters("job", 1);
    lease.close();
    assertEquals(2, waiting.get().orElseThrow().locks().size());
  }

  @Test
  void interruptedThreadReleases() throws Exception {
    HeldLock lock = client.acquire("job");
    Thread.currentThread().interrupt();
    lock.close();
    assertTrue(Thread.interrupted());
    assertEquals(0, number("SELECT COUNT(*) FROM TOLLGATE.LOCKS"));
  }

  @Test
  void locksOfALeaseEndWithIt() throws Exception {
    Lease lease = client.newLease(Duration.ofSeconds(20), "worker 7");
    HeldLock a = lease.tryAcquire("a").orElseThrow();
    HeldLock b = lease.tryAcquire("b", LockOptions.DEFAULT.waitFor(LONG)).orElseThrow();
    assertEquals(1, number("SELECT COUNT(*) FROM TOLLGATE.LEASES WHERE OWNER = 'worker 7'"));
    a.close();
    assertEquals(1, number("SELECT COUNT(*) FROM TOLLGATE.LOCKS"));
    assertTrue(b.isHeld());
    lease.close();
    assertFalse(b.isHeld());
    assertFalse(lease.isAlive());
    assertThrows(IllegalStateException.class, lease::assertAlive);
    assertEquals(0, leases());
  }

  @Test
  void lossIsToldOnceAndForGood() throws Exception {
    HeldLock lock = client.acquire("job", BRIEF);
    List<LockLostException> losses = new CopyOnWriteArrayList<>();
    lock.lease().onLost(losses::add);
    execute("SELECT revoke_lease(" + lock.lease().id() + ")");
    soon().until(() -> losses.size() == 1);
    assertFalse(lock.isHeld());
    assertThrows(LockLostException.class, lock::assertHeld);
    lock.lease().onLost(losses::add);
    soon().until(() -> losses.size() == 2);
    lock.close();
    lock.lease().close();
    assertEquals(2, losses.size());
  }

  @Test
  void listenerOfAClosedLeaseIsNeverCalled() throws Exception {
    HeldLock lock = client.acquire("job", BRIEF);
    List<LockLostException> losses = new CopyOnWriteArrayList<>();
    lock.lease().onLost(losses::add);
    lock.close();
    lock.lease().onLost(losses::add);
    HeldLock second = client.acquire("job", BRIEF);
    second.lease().onLost(losses::add);
    execute("SELECT revoke_lease(" + second.lease().id() + ")");
    soon().until(() -> losses.size() == 1);
  }

  @Test
  void lossInterruptsTheThreadThatAcquired() throws Exception {
    Future<Boolean> interrupted =
        threads.submit(
            () -> {
              try (HeldLock lock = client.acquire("job", BRIEF.interruptOnLoss())) {
                execute("SELECT revoke_lease(" + lock.lease().id() + ")");
                assertThrows(InterruptedException.class, () -> Thread.sleep(30_000));
                return lock.isHeld();
              }
            });
    assertEquals(false, interrupted.get(30, TimeUnit.SECONDS));
  }

  @Test
  void waitGoesOnWithAnotherLeaseWhenItsOwnIsLost() throws Exception {
    HeldLock lock = client.acquire("job");
    Future<HeldLock> waiting = threads.submit(() -> other.acquire("job"));
    awaitWaiters("job", 1);
    long lease = number("SELECT LEASE_ID FROM TOLLGATE.LOCK_WAITERS");
    execute("SELECT revoke_lease(" + lease + ")");
    soon()
        .ignoreExceptions()
        .until(() -> number("SELECT MAX(LEASE_ID) FROM TOLLGATE.LOCK_WAITERS") > lease);
    lock.close();
    try (HeldLock next = waiting.get(30, TimeUnit.SECONDS)) {
      assertTrue(next.isHeld());
    }
  }

  @Test
  void lockTakenByForceIsNotConfirmed() throws Exception {
    try (HeldLock lock = client.acquire("job")) {
      execute("SELECT force_release_lock('job')");
      assertThrows(LockLostException.class, lock::confirm);
      assertFalse(lock.isHeld());
    }
  }

  @Test
  void workIsCommittedUnderTheTokenOrNotAtAll() throws Exception {
    execute("CREATE TABLE REPORT(ID INT PRIMARY KEY)");
    try (HeldLock lock = client.acquire("job")) {
      int rows = lock.run(c -> c.createStatement().executeUpdate("INSERT INTO REPORT VALUES (1)"));
      assertEquals(1, rows);
      assertEquals(1, number("SELECT COUNT(*) FROM REPORT"));
      LockLostException refused =
          assertThrows(
              LockLostException.class,
              () ->
                  lock.run(
                      c -> {
                        c.createStatement().executeUpdate("INSERT INTO REPORT VALUES (2)");
                        execute("SELECT force_release_lock('job')");
                        return null;
                      }));
      if (refused.getCause() instanceof SQLException cause) {
        // null if this process was told of the loss before the commit
        assertEquals("23T01", cause.getSQLState());
      }
      assertFalse(lock.isHeld(), "the refusal has told");
      assertThrows(
          LockLostException.class,
          () -> lock.run(c -> c.createStatement().executeUpdate("INSERT INTO REPORT VALUES (3)")));
    }
    HeldLock taken = client.acquire("job");
    execute("SELECT force_release_lock('job')");
    soon().until(() -> !taken.isHeld());
    assertThrows(
        LockLostException.class,
        () -> taken.run(c -> c.createStatement().executeUpdate("DELETE FROM REPORT")));
    assertEquals(1, number("SELECT COUNT(*) FROM REPORT"));
    execute("INSERT INTO REPORT VALUES (4)");
    execute("DROP TABLE REPORT");
    assertEquals(
        0,
        number("SELECT COUNT(*) FROM TOLLGATE.TRANSACTIONS"),
        "a session is left fenced or open");
  }

  @Test
  void workThatThrowsWhateverItIsChangesNothing() throws Exception {
    execute("CREATE TABLE REPORT(ID INT PRIMARY KEY)");
    try (HeldLock lock = client.acquire("job")) {
      for (Throwable thrown :
          List.of(
              new SQLException("of the work"),
              new IOException("not declared"),
              new IllegalStateException("of the work"),
              new AssertionError("of the work"))) {
        assertSame(
            thrown,
            assertThrows(
                Throwable.class,
                () ->
                    lock.run(
                        c -> {
                          c.createStatement().executeUpdate("INSERT INTO REPORT VALUES (1)");
                          throw undeclared(thrown);
                        })));
        assertEquals(0, number("SELECT COUNT(*) FROM REPORT"), thrown::toString);
      }
    }
    execute("DROP TABLE REPORT");
  }

  /** Throws what the signature does not tell, as Kotlin, Groovy and Scala do. */
  @SuppressWarnings("unchecked")
  private static <E extends Throwable> RuntimeException undeclared(Throwable thrown) throws E {
    throw (E) thrown;
  }

  /** A thread that the work left running writes nothing without the fence. */
  @Test
  void connectionOfWorkIsClosedAfterIt() throws Exception {
    List<Connection> kept = new ArrayList<>();
    try (HeldLock lock = client.acquire("job")) {
      lock.run(kept::add);
      assertThrows(SQLException.class, () -> kept.get(0).createStatement().execute("SELECT 1"));
    }
  }

  /** What threads do on the connection of a work that has ended, or is about to. */
  private final class LeftBehind {
    private static final int THREADS = 4;

    private final List<Future<?>> writers = new ArrayList<>();
    private final AtomicInteger ids = new AtomicInteger();
    private final AtomicInteger late = new AtomicInteger();
    private final AtomicBoolean isLate = new AtomicBoolean();
    private final CountDownLatch written = new CountDownLatch(1);

    /** Returns when the first row is written; the threads go on until they are refused for good. */
    void write(Connection work) throws Exception {
      for (int i = 0; i < THREADS; i++) {
        PreparedStatement insert = work.prepareStatement("INSERT INTO LATE VALUES (?, ?)");
        writers.add(threads.submit(() -> insertUntilClosed(insert)));
      }
      assertTrue(written.await(30, TimeUnit.SECONDS));
    }

    private void insertUntilClosed(PreparedStatement insert) {
      while (!Thread.currentThread().isInterrupted()) {
        boolean began = isLate.get();
        try {
          insert.setInt(1, ids.incrementAndGet());
          insert.setBoolean(2, began);
          insert.executeUpdate();
          late.addAndGet(began ? 1 : 0);
          written.countDown();
        } catch (SQLException e) {
          if (e.getSQLState().startsWith("08") || e.getSQLState().equals("90007")) {
            return;
          }
        }
      }
    }

    void awaitEnd() throws Exception {
      for (Future<?> each : writers) {
        each.get(30, TimeUnit.SECONDS);
      }
    }
  }

  @Test
  void threadThatWorkLeftBehindWritesNothingUnderALostLock() throws Exception {
    for (boolean unwrapped : List.of(false, true)) {
      for (int round = 0; round < 3; round++) {
        execute("CREATE TABLE LATE(ID INT PRIMARY KEY, IS_LATE BOOLEAN)");
        LeftBehind threadsOfWork = new LeftBehind();
        List<HeldLock> next = new ArrayList<>();
        try (HeldLock lock = client.acquire("job")) {
          assertThrows(
              LockLostException.class,
              () ->
                  lock.run(
                      c -> {
                        threadsOfWork.write(unwrapped ? c.unwrap(TollgateConnection.class) : c);
                        execute("SELECT force_release_lock('job')");
                        next.add(other.acquire("job"));
                        threadsOfWork.isLate.set(true);
                        return null;
                      }));
        }
        threadsOfWork.awaitEnd();
        next.forEach(HeldLock::close);
        assertEquals(0, threadsOfWork.late.get(), "writes that began after the next grant");
        assertEquals(0, number("SELECT COUNT(*) FROM LATE"));
        execute("DROP TABLE LATE");
      }
    }
  }

  @Test
  void threadThatWorkLeftBehindCommitsNothingThatWasRolledBack() throws Exception {
    for (boolean unwrapped : List.of(false, true)) {
      for (int round = 0; round < 3; round++) {
        execute("CREATE TABLE LATE(ID INT PRIMARY KEY, IS_LATE BOOLEAN)");
        LeftBehind threadsOfWork = new LeftBehind();
        try (HeldLock lock = client.acquire("job")) {
          assertThrows(
              IllegalStateException.class,
              () ->
                  lock.run(
                      c -> {
                        threadsOfWork.write(unwrapped ? c.unwrap(TollgateConnection.class) : c);
                        throw new IllegalStateException("of the work");
                      }));
        }
        threadsOfWork.awaitEnd();
        assertEquals(0, number("SELECT COUNT(*) FROM LATE"));
        execute("DROP TABLE LATE");
      }
    }
  }

  @Test
  void callThatWorkLeftBehindKeepsItFromCommitting() throws Exception {
    execute("CREATE TABLE REPORT(ID INT PRIMARY KEY)");
    try (HeldLock busy = other.acquire("busy");
        HeldLock lock = client.acquire("job")) {
      SQLException left =
          assertThrows(
              SQLException.class,
              () ->
                  lock.run(
                      c -> {
                        c.createStatement().executeUpdate("INSERT INTO REPORT VALUES (1)");
                        var unused =
                            threads.submit(
                                () ->
                                    c.createStatement()
                                        .execute("SELECT acquire_lock('busy', 0, 600000)"));
                        awaitWaiters("busy", 1);
                        return null;
                      }));
      assertEquals("57014", left.getSQLState());
      assertTrue(left.getMessage().contains("nothing is committed"), left.getMessage());
      awaitWaiters("busy", 0);
      assertTrue(busy.isHeld());
      assertEquals(0, number("SELECT COUNT(*) FROM REPORT"));
      assertEquals(1, lock.run(LockContract::insertOne));
    }
    execute("DROP TABLE REPORT");
  }

  private static int insertOne(Connection c) throws SQLException {
    try (Statement statement = c.createStatement()) {
      return statement.executeUpdate("INSERT INTO REPORT VALUES (1)");
    }
  }

  /** A pool that gets a fenced connection back would lend it to others. */
  @Test
  void workThatClosesItsConnectionCommitsNothing() throws Exception {
    execute("CREATE TABLE REPORT(ID INT PRIMARY KEY)");
    try (HeldLock lock = client.acquire("job")) {
      SQLException closed =
          assertThrows(
              SQLException.class,
              () ->
                  lock.run(
                      c -> {
                        try (c) {
                          return insertOne(c);
                        }
                      }));
      assertTrue(closed.getMessage().contains("has closed its connection"), closed.getMessage());
      assertEquals(0, number("SELECT COUNT(*) FROM REPORT"));
      execute("SELECT force_release_lock('job')");
    }
    try (HeldLock lock = client.acquire("other")) {
      for (int i = 0; i < 5; i++) {
        lock.run(LockContract::insertOne);
        execute("DELETE FROM REPORT");
      }
    }
    execute("DROP TABLE REPORT");
  }

  @Test
  void whatWorkMakesWithItsConnectionIsClosedToo() throws Exception {
    execute("CREATE TABLE REPORT(ID INT PRIMARY KEY)");
    List<Statement> statements = new ArrayList<>();
    List<ResultSet> results = new ArrayList<>();
    List<DatabaseMetaData> metadata = new ArrayList<>();
    try (HeldLock lock = client.acquire("job")) {
      lock.run(
          c -> {
            insertOne(c);
            Statement statement =
                c.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_UPDATABLE);
            ResultSet result = statement.executeQuery("SELECT ID FROM REPORT");
            assertTrue(result.next());
            assertSame(c, statement.getConnection());
            assertSame(c, c.getMetaData().getConnection());
            assertSame(statement, result.getStatement());
            assertSame(c, c.prepareCall("SELECT 1").getConnection());
            assertEquals(c, c.unwrap(Connection.class));
            statements.add(statement);
            statements.add(c.prepareStatement("INSERT INTO REPORT VALUES (2)"));
            results.add(result);
            metadata.add(c.getMetaData());
            return null;
          });
      assertThrows(SQLException.class, () -> statements.get(0).executeUpdate("DELETE FROM REPORT"));
      PreparedStatement insert = (PreparedStatement) statements.get(1);
      assertThrows(SQLException.class, insert::executeUpdate);
      assertThrows(SQLException.class, results.get(0)::deleteRow);
      assertThrows(SQLException.class, metadata.get(0)::getUserName);
      for (Statement each : statements) {
        assertTrue(each.isClosed());
        each.close();
      }
    }
    assertEquals(1, number("SELECT COUNT(*) FROM REPORT"));
    execute("DROP TABLE REPORT");
  }

  /** Returns when the holder knows. */
  private void takeAway(HeldLock lock) throws SQLException {
    execute("SELECT force_release_lock('" + lock.name() + "')");
    soon().until(() -> !lock.isHeld());
  }

  /** What the work was answered under a lock that others have may be wrong. */
  @Test
  void workThatWritesNothingEndsWithTheLossOfItsLock() throws Exception {
    HeldLock lock = client.acquire("job");
    assertThrows(
        LockLostException.class,
        () ->
            lock.run(
                c -> {
                  takeAway(lock);
                  return c.createStatement().execute("SELECT 1");
                }));
  }

  /** The cluster does not refuse the commit of what was written without a fence. */
  @Test
  void workThatEndsItsFenceIsNotCommittedUnderALockThatIsKnownToBeLost() throws Exception {
    execute("CREATE TABLE REPORT(ID INT PRIMARY KEY)");
    HeldLock lock = client.acquire("job");
    assertThrows(
        LockLostException.class,
        () ->
            lock.run(
                c -> {
                  takeAway(lock);
                  c.createStatement().execute("SET NOT FENCED");
                  return insertOne(c);
                }));
    assertEquals(0, number("SELECT COUNT(*) FROM REPORT"));
    execute("DROP TABLE REPORT");
  }

  @Test
  void workUnderASharedLockReadsAndIsToldWhyItDoesNotWrite() throws Exception {
    execute("CREATE TABLE REPORT(ID INT PRIMARY KEY)");
    HeldLock lock = client.acquire("job", LockOptions.DEFAULT.shared());
    boolean read = lock.run(c -> c.createStatement().executeQuery("SELECT 1").next());
    assertTrue(read);
    SQLException refused = assertThrows(SQLException.class, () -> lock.run(c -> insertOne(c)));
    assertEquals("23T01", refused.getSQLState());
    assertTrue(refused.getMessage().contains("LockOptions.shared()"), refused::getMessage);
    assertTrue(lock.isHeld());
    execute("DROP TABLE REPORT");
  }

  @Test
  void refusalIsALossWhateverTheWorkMakesOfIt() throws Exception {
    execute("CREATE TABLE REPORT(ID INT PRIMARY KEY)");
    List<Function<SQLException, Exception>> wrappers =
        List.of(
            e -> new RuntimeException("as DataAccessException", e),
            e -> new UncheckedIOException(new IOException(e)),
            e -> new IllegalStateException("the cause is left out"));
    for (Function<SQLException, Exception> wrapper : wrappers) {
      HeldLock lock = client.acquire("job");
      List<Exception> thrown = new ArrayList<>();
      LockLostException lost =
          assertThrows(
              LockLostException.class,
              () ->
                  lock.run(
                      c -> {
                        execute("SELECT force_release_lock('job')");
                        try {
                          return insertOne(c);
                        } catch (SQLException e) {
                          thrown.add(wrapper.apply(e));
                          throw thrown.get(0);
                        }
                      }));
      assertEquals("23T01", assertInstanceOf(SQLException.class, lost.getCause()).getSQLState());
      assertTrue(List.of(lost.getSuppressed()).contains(thrown.get(0)));
    }
    HeldLock lock = client.acquire("job");
    LockLostException lost =
        assertThrows(
            LockLostException.class,
            () ->
                lock.run(
                    c -> {
                      execute("SELECT force_release_lock('job')");
                      return assertThrows(SQLException.class, () -> insertOne(c));
                    }));
    assertEquals("23T01", assertInstanceOf(SQLException.class, lost.getCause()).getSQLState());
    assertEquals(0, number("SELECT COUNT(*) FROM REPORT"));
    execute("DROP TABLE REPORT");
  }

  @Test
  void refusedTokenOfAnotherLockIsNoLoss() throws Exception {
    execute("CREATE TABLE REPORT(ID INT PRIMARY KEY)");
    execute("CREATE TABLE OTHER(ID INT PRIMARY KEY)");
    try (HeldLock lock = client.acquire("job")) {
      int rows =
          lock.run(
              c -> {
                assertThrows(
                    SQLException.class,
                    () ->
                        c.createStatement()
                            .execute("INSERT INTO OTHER VALUES (1) FENCED BY LOCK 'x' TOKEN 1"));
                return insertOne(c);
              });
      assertEquals(1, rows);
    }
    assertEquals(1, number("SELECT COUNT(*) FROM REPORT"));
    execute("DROP TABLE REPORT");
    execute("DROP TABLE OTHER");
  }

  @Test
  void connectionThatBrokeInWorkIsNotLentAgain() throws Exception {
    try (HeldLock lock = client.acquire("job")) {
      assertThrows(
          SQLException.class,
          () ->
              lock.run(
                  c -> {
                    c.unwrap(ClusterSession.class).abort();
                    return c.createStatement().execute("SELECT 1");
                  }));
      for (int i = 0; i < 5; i++) {
        client.tryAcquire("other").orElseThrow().close();
        int one = lock.run(c -> c.createStatement().executeUpdate("SET LOCK_TIMEOUT 1000"));
        assertEquals(0, one);
      }
    }
  }

  @Test
  void heldLocksAndTheirReleasesNeedFewConnections() throws Exception {
    long sessionsBefore = number("SELECT COUNT(*) FROM TOLLGATE.SESSIONS");
    List<HeldLock> locks = new CopyOnWriteArrayList<>();
    for (int i = 0; i < 20; i++) {
      locks.add(client.acquire("job" + i));
    }
    long sessions = number("SELECT COUNT(*) FROM TOLLGATE.SESSIONS") - sessionsBefore;
    assertTrue(sessions <= 4, sessions + " sessions");
    assertTrue(locks.stream().allMatch(HeldLock::isHeld));
    client.close();
    assertEquals(0, number("SELECT COUNT(*) FROM TOLLGATE.LOCKS"));
    assertTrue(locks.stream().noneMatch(HeldLock::isHeld));
    IllegalStateException closed =
        assertThrows(IllegalStateException.class, () -> client.tryAcquire("job"));
    assertEquals("the lock client is closed", closed.getMessage());
  }

  @Test
  void severalLocksAreGrantedTogetherOrNotAtAll() throws Exception {
    LockOptions wait = LockOptions.DEFAULT.waitFor(LONG);
    try (HeldLocks both = client.tryAcquireAll(List.of("b", "a"), wait).orElseThrow()) {
      assertEquals(List.of("b", "a"), both.locks().stream().map(HeldLock::name).toList());
      assertEquals(both.lock("a").token(), number("SELECT lock_token('a')"));
      assertEquals(both.lock("b").token(), number("SELECT lock_token('b')"));
      assertTrue(both.isHeld());
      assertEquals(Optional.empty(), other.tryAcquireAll(List.of("c", "a"), LockOptions.DEFAULT));
      assertEquals(0, number("SELECT COUNT(*) FROM TOLLGATE.LOCKS WHERE LOCK_NAME = 'c'"));
      both.lock("a").confirm();
    }
    assertEquals(0, number("SELECT COUNT(*) FROM TOLLGATE.LOCKS"));
    try (Lease lease = client.newLease(LONG);
        HeldLock a = client.acquire("a")) {
      Thread waiter =
          new Thread(
              () ->
                  assertThrows(
                      InterruptedException.class,
                      () -> lease.tryAcquireAll(List.of("a", "b"), wait)));
      waiter.start();
      awaitWaiters("a", 1);
      waiter.interrupt();
      waiter.join(30_000);
      awaitWaiters("a", 0);
      assertTrue(a.isHeld() && lease.isAlive());
      HeldLocks one = lease.tryAcquireAll(List.of("b"), wait).orElseThrow();
      one.close();
    }
  }

  @Test
  void lockIsHandedOverToAnotherLease() throws Exception {
    try (Lease next = client.newLease(LONG)) {
      HeldLock lock = client.acquire("job");
      HeldLock handed = lock.transferTo(next);
      assertTrue(handed.token() > lock.token());
      assertFalse(lock.isHeld());
      assertEquals(handed.token(), number("SELECT lock_token('job')"));
      lock.close();
      handed.confirm();
      execute("SELECT force_release_lock('job')");
      try (Lease third = client.newLease(LONG)) {
        assertThrows(LockLostException.class, () -> handed.transferTo(third));
        assertTrue(third.tryAcquire("job").isPresent());
      }
    }
  }

  @Test
  void releasedLockIsKeptForAWhile() throws Exception {
    // its pool then has a connection
    other.acquire("other").close();
    HeldLock lock = client.acquire("job");
    lock.releaseAfter(Duration.ofMillis(400));
    assertFalse(lock.isHeld());
    assertEquals(Optional.empty(), other.tryAcquire("job"));
    other.tryAcquire("job", LONG).orElseThrow().close();
    assertThrows(IllegalStateException.class, () -> lock.releaseAfter(Duration.ZERO));
  }

  @Test
  void lockWithPermitsHasSeveralHolders() throws Exception {
    execute("CREATE LOCK 'pool' PERMITS 2");
    try (HeldLock one = client.tryAcquire("pool").orElseThrow();
        HeldLock two = client.tryAcquire("pool").orElseThrow()) {
      assertTrue(one.isHeld() && two.isHeld());
      assertEquals(Optional.empty(), other.tryAcquire("pool"));
    }
    execute("DROP LOCK 'pool'");
  }

  @Test
  void badInputIsRefusedAndNothingIsHalfHeld() throws Exception {
    LockOptions wait = LockOptions.DEFAULT;
    List<String> many = IntStream.range(0, 101).mapToObj(i -> "n" + i).toList();
    assertRefused("no lock is named", () -> client.tryAcquireAll(List.of(), wait));
    assertRefused("'a' is named twice", () -> client.tryAcquireAll(List.of("a", "b", "a"), wait));
    assertRefused("101 locks are named", () -> client.tryAcquireAll(many, wait));
    assertRefused("not shared", () -> client.tryAcquireAll(List.of("a", "b"), wait.shared()));
    assertRefused("has 0 characters", () -> client.tryAcquire(""));
    assertRefused("has 256 characters", () -> client.tryAcquire("x".repeat(256)));
    assertRefused("half of a character", () -> client.tryAcquire("\ud83d"));
    assertRefused("a lease lives from", () -> client.newLease(Duration.ofDays(2)));
    assertRefused("it is zero or more", () -> wait.waitFor(Duration.ofMillis(-1)));
    assertRefused("256 characters", () -> wait.owner("x".repeat(256)));
    assertRefused("256 characters", () -> client.elect("e", "x".repeat(256), leadership -> {}));
    client
        .tryAcquire("job", wait.waitFor(Duration.ofSeconds(Long.MAX_VALUE)))
        .orElseThrow()
        .close();
    awaitNothingLeft();
  }

  private static void assertRefused(String message, Executable request) {
    IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, request);
    assertTrue(refused.getMessage().contains(message), refused.getMessage());
  }

  @Test
  void handlesRefuseWhatTheyAreNotFor() throws Exception {
    Lease lease = client.newLease(LONG);
    HeldLock lock = lease.tryAcquire("job").orElseThrow();
    IllegalStateException twice =
        assertThrows(IllegalStateException.class, () -> lease.tryAcquire("job"));
    assertTrue(twice.getMessage().contains("has or awaits lock 'job' already"));
    try (Lease foreign = other.newLease(LONG)) {
      IllegalArgumentException wrong =
          assertThrows(IllegalArgumentException.class, () -> lock.transferTo(foreign));
      assertTrue(wrong.getMessage().contains("belongs to another lock client"));
    }
    lock.close();
    lock.close();
    assertFalse(lock.isHeld());
    IllegalStateException closed = assertThrows(IllegalStateException.class, lock::assertHeld);
    assertTrue(closed.getMessage().endsWith("is closed"), closed.getMessage());
    assertThrows(IllegalStateException.class, () -> lock.run(c -> null));
    assertTrue(lease.tryAcquire("job").isPresent());
    lease.close();
    assertThrows(IllegalStateException.class, () -> lease.tryAcquire("job"));
  }

  @Test
  void clientEndsWaits() throws Exception {
    try (HeldLock lock = client.acquire("job")) {
      Future<HeldLock> waiting = threads.submit(() -> other.acquire("job"));
      awaitWaiters("job", 1);
      other.close();
      ExecutionException ended = assertThrows(ExecutionException.class, waiting::get);
      assertInstanceOf(RuntimeException.class, ended.getCause());
      awaitWaiters("job", 0);
      assertTrue(lock.isHeld());
    }
  }
}
