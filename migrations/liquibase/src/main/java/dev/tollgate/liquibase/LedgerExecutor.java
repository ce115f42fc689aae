package dev.tollgate.liquibase;

import dev.tollgate.migrations.LedgerUnit;
import dev.tollgate.migrations.MigrationException;
import dev.tollgate.migrations.StatementLedger;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import liquibase.Scope;
import liquibase.change.Change;
import liquibase.changelog.ChangeSet;
import liquibase.changelog.DatabaseChangeLog;
import liquibase.database.Database;
import liquibase.exception.DatabaseException;
import liquibase.sql.Sql;
import liquibase.sql.UnparsedSql;
import liquibase.sql.visitor.SqlVisitor;
import liquibase.sqlgenerator.SqlGeneratorFactory;
import liquibase.statement.ExecutablePreparedStatement;
import liquibase.statement.SqlStatement;
import liquibase.statement.core.MarkChangeSetRanStatement;
import liquibase.statement.core.RawParameterizedSqlStatement;
import liquibase.statement.core.RemoveChangeSetRanStatusStatement;
import liquibase.statement.core.RuntimeStatement;
import org.jspecify.annotations.Nullable;

/**
 * Executes change sets on Tollgate. The ledger counts their statements, because Liquibase writes
 * its own row only at the end of a change set, and a definition commits what was before it. So a
 * change set whose runner has died goes on behind the statements that are done.
 *
 * <p>Liquibase tells the change set by {@link #modifyChangeSet}, before its preconditions, and its
 * end by the statement that writes or removes its row.
 */
public final class LedgerExecutor extends LockedExecutor {
  private @Nullable ChangeSet changeSet;

  /** The change set, or its rollback, once it has a statement. */
  private @Nullable LedgerUnit unit;

  @Override
  public boolean supports(Database candidate) {
    return candidate instanceof TollgateDatabase && TollgateLockService.isLocked(candidate);
  }

  /** A change set begins. Its preconditions held when an earlier run began it. */
  @Override
  public void modifyChangeSet(ChangeSet next) {
    super.modifyChangeSet(next);
    changeSet = next;
    unit = null;
    ledger()
        .ifPresent(
            ledger -> {
              if (isUnderWay(ledger, next)) {
                log("goes on with " + next.toString(false) + " where an earlier run has ended");
                next.setPreconditions(null);
              }
            });
  }

  private static boolean isUnderWay(StatementLedger ledger, ChangeSet next) {
    try {
      return ledger.begin(updateOf(next)).isUnderWay();
    } catch (SQLException | MigrationException e) {
      throw new IllegalStateException(
          next.toString(false) + ": the ledger of statements cannot be read: " + e.getMessage(), e);
    }
  }

  private Optional<StatementLedger> ledger() {
    return HeldLock.of(database).flatMap(held -> held.fence().ledger());
  }

  /** The path as Liquibase compares it, however the change log was named. */
  private static String updateOf(ChangeSet changeSet) {
    return DatabaseChangeLog.normalizePath(changeSet.getFilePath())
        + "::"
        + changeSet.getId()
        + "::"
        + changeSet.getAuthor();
  }

  private static String rollbackOf(ChangeSet changeSet) {
    return "rollback of " + updateOf(changeSet);
  }

  @Override
  public void execute(Change change, List<SqlVisitor> visitors) throws DatabaseException {
    SqlStatement[] statements = change.generateStatements(database);
    if (statements != null) {
      run(List.of(statements), visitors, /* rollback= */ false);
    }
  }

  /** Executes what takes the change set back. */
  void rollBack(List<SqlStatement> statements, List<SqlVisitor> visitors) throws DatabaseException {
    run(statements, visitors, /* rollback= */ true);
  }

  private void run(List<SqlStatement> statements, List<SqlVisitor> visitors, boolean rollback)
      throws DatabaseException {
    LedgerUnit counted = begin(rollback);
    for (SqlStatement statement : statements) {
      if (statement.skipOnUnsupported()
          && !SqlGeneratorFactory.getInstance().supports(statement, database)) {
        continue;
      }
      if (counted == null) {
        execute(statement, visitors);
      } else {
        runCounted(counted, statement, visitors);
      }
    }
  }

