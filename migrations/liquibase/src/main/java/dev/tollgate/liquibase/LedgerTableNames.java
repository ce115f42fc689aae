package dev.tollgate.liquibase;

import dev.tollgate.migrations.FenceRow;
import java.util.List;
import liquibase.Scope;
import liquibase.database.Database;
import liquibase.database.LiquibaseTableNames;
import liquibase.exception.DatabaseException;
import liquibase.executor.ExecutorService;
import liquibase.statement.core.RawParameterizedSqlStatement;

/** The tables of this extension, which belong to no change log that Liquibase generates. */
public final class LedgerTableNames implements LiquibaseTableNames {
  private static final int BEFORE_LIQUIBASE = 50;

  @Override
  public List<String> getLiquibaseGeneratedTableNames(Database database) {
    return database instanceof TollgateDatabase
        ? List.of(TollgateFence.ledgerTable(database))
        : TollgateLockService.isLocked(database) ? List.of(FenceRow.TABLE) : List.of();
  }

  /** Ends with drop-all. The tokens of other databases stay, because the next ones are higher. */
  @Override
  public void destroy(Database database) throws DatabaseException {
    if (database instanceof TollgateDatabase) {
      Scope.getCurrentScope()
          .getSingleton(ExecutorService.class)
          .getExecutor("jdbc", database)
          .execute(
              new RawParameterizedSqlStatement(
                  "DROP TABLE IF EXISTS "
                      + database.escapeTableName(
                          database.getLiquibaseCatalogName(),
                          database.getLiquibaseSchemaName(),
                          TollgateFence.ledgerTable(database))));
    }
  }

  @Override
  public int getOrder() {
    return BEFORE_LIQUIBASE;
  }
}
