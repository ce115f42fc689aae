package dev.tollgate.samples.applications;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;

/** The pool that most applications have. */
final class Pool {
  private Pool() {}

  static HikariDataSource of(String url) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setMaximumPoolSize(8);
    return new HikariDataSource(config);
  }
}
