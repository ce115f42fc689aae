package dev.tollgate.contract;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.jdbc.TollgateDataSource;
import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.LeaderElection;
import dev.tollgate.lock.Leadership;
import dev.tollgate.lock.Lease;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockOptions;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.spi.AbstractInterruptibleChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the lock API calls of the application's, and what that throws, or how long it takes. */
@Timeout(120)
class ForeignCodeTest {
  private static final Duration BRIEF_TTL = Duration.ofMillis(800);
  private static final LockOptions BRIEF = LockOptions.DEFAULT.ttl(BRIEF_TTL);
  private static final Duration DEADLINE = Duration.ofSeconds(20);

  private final String url = "jdbc:tollgate:mem:" + UUID.randomUUID();
  private final CountDownLatch free = new CountDownLatch(1);
  private final CountDownLatch standing = new CountDownLatch(1);
  private LockClient client;
  private Connection administrator;

  @BeforeEach
  void open() throws SQLException {
    client = LockClient.connect(url);
    administrator = DriverManager.getConnection(url);
  }

  @AfterEach
  void close() throws SQLException {
    free.countDown();
    client.close();
    administrator.close();
  }

  private void force(String lock) throws SQLException {
    try (Statement statement = administrator.createStatement()) {
      statement.execute("SELECT force_release_lock('" + lock + "')");
    }
  }

  private boolean isFree(String lock) throws SQLException {
    try (Statement statement = administrator.createStatement();
        ResultSet row =
            statement.executeQuery(
                "SELECT COUNT(*) FROM TOLLGATE.LOCKS WHERE LOCK_NAME = '" + lock + "'")) {
      return row.next() && row.getInt(1) == 0;
    }
  }

  /** Takes a lock that interrupts its thread when it is lost, and waits. */
  private final class Worker extends Thread {
    private final Runnable onInterrupt;
    private final BlockingQueue<HeldLock> taken = new LinkedBlockingQueue<>();

    Worker(Runnable onInterrupt) {
      this.onInterrupt = onInterrupt;
      setDaemon(true);
    }

    @Override
    public void run() {
      try {
        taken.add(client.acquire("job", BRIEF.interruptOnLoss()));
        free.await();
      } catch (InterruptedException e) {
        interrupt();
      }
    }

    @Override
    public void interrupt() {
      onInterrupt.run();
    }
  }

  /** The lock of a worker is taken away, and its thread does this in {@link Thread#interrupt}. */
  private void assertOtherLocksAreRenewed(Runnable onInterrupt, String how) throws Exception {
    CountDownLatch lost = new CountDownLatch(1);
    CountDownLatch told = new CountDownLatch(1);
    try (LockClient other = LockClient.connect(url)) {
      Lease lease = other.acquire("other", BRIEF).lease();
      lease.onLost(loss -> lost.countDown());
      Worker worker = new Worker(onInterrupt);
      worker.start();
      HeldLock job = worker.taken.poll(DEADLINE.toSeconds(), TimeUnit.SECONDS);
      job.onLost(loss -> told.countDown());
      force("job");
      assertTrue(told.await(DEADLINE.toSeconds(), TimeUnit.SECONDS), how + ": nobody was told");
      assertFalse(lost.await(2, TimeUnit.SECONDS), how + ": another lock was lost");
      assertTrue(lease.isAlive(), how);
    }
  }

  @Test
  void interruptThatThrowsEndsNoHeartbeats() throws Exception {
    assertOtherLocksAreRenewed(
        () -> {
          throw new NoClassDefFoundError("planted");
        },
        "an Error");
    assertOtherLocksAreRenewed(
        () -> {
          throw new IllegalStateException("planted");
        },
        "an exception");
  }

  @Test
  void interruptThatBlocksHoldsUpNoHeartbeats() throws Exception {
    assertOtherLocksAreRenewed(
        () -> {
          awaitEndOfTest();
        },
        "a wait");
  }

  private void awaitEndOfTest() {
    boolean over = false;
    while (!over) {
      try {
        free.await();
        over = true;
      } catch (InterruptedException e) {
        // goes on
      }
    }
  }

