package dev.tollgate.liquibase;

import static java.util.Objects.requireNonNull;

import dev.tollgate.migrations.MigrationException;
import dev.tollgate.migrations.MigrationLock;
import dev.tollgate.migrations.StatementLedger;
import java.sql.SQLException;
import java.util.Optional;
import liquibase.Scope;
import liquibase.changelog.ChangeSet;
import liquibase.database.AbstractJdbcDatabase;
import liquibase.database.Database;
import liquibase.exception.DatabaseException;
import org.jspecify.annotations.Nullable;

/**
 * The lock of a change log while it is held. From its taking to its release, nothing is written on
 * the connection of the database unless the lock is held.
 */
final class HeldLock {
  private static final String ATTRIBUTE = HeldLock.class.getName();

  private final AbstractJdbcDatabase database;
  private final MigrationLock lock;
  private final Fence fence;

  private HeldLock(AbstractJdbcDatabase database, MigrationLock lock, Fence fence) {
    this.database = requireNonNull(database, "database");
    this.lock = requireNonNull(lock, "lock");
    this.fence = requireNonNull(fence, "fence");
  }

  /** What keeps a former holder from writing; put up at once, and taken down in the end. */
  interface Fence {
    void takeDown() throws SQLException;

    /** Counts statements, where definitions commit what was before them. */
    Optional<StatementLedger> ledger();

    /** A change set, or its rollback, begins. */
    default void changeSetBegins(ChangeSet changeSet) {}

    /** The row of the change set is about to be written or removed. */
    default void changeSetEnds() {}
  }

  /** The lock under which a database is changed now. */
  static Optional<HeldLock> of(Database database) {
    return Optional.ofNullable((@Nullable HeldLock) asJdbc(database).get(ATTRIBUTE));
  }

  private static AbstractJdbcDatabase asJdbc(Database database) {
    if (database instanceof AbstractJdbcDatabase jdbc) {
      return jdbc;
    }
    throw new IllegalArgumentException(
        database.getDisplayName() + " is no JDBC database, so a lock of Tollgate cannot fence it");
  }

  /** Puts up the fence of a lock that was just granted; closes the lock if that fails. */
  static HeldLock take(Database database, MigrationLock lock)
      throws SQLException, MigrationException {
    try {
      AbstractJdbcDatabase jdbc = asJdbc(database);
      Fence fence =
          jdbc instanceof TollgateDatabase
              ? TollgateFence.putUp(jdbc, lock)
              : ConnectionFence.putUp(jdbc, lock);
      HeldLock held = new HeldLock(jdbc, lock, fence);
      jdbc.set(ATTRIBUTE, held);
      return held;
    } catch (SQLException | MigrationException | RuntimeException e) {
      lock.close();
      throw e;
    }
  }

  MigrationLock lock() {
    return lock;
  }

  Fence fence() {
    return fence;
  }

  /** Takes the fence down and releases the lock. What is not committed is rolled back. */
  void release() {
    try (lock) {
      try {
        database.rollback();
      } finally {
        fence.takeDown();
      }
    } catch (SQLException | DatabaseException e) {
      Scope.getCurrentScope()
          .getLog(HeldLock.class)
          .warning("the connection of the change log stays fenced: " + e.getMessage());
    } finally {
      database.set(ATTRIBUTE, null);
    }
  }
}
