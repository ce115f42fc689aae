package dev.tollgate.samples.hikari;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockOptions;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.LocalDate;
import java.util.Optional;
import javax.sql.DataSource;

/**
 * Writes the nightly report in one process at a time; the other processes give up.
 *
 * <p>Run it as often as you like, at the same time: {@code samples/tools/run.sh
 * hikari.NightlyReport}.
 */
public final class NightlyReport {
  private static final String LOCK = "nightly";
  private static final Duration TTL = Duration.ofSeconds(30);
  private static final Duration WAIT = Duration.ofSeconds(10);

  private final DataSource pool;
  private final LockClient locks;

  /**
   * @param locks on the same pool
   */
  public NightlyReport(DataSource pool, LockClient locks) {
    this.pool = pool;
    this.locks = locks;
  }

  /** Makes a pool that knows only Tollgate's URL: the driver registers itself. */
  public static HikariDataSource pool(String url, int size) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setMaximumPoolSize(size);
    return new HikariDataSource(config);
  }

  public void createTable() throws SQLException {
    try (Connection connection = pool.getConnection();
        Statement statement = connection.createStatement()) {
      statement.execute(
          "CREATE TABLE IF NOT EXISTS report(report_day DATE PRIMARY KEY, total DECIMAL(12, 2))");
    }
  }

  /**
   * @return the token under which the report was written; empty if another process held the lock
   * @throws SQLException with SQLState 23T01 if the lock was lost meanwhile: then nothing was
   *     written
   */
  public Optional<Long> write(LocalDate day, BigDecimal total)
      throws SQLException, InterruptedException {
    LockOptions options = LockOptions.DEFAULT.ttl(TTL).waitFor(WAIT).owner("report of " + day);
    Optional<HeldLock> lock = locks.tryAcquire(LOCK, options);
    if (lock.isEmpty()) {
      return Optional.empty();
    }
    try (HeldLock held = lock.get();
        Connection connection = pool.getConnection();
        PreparedStatement merge =
            connection.prepareStatement(
                "MERGE INTO report KEY(report_day) VALUES (?, ?)"
                    + " FENCED BY LOCK 'nightly' TOKEN ?")) {
      merge.setObject(1, day);
      merge.setBigDecimal(2, total);
      merge.setLong(3, held.token());
      merge.executeUpdate();
      return Optional.of(held.token());
    }
  }

  /**
   * @param arguments the JDBC URL
   */
  public static void main(String[] arguments) throws SQLException, InterruptedException {
    try (HikariDataSource pool = pool(arguments[0], 3);
        LockClient locks = LockClient.of(pool)) {
      NightlyReport report = new NightlyReport(pool, locks);
      report.createTable();
      Optional<Long> token = report.write(LocalDate.of(2026, 11, 20), new BigDecimal("12.50"));
      System.out.println(
          token.map(t -> "written under token " + t).orElse("somebody else writes it"));
    }
  }
}