  /** As a FileChannel in a long write: an interrupt of the thread within waits for its end. */
  private final class SlowChannel extends AbstractInterruptibleChannel {
    void stand() throws IOException {
      try {
        begin();
        awaitEndOfTest();
      } finally {
        end(/* completed= */ true);
      }
    }

    @Override
    protected void implCloseChannel() {
      awaitEndOfTest();
    }
  }

  private Leadership leaderInSlowChannel(LeaderElection election) throws Exception {
    Leadership term = election.awaitLeadership(DEADLINE).orElseThrow();
    assertTrue(standing.await(DEADLINE.toSeconds(), TimeUnit.SECONDS));
    return term;
  }

  private void leadInSlowChannel(Leadership term) throws IOException {
    standing.countDown();
    new SlowChannel().stand();
  }

  @Test
  void leaderInASlowChannelHoldsUpNoHeartbeatsWhenItsTermEnds() throws Exception {
    CountDownLatch lost = new CountDownLatch(1);
    CountDownLatch told = new CountDownLatch(1);
    try (LockClient other = LockClient.connect(url)) {
      Lease lease = other.acquire("other", BRIEF).lease();
      lease.onLost(loss -> lost.countDown());
      LeaderElection election = client.elect("job", "a", BRIEF_TTL, this::leadInSlowChannel);
      var unused = leaderInSlowChannel(election).ended().thenRun(told::countDown);
      force("job");
      assertTrue(told.await(DEADLINE.toSeconds(), TimeUnit.SECONDS), "nobody was told");
      assertFalse(lost.await(2, TimeUnit.SECONDS), "another lock was lost");
      assertTrue(lease.isAlive());
    }
  }

  @Test
  void leaderInASlowChannelDoesNotHoldUpWhoEndsItsTerm() throws Exception {
    LeaderElection election = client.elect("job", "a", BRIEF_TTL, this::leadInSlowChannel);
    Leadership term = leaderInSlowChannel(election);
    returnsSoon(election::resign);
    assertFalse(term.isLeader());
    assertFalse(election.isLeader());
    returnsSoon(election::close);
  }

  @Test
  void candidateInASlowPoolDoesNotHoldUpWhoEndsItsCandidacy() throws Exception {
    try (LockClient of = LockClient.of(slow())) {
      LeaderElection election = of.elect("job", "a", BRIEF_TTL, term -> {});
      assertTrue(standing.await(DEADLINE.toSeconds(), TimeUnit.SECONDS));
      returnsSoon(election::close);
      free.countDown();
    }
  }

  @Test
  void requestInASlowPoolDoesNotHoldUpWhoCancelsIt() throws Exception {
    try (LockClient of = LockClient.of(slow())) {
      CompletableFuture<HeldLock> granted = of.acquireAsync("job");
      assertTrue(standing.await(DEADLINE.toSeconds(), TimeUnit.SECONDS));
      returnsSoon(() -> granted.cancel(true));
      free.countDown();
    }
  }