  private @Nullable LedgerUnit begin(boolean rollback) throws DatabaseException {
    Optional<StatementLedger> ledger = ledger();
    if (unit == null && changeSet != null && ledger.isPresent()) {
      try {
        unit = ledger.get().begin(rollback ? rollbackOf(changeSet) : updateOf(changeSet));
      } catch (SQLException | MigrationException e) {
        throw refusal(e);
      }
    }
    return unit;
  }

  private void runCounted(LedgerUnit counted, SqlStatement statement, List<SqlVisitor> visitors)
      throws DatabaseException {
    if (statement instanceof ExecutablePreparedStatement
        || statement instanceof RawParameterizedSqlStatement) {
      // these change rows; their values are not in a text
      String text = "INSERT or UPDATE by " + statement.getClass().getSimpleName();
      runOne(counted, text, statement, visitors, statement.continueOnError());
      return;
    }
    for (String sql : applyVisitors(statement, visitors)) {
      if (sql != null && !sql.isBlank()) {
        runOne(counted, sql, asItIs(sql), List.of(), statement.continueOnError());
      }
    }
  }

  /** A statement whose visitors have been applied. */
  private static SqlStatement asItIs(String sql) {
    return new RuntimeStatement() {
      @Override
      public Sql[] generate(Database ignored) {
        return new Sql[] {new UnparsedSql(sql)};
      }
    };
  }

  private void runOne(
      LedgerUnit counted,
      String text,
      SqlStatement statement,
      List<SqlVisitor> visitors,
      boolean mayFail)
      throws DatabaseException {
    try {
      if (counted.before(text)) {
        try {
          executeLocked(statement, visitors);
        } catch (DatabaseException e) {
          if (!mayFail) {
            counted.failed(asSqlException(e));
            throw refusal(e);
          }
          log("failed and may fail: " + e.getMessage());
        }
        counted.after();
      } else {
        log("done by an earlier run: " + text);
      }
    } catch (SQLException | MigrationException e) {
      throw refusal(e);
    }
  }

  private static SQLException asSqlException(DatabaseException failure) {
    Throwable cause = failure;
    while (cause != null && !(cause instanceof SQLException)) {
      cause = cause.getCause();
    }
    return Objects.requireNonNullElseGet(
        (@Nullable SQLException) cause, () -> new SQLException(failure));
  }

  /** The message says that the lock is lost, if that is the reason. */
  private DatabaseException refusal(Exception why) {
    try {
      HeldLock.of(database).orElseThrow().lock().assertHeld();
    } catch (MigrationException lost) {
      DatabaseException refused =
          new DatabaseException(
              "refused: " + lost.getMessage() + " (" + why.getMessage() + ")", why);
      refused.addSuppressed(lost);
      return refused;
    }
    return why instanceof DatabaseException same
        ? same
        : new DatabaseException(why.getMessage(), why);
  }

  /** The row of a change set commits together with the end of its count. */
  @Override
  void executeLocked(SqlStatement statement, List<SqlVisitor> visitors) throws DatabaseException {
    if (statement instanceof MarkChangeSetRanStatement mark && hasRun(mark)) {
      finish(mark.getChangeSet());
    } else if (statement instanceof RemoveChangeSetRanStatusStatement remove) {
      finish(remove.getChangeSet());
    }
    super.executeLocked(statement, visitors);
  }

  /** Liquibase writes no row for a change set that failed and may fail. */
  private static boolean hasRun(MarkChangeSetRanStatement mark) {
    return mark.getExecType() != ChangeSet.ExecType.FAILED
        && mark.getExecType() != ChangeSet.ExecType.SKIPPED;
  }

  private void finish(ChangeSet finished) throws DatabaseException {
    Optional<StatementLedger> ledger = ledger();
    if (ledger.isEmpty()) {
      return;
    }
    try {
      if (unit != null && finished.equals(changeSet)) {
        unit.finish();
      }
      ledger.get().finished(updateOf(finished));
      ledger.get().finished(rollbackOf(finished));
    } catch (SQLException | MigrationException e) {
      throw refusal(e);
    }
    changeSet = null;
    unit = null;
  }

  private static void log(String message) {
    Scope.getCurrentScope().getLog(LedgerExecutor.class).info(message);
  }
}
