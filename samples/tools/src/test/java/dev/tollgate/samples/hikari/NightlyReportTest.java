package dev.tollgate.samples.hikari;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import com.zaxxer.hikari.HikariDataSource;
import dev.tollgate.lock.HeldLock;
import dev.tollgate.lock.LockClient;
import dev.tollgate.lock.LockOptions;
import dev.tollgate.samples.TestDatabase;
import java.math.BigDecimal;
import java.sql.SQLException;
import java.time.Duration;
import java.time.LocalDate;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class NightlyReportTest {
  private static final LocalDate DAY = LocalDate.of(2026, 11, 20);
  private static final Duration DEADLINE = Duration.ofSeconds(30);

  @RegisterExtension final TestDatabase node = new TestDatabase();
  private HikariDataSource pool;
  private LockClient locks;

  @BeforeEach
  void open() {
    pool = NightlyReport.pool(node.url(), 3);
    locks = LockClient.of(pool);
  }

  @AfterEach
  void close() {
    locks.close();
    pool.close();
  }

  @Test
  void reportIsWrittenUnderATokenAndTheLockIsFreeAgain() throws Exception {
    NightlyReport report = new NightlyReport(pool, locks);
    report.createTable();
    assertEquals(Optional.of(1L), report.write(DAY, new BigDecimal("12.50")));
    assertEquals(Optional.of(2L), report.write(DAY, new BigDecimal("13.00")));
    assertEquals("13.00", node.ask("SELECT total FROM report"));
    assertEquals("null", node.ask("SELECT lock_token('nightly')"));
    locks.close();
    assertEquals("0", node.ask("SELECT COUNT(*) FROM tollgate.leases WHERE NOT connection_own"));
  }

  @Test
  void lostLeaseIsNoticedAndItsTokenIsRefused() throws Exception {
    node.ask("CREATE TABLE t(v INT)");
    LockOptions options = LockOptions.DEFAULT.ttl(Duration.ofSeconds(3)).owner("a");
    try (HeldLock held = locks.tryAcquire("job", options).orElseThrow()) {
      String lease = node.ask("SELECT lease_id FROM tollgate.leases WHERE owner = 'a'");
      node.ask("SELECT revoke_lease(" + lease + ")");
      assertEquals(
          "23T01",
          assertThrows(
                  SQLException.class,
                  () ->
                      node.ask(
                          "INSERT INTO t VALUES (1) FENCED BY LOCK 'job' TOKEN " + held.token()))
              .getSQLState());
      await().atMost(DEADLINE).until(() -> !held.isHeld());
    }
    assertEquals("0", node.ask("SELECT COUNT(*) FROM t"));
    assertFalse(pool.isClosed());
  }
}
