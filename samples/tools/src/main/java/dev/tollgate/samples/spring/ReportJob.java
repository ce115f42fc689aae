package dev.tollgate.samples.spring;

import static java.util.Objects.requireNonNull;

import com.zaxxer.hikari.HikariDataSource;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.LocalDate;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Writes the report of a day, in one process at a time. Every write carries the token, so a process
 * that slept until its lease expired cannot spoil what its successor writes.
 *
 * <p>Run it: {@code samples/tools/run.sh spring.ReportJob}.
 */
public class ReportJob {
  private final JdbcTemplate jdbc;
  private final ReportLines lines;
  private final Duration wait;

  /**
   * @param wait how long to wait in the queue, shorter than the lease of a minute
   */
  public ReportJob(JdbcTemplate jdbc, Duration wait) {
    this.jdbc = jdbc;
    this.wait = wait;
    this.lines = new ReportLines(jdbc);
  }

  /**
   * Writes the day's lines anew.
   *
   * @param amounts by account
   * @return the ids of the lines by account, or empty if another process held the lock for all of
   *     the wait
   */
  public Optional<Map<String, Long>> write(LocalDate day, Map<String, BigDecimal> amounts) {
    long lease =
        requireNonNull(
            jdbc.queryForObject(
                "SELECT create_lease(INTERVAL '1' MINUTE, ?)", Long.class, "report of " + day));
    try {
      @Nullable Long token =
          jdbc.queryForObject(
              "SELECT acquire_lock('report', ?, ?)", Long.class, lease, wait.toMillis());
      if (token == null) {
        return Optional.empty();
      }
      lines.removeAll(day, token);
      Map<String, Long> ids = new TreeMap<>();
      amounts.forEach(
          (account, amount) -> {
            ids.put(account, lines.add(day, account, amount, token));
            // as good as a heartbeat, if no step takes longer than the lease
            jdbc.queryForObject("SELECT renew_lease(?)", Long.class, lease);
          });
      return Optional.of(ids);
    } finally {
      jdbc.queryForObject("SELECT revoke_lease(?)", Boolean.class, lease);
    }
  }

  /**
   * @param arguments the JDBC URL
   */
  public static void main(String[] arguments) {
    try (HikariDataSource pool = new HikariDataSource()) {
      pool.setJdbcUrl(arguments[0]);
      JdbcTemplate jdbc = new JdbcTemplate(pool);
      LocalDate day = LocalDate.of(2026, 11, 20);
      new ReportLines(jdbc).createTable();
      Optional<Map<String, Long>> ids =
          new ReportJob(jdbc, Duration.ofSeconds(5))
              .write(day, Map.of("rent", new BigDecimal("900"), "wages", new BigDecimal("4200")));
      System.out.println(ids.isEmpty() ? "somebody else writes it" : "written");
      new ReportLines(jdbc).of(day).forEach(System.out::println);
    }
  }
}
