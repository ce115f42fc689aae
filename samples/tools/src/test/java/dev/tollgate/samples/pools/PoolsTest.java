package dev.tollgate.samples.pools;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import com.mchange.v2.c3p0.ComboPooledDataSource;
import com.zaxxer.hikari.HikariDataSource;
import dev.tollgate.samples.TestDatabase;
import io.agroal.api.AgroalDataSource;
import io.agroal.api.configuration.supplier.AgroalDataSourceConfigurationSupplier;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import javax.sql.DataSource;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Many threads on few connections, each of which has its next user at once: what one user does with
 * a connection takes nothing from the next. c3p0 tells the driver of the end of a request when the
 * next one may be under way; HikariCP and Agroal tell it nothing of requests.
 */
class PoolsTest {
  private static final int THREADS = 8;
  private static final int CONNECTIONS = 2;
  private static final int ROUNDS = 150;

  @RegisterExtension final TestDatabase node = new TestDatabase();

  private enum Pool {
    C3P0,
    HIKARI,
    AGROAL;

    DataSource open(String url) throws SQLException {
      return switch (this) {
        case C3P0 -> c3p0(url);
        case HIKARI -> hikari(url);
        case AGROAL -> agroal(url);
      };
    }

    private static DataSource c3p0(String url) {
      ComboPooledDataSource pool = new ComboPooledDataSource();
      pool.setJdbcUrl(url);
      pool.setInitialPoolSize(CONNECTIONS);
      pool.setMaxPoolSize(CONNECTIONS);
      return pool;
    }

    private static DataSource hikari(String url) {
      HikariDataSource pool = new HikariDataSource();
      pool.setJdbcUrl(url);
      pool.setMaximumPoolSize(CONNECTIONS);
      return pool;
    }

    private static DataSource agroal(String url) throws SQLException {
      return AgroalDataSource.from(
          new AgroalDataSourceConfigurationSupplier()
              .connectionPoolConfiguration(
                  pool ->
                      pool.maxSize(CONNECTIONS)
                          .acquisitionTimeout(Duration.ofSeconds(30))
                          .connectionFactoryConfiguration(factory -> factory.jdbcUrl(url))));
    }
  }

  private interface Work {
    void round(Connection connection, int thread, int round) throws SQLException;
  }

  private void inThreads(Pool kind, Work work) throws Exception {
    DataSource pool = kind.open(node.url());
    ExecutorService threads = Executors.newFixedThreadPool(THREADS);
    try {
      List<Future<?>> futures = new ArrayList<>();
      for (int t = 0; t < THREADS; t++) {
        int thread = t;
        futures.add(threads.submit(() -> rounds(pool, work, thread)));
      }
      for (Future<?> future : futures) {
        future.get();
      }
    } finally {
      threads.shutdownNow();
      ((AutoCloseable) pool).close();
    }
  }

  private static Void rounds(DataSource pool, Work work, int thread) throws SQLException {
    for (int round = 0; round < ROUNDS; round++) {
      try (Connection connection = pool.getConnection()) {
        work.round(connection, thread, round);
      }
    }
    return null;
  }

  @ParameterizedTest
  @EnumSource
  void whatWasCommittedIsThere(Pool kind) throws Exception {
    node.ask("CREATE TABLE t(id INT PRIMARY KEY)");
    inThreads(
        kind,
        (connection, thread, round) -> {
          connection.setAutoCommit(false);
          TestDatabase.ask(connection, "INSERT INTO t VALUES(" + (thread * ROUNDS + round) + ")");
          connection.commit();
        });
    assertEquals(String.valueOf(THREADS * ROUNDS), node.ask("SELECT COUNT(*) FROM t"));
  }

  @ParameterizedTest
  @EnumSource
  void lockOfTheConnectionIsHeldUntilItsUserReleasesIt(Pool kind) throws Exception {
    inThreads(
        kind,
        (connection, thread, round) -> {
          String lock = "'lock-" + thread + "'";
          String token = TestDatabase.ask(connection, "SELECT try_acquire_lock(" + lock + ")");
          assertNotEquals("null", token);
          String held =
              TestDatabase.ask(connection, "SELECT holds_lock(" + lock + ", " + token + ")");
          assertEquals("TRUE", held, lock + " of round " + round);
          TestDatabase.ask(connection, "SELECT release_lock(" + lock + ")");
        });
  }
}
