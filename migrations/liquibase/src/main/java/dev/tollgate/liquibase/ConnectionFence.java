package dev.tollgate.liquibase;

import static java.util.Objects.requireNonNull;

import dev.tollgate.migrations.FenceRow;
import dev.tollgate.migrations.MigrationException;
import dev.tollgate.migrations.MigrationLock;
import dev.tollgate.migrations.StatementLedger;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import liquibase.changelog.ChangeSet;
import liquibase.database.Database;
import liquibase.database.DatabaseConnection;
import liquibase.database.jvm.JdbcConnection;

/**
 * Another database knows nothing of the lock. While the lock is held, Liquibase works on a
 * connection that raises the row of the lock in table tollgate_fence before anything else in each
 * transaction, and asks for the lock again before each commit.
 */
final class ConnectionFence implements HeldLock.Fence {
  private final Database database;
  private final DatabaseConnection before;
  private final FencedConnection fenced;
  private final PausedTransactions paused;

  private ConnectionFence(
      Database database,
      DatabaseConnection before,
      FencedConnection fenced,
      PausedTransactions paused) {
    this.database = requireNonNull(database, "database");
    this.before = requireNonNull(before, "before");
    this.fenced = requireNonNull(fenced, "fenced");
    this.paused = requireNonNull(paused, "paused");
  }

  static ConnectionFence putUp(Database database, MigrationLock lock)
      throws SQLException, MigrationException {
    DatabaseConnection before = database.getConnection();
    Connection real = Jdbc.connection(database);
    boolean autoCommit = real.getAutoCommit();
    real.setAutoCommit(true);
    FenceRow row;
    PausedTransactions paused;
    try {
      row = FenceRow.of(real, lock);
      row.prepare(real);
      Duration lease = Duration.ofSeconds(LockConfiguration.LEASE_SECONDS.getCurrentValue());
      paused = PausedTransactions.bound(database, real, lease);
    } finally {
      real.setAutoCommit(autoCommit);
    }
    FencedConnection fenced = new FencedConnection(real, lock, row);
    database.setConnection(new JdbcConnection(fenced.connection()));
    return new ConnectionFence(database, before, fenced, paused);
  }

  @Override
  public void changeSetBegins(ChangeSet changeSet) {
    if (changeSet.isRunInTransaction()) {
      fenced.leaveNextCommit();
    } else {
      fenced.leaveNoCommit();
    }
  }

  @Override
  public void changeSetEnds() {
    fenced.leaveNoCommit();
  }

  /** What Liquibase asks after its rollback may have raised the row again. */
  @Override
  public void takeDown() throws SQLException {
    database.setConnection(before);
    Connection real = Jdbc.connection(database);
    boolean autoCommit = real.getAutoCommit();
    if (!autoCommit) {
      real.rollback();
      real.setAutoCommit(true);
    }
    try {
      paused.unbound();
    } finally {
      real.setAutoCommit(autoCommit);
    }
  }

  /** Empty: a change set and its row are one transaction. */
  @Override
  public Optional<StatementLedger> ledger() {
    return Optional.empty();
  }
}
