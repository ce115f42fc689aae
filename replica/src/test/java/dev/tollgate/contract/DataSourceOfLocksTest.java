package dev.tollgate.contract;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockException;
import dev.tollgate.lock.LockOptions;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What the lock API does with the data source of an application, in whatever state that is. */
@Timeout(120)
class DataSourceOfLocksTest {
  private static final Duration DEADLINE = Duration.ofSeconds(25);
  private static final LockOptions LONG = LockOptions.DEFAULT.ttl(Duration.ofSeconds(60));

  private final String url = "jdbc:tollgate:mem:" + UUID.randomUUID();
  private LockClient other;
  private Connection connection;

  @BeforeEach
  void open() throws SQLException {
    other = LockClient.connect(url);
    connection = DriverManager.getConnection(url);
    execute(connection, "CREATE TABLE REPORT(ID INT PRIMARY KEY)");
  }

  @AfterEach
  void close() throws SQLException {
    other.close();
    connection.close();
  }

  private static int execute(Connection on, String sql) throws SQLException {
    try (Statement statement = on.createStatement()) {
      return statement.executeUpdate(sql);
    }
  }

  private int rows() throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT COUNT(*) FROM REPORT")) {
      row.next();
      return row.getInt(1);
    }
  }

  private HikariDataSource pool(int size, String initSql) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setMaximumPoolSize(size);
    config.setMinimumIdle(0);
    config.setConnectionInitSql(initSql);
    return new HikariDataSource(config);
  }

  private static int insert(HeldLock lock, int id) throws SQLException {
    return lock.run(work -> execute(work, "INSERT INTO REPORT VALUES (" + id + ")"));
  }

  @Test
  void runEndsNoFenceOfThePool() throws Exception {
    HeldLock migrations = other.acquire("migrations");
    String fence = "SET  fenced BY LOCK 'migrations' TOKEN " + migrations.token();
    try (HikariDataSource pool = pool(1, fence);
        LockClient client = LockClient.of(pool);
        HeldLock job = client.acquire("job")) {
      SQLException refused = assertThrows(SQLException.class, () -> insert(job, 1));
      assertEquals("55T03", refused.getSQLState(), refused.getMessage());
      try (Connection fenced = pool.getConnection()) {
        assertEquals(1, execute(fenced, "INSERT INTO REPORT VALUES (2)"));
      }
      migrations.close();
      try (Connection fenced = pool.getConnection()) {
        SQLException stale =
            assertThrows(
                SQLException.class, () -> execute(fenced, "INSERT INTO REPORT VALUES (3)"));
        assertEquals("23T01", stale.getSQLState());
        execute(fenced, "SET NOT FENCED");
      }
      assertEquals(1, insert(job, 4), "the fence was ended by its owner");
      assertEquals(1, insert(job, 5), "a run leaves none");
    }
  }

  /** As Spring's TransactionAwareDataSourceProxy does: all of a transaction's on one connection. */
  private static DataSource boundTo(Connection bound) {
    Connection lent =
        FaultyPool.proxy(
            Connection.class,
            (method, arguments) ->
                method.getName().equals("close")
                    ? null
                    : FaultyPool.call(bound, method, arguments));
    return FaultyPool.proxy(DataSource.class, (method, arguments) -> lent);
  }

  @Test
  void runEndsNoTransactionOfItsCaller() throws Exception {
    try (Connection bound = DriverManager.getConnection(url);
        LockClient client = LockClient.of(boundTo(bound))) {
      HeldLock job = client.acquire("job");
      bound.setAutoCommit(false);
      execute(bound, "INSERT INTO REPORT VALUES (1)");
      SQLException refused = assertThrows(SQLException.class, () -> insert(job, 2));
      assertEquals("25001", refused.getSQLState(), refused.getMessage());
      assertTrue(refused.getMessage().contains("target data source"), refused::getMessage);
      bound.rollback();
      assertEquals(0, rows());
      assertEquals(1, insert(job, 3), "no transaction is open");
      assertFalse(bound.getAutoCommit());
      bound.rollback();
      assertEquals(1, rows());
      bound.setAutoCommit(true);
    }
  }

  private FutureTask<HeldLock> begin(LockClient client, String lock) {
    FutureTask<HeldLock> waiting = new FutureTask<>(() -> client.acquire(lock, LONG));
    Thread thread = new Thread(waiting);
    thread.setDaemon(true);
    thread.start();
    return waiting;
  }

  @Test
  void clientOfAFullPoolEndsItsWaitsSoon() throws Exception {
    HeldLock held = other.acquire("full");
    try (HikariDataSource pool = pool(3, null)) {
      LockClient client = LockClient.of(pool);
      List<FutureTask<HeldLock>> waits = new ArrayList<>();
      for (int i = 1; i <= 3; i++) {
        int count = i;
        waits.add(begin(client, "full"));
        await().atMost(DEADLINE).until(() -> other.countWaiters("full") == count);
      }
      long begin = System.nanoTime();
      client.close();
      Duration took = Duration.ofNanos(System.nanoTime() - begin);
      assertTrue(took.compareTo(Duration.ofSeconds(15)) < 0, took::toString);
      for (FutureTask<HeldLock> wait : waits) {
        ExecutionException ended =
            assertThrows(
                ExecutionException.class, () -> wait.get(DEADLINE.toSeconds(), TimeUnit.SECONDS));
        assertInstanceOf(IllegalStateException.class, ended.getCause());
      }
      await().atMost(DEADLINE).until(() -> other.countWaiters("full") == 0);
      held.close();
      assertTrue(other.holder("full").isEmpty());
      assertThrows(IllegalStateException.class, () -> client.acquire("full"));
    }
  }

  /** Its connections, and their statements, throw in these methods. */
  private DataSource throwingIn(List<String> methods) {
    return FaultyPool.proxy(
        DataSource.class,
        (method, arguments) -> throwingIn(DriverManager.getConnection(url), methods));
  }

  private static Connection throwingIn(Connection real, List<String> methods) {
    return FaultyPool.proxy(
        Connection.class,
        (method, arguments) -> {
          requireNotIn(methods, method);
          Object result = FaultyPool.call(real, method, arguments);
          return result instanceof PreparedStatement statement
              ? FaultyPool.proxy(
                  PreparedStatement.class,
                  (of, with) -> {
                    requireNotIn(methods, of);
                    return FaultyPool.call(statement, of, with);
                  })
              : result;
        });
  }

  private static void requireNotIn(List<String> methods, Method method) {
    if (methods.contains(method.getName())) {
      throw new IllegalStateException(method.getName() + " throws, on purpose");
    }
  }

  @Test
  void interruptEndsAWaitWhateverThePoolThrows() throws Exception {
    HeldLock held = other.acquire("job");
    try (LockClient client = LockClient.of(throwingIn(List.of("cancel", "abort")))) {
      AtomicReference<Throwable> end = new AtomicReference<>();
      Thread waiting =
          new Thread(
              () -> {
                try {
                  client.acquire("job").close();
                } catch (Throwable e) {
                  end.set(e);
                }
              });
      waiting.start();
      await().atMost(DEADLINE).until(() -> other.countWaiters("job") == 1);
      waiting.interrupt();
      await().atMost(DEADLINE).until(() -> end.get() != null);
      assertInstanceOf(InterruptedException.class, end.get());
      await().atMost(DEADLINE).until(() -> other.countWaiters("job") == 0);
    }
    held.close();
  }

  /** The next connections are these. */
  private DataSource failingOnce(AtomicReference<Throwable> planted) {
    return FaultyPool.proxy(
        DataSource.class,
        (method, arguments) -> {
          Throwable next = planted.getAndSet(null);
          if (next != null) {
            throw next;
          }
          return DriverManager.getConnection(url);
        });
  }

  @Test
  void lockThatIsToBeKeptIsKeptWhateverTheDataSourceThrows() throws Exception {
    AtomicReference<Throwable> planted = new AtomicReference<>();
    try (LockClient client = LockClient.of(failingOnce(planted))) {
      for (LockOptions options :
          List.of(LONG, LockOptions.DEFAULT.fixedTerm(Duration.ofSeconds(60)))) {
        String name = "kept" + options.equals(LONG);
        HeldLock lock = client.acquire(name, options);
        planted.set(new IllegalStateException("planted"));
        assertThrows(LockException.class, () -> lock.releaseAfter(Duration.ofSeconds(30)));
        HeldLock next = client.acquire(name + "e", options);
        planted.set(new StackOverflowError("planted"));
        assertThrows(StackOverflowError.class, () -> next.releaseAfter(Duration.ofSeconds(30)));
        assertTrue(other.tryAcquire(name).isEmpty(), "released before its time");
        assertTrue(other.tryAcquire(name + "e").isEmpty(), "released before its time");
      }
    }
  }

  @Test
  void interruptOfAReleaseThatWaitsForThePoolDoesNotEndIt() throws Exception {
    try (HikariDataSource pool = pool(1, null);
        LockClient client = LockClient.of(pool)) {
      HeldLock lock = client.acquire("job", LONG);
      FutureTask<Boolean> released =
          new FutureTask<>(
              () -> {
                lock.close();
                return Thread.interrupted();
              });
      Thread releasing = new Thread(released);
      try (Connection taken = pool.getConnection()) {
        releasing.start();
        await()
            .atMost(DEADLINE)
            .until(() -> pool.getHikariPoolMXBean().getThreadsAwaitingConnection() == 1);
        releasing.interrupt();
        await()
            .atMost(DEADLINE)
            .until(
                () ->
                    !releasing.isInterrupted()
                        && pool.getHikariPoolMXBean().getThreadsAwaitingConnection() == 1);
        assertFalse(taken.isClosed());
      }
      assertTrue(released.get(DEADLINE.toSeconds(), TimeUnit.SECONDS), "the interrupt stays set");
      assertTrue(other.holder("job").isEmpty());
    }
  }
}
