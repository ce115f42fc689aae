package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

import java.lang.System.Logger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * Tollgate itself, which keeps the lock too. Its session is fenced by the lock, so every write is
 * checked where it is applied, and so is every commit. This class has nothing to check.
 */
final class TollgateTarget implements Target {
  private static final Logger LOG = System.getLogger("dev.tollgate.migrations");

  /** The least that Tollgate lets a session outlive its client. */
  private static final Duration LEAST_SESSION_TIMEOUT = Duration.ofSeconds(1);

  /** After the lease of a killed run its session may live on for as long, and an election. */
  private static final Duration BEYOND_THE_LEASE = Duration.ofSeconds(15);

  /** The one part of a definition that rows change: how far a sequence has come. */
  private static final Pattern SEQUENCE_VALUE = Pattern.compile("(?i) (START|RESTART) WITH -?\\d+");

  private static final int DEFINITION_READS = 5;
  private static final String CONFLICT = "40001";

  private final Connection connection;
  private final History history;
  private final MigrationLock lock;

  private TollgateTarget(Connection connection, History history, MigrationLock lock) {
    this.connection = requireNonNull(connection, "connection");
    this.history = requireNonNull(history, "history");
    this.lock = requireNonNull(lock, "lock");
  }

  /**
   * The properties of a connection for scripts. Its session ends about when the lease does, so that
   * a killed run leaves no open transaction behind for long, and statements wait for longer than
   * that.
   */
  static Map<String, String> properties(Duration lease) {
    Duration session = lease.compareTo(LEAST_SESSION_TIMEOUT) < 0 ? LEAST_SESSION_TIMEOUT : lease;
    Duration wait = lease.multipliedBy(2).plus(BEYOND_THE_LEASE);
    return Map.of(
        "sessionTimeout", session.toMillis() + "ms", "lockTimeout", wait.toMillis() + "ms");
  }

  /** Fences the session of a connection; the target closes the connection. */
  static TollgateTarget fence(Connection connection, History history, MigrationLock lock)
      throws SQLException {
    try (PreparedStatement fence = connection.prepareStatement("SET FENCED BY LOCK ? TOKEN ?")) {
      fence.setString(1, lock.name());
      fence.setLong(2, lock.token());
      fence.execute();
    }
    return new TollgateTarget(connection, history, lock);
  }

  @Override
  public History history() {
    return history;
  }

  @Override
  public void prepare() throws SQLException, MigrationException {
    if (!history.exists()) {
      history.create(" FENCED BY LOCK '" + lock.name().replace("'", "''") + "'");
    }
  }

  @Override
  public boolean definitionsCommit() {
    return true;
  }

  /** Reads on the connection of the lock, because SCRIPT does not run in a transaction. */
  @Override
  public String definitions() throws SQLException {
    for (int read = 1; ; read++) {
      try {
        return digest(script());
      } catch (SQLException e) {
        // a definition of another client had waited for the script
        if (!CONFLICT.equals(e.getSQLState()) || read == DEFINITION_READS) {
          throw e;
        }
      }
    }
  }

  /** In an order that does not depend on when objects were made. */
  private Set<String> script() throws SQLException {
    Set<String> lines = new TreeSet<>();
    try (Statement statement = lock.reader();
        ResultSet row = statement.executeQuery("SCRIPT NODATA")) {
      while (row.next()) {
        String line = row.getString(1);
        if (!line.startsWith("--")) {
          lines.add(SEQUENCE_VALUE.matcher(line).replaceAll(""));
        }
      }
    }
    return lines;
  }

  /** Of lines in order. */
  private static String digest(Set<String> lines) {
    try {
      byte[] text = String.join("\n", lines).getBytes(StandardCharsets.UTF_8);
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(text));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  @Override
  public void begin() throws SQLException {
    connection.setAutoCommit(false);
  }

  @Override
  public void commit() throws SQLException {
    connection.commit();
  }

  @Override
  public void rollback() throws SQLException {
    connection.rollback();
  }

  @Override
  public void leaveTransaction() {}

  @Override
  public void afterDefinition() {}

  @Override
  public Connection connection() {
    return connection;
  }

  @Override
  public void close() {
    try {
      connection.close();
    } catch (SQLException e) {
      LOG.log(Logger.Level.DEBUG, "the session of the run ends by itself", e);
    }
  }
}
