package dev.tollgate.samples.shedlock;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.zaxxer.hikari.HikariDataSource;
import dev.tollgate.samples.TestDatabase;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.jdbc.core.JdbcTemplate;

/** ShedLock's own JDBC provider, as existing applications have it. */
class ShedLockTest {
  @RegisterExtension final TestDatabase node = new TestDatabase();
  private HikariDataSource pool;
  private LockProvider provider;

  @BeforeEach
  void open() throws SQLException {
    node.ask(
        "CREATE TABLE shedlock(name VARCHAR(64) NOT NULL, lock_until TIMESTAMP NOT NULL,"
            + " locked_at TIMESTAMP NOT NULL, locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))");
    pool = new HikariDataSource();
    pool.setJdbcUrl(node.url());
    provider =
        new JdbcTemplateLockProvider(
            JdbcTemplateLockProvider.Configuration.builder()
                .withJdbcTemplate(new JdbcTemplate(pool))
                .usingDbTime()
                .build());
  }

  @AfterEach
  void close() {
    pool.close();
  }

  private Optional<SimpleLock> lock(Duration atMost) {
    return provider.lock(new LockConfiguration(Instant.now(), "report", atMost, Duration.ZERO));
  }

  @Test
  @Tag("cluster")
  void oneHolderAtATime() {
    SimpleLock held = lock(Duration.ofMinutes(1)).orElseThrow();
    assertTrue(lock(Duration.ofMinutes(1)).isEmpty());
    node.loseLeader();
    assertTrue(lock(Duration.ofMinutes(1)).isEmpty());
    held.unlock();
    assertTrue(lock(Duration.ofMinutes(1)).isPresent());
  }

  @Test
  @Tag("cluster")
  void holderMayExtendItsTime() throws SQLException {
    SimpleLock held = lock(Duration.ofMinutes(1)).orElseThrow();
    assertTrue(held.extend(Duration.ofMinutes(10), Duration.ZERO).isPresent());
    assertEquals(
        "TRUE", node.ask("SELECT lock_until > DATEADD('MINUTE', 5, LOCALTIMESTAMP) FROM shedlock"));
  }
}
