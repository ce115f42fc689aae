package dev.tollgate.contract;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.tollgate.lock.LockClient;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;

/** The lock API on a pool of the application. */
class PooledLockTest extends LockContract {
  private final String url = "jdbc:tollgate:mem:" + UUID.randomUUID();
  private final List<HikariDataSource> pools = new CopyOnWriteArrayList<>();

  @Override
  String url() {
    return url;
  }

  @Override
  LockClient client() {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(url);
    config.setMaximumPoolSize(4);
    config.setMinimumIdle(0);
    HikariDataSource pool = new HikariDataSource(config);
    pools.add(pool);
    return LockClient.of(pool);
  }

  @Override
  void clientsAreClosed() {
    pools.forEach(HikariDataSource::close);
    pools.clear();
  }
}
