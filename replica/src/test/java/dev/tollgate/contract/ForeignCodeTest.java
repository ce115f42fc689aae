package dev.tollgate.contract;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.tollgate.jdbc.TollgateDataSource;
import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.Lease;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockOptions;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** What the lock API calls of the application's, and what that throws, or how long it takes. */
@Timeout(120)
class ForeignCodeTest {
  private static final LockOptions BRIEF = LockOptions.DEFAULT.ttl(Duration.ofMillis(800));
  private static final Duration DEADLINE = Duration.ofSeconds(20);

  private final String url = "jdbc:tollgate:mem:" + UUID.randomUUID();
  private final CountDownLatch free = new CountDownLatch(1);
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
          boolean over = false;
          while (!over) {
            try {
              free.await();
              over = true;
            } catch (InterruptedException e) {
              // goes on
            }
          }
        },
        "a wait");
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
