package dev.tollgate.flyway;

import dev.tollgate.migrations.Database;
import dev.tollgate.migrations.FencedSession;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Types;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.ConcurrentHashMap;
import org.flywaydb.core.api.ResourceProvider;
import org.flywaydb.core.api.callback.Event;
import org.flywaydb.core.api.configuration.Configuration;
import org.flywaydb.core.internal.callback.CallbackExecutor;
import org.flywaydb.core.internal.callback.NoopCallbackExecutor;
import org.flywaydb.core.internal.database.base.BaseDatabaseType;
import org.flywaydb.core.internal.database.h2.H2Parser;
import org.flywaydb.core.internal.jdbc.JdbcConnectionFactory;
import org.flywaydb.core.internal.jdbc.JdbcTemplate;
import org.flywaydb.core.internal.jdbc.StatementInterceptor;
import org.flywaydb.core.internal.parser.Parser;
import org.flywaydb.core.internal.parser.ParsingContext;
import org.flywaydb.core.internal.sqlscript.SqlScriptExecutorFactory;

/** What Flyway finds by the service loader: the database behind URLs of jdbc:tollgate:. */
public final class TollgateDatabaseType extends BaseDatabaseType {
  /** What is open: Flyway names the connections, and not the database, when it runs scripts. */
  private final Map<JdbcConnectionFactory, TollgateDatabase> databases = new ConcurrentHashMap<>();

  @Override
  public String getName() {
    return "Tollgate";
  }

  /** Before H2, which is what the driver says the product is. */
  @Override
  public int getPriority() {
    return 1;
  }

  @Override
  public int getNullType() {
    return Types.VARCHAR;
  }

  @Override
  public boolean handlesJDBCUrl(String url) {
    return url.startsWith(Database.TOLLGATE);
  }

  @Override
  public String getDriverClass(String url, ClassLoader classLoader) {
    return "dev.tollgate.jdbc.TollgateDriver";
  }

  @Override
  public boolean handlesDatabaseProductNameAndVersion(
      String productName, String productVersion, Connection connection) {
    try {
      return handlesJDBCUrl(connection.getMetaData().getURL());
    } catch (SQLException e) {
      return false;
    }
  }

  /** The session of a killed run, and its open transaction, end about when its lease does. */
  @Override
  public void setConfigConnectionProps(
      Configuration configuration, Properties properties, ClassLoader classLoader) {
    FencedSession.properties(LockSettings.of(configuration).lease())
        .forEach(properties::putIfAbsent);
  }

  @Override
  public TollgateDatabase createDatabase(
      Configuration configuration,
      JdbcConnectionFactory connections,
      StatementInterceptor interceptor) {
    TollgateDatabase database =
        new TollgateDatabase(
            configuration, connections, interceptor, () -> databases.remove(connections));
    databases.put(connections, database);
    return database;
  }

  /**
   * Flyway asks for several: for migrations, and, with callbacks that do nothing, for all other
   * scripts, which run each time.
   */
  @Override
  public SqlScriptExecutorFactory createSqlScriptExecutorFactory(
      JdbcConnectionFactory connections,
      CallbackExecutor<Event> callbacks,
      StatementInterceptor interceptor) {
    SqlScriptExecutorFactory plain =
        super.createSqlScriptExecutorFactory(connections, callbacks, interceptor);
    if (callbacks instanceof NoopCallbackExecutor || interceptor != null) {
      return plain;
    }
    return (connection, undo, batch, outputQueryResults) -> {
      TollgateDatabase database = databases.get(connections);
      ScriptLedger ledger = database == null || undo ? null : database.ledgerOf(connection);
      return ledger == null
          ? plain.createSqlScriptExecutor(connection, undo, batch, outputQueryResults)
          : new LedgerScriptExecutor(
              ledger, new JdbcTemplate(connection, this), callbacks, outputQueryResults);
    };
  }

  @Override
  public Parser createParser(
      Configuration configuration, ResourceProvider resources, ParsingContext context) {
    return new H2Parser(configuration, context);
  }
}
