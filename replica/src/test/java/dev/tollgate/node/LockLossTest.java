package dev.tollgate.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.DynamicTest.dynamicTest;

import dev.tollgate.lock.FencedLock;
import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.HeldLocks;
import dev.tollgate.lock.Leadership;
import dev.tollgate.lock.Lease;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockLostException;
import dev.tollgate.lock.LockOptions;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Each kind of holder learns of a loss from the leader. The ttl is long: heartbeats, every 20 s,
 * would tell too late.
 */
@Timeout(300)
class LockLossTest {
  private static final Duration TTL = Duration.ofSeconds(60);

  /** What the documentation promises. */
  private static final Duration BOUND = TTL.dividedBy(10);

  private static final LockOptions OPTIONS = LockOptions.DEFAULT.ttl(TTL);

  @TempDir Path directory;
  private final ExecutorService thread = Executors.newSingleThreadExecutor();
  private LocalCluster cluster;
  private String url = "jdbc:tollgate:mem:" + UUID.randomUUID();
  private LockClient client;
  private Connection administrator;
  private int locks;

  private void open() throws SQLException {
    client = LockClient.connect(url);
    administrator = DriverManager.getConnection(url);
  }

  private void openThreeNodes() throws Exception {
    cluster = LocalCluster.started(directory, 3);
    url = cluster.url() + "?failoverTimeout=40s";
    open();
  }

  @AfterEach
  void close() throws SQLException {
    thread.shutdownNow();
    if (client != null) {
      client.close();
      administrator.close();
    }
    if (cluster != null) {
      cluster.close();
    }
  }

  /** How a lease loses a lock that its holder has not released. */
  private enum Way {
    FORCED("SELECT force_release_lock('%1$s')"),
    TRANSFERRED("SELECT transfer_lock('%1$s', %2$d, %3$d)"),
    RELEASED_BY_ANOTHER_SESSION("SELECT release_lock('%1$s', %2$d)"),
    KEPT_BY_ANOTHER_SESSION("SELECT release_lock('%1$s', %2$d, 1000)"),
    REVOKED("SELECT revoke_lease(%2$d)");

    private final String sql;

    Way(String sql) {
      this.sql = sql;
    }
  }

  /** What a process has of a lock. */
  private interface Holder {
    HeldLock held();

    void awaitLoss() throws Exception;
  }

  private enum Kind {
    HELD_LOCK,
    SHARED_LOCK,
    FIXED_TERM,
    LEASE_OF_SEVERAL,
    ONE_OF_SEVERAL,
    EXTENDED,
    THREAD_LOCK,
    READ_LOCK,
    ELECTION
  }

  private Holder hold(Kind kind, String name) throws Exception {
    return switch (kind) {
      case HELD_LOCK -> plain(client.acquire(name, OPTIONS));
      case SHARED_LOCK -> plain(client.acquire(name, OPTIONS.shared()));
      case FIXED_TERM -> plain(client.acquire(name, LockOptions.DEFAULT.fixedTerm(TTL)));
      case LEASE_OF_SEVERAL -> {
        Lease lease = client.newLease(TTL);
        assertTrue(lease.tryAcquire(name + " too").isPresent());
        yield plain(lease.tryAcquire(name).orElseThrow());
      }
      case ONE_OF_SEVERAL -> {
        HeldLocks all = client.tryAcquireAll(List.of(name + " too", name), OPTIONS).orElseThrow();
        yield plain(all.lock(name));
      }
      case EXTENDED -> plain(client.acquire(name).extend(TTL));
      case THREAD_LOCK -> ofThread(client.asLock(name, OPTIONS));
      case READ_LOCK -> ofThread(client.asReadWriteLock(name, OPTIONS).readLock());
      case ELECTION -> elected(name);
    };
  }

  private static void awaitFalse(Callable<Boolean> holds) {
    Awaitility.await()
        .atMost(BOUND)
        .pollInterval(Duration.ofMillis(1))
        .pollInSameThread()
        .until(() -> !holds.call());
  }

  private static Holder plain(HeldLock lock) {
    return new Holder() {
      @Override
      public HeldLock held() {
        return lock;
      }

      @Override
      public void awaitLoss() {
        awaitFalse(lock::isHeld);
        assertThrows(LockLostException.class, lock::assertHeld);
        lock.close();
      }
    };
  }

  private Holder ofThread(FencedLock lock) throws Exception {
    HeldLock held =
        inThread(
            () -> {
              lock.lock();
              return lock.held();
            });
    return new Holder() {
      @Override
      public HeldLock held() {
        return held;
      }

      @Override
      public void awaitLoss() throws Exception {
        awaitFalse(held::isHeld);
        inThread(() -> assertThrows(LockLostException.class, lock::tryLock));
        inThread(() -> assertThrows(LockLostException.class, lock::unlock));
      }
    };
  }

  private Holder elected(String name) throws InterruptedException {
    BlockingQueue<Leadership> terms = new LinkedBlockingQueue<>();
    CountDownLatch interrupted = new CountDownLatch(1);
    client.elect(
        name,
        "a",
        TTL,
        term -> {
          terms.add(term);
          try {
            new CountDownLatch(1).await();
          } finally {
            interrupted.countDown();
          }
        });
    Leadership term = terms.poll(30, TimeUnit.SECONDS);
    return new Holder() {
      @Override
      public HeldLock held() {
        return term.lock();
      }

      @Override
      public void awaitLoss() throws Exception {
        awaitFalse(term::isLeader);
        assertTrue(interrupted.await(30, TimeUnit.SECONDS));
      }
    };
  }

  private <T> T inThread(Callable<T> task) throws Exception {
    return thread.submit(task).get(60, TimeUnit.SECONDS);
  }

