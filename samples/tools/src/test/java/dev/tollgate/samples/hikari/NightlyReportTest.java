package dev.tollgate.samples.hikari;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.zaxxer.hikari.HikariDataSource;
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
  private static final Duration LONG = Duration.ofMinutes(1);
  private static final Duration DEADLINE = Duration.ofSeconds(30);

  @RegisterExtension final TestDatabase node = new TestDatabase();
  private HikariDataSource pool;

  @BeforeEach
  void open() {
    pool = NightlyReport.pool(node.url(), 3);
  }

  @AfterEach
  void close() {
    pool.close();
  }

  @Test
  void reportIsWrittenUnderATokenAndTheLockIsFreeAgain() throws SQLException {
    NightlyReport report = new NightlyReport(pool);
    report.createTable();
    assertEquals(Optional.of(1L), report.write(DAY, new BigDecimal("12.50")));
    assertEquals(Optional.of(2L), report.write(DAY, new BigDecimal("13.00")));
    assertEquals("13.00", node.ask("SELECT total FROM report"));
    assertEquals("null", node.ask("SELECT lock_token('nightly')"));
    assertEquals("0", node.ask("SELECT COUNT(*) FROM tollgate.leases WHERE NOT connection_own"));
  }

  @Test
  void secondWaitsInVainAndLeavesNothingBehind() throws SQLException {
    try (HeldLock first = HeldLock.acquire(pool, "job", "a", LONG, LONG).orElseThrow()) {
      assertTrue(first.isAlive());
      assertEquals(
          Optional.empty(), HeldLock.acquire(pool, "job", "b", LONG, Duration.ofMillis(50)));
      assertEquals("1", node.ask("SELECT COUNT(*) FROM tollgate.leases WHERE NOT connection_own"));
      assertEquals("0", node.ask("SELECT COUNT(*) FROM tollgate.lock_waiters"));
    }
  }

  @Test
  void leaseIsRenewedForAsLongAsTheWorkTakes() throws SQLException {
    Duration ttl = Duration.ofMillis(600);
    try (HeldLock held = HeldLock.acquire(pool, "job", "a", ttl, ttl).orElseThrow()) {
      long end = System.nanoTime() + ttl.multipliedBy(3).toNanos();
      await()
          .atMost(DEADLINE)
          .until(
              () -> {
                assertEquals(String.valueOf(held.token()), node.ask("SELECT lock_token('job')"));
                return System.nanoTime() > end;
              });
      assertTrue(held.isAlive());
    }
    assertEquals("null", node.ask("SELECT lock_token('job')"));
  }

  @Test
  void lostLeaseIsNoticedAndItsTokenIsRefused() throws SQLException {
    node.ask("CREATE TABLE t(v INT)");
    try (HeldLock held =
        HeldLock.acquire(pool, "job", "a", Duration.ofSeconds(3), DEADLINE).orElseThrow()) {
      node.ask("SELECT force_release_lock('job')");
      assertEquals(
          "23T01",
          assertThrows(
                  SQLException.class,
                  () ->
                      node.ask(
                          "INSERT INTO t VALUES (1) FENCED BY LOCK 'job' TOKEN " + held.token()))
              .getSQLState());
      String lease = node.ask("SELECT lease_id FROM tollgate.leases WHERE owner = 'a'");
      node.ask("SELECT revoke_lease(" + lease + ")");
      await().atMost(DEADLINE).until(() -> !held.isAlive());
    }
    assertEquals("0", node.ask("SELECT COUNT(*) FROM t"));
    assertFalse(pool.isClosed());
  }
}
