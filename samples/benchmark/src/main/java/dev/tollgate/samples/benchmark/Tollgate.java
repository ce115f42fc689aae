package dev.tollgate.samples.benchmark;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Tollgate through its JDBC driver: SELECT acquire_lock(?), SELECT release_lock(?). */
final class Tollgate implements Contender {
  private final String url;

  Tollgate(String url) {
    this.url = url;
  }

  @Override
  public String name() {
    return "tollgate";
  }

  @Override
  public LockClient connect() throws SQLException {
    return new Client(DriverManager.getConnection(url));
  }

  @Override
  public void close() {}

  private static final class Client implements LockClient {
    private final Connection connection;
    private final PreparedStatement acquire;
    private final PreparedStatement release;

    Client(Connection connection) throws SQLException {
      this.connection = connection;
      this.acquire = connection.prepareStatement("SELECT acquire_lock(?)");
      this.release = connection.prepareStatement("SELECT release_lock(?)");
    }

    @Override
    public void acquire(String lock) throws SQLException {
      acquire.setString(1, lock);
      try (ResultSet row = acquire.executeQuery()) {
        row.next();
        row.getLong(1);
        if (row.wasNull()) {
          throw new SQLException("lock " + lock + " is not free");
        }
      }
    }

    @Override
    public void release(String lock) throws SQLException {
      release.setString(1, lock);
      try (ResultSet row = release.executeQuery()) {
        row.next();
        if (!row.getBoolean(1)) {
          throw new SQLException("lock " + lock + " was lost");
        }
      }
    }

    @Override
    public void disconnect() throws SQLException {
      connection.close();
    }
  }
}
