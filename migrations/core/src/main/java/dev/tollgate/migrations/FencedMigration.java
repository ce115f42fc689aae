package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/**
 * A lock of Tollgate for a program that changes a database, Tollgate itself or any other. While one
 * program holds the lock, no other one gets it, and a program that has lost the lock cannot commit.
 *
 * <p>On another database, each transaction first raises the row of the lock in table tollgate_fence
 * ({@link FenceRow}), so that a transaction of a former holder fails or is waited for. On Tollgate,
 * the session is fenced ({@link FencedSession}).
 *
 * <p>What is not in a transaction can only be checked before it begins: a statement given to {@link
 * #outsideTransaction}, and a definition on a database that commits at each definition.
 *
 * <p>Not thread-safe.
 */
public final class FencedMigration implements AutoCloseable {
  private final MigrationLock lock;

  private FencedMigration(MigrationLock lock) {
    this.lock = requireNonNull(lock, "lock");
  }

  /** What is done in a transaction. */
  @FunctionalInterface
  public interface Work<R> {
    /**
     * @param connection the caller's; it cannot end the transaction
     */
    R in(Connection connection) throws SQLException;
  }

  /**
   * Waits in line for the lock.
   *
   * @param tollgate the cluster that keeps the lock
   * @param lease how long the lock outlives this process if it dies
   * @param wait how long to wait for another program; at most an hour
   * @throws MigrationException with LOCK_BUSY if another program had the lock for as long
   */
  public static FencedMigration acquire(
      Database tollgate, String lockName, Duration lease, Duration wait) throws MigrationException {
    return new FencedMigration(MigrationLock.acquire(tollgate, lockName, lease, wait));
  }

  /** Under which the lock is held; a later holder has a higher one. */
  public long token() {
    return lock.token();
  }

  /**
   * Runs work in a transaction of its own, which commits only if the lock is still held, and is
   * rolled back if the work fails. On another database the first call makes table tollgate_fence in
   * the schema of the connection.
   *
   * @param connection with autocommit, which it has again afterwards
   * @throws MigrationException with LOCK_LOST if the lock is lost, with UNREACHABLE if the cluster
   *     cannot confirm the lock; the transaction is then rolled back
   * @throws SQLException what failed, while the lock is held; if the connection was lost in the
   *     commit, it is unknown whether the transaction has taken effect
   */
  public <R> R inTransaction(Connection connection, Work<R> work)
      throws SQLException, MigrationException {
    Target target = open(connection);
    try {
      target.begin();
      R result = work.in(TransactionConnection.of(connection));
      target.commit();
      target.release();
      return result;
    } catch (SQLException | MigrationException | RuntimeException | Error e) {
      rollBack(target, e);
      requireLock(e);
      throw e;
    }
  }

  /**
   * Runs a statement that the database does not run in a transaction, right after a check that the
   * lock is held and that no later holder has written. On another database than Tollgate, nothing
   * stops the statement if the lock is lost afterwards.
   *
   * @param connection with autocommit
   */
  public void outsideTransaction(Connection connection, String sql)
      throws SQLException, MigrationException {
    Target target = open(connection);
    try {
      target.execute(sql);
      target.release();
    } catch (SQLException e) {
      rollBack(target, e);
      requireLock(e);
      throw e;
    }
  }

  private Target open(Connection connection) throws SQLException, MigrationException {
    if (!connection.getAutoCommit()) {
      throw new MigrationException(
          MigrationException.Reason.INPUT,
          "a transaction may be open on the connection, in which the lock protects nothing: end it,"
              + " and call setAutoCommit(true)");
    }
    lock.assertHeld();
    Target target = Target.of(connection, lock);
    target.prepare();
    return target;
  }

  private static void rollBack(Target target, Throwable failure) {
    try {
      target.rollback();
      target.release();
    } catch (SQLException e) {
      failure.addSuppressed(e);
    }
  }

  /** A failure after the lock was lost is one of the lost lock. */
  private void requireLock(Throwable failure) throws MigrationException {
    if (failure instanceof SQLException) {
      try {
        lock.assertHeld();
      } catch (MigrationException lost) {
        lost.addSuppressed(failure);
        throw lost;
      }
    }
  }

  /** Releases the lock, unless it is lost. Never fails: then the lease expires by itself. */
  @Override
  public void close() {
    lock.close();
  }
}
