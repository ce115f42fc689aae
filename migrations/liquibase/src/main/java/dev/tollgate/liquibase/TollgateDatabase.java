package dev.tollgate.liquibase;

import java.util.List;
import liquibase.Scope;
import liquibase.database.DatabaseConnection;
import liquibase.database.core.H2Database;
import liquibase.exception.DatabaseException;
import liquibase.exception.LiquibaseException;
import liquibase.executor.Executor;
import liquibase.executor.ExecutorService;
import liquibase.sql.visitor.SqlVisitor;
import liquibase.statement.SqlStatement;
import org.jspecify.annotations.Nullable;

/**
 * Tollgate, by its URL. The SQL is H2's, and so is the short name, so that change sets with {@code
 * dbms="h2"} run as they do without this extension.
 */
public final class TollgateDatabase extends H2Database {
  private static final int BEFORE_H2 = 5;

  @Override
  public int getPriority() {
    return PRIORITY_DATABASE + BEFORE_H2;
  }

  @Override
  public boolean isCorrectDatabaseImplementation(DatabaseConnection connection)
      throws DatabaseException {
    return connection.getURL() != null
        && connection.getURL().startsWith(dev.tollgate.migrations.Database.TOLLGATE);
  }

  @Override
  public @Nullable String getDefaultDriver(String url) {
    return url.startsWith(dev.tollgate.migrations.Database.TOLLGATE)
        ? "dev.tollgate.jdbc.TollgateDriver"
        : null;
  }

  @Override
  public void executeRollbackStatements(SqlStatement[] statements, List<SqlVisitor> visitors)
      throws LiquibaseException {
    Executor executor =
        Scope.getCurrentScope().getSingleton(ExecutorService.class).getExecutor("jdbc", this);
    if (executor instanceof LedgerExecutor ledger) {
      ledger.rollBack(List.of(statements), filterRollbackVisitors(visitors));
    } else {
      super.executeRollbackStatements(statements, visitors);
    }
  }
}