  private long number(String sql) throws SQLException {
    try (Statement statement = administrator.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getLong(1);
    }
  }

  private void execute(String sql) throws SQLException {
    try (Statement statement = administrator.createStatement()) {
      statement.execute(sql);
    }
  }

  private void lose(Way way, Holder holder) throws SQLException {
    long other = number("SELECT create_lease(60000)");
    assertTrue(holder.held().isHeld());
    number(String.format(way.sql, holder.held().name(), holder.held().lease().id(), other));
  }

  private String nextName() {
    locks++;
    return "job " + locks;
  }

  private List<DynamicTest> eachWayAndKind() {
    List<DynamicTest> all = new ArrayList<>();
    for (Way way : Way.values()) {
      for (Kind kind : Kind.values()) {
        all.add(
            dynamicTest(
                way + " " + kind,
                () -> {
                  Holder holder = hold(kind, nextName());
                  lose(way, holder);
                  holder.awaitLoss();
                }));
      }
    }
    return all;
  }

  @TestFactory
  List<DynamicTest> holderInTheProcessOfItsNodeLearnsOfItsLoss() throws SQLException {
    open();
    return eachWayAndKind();
  }

  @TestFactory
  List<DynamicTest> holderOfThreeNodesLearnsOfItsLoss() throws Exception {
    openThreeNodes();
    return eachWayAndKind();
  }

  /** The next leader tells of what was lost under the one before, and of what it takes itself. */
  @Test
  void changeOfLeadersHidesNoLoss() throws Exception {
    openThreeNodes();
    for (Way way : Way.values()) {
      List<Holder> before = new ArrayList<>();
      List<Holder> after = new ArrayList<>();
      for (Kind kind : List.of(Kind.HELD_LOCK, Kind.FIXED_TERM, Kind.ELECTION)) {
        before.add(hold(kind, nextName()));
        after.add(hold(kind, nextName()));
      }
      Holder kept = hold(Kind.HELD_LOCK, nextName());
      String successor = cluster.follower();
      for (Holder holder : before) {
        lose(way, holder);
      }
      execute("CALL transfer_leadership('" + successor + "')");
      for (Holder holder : after) {
        lose(way, holder);
      }
      for (Holder holder : before) {
        holder.awaitLoss();
      }
      for (Holder holder : after) {
        holder.awaitLoss();
      }
      kept.held().confirm();
      assertTrue(kept.held().isHeld());
      kept.held().close();
    }
  }

  @Test
  void leaderThatDiesHidesNoLoss() throws Exception {
    openThreeNodes();
    Holder forced = hold(Kind.HELD_LOCK, nextName());
    Holder leads = hold(Kind.ELECTION, nextName());
    Holder kept = hold(Kind.HELD_LOCK, nextName());
    String leader = cluster.leader();
    Thread dies = new Thread(() -> cluster.stop(leader));
    dies.start();
    lose(Way.FORCED, forced);
    lose(Way.TRANSFERRED, leads);
    forced.awaitLoss();
    leads.awaitLoss();
    dies.join();
    assertTrue(kept.held().isHeld());
    cluster.start(leader);
  }

  /** A push may come before the grant itself. */
  @Test
  void lossAtTheMomentOfTheGrantIsNotMissed() throws Exception {
    open();
    String name = nextName();
    Thread forces =
        new Thread(
            () -> {
              try (Connection own = DriverManager.getConnection(url);
                  Statement statement = own.createStatement()) {
                while (!Thread.currentThread().isInterrupted()) {
                  statement.execute("SELECT force_release_lock('" + name + "')");
                }
              } catch (SQLException e) {
                assertTrue(Thread.currentThread().isInterrupted(), e::getMessage);
              }
            });
    forces.start();
    try (Lease lease = client.newLease(TTL)) {
      for (int i = 0; i < 1_000; i++) {
        HeldLock lock = lease.tryAcquire(name).orElseThrow();
        awaitFalse(lock::isHeld);
        lock.close();
      }
    } finally {
      forces.interrupt();
      forces.join();
    }
  }

  @Test
  void manyLocksOfOneClientAreWatched() throws Exception {
    open();
    List<HeldLock> all = new ArrayList<>();
    try (Lease lease = client.newLease(TTL)) {
      for (int i = 0; i < 500; i++) {
        all.add(lease.tryAcquire("a" + i).orElseThrow());
        all.add(client.tryAcquire("b" + i, OPTIONS).orElseThrow());
      }
      for (HeldLock lock : all) {
        number("SELECT force_release_lock('" + lock.name() + "')");
      }
      for (HeldLock lock : all) {
        awaitFalse(lock::isHeld);
      }
      assertTrue(lease.isAlive());
    }
    assertEquals(0, client.counts().locks());
  }

  @Test
  void lockThatItsHolderMovesOrReleasesIsNotLost() throws Exception {
    open();
    List<String> losses = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      HeldLock lock = client.acquire("job", OPTIONS);
      lock.lease().onLost(lost -> losses.add(lost.getMessage()));
      HeldLock longer = lock.extend(TTL.multipliedBy(2));
      try (Lease lease = client.newLease(TTL)) {
        HeldLock moved = longer.transferTo(lease);
        assertTrue(moved.isHeld());
        moved.close();
      }
    }
    assertEquals(List.of(), losses);
  }

  @Test
  void lockThatWasTakenAwayIsNotUnlockedInSilence() throws Exception {
    open();
    FencedLock lock = client.asLock("job", OPTIONS);
    for (int i = 0; i < 200; i++) {
      lock.lock();
      number("SELECT force_release_lock('job')");
      // whether or not the loss has been pushed by now
      assertThrows(LockLostException.class, lock::unlock);
    }
    assertFalse(client.holder("job").isPresent());
  }
}
