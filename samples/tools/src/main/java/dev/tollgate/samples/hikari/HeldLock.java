package dev.tollgate.samples.hikari;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A lock that belongs to a piece of work: copy this class when you use a pool.
 *
 * <p>A pooled connection is no owner: it returns to the pool, and to other work. So the lock
 * belongs to a lease of its own, which this class renews three times per ttl over any connection of
 * the pool. Keep one connection spare, because a renewal waits for a connection like other work.
 * Write with {@link #token()}: the store refuses the token once the lease has ended, whether this
 * process knows that or not.
 *
 * <p>Safe for use by several threads.
 */
public final class HeldLock implements AutoCloseable {
  private static final String LEASE_IS_GONE = "55T01";

  private final DataSource pool;
  private final long lease;
  private final long token;
  private final Duration ttl;
  private final ScheduledExecutorService renewals;
  private final Future<?> renewal;
  private volatile long aliveUntilNanos;
  private volatile boolean ended;

  private HeldLock(DataSource pool, long lease, long token, Duration ttl, long sentNanos) {
    this.pool = pool;
    this.lease = lease;
    this.token = token;
    this.ttl = ttl;
    this.aliveUntilNanos = sentNanos + ttl.toNanos();
    this.renewals = Executors.newSingleThreadScheduledExecutor(HeldLock::daemon);
    this.renewal =
        renewals.scheduleAtFixedRate(this::renew, 0, ttl.toMillis() / 3, TimeUnit.MILLISECONDS);
  }

  private static Thread daemon(Runnable work) {
    Thread thread = new Thread(work, "renews a lease");
    thread.setDaemon(true);
    return thread;
  }

  /**
   * Waits in the queue for the lock.
   *
   * @param owner shown to operators in TOLLGATE.LOCKS
   * @param ttl how long the lock outlives this process; longer than {@code wait}, because the lease
   *     is not renewed during the wait
   * @return empty if another holder had the lock for all of {@code wait}
   */
  public static Optional<HeldLock> acquire(
      DataSource pool, String name, String owner, Duration ttl, Duration wait) throws SQLException {
    long sentNanos = System.nanoTime();
    long lease = number(pool, "SELECT create_lease(?, ?)", ttl.toMillis(), owner).orElseThrow();
    try {
      Optional<Long> token =
          number(pool, "SELECT acquire_lock(?, ?, ?)", name, lease, wait.toMillis());
      if (token.isPresent()) {
        return Optional.of(new HeldLock(pool, lease, token.get(), ttl, sentNanos));
      }
      revoke(pool, lease);
      return Optional.empty();
    } catch (SQLException e) {
      revoke(pool, lease);
      throw e;
    }
  }

  /** The number to write after TOKEN; it rises from holder to holder. */
  public long token() {
    return token;
  }

  /**
   * Whether the lease is certainly alive, by this process's clock. The answer is a hint to stop
   * early; what counts is that the store refuses a stale token.
   */
  public boolean isAlive() {
    return !ended && System.nanoTime() - aliveUntilNanos < 0;
  }

  private void renew() {
    long sentNanos = System.nanoTime();
    try {
      number(pool, "SELECT renew_lease(?)", lease);
      aliveUntilNanos = sentNanos + ttl.toNanos();
    } catch (SQLException e) {
      if (LEASE_IS_GONE.equals(e.getSQLState())) {
        ended = true;
        renewals.shutdown();
      }
      // other failures may pass: the next renewal comes before the lease expires
    }
  }

  /** Releases the lock at once. */
  @Override
  public void close() throws SQLException {
    ended = true;
    renewal.cancel(false);
    renewals.shutdown();
    revoke(pool, lease);
  }

  private static void revoke(DataSource pool, long lease) throws SQLException {
    try (Connection connection = pool.getConnection();
        PreparedStatement statement = connection.prepareStatement("SELECT revoke_lease(?)")) {
      statement.setLong(1, lease);
      statement.execute();
    }
  }

  private static Optional<Long> number(DataSource pool, String sql, Object... arguments)
      throws SQLException {
    try (Connection connection = pool.getConnection();
        PreparedStatement statement = connection.prepareStatement(sql)) {
      for (int i = 0; i < arguments.length; i++) {
        statement.setObject(i + 1, arguments[i]);
      }
      try (ResultSet row = statement.executeQuery()) {
        row.next();
        @Nullable Long number = row.getObject(1, Long.class);
        return Optional.ofNullable(number);
      }
    }
  }
}
