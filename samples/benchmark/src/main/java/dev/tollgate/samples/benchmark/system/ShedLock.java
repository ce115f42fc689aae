package dev.tollgate.samples.benchmark.system;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/**
 * ShedLock's table in PostgreSQL, with the database's time, a connection for each client: two
 * UPDATEs with a commit each, which are on disk. It is made for jobs, and cannot wait.
 */
public final class ShedLock implements LockSystem {
  private final String url;

  /**
   * @param url jdbc:postgresql://...
   */
  ShedLock(String url) throws SQLException {
    this.url = url;
    try (Connection connection = DriverManager.getConnection(url);
        Statement statement = connection.createStatement()) {
      statement.execute(
          "CREATE TABLE IF NOT EXISTS shedlock(name VARCHAR(64) PRIMARY KEY, lock_until TIMESTAMP"
              + " NOT NULL, locked_at TIMESTAMP NOT NULL, locked_by VARCHAR(255) NOT NULL)");
    }
  }

  @Override
  public String name() {
    return Kind.SHEDLOCK.word();
  }

  @Override
  public Set<Ability> abilities() {
    return EnumSet.of(Ability.TRY);
  }

  @Override
  public LockClient connect(Duration lease) throws SQLException {
    return new ShedLockClient(
        new SingleConnectionDataSource(DriverManager.getConnection(url), true), lease);
  }

  @Override
  public void shutDown() {}

  private static final class ShedLockClient implements LockClient {
    private final SingleConnectionDataSource connection;
    private final Duration lease;
    private final LockProvider provider;
    private final Map<String, SimpleLock> held = new HashMap<>();

    ShedLockClient(SingleConnectionDataSource connection, Duration lease) {
      this.connection = connection;
      this.lease = lease;
      this.provider =
          new JdbcTemplateLockProvider(
              JdbcTemplateLockProvider.Configuration.builder()
                  .withJdbcTemplate(new JdbcTemplate(connection))
                  .usingDbTime()
                  .build());
    }

    @Override
    public void acquire(String lock) {
      if (!tryAcquire(lock)) {
        throw new IllegalStateException("lock " + lock + " is not free");
      }
    }

    @Override
    public boolean tryAcquire(String lock) {
      Optional<SimpleLock> taken =
          provider.lock(new LockConfiguration(Instant.now(), lock, lease, Duration.ZERO));
      taken.ifPresent(simple -> held.put(lock, simple));
      return taken.isPresent();
    }

    @Override
    public void release(String lock) {
      Objects.requireNonNull(held.remove(lock), "never taken").unlock();
    }

    @Override
    public void disconnect() {
      connection.destroy();
    }
  }
}
