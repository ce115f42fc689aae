package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

import dev.tollgate.lock.Fence;
import dev.tollgate.lock.StaleTokenException;
import java.sql.Connection;
import java.sql.SQLException;

/** The {@link Fence} of the lock of a run, in a database that knows nothing of the lock. */
public final class FenceRow {
  public static final String TABLE = Fence.TABLE;

  private final Fence fence;
  private final MigrationLock lock;

  private FenceRow(Fence fence, MigrationLock lock) {
    this.fence = requireNonNull(fence, "fence");
    this.lock = requireNonNull(lock, "lock");
  }

  /** The row of the lock in the schema that the connection has now. */
  public static FenceRow of(Connection connection, MigrationLock lock) throws SQLException {
    return new FenceRow(Fence.of(connection, lock.name(), lock.token()), lock);
  }

  /**
   * Makes the table and the row unless they are there, and raises the row.
   *
   * @param connection without an open transaction
   * @throws MigrationException with LOCK_LOST if a later holder has written
   */
  public void prepare(Connection connection) throws SQLException, MigrationException {
    lock.assertHeld();
    write(() -> fence.create(connection));
  }

  /**
   * As {@link Fence#raise}.
   *
   * @throws MigrationException with LOCK_LOST if a later holder has written
   */
  public void raise(Connection connection) throws SQLException, MigrationException {
    write(() -> fence.raise(connection));
  }

  private interface Write {
    void run() throws SQLException;
  }

  private static void write(Write write) throws SQLException, MigrationException {
    try {
      write.run();
    } catch (StaleTokenException e) {
      throw new MigrationException(
          MigrationException.Reason.LOCK_LOST,
          e.getMessage() + ", and run again to see what is left to do",
          e);
    }
  }
}
