package dev.tollgate.flyway;

import static java.util.Objects.requireNonNull;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.flywaydb.core.api.logging.Log;
import org.flywaydb.core.api.logging.LogFactory;

/**
 * Sessions of PostgreSQL that belong to runs of Flyway. Advisory locks tell them: the one that
 * Flyway takes for its history, and one of each fenced migration. A paused run keeps both.
 */
final class PostgresRuns {
  private static final Log LOG = LogFactory.getLog(PostgresRuns.class);

  /** "Flyway" in ASCII, as PostgreSQLAdvisoryLockTemplate of Flyway begins its keys. */
  private static final long FLYWAY =
      (0x46L << 40) + (0x6CL << 32) + (0x79L << 24) + (0x77L << 16) + (0x61L << 8) + 0x79L;

  private final long keyOfHistory;
  private final long keyOfMigrations;

  PostgresRuns(String lock, HistoryPlace history) {
    this.keyOfHistory = FLYWAY + history.qualified().hashCode();
    this.keyOfMigrations = digest("tollgate " + requireNonNull(lock, "lock"));
  }

  private static long digest(String text) {
    try {
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      return ByteBuffer.wrap(MessageDigest.getInstance("SHA-256").digest(bytes)).getLong();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  /** Marks the session until its transaction ends, and waits for another one that is marked. */
  void tag(Connection connection) throws SQLException {
    if (!isPostgres(connection)) {
      return;
    }
    try (PreparedStatement tag = connection.prepareStatement("SELECT pg_advisory_xact_lock(?)")) {
      tag.setLong(1, keyOfMigrations);
      tag.execute();
    }
  }

  /** Ends the sessions of all runs but this one, which has no transaction yet. */
  void endAll(Connection connection) throws SQLException {
    if (!isPostgres(connection)) {
      return;
    }
    try (PreparedStatement end =
        connection.prepareStatement(
            "SELECT pid, pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'"
                + " AND granted AND objsubid = 1 AND pid <> pg_backend_pid()"
                + " AND database = (SELECT oid FROM pg_database"
                + " WHERE datname = current_database())"
                + " AND (classid::bigint << 32 | objid::bigint) IN (?, ?)")) {
      end.setLong(1, keyOfHistory);
      end.setLong(2, keyOfMigrations);
      try (ResultSet ended = end.executeQuery()) {
        while (ended.next()) {
          LOG.warn("Session " + ended.getLong(1) + " of an earlier run was ended");
        }
      }
    }
  }

  private static boolean isPostgres(Connection connection) throws SQLException {
    return connection.getMetaData().getDatabaseProductName().equals("PostgreSQL");
  }
}
