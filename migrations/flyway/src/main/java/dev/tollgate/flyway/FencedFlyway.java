package dev.tollgate.flyway;

import static java.util.Objects.requireNonNull;

import dev.tollgate.migrations.Database;
import dev.tollgate.migrations.MigrationLock;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.stream.Stream;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.callback.Callback;
import org.flywaydb.core.api.configuration.Configuration;
import org.flywaydb.core.api.output.MigrateResult;
import org.jspecify.annotations.Nullable;

/**
 * Flyway on another database, such as PostgreSQL, under a lock of Tollgate. A run that was paused
 * for longer than its lease cannot commit another transaction once a later run has begun.
 *
 * <p>Immutable; each {@code with} method returns a changed copy. Several processes may migrate at
 * the same time: one does, and the others wait for flyway.lockRetryCount seconds.
 */
public final class FencedFlyway {
  private final Database tollgate;
  private final @Nullable String lockName;
  private final boolean endsFormerRuns;

  private FencedFlyway(Database tollgate, @Nullable String lockName, boolean endsFormerRuns) {
    this.tollgate = requireNonNull(tollgate, "tollgate");
    this.lockName = lockName;
    this.endsFormerRuns = endsFormerRuns;
  }

  /** Migrations under a lock that the Tollgate behind this URL keeps. */
  public static FencedFlyway under(String tollgateUrl) {
    return under(Database.at(tollgateUrl, Map.of(), FencedFlyway.class.getClassLoader()));
  }

  /** Migrations under a lock that this Tollgate keeps. */
  public static FencedFlyway under(Database tollgate) {
    if (!tollgate.isTollgate()) {
      throw new FlywayException(
          "the lock is kept by Tollgate, so "
              + tollgate.shortUrl()
              + " cannot keep it: name a URL that begins with "
              + Database.TOLLGATE);
    }
    return new FencedFlyway(tollgate, null, false);
  }

  /**
   * Another lock than flyway:schema.table. Databases whose schemas and tables have the same names
   * share that lock, so their runs wait for each other.
   */
  public FencedFlyway withLockName(String name) {
    return new FencedFlyway(tollgate, requireNonNull(name, "name"), endsFormerRuns);
  }

  /**
   * On PostgreSQL, ends the sessions of runs that hold Flyway's own lock or have a migration open,
   * as soon as this run has the lock of Tollgate. Without it, a run waits for them. A run that does
   * not use Tollgate is ended too.
   */
  public FencedFlyway withEndOfFormerRuns() {
    return new FencedFlyway(tollgate, lockName, true);
  }

  /** Does what {@link Flyway#migrate} does, under the lock. */
  public MigrateResult migrate(Flyway flyway) {
    Configuration configuration = flyway.getConfiguration();
    HistoryPlace history = HistoryPlace.of(configuration);
    String name = lockName == null ? "flyway:" + history.path() : lockName;
    try (MigrationLock lock = LockSettings.of(configuration).acquire(tollgate, name)) {
      if (endsFormerRuns) {
        endFormerRuns(configuration, new PostgresRuns(name, history));
      }
      FenceCallback fence = new FenceCallback(lock, history, new PostgresRuns(name, history));
      Callback[] callbacks =
          Stream.concat(Stream.of(configuration.getCallbacks()), Stream.of(fence))
              .toArray(Callback[]::new);
      Flyway fenced =
          Flyway.configure(configuration.getClassLoader())
              .configuration(configuration)
              .callbacks(callbacks)
              .load();
      try {
        return fenced.migrate();
      } catch (FlywayException e) {
        FlywayException explained = LockSettings.explained(e, lock);
        forgetMarks(configuration, new AppliedMarks(name, history), explained);
        throw explained;
      }
    }
  }

  /** A run that has failed has written its history, and its marks stand for nothing. */
  private static void forgetMarks(
      Configuration configuration, AppliedMarks marks, FlywayException failure) {
    try (Connection connection = configuration.getDataSource().getConnection()) {
      marks.forget(connection);
    } catch (SQLException e) {
      failure.addSuppressed(e);
    }
  }

  private static void endFormerRuns(Configuration configuration, PostgresRuns runs) {
    try (Connection connection = configuration.getDataSource().getConnection()) {
      runs.endAll(connection);
    } catch (SQLException e) {
      throw new FlywayException("former runs were not ended: " + e.getMessage(), e);
    }
  }
}
