package dev.tollgate.contract;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.AfterEach;

/** The contract through HikariCP, where a connection that is closed goes back to the pool. */
class PooledContractTest extends InMemoryContractTest {
  private final Map<String, HikariDataSource> pools = new ConcurrentHashMap<>();

  @AfterEach
  void closePools() {
    pools.values().forEach(HikariDataSource::close);
  }

  @Override
  Connection connect(String properties) throws SQLException {
    return pools.computeIfAbsent(properties, this::pool).getConnection();
  }

  /** A pool only takes back what is closed. */
  @Override
  void end(Connection connection) {
    pools.values().forEach(pool -> pool.evictConnection(connection));
  }

  private HikariDataSource pool(String properties) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url(properties));
    config.setMaximumPoolSize(4);
    config.setMinimumIdle(0);
    return new HikariDataSource(config);
  }
}
