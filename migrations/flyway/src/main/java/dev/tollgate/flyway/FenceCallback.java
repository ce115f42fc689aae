package dev.tollgate.flyway;

import static java.util.Objects.requireNonNull;

import dev.tollgate.migrations.FenceRow;
import dev.tollgate.migrations.MigrationException;
import dev.tollgate.migrations.MigrationLock;
import java.sql.Connection;
import java.sql.SQLException;
import org.flywaydb.core.api.CoreErrorCode;
import org.flywaydb.core.api.ErrorDetails;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.MigrationInfo;
import org.flywaydb.core.api.callback.Callback;
import org.flywaydb.core.api.callback.Context;
import org.flywaydb.core.api.callback.Event;
import org.flywaydb.core.api.exception.FlywayBlockStatementExecutionException;
import org.jspecify.annotations.Nullable;

/**
 * What a run under a lock of Tollgate adds to each migration of another database: its transaction
 * raises the row of the fence first, and ends with a mark that says that it is applied. Flyway
 * writes its history on another connection; if the run dies in between, the mark tells the next.
 */
final class FenceCallback implements Callback {
  private final MigrationLock lock;
  private final AppliedMarks marks;
  private final PostgresRuns postgres;
  private @Nullable FenceRow fence;
  private boolean definitionsCommit;
  private boolean isApplied;

  FenceCallback(MigrationLock lock, HistoryPlace history, PostgresRuns postgres) {
    this.lock = requireNonNull(lock, "lock");
    this.marks = new AppliedMarks(lock.name(), history);
    this.postgres = requireNonNull(postgres, "postgres");
  }

  @Override
  public boolean supports(Event event, Context context) {
    return switch (event) {
      case BEFORE_MIGRATE,
          BEFORE_EACH_MIGRATE,
          BEFORE_EACH_MIGRATE_STATEMENT,
          AFTER_EACH_MIGRATE,
          AFTER_MIGRATE ->
          true;
      default -> false;
    };
  }

  /** Tables are made outside transactions; the others run in that of the migration, if any. */
  @Override
  public boolean canHandleInTransaction(Event event, Context context) {
    return event != Event.BEFORE_MIGRATE && event != Event.AFTER_MIGRATE;
  }

  @Override
  public String getCallbackName() {
    return "tollgate-fence";
  }

  @Override
  public void handle(Event event, Context context) {
    Connection connection = context.getConnection();
    try {
      switch (event) {
        case BEFORE_MIGRATE -> prepare(connection);
        case BEFORE_EACH_MIGRATE -> begin(connection, context.getMigrationInfo());
        case BEFORE_EACH_MIGRATE_STATEMENT -> check(connection, context.getMigrationInfo());
        case AFTER_EACH_MIGRATE -> end(connection, context.getMigrationInfo());
        case AFTER_MIGRATE -> marks.forgetAll(connection);
        default -> throw new IllegalArgumentException("event: " + event);
      }
    } catch (SQLException e) {
      throw new FlywayException("the fence was not raised: " + e.getMessage(), e);
    } catch (MigrationException e) {
      rollBack(connection, e);
      throw new FlywayException(String.valueOf(e.getMessage()), e);
    }
  }

  /** Where definitions commit, Flyway commits what a failed migration did before. */
  private static void rollBack(Connection connection, MigrationException why) {
    try {
      if (!connection.getAutoCommit()) {
        connection.rollback();
      }
    } catch (SQLException e) {
      why.addSuppressed(e);
    }
  }

  private void prepare(Connection connection) throws SQLException, MigrationException {
    FenceRow row = FenceRow.of(connection, lock);
    row.prepare(connection);
    fence = row;
    marks.prepare(connection);
    definitionsCommit = connection.getMetaData().dataDefinitionCausesTransactionCommit();
  }

  private void begin(Connection connection, MigrationInfo migration)
      throws SQLException, MigrationException {
    lock.assertHeld();
    if (!connection.getAutoCommit()) {
      postgres.tag(connection);
    }
    raise(connection);
    marks.forget(connection);
    isApplied = marks.has(connection, migration);
    if (isApplied && !migration.getType().name().equals("SQL")) {
      throw new FlywayException(marks.advice(migration));
    }
  }

  private void raise(Connection connection) throws SQLException, MigrationException {
    requireNonNull(fence, "BEFORE_MIGRATE comes first").raise(connection);
  }

  /** In a transaction the row of the fence is locked already, unless definitions commit. */
  private void check(Connection connection, MigrationInfo migration)
      throws SQLException, MigrationException {
    if (isApplied) {
      throw new FlywayBlockStatementExecutionException(
          new ErrorDetails(CoreErrorCode.ERROR, migration.getScript()),
          "an earlier run has applied it");
    }
    if (connection.getAutoCommit() || definitionsCommit) {
      lock.assertHeld();
      raise(connection);
    }
  }

  /** A definition may have ended the transaction that kept a later holder waiting. */
  private void end(Connection connection, MigrationInfo migration)
      throws SQLException, MigrationException {
    if (definitionsCommit) {
      raise(connection);
    }
    marks.set(connection, migration);
    lock.assertHeld();
  }
}
