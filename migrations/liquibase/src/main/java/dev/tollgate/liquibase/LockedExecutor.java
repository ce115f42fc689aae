package dev.tollgate.liquibase;

import dev.tollgate.migrations.Dialect;
import java.sql.SQLException;
import java.util.List;
import java.util.regex.Pattern;
import liquibase.changelog.ChangeSet;
import liquibase.database.Database;
import liquibase.exception.DatabaseException;
import liquibase.exception.LockException;
import liquibase.executor.jvm.JdbcExecutor;
import liquibase.lockservice.LockService;
import liquibase.lockservice.LockServiceFactory;
import liquibase.snapshot.SnapshotGeneratorFactory;
import liquibase.sql.visitor.SqlVisitor;
import liquibase.statement.SqlStatement;
import liquibase.statement.core.CreateDatabaseChangeLogTableStatement;
import liquibase.statement.core.MarkChangeSetRanStatement;
import liquibase.statement.core.RawParameterizedSqlStatement;
import liquibase.statement.core.RemoveChangeSetRanStatusStatement;

/**
 * Executes what changes another database under the lock alone. Liquibase makes its table
 * DATABASECHANGELOG before it takes the lock.
 */
public class LockedExecutor extends JdbcExecutor {
  private static final int BEFORE_OTHERS = 50;

  /** Of Oracle. */
  private static final Pattern SESSION =
      Pattern.compile("\\s*ALTER\\s+SESSION\\s", Pattern.CASE_INSENSITIVE);

  @Override
  public int getPriority() {
    return BEFORE_OTHERS;
  }

  @Override
  public boolean supports(Database candidate) {
    return TollgateLockService.isLocked(candidate) && !(candidate instanceof TollgateDatabase);
  }

  @Override
  public void execute(SqlStatement statement, List<SqlVisitor> visitors) throws DatabaseException {
    if (setsSession(statement)) {
      executeLocked(statement, visitors);
      return;
    }
    underLock(
        () -> {
          if (!isMadeByAnother(statement)) {
            executeLocked(statement, visitors);
          }
          return 0;
        });
  }

  /** A change set begins, or its rollback. */
  @Override
  public void modifyChangeSet(ChangeSet changeSet) {
    super.modifyChangeSet(changeSet);
    HeldLock.of(database).ifPresent(held -> held.fence().changeSetBegins(changeSet));
  }

  /** Executes a statement while the lock is held. */
  void executeLocked(SqlStatement statement, List<SqlVisitor> visitors) throws DatabaseException {
    if (statement instanceof MarkChangeSetRanStatement
        || statement instanceof RemoveChangeSetRanStatusStatement) {
      HeldLock.of(database).ifPresent(held -> held.fence().changeSetEnds());
    }
    super.execute(statement, visitors);
  }

  @Override
  public int update(SqlStatement statement, List<SqlVisitor> visitors) throws DatabaseException {
    return underLock(() -> super.update(statement, visitors));
  }

  /** Liquibase sets the search path of PostgreSQL also without the lock. */
  private boolean setsSession(SqlStatement statement) throws DatabaseException {
    return statement instanceof RawParameterizedSqlStatement raw
        && (SESSION.matcher(raw.getSql()).lookingAt() || concernsSessionAlone(raw.getSql()));
  }

  private boolean concernsSessionAlone(String sql) throws DatabaseException {
    try {
      Dialect dialect = Dialect.of(Jdbc.connection(database));
      return dev.tollgate.migrations.SqlStatement.of(sql, dialect).concernsSessionAlone();
    } catch (SQLException e) {
      throw new DatabaseException(e.getMessage(), e);
    }
  }

  private interface Work {
    int run() throws DatabaseException;
  }

  private int underLock(Work work) throws DatabaseException {
    if (HeldLock.of(database).isPresent()) {
      return work.run();
    }
    LockService locks = LockServiceFactory.getInstance().getLockService(database);
    try {
      locks.waitForLock();
      try {
        requireFence(locks);
        int result = work.run();
        database.commit();
        return result;
      } finally {
        locks.releaseLock();
      }
    } catch (LockException e) {
      throw new DatabaseException(e.getMessage(), e);
    }
  }

  private void requireFence(LockService locks) throws DatabaseException {
    if (HeldLock.of(database).isEmpty()) {
      throw new DatabaseException(
          "lock service "
              + locks.getClass().getName()
              + " comes before "
              + TollgateLockService.class.getName()
              + ", so changes would not be fenced: remove one of the two");
    }
  }

  /** Many runners may have found that there is no table, and wait for the lock. */
  private boolean isMadeByAnother(SqlStatement statement) throws DatabaseException {
    return statement instanceof CreateDatabaseChangeLogTableStatement
        && SnapshotGeneratorFactory.getInstance().hasDatabaseChangeLogTable(database);
  }
}
