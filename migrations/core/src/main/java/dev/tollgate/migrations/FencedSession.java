package dev.tollgate.migrations;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;

/**
 * A session of the Tollgate that keeps the lock. Once it is fenced, Tollgate refuses each of its
 * writes, definitions and commits unless the lock is held under the token at that log position.
 */
public final class FencedSession {
  /** The least that Tollgate lets a session outlive its client. */
  private static final Duration LEAST_SESSION_TIMEOUT = Duration.ofSeconds(1);

  /** After the lease of a killed run its session may live on for as long, and an election. */
  private static final Duration BEYOND_THE_LEASE = Duration.ofSeconds(15);

  private FencedSession() {}

  /**
   * The properties of a connection for scripts. Its session ends about when the lease does, so that
   * a killed run leaves no open transaction behind for long, and statements wait for longer than
   * that.
   */
  public static Map<String, String> properties(Duration lease) {
    Duration session = lease.compareTo(LEAST_SESSION_TIMEOUT) < 0 ? LEAST_SESSION_TIMEOUT : lease;
    Duration wait = lease.multipliedBy(2).plus(BEYOND_THE_LEASE);
    return Map.of(
        "sessionTimeout", session.toMillis() + "ms", "lockTimeout", wait.toMillis() + "ms");
  }

  /** Fences the session of a connection until {@link #release}, or until the session ends. */
  public static void fence(Connection tollgate, MigrationLock lock) throws SQLException {
    try (PreparedStatement fence = tollgate.prepareStatement("SET FENCED BY LOCK ? TOKEN ?")) {
      fence.setString(1, lock.name());
      fence.setLong(2, lock.token());
      fence.execute();
    }
  }

  /** Ends the fence of a session, before its connection goes back to a pool. */
  public static void release(Connection tollgate) throws SQLException {
    try (Statement release = tollgate.createStatement()) {
      release.execute("SET NOT FENCED");
    }
  }
}
