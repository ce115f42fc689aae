package dev.tollgate.samples.shedlock;

import dev.tollgate.lock.LockClient;
import dev.tollgate.shedlock.TollgateLockProvider;
import dev.tollgate.shedlock.TollgateShedLock;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockingTaskExecutor;

/**
 * Sends the invoices of an hour once, however many processes have the same schedule.
 *
 * <p>Run it as often as you like, at the same time: {@code samples/tools/run.sh
 * shedlock.HourlyInvoices}. With Spring, {@code @SchedulerLock(name = "invoices", lockAtMostFor =
 * "10m", lockAtLeastFor = "5s")} takes the place of the executor.
 */
public final class HourlyInvoices {
  private static final String LOCK = "invoices";

  /** After this time another process takes over from one that died. */
  private static final Duration AT_MOST = Duration.ofMinutes(10);

  private final LockingTaskExecutor executor;
  private final Duration atLeast;

  /**
   * @param atLeast longer than the clocks of the processes that have the schedule differ
   */
  public HourlyInvoices(TollgateLockProvider provider, Duration atLeast) {
    this.executor = new DefaultLockingTaskExecutor(provider);
    this.atLeast = atLeast;
  }

  /** Makes the table, which takes rows only from the holder of the lock. */
  public static void createTable(LockClient locks) throws SQLException, InterruptedException {
    try (var lock = locks.acquire("invoices-table")) {
      lock.run(
          connection -> {
            try (Statement statement = connection.createStatement()) {
              return statement.execute(
                  "CREATE TABLE IF NOT EXISTS invoice(sent_at TIMESTAMP, token BIGINT)"
                      + " FENCED BY LOCK 'invoices'");
            }
          });
    }
  }

  /**
   * What a scheduler calls each hour.
   *
   * @return the token under which invoices were sent; empty if another process sends them, or has
   *     just done so
   */
  public Optional<Long> fire() throws Throwable {
    LockConfiguration configuration = new LockConfiguration(Instant.now(), LOCK, AT_MOST, atLeast);
    return Optional.ofNullable(executor.executeWithLock(this::send, configuration).getResult());
  }

  /** Runs on the thread of {@link #fire}, in one process of the cluster at a time. */
  private Long send() throws SQLException {
    long token = TollgateShedLock.currentToken();
    return TollgateShedLock.current()
        .run(
            connection -> {
              try (Statement statement = connection.createStatement()) {
                statement.executeUpdate(
                    "INSERT INTO invoice VALUES (CURRENT_TIMESTAMP, " + token + ")");
                return token;
              }
            });
  }

  /**
   * @param arguments the JDBC URL
   */
  public static void main(String[] arguments) throws Throwable {
    try (LockClient locks = LockClient.connect(arguments[0])) {
      createTable(locks);
      HourlyInvoices invoices =
          new HourlyInvoices(new TollgateLockProvider(locks), Duration.ofSeconds(5));
      for (int trigger = 1; trigger <= 2; trigger++) {
        System.out.println(
            "trigger "
                + trigger
                + invoices
                    .fire()
                    .map(token -> ": sent under token " + token)
                    .orElse(": another process sends them, or has just done so"));
      }
    }
  }
}
