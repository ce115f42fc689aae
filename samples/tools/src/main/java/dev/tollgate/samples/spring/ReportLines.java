package dev.tollgate.samples.spring;

import static java.util.Objects.requireNonNull;

import java.math.BigDecimal;
import java.sql.PreparedStatement;
import java.time.LocalDate;
import java.util.List;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.GeneratedKeyHolder;
import org.springframework.jdbc.support.KeyHolder;

/** The lines of reports: a repository as Spring applications have them, plus a token to write. */
public class ReportLines {
  /** One line, as it is in the store. */
  public record Line(long id, LocalDate day, String account, BigDecimal amount) {}

  private final JdbcTemplate jdbc;

  public ReportLines(JdbcTemplate jdbc) {
    this.jdbc = jdbc;
  }

  public void createTable() {
    jdbc.execute(
        "CREATE TABLE IF NOT EXISTS report_line("
            + "id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
            + " report_day DATE NOT NULL, account VARCHAR(50) NOT NULL,"
            + " amount DECIMAL(12, 2) NOT NULL, UNIQUE(report_day, account))");
  }

  /**
   * @return the id that the store gave the line
   * @throws org.springframework.dao.DataIntegrityViolationException if the token is stale
   */
  public long add(LocalDate day, String account, BigDecimal amount, long token) {
    KeyHolder key = new GeneratedKeyHolder();
    jdbc.update(
        connection -> {
          PreparedStatement insert =
              connection.prepareStatement(
                  "INSERT INTO report_line(report_day, account, amount) VALUES (?, ?, ?)"
                      + " FENCED BY LOCK 'report' TOKEN ?",
                  new String[] {"ID"});
          insert.setObject(1, day);
          insert.setString(2, account);
          insert.setBigDecimal(3, amount);
          insert.setLong(4, token);
          return insert;
        },
        key);
    return requireNonNull(key.getKey(), "the generated key").longValue();
  }

  public int removeAll(LocalDate day, long token) {
    return jdbc.update(
        "DELETE FROM report_line WHERE report_day = ? FENCED BY LOCK 'report' TOKEN ?", day, token);
  }

  public List<Line> of(LocalDate day) {
    return jdbc.query(
        "SELECT id, report_day, account, amount FROM report_line WHERE report_day = ? ORDER BY id",
        (row, number) ->
            new Line(
                row.getLong("ID"),
                row.getObject("REPORT_DAY", LocalDate.class),
                row.getString("ACCOUNT"),
                row.getBigDecimal("AMOUNT")),
        day);
  }
}
