package dev.tollgate.samples.benchmark.system;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Tollgate through its JDBC driver, a connection and its own lease for each client: SELECT
 * acquire_lock(?), try_acquire_lock(?), release_lock(?).
 */
public final class Tollgate implements LockSystem {
  private final String url;

  /** Idle connections, kept from the garbage collector. */
  private final List<LockClient> kept = new CopyOnWriteArrayList<>();

  Tollgate(String url) {
    this.url = url;
  }

  @Override
  public String name() {
    return Kind.TOLLGATE.word();
  }

  @Override
  public Set<Ability> abilities() {
    return EnumSet.allOf(Ability.class);
  }

  @Override
  public LockClient connect(Duration lease) throws SQLException {
    return new Client(
        DriverManager.getConnection(
            url
                + (url.indexOf('?') < 0 ? "?" : "&")
                + "lockWait=60s&lease="
                + lease.toMillis()
                + "ms"));
  }

  /** A connection's own lease begins with its first lock; the driver keeps it alive. */
  @Override
  public void keepLeases(int count, Duration lease) throws Exception {
    InParallel.run(
        count,
        number -> {
          LockClient client = connect(lease);
          kept.add(client);
          client.acquire("idle-" + number);
          client.release("idle-" + number);
        });
  }

  @Override
  public void shutDown() throws Exception {
    for (LockClient client : kept) {
      client.disconnect();
    }
  }

  private static final class Client implements LockClient {
    private final Connection connection;
    private final PreparedStatement acquire;
    private final PreparedStatement tryAcquire;
    private final PreparedStatement release;
    private final PreparedStatement holds;
    private final Map<String, Long> tokens = new HashMap<>();

    Client(Connection connection) throws SQLException {
      this.connection = connection;
      this.acquire = connection.prepareStatement("SELECT acquire_lock(?)");
      this.tryAcquire = connection.prepareStatement("SELECT try_acquire_lock(?)");
      this.release = connection.prepareStatement("SELECT release_lock(?)");
      this.holds = connection.prepareStatement("SELECT holds_lock(?, ?)");
    }

    @Override
    public void acquire(String lock) throws SQLException {
      if (!granted(acquire, lock)) {
        throw new SQLException("lock " + lock + " was not granted");
      }
    }

    @Override
    public boolean tryAcquire(String lock) throws SQLException {
      return granted(tryAcquire, lock);
    }

    private boolean granted(PreparedStatement statement, String lock) throws SQLException {
      statement.setString(1, lock);
      try (ResultSet row = statement.executeQuery()) {
        row.next();
        long token = row.getLong(1);
        if (row.wasNull()) {
          return false;
        }
        tokens.put(lock, token);
        return true;
      }
    }

    @Override
    public void release(String lock) throws SQLException {
      tokens.remove(lock);
      release.setString(1, lock);
      if (!isTrue(release)) {
        throw new SQLException("lock " + lock + " was lost");
      }
    }

    @Override
    public boolean holds(String lock) throws SQLException {
      holds.setString(1, lock);
      holds.setLong(2, Objects.requireNonNull(tokens.get(lock), "never taken"));
      return isTrue(holds);
    }

    private static boolean isTrue(PreparedStatement statement) throws SQLException {
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
