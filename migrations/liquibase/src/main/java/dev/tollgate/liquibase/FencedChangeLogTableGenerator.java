package dev.tollgate.liquibase;

import dev.tollgate.migrations.MigrationLock;
import java.sql.SQLException;
import java.util.Arrays;
import liquibase.database.Database;
import liquibase.exception.UnexpectedLiquibaseException;
import liquibase.sql.Sql;
import liquibase.sql.UnparsedSql;
import liquibase.sqlgenerator.SqlGeneratorChain;
import liquibase.sqlgenerator.core.CreateDatabaseChangeLogTableGenerator;
import liquibase.statement.core.CreateDatabaseChangeLogTableStatement;
import liquibase.structure.DatabaseObject;

/** Makes DATABASECHANGELOG so that no client writes it without the lock. */
public final class FencedChangeLogTableGenerator extends CreateDatabaseChangeLogTableGenerator {
  @Override
  public int getPriority() {
    return PRIORITY_DATABASE;
  }

  @Override
  public boolean supports(CreateDatabaseChangeLogTableStatement statement, Database database) {
    return database instanceof TollgateDatabase;
  }

  @Override
  @SuppressWarnings("rawtypes") // as in the method that is overridden
  public Sql[] generateSql(
      CreateDatabaseChangeLogTableStatement statement, Database database, SqlGeneratorChain chain) {
    try {
      String clause = MigrationLock.fenceClause(LockCluster.of(database).lock());
      return Arrays.stream(super.generateSql(statement, database, chain))
          .map(sql -> fenced(sql, clause))
          .toArray(Sql[]::new);
    } catch (SQLException e) {
      throw new UnexpectedLiquibaseException("the name of the lock is not known", e);
    }
  }

  private static Sql fenced(Sql sql, String clause) {
    return new UnparsedSql(
        sql.toSql() + clause, sql.getAffectedDatabaseObjects().toArray(DatabaseObject[]::new));
  }
}
