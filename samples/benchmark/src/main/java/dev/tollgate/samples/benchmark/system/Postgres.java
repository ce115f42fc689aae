package dev.tollgate.samples.benchmark.system;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

/**
 * PostgreSQL's session-level advisory locks, a connection for each client. One server, nothing
 * replicated, nothing on disk, no lease: the lock ends with the connection.
 */
public final class Postgres implements LockSystem {
  private final String url;

  /**
   * @param url jdbc:postgresql://...
   */
  Postgres(String url) {
    this.url = url;
  }

  @Override
  public String name() {
    return Kind.POSTGRES.word();
  }

  @Override
  public Set<Ability> abilities() {
    return EnumSet.of(Ability.WAIT, Ability.TRY);
  }

  @Override
  public LockClient connect(Duration lease) throws SQLException {
    return new AdvisoryLockClient(DriverManager.getConnection(url));
  }

  @Override
  public void shutDown() {}

  private static final class AdvisoryLockClient implements LockClient {
    private final Connection connection;
    private final PreparedStatement acquire;
    private final PreparedStatement tryAcquire;
    private final PreparedStatement release;

    AdvisoryLockClient(Connection connection) throws SQLException {
      this.connection = connection;
      this.acquire = connection.prepareStatement("SELECT pg_advisory_lock(hashtextextended(?, 0))");
      this.tryAcquire =
          connection.prepareStatement("SELECT pg_try_advisory_lock(hashtextextended(?, 0))");
      this.release =
          connection.prepareStatement("SELECT pg_advisory_unlock(hashtextextended(?, 0))");
    }

    @Override
    public void acquire(String lock) throws SQLException {
      acquire.setString(1, lock);
      acquire.executeQuery().close();
    }

    @Override
    public boolean tryAcquire(String lock) throws SQLException {
      return isTrue(tryAcquire, lock);
    }

    @Override
    public void release(String lock) throws SQLException {
      if (!isTrue(release, lock)) {
        throw new SQLException("lock " + lock + " was lost");
      }
    }

    private static boolean isTrue(PreparedStatement statement, String lock) throws SQLException {
      statement.setString(1, lock);
      try (ResultSet row = statement.executeQuery()) {
        row.next();
        return row.getBoolean(1);
      }
    }

    @Override
    public void disconnect() throws SQLException {
      connection.close();
    }
  }
}
