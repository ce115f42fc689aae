package dev.tollgate.liquibase;

import static java.util.Objects.requireNonNull;

import dev.tollgate.migrations.MigrationException;
import dev.tollgate.migrations.MigrationLock;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import liquibase.GlobalConfiguration;
import liquibase.Scope;
import liquibase.changelog.ChangeLogHistoryServiceFactory;
import liquibase.database.Database;
import liquibase.database.OfflineConnection;
import liquibase.exception.DatabaseException;
import liquibase.exception.LockException;
import liquibase.executor.ExecutorService;
import liquibase.executor.LoggingExecutor;
import liquibase.lockservice.DatabaseChangeLogLock;
import liquibase.lockservice.LockService;
import liquibase.logging.Logger;
import liquibase.statement.core.RawParameterizedSqlStatement;
import org.jspecify.annotations.Nullable;

/**
 * Liquibase's lock as a lock of Tollgate: for Tollgate itself, and for any database if {@code
 * tollgate.lock.url} says which Tollgate keeps the lock. There is no table DATABASECHANGELOGLOCK.
 *
 * <p>Not thread-safe, as Liquibase is not. A lock that is held belongs to the {@link Database},
 * because Liquibase replaces its lock services in the middle of a command.
 */
public final class TollgateLockService implements LockService {
  private static final int BEFORE_OTHERS = 50;

  /** The most that MigrationLock waits. */
  private static final long MOST_WAIT_MINUTES = TimeUnit.HOURS.toMinutes(1);

  private @Nullable Database database;
  private @Nullable Long waitMinutes;

  /** True while a script is written that takes the lock when it is run. */
  private boolean isScripted;

  @Override
  public int getPriority() {
    return BEFORE_OTHERS;
  }

  @Override
  public boolean supports(Database candidate) {
    return isLocked(candidate);
  }

  /** True if changes of the database are made under a lock of Tollgate. */
  static boolean isLocked(Database database) {
    return !(database.getConnection() instanceof OfflineConnection)
        && (database instanceof TollgateDatabase
            || LockConfiguration.URL.getCurrentValue() != null);
  }

  @Override
  public void setDatabase(Database database) {
    this.database = requireNonNull(database, "database");
  }

  private Database database() {
    return requireNonNull(database, "setDatabase comes first");
  }

  @Override
  public void setChangeLogLockWaitTime(long minutes) {
    waitMinutes = minutes;
  }

  /** There is nothing to check again: requests wait in line, and the lock comes to them. */
  @Override
  public void setChangeLogLockRecheckTime(long seconds) {}

  @Override
  public boolean hasChangeLogLock() {
    return isScripted || HeldLock.of(database()).isPresent();
  }

  @Override
  public void waitForLock() throws LockException {
    long minutes =
        waitMinutes == null
            ? GlobalConfiguration.CHANGELOGLOCK_WAIT_TIME.getCurrentValue()
            : waitMinutes;
    acquire(Duration.ofMinutes(Math.min(minutes, MOST_WAIT_MINUTES)));
  }

  @Override
  public boolean acquireLock() throws LockException {
    try {
      acquire(Duration.ZERO);
      return true;
    } catch (LockException e) {
      if (e.getCause() instanceof MigrationException busy
          && busy.reason() == MigrationException.Reason.LOCK_BUSY) {
        return false;
      }
      throw e;
    }
  }

  private void acquire(Duration wait) throws LockException {
    if (hasChangeLogLock()) {
      return;
    }
    if (writesScript()) {
      requireNothingUnderWay();
      script("SELECT acquire_lock('%s')");
      isScripted = true;
      return;
    }
    try {
      database().rollback();
      LockCluster cluster = LockCluster.of(database());
      HeldLock held = HeldLock.take(database(), cluster.acquire(wait));
      Scope.getCurrentScope().getSingleton(ChangeLogHistoryServiceFactory.class).resetAll();
      database().setCanCacheLiquibaseTableInfo(true);
      log().info("lock '" + cluster.lock() + "' taken under token " + held.lock().token());
    } catch (SQLException | MigrationException | DatabaseException e) {
      throw new LockException(e.getMessage(), e);
    }
  }

  /** A command such as update-sql writes statements into a file. */
  private boolean writesScript() {
    return Scope.getCurrentScope()
            .getSingleton(ExecutorService.class)
            .getExecutor("jdbc", database())
        instanceof LoggingExecutor;
  }

  /** The script would do again what is done of a change set whose run has ended in the middle. */
  private void requireNothingUnderWay() throws LockException {
    if (!(database() instanceof TollgateDatabase)) {
      return;
    }
    List<String> units;
    try {
      units = TollgateFence.underWay(database());
    } catch (SQLException e) {
      throw new LockException(e);
    }
    if (!units.isEmpty()) {
      throw new LockException(
          "an earlier run has done a part of "
              + String.join(", ", units)
              + ", and a script would do that part again: run the update itself first, which goes"
              + " on behind what is done");
    }
  }

  private void script(String statement) throws LockException {
    if (!(database() instanceof TollgateDatabase)) {
      return;
    }
    try {
      String name = LockCluster.of(database()).lock().replace("'", "''");
      Scope.getCurrentScope()
          .getSingleton(ExecutorService.class)
          .getExecutor("jdbc", database())
          .execute(new RawParameterizedSqlStatement(String.format(statement, name)));
    } catch (SQLException | DatabaseException e) {
      throw new LockException(e);
    }
  }

  @Override
  public void releaseLock() throws LockException {
    if (isScripted) {
      isScripted = false;
      if (writesScript()) {
        script("SELECT release_lock('%s')");
      }
      return;
    }
    HeldLock.of(database())
        .ifPresent(
            held -> {
              held.release();
              MigrationLock lock = held.lock();
              log().info("lock '" + lock.name() + "' released under token " + lock.token());
            });
    database().setCanCacheLiquibaseTableInfo(false);
  }

  @Override
  public DatabaseChangeLogLock[] listLocks() throws LockException {
    try {
      return LockCluster.of(database()).holds();
    } catch (SQLException | MigrationException e) {
      throw new LockException(e);
    }
  }

  @Override
  public void forceReleaseLock() throws LockException {
    try {
      LockCluster cluster = LockCluster.of(database());
      boolean wasHeld = cluster.release();
      log().info("lock '" + cluster.lock() + (wasHeld ? "' taken from its holder" : "' was free"));
    } catch (SQLException | MigrationException e) {
      throw new LockException(e);
    }
  }

  /** Nothing is cached here. */
  @Override
  public void reset() {}

  /** There is no table to make. */
  @Override
  public void init() {}

  /** There is no table to drop. */
  @Override
  public void destroy() {}

  private static Logger log() {
    return Scope.getCurrentScope().getLog(TollgateLockService.class);
  }
}