  private void returnsSoon(Runnable call) throws Exception {
    try {
      CompletableFuture.runAsync(call).get(DEADLINE.toSeconds(), TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      free.countDown();
      throw e;
    }
  }

  /** A pool that stands in a slow channel before it hands out a connection. */
  private DataSource slow() {
    TollgateDataSource real = new TollgateDataSource();
    real.setUrl(url);
    return (DataSource)
        Proxy.newProxyInstance(
            ForeignCodeTest.class.getClassLoader(),
            new Class<?>[] {DataSource.class},
            (proxy, method, arguments) -> {
              standing.countDown();
              new SlowChannel().stand();
              return method.invoke(real, arguments);
            });
  }

  /** As an appender whose disk is full. */
  private static final class FullDisk extends Handler {
    @Override
    public void publish(LogRecord line) {
      throw new IllegalStateException("planted");
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}
  }

  @Test
  void logHandlerThatThrowsKeepsNobodyFromTheNews() throws Exception {
    Logger log = Logger.getLogger("dev.tollgate.lock");
    Handler handler = new FullDisk();
    HeldLock job = client.acquire("job");
    HeldLock fixed = client.acquire("fixed", LockOptions.DEFAULT.fixedTerm(BRIEF_TTL));
    CountDownLatch told = new CountDownLatch(4);
    log.addHandler(handler);
    try {
      for (HeldLock lock : List.of(job, fixed)) {
        lock.onLost(loss -> told.countDown());
        lock.lease().onLost(loss -> told.countDown());
      }
      force("job");
      assertTrue(told.await(DEADLINE.toSeconds(), TimeUnit.SECONDS), () -> told + " were not told");
      assertFalse(job.isHeld());
      assertFalse(fixed.isHeld());
    } finally {
      log.removeHandler(handler);
    }
  }

  /** A data source that throws what it is told to. */
  private static final class Failing {
    private final TollgateDataSource real = new TollgateDataSource();
    private final AtomicReference<Throwable> planted = new AtomicReference<>();

    Failing(String url) {
      real.setUrl(url);
    }

    DataSource dataSource() {
      return (DataSource)
          Proxy.newProxyInstance(
              Failing.class.getClassLoader(),
              new Class<?>[] {DataSource.class},
              (proxy, method, arguments) -> {
                Throwable throwable = planted.get();
                if (throwable != null) {
                  throw throwable;
                }
                return method.invoke(real, arguments);
              });
    }
  }

  private void awaitFree(String lock, String how) {
    await(how).atMost(DEADLINE).until(() -> isFree(lock));
  }

  @Test
  void lockWhoseReleaseFailsEndsWithItsTerm() throws Exception {
    Failing failing = new Failing(url);
    try (LockClient of = LockClient.of(failing.dataSource())) {
      HeldLock first = of.acquire("a", BRIEF);
      failing.planted.set(new IllegalStateException("planted"));
      first.close();
      awaitFree("a", "an exception");
      failing.planted.set(null);

      HeldLock second = of.acquire("b", BRIEF);
      failing.planted.set(new StackOverflowError("planted"));
      assertThrows(StackOverflowError.class, second::close);
      awaitFree("b", "an Error");
      failing.planted.set(null);

      Lease shared = of.newLease(Duration.ofMillis(800));
      HeldLock third = shared.tryAcquire("c").orElseThrow();
      failing.planted.set(new IllegalStateException("planted"));
      third.close();
      awaitFree("c", "under a shared lease");
      assertEquals(0, shared.isAlive() ? 1 : 0, "its lease is given up");
      failing.planted.set(null);
      assertTrue(of.tryAcquire("a", BRIEF).isPresent());
    }
  }

  /** Reads a file by a channel where a statement is prepared, as class loaders and appenders do. */
  private static DataSource reading(String url, Path file) {
    TollgateDataSource real = new TollgateDataSource();
    real.setUrl(url);
    return (DataSource)
        Proxy.newProxyInstance(
            ForeignCodeTest.class.getClassLoader(),
            new Class<?>[] {DataSource.class},
            (proxy, method, arguments) -> {
              Object result = method.invoke(real, arguments);
              return result instanceof Connection connection ? reading(connection, file) : result;
            });
  }

  private static Connection reading(Connection connection, Path file) {
    return (Connection)
        Proxy.newProxyInstance(
            ForeignCodeTest.class.getClassLoader(),
            new Class<?>[] {Connection.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("prepareStatement")) {
                read(file);
              }
              try {
                return method.invoke(connection, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  private static void read(Path file) throws IOException {
    try (FileChannel channel = FileChannel.open(file)) {
      channel.read(ByteBuffer.allocate(1));
    }
  }

  @Test
  void interruptEndsAWaitThoughAChannelWasUsedInIt(@TempDir Path directory) throws Exception {
    Path file = Files.write(directory.resolve("any"), new byte[] {1});
    client.acquire("job");
    BlockingQueue<String> ends = new LinkedBlockingQueue<>();
    try (LockClient of = LockClient.of(reading(url, file))) {
      Thread waiting =
          new Thread(
              () -> {
                try {
                  of.acquire("job");
                  ends.add("granted");
                } catch (InterruptedException e) {
                  ends.add("interrupted");
                }
              });
      waiting.start();
      await().atMost(DEADLINE).until(() -> client.countWaiters("job") == 1);
      waiting.interrupt();
      assertEquals("interrupted", ends.poll(DEADLINE.toSeconds(), TimeUnit.SECONDS));
    }
  }
}
