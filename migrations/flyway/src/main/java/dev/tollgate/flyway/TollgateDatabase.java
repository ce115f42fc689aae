package dev.tollgate.flyway;

import dev.tollgate.migrations.MigrationLock;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.configuration.Configuration;
import org.flywaydb.core.internal.database.base.Database;
import org.flywaydb.core.internal.database.base.Table;
import org.flywaydb.core.internal.jdbc.JdbcConnectionFactory;
import org.flywaydb.core.internal.jdbc.StatementInterceptor;
import org.flywaydb.core.internal.util.Pair;
import org.jspecify.annotations.Nullable;

/**
 * Tollgate, for one command of Flyway. Scripts and history share a connection, so that the row of a
 * script commits with the last of its changes, and one session has the fence.
 *
 * <p>Flyway asks for the statement right before it changes a row of the history, also where it has
 * not locked the history, as in repair. So that is where the lock is taken, at the latest.
 */
@SuppressWarnings("rawtypes")
final class TollgateDatabase extends Database<TollgateConnection> {
  private final HistoryLock lock;
  private final Runnable onClose;
  private @Nullable ScriptLedger ledger;

  TollgateDatabase(
      Configuration configuration,
      JdbcConnectionFactory connections,
      StatementInterceptor interceptor,
      Runnable onClose) {
    super(configuration, connections, interceptor);
    this.lock =
        new HistoryLock(
            rawMainJdbcConnection,
            LockSettings.of(configuration),
            dev.tollgate.migrations.Database.at(
                url(), credentials(), configuration.getClassLoader()),
            lockName(),
            RowWait.of(configuration, url()));
    this.onClose = onClose;
  }

  /** The lock is taken by the URL, since a pool may have no connection left for it. */
  private String url() {
    try {
      return jdbcMetaData.getURL();
    } catch (SQLException e) {
      throw new FlywayException("the session does not know its URL: " + e.getMessage(), e);
    }
  }

  private Map<String, String> credentials() {
    Map<String, String> credentials = new HashMap<>();
    if (configuration.getUser() != null) {
      credentials.put("user", configuration.getUser());
    }
    if (configuration.getPassword() != null) {
      credentials.put("password", configuration.getPassword());
    }
    return credentials;
  }

  private String lockName() {
    String schema = configuration.getDefaultSchema();
    if (schema == null) {
      String[] schemas = configuration.getSchemas();
      schema = schemas.length == 0 ? getMainConnection().firstSchema() : schemas[0];
    }
    return "flyway:" + schema + "." + configuration.getTable();
  }

  HistoryLock lock() {
    return lock;
  }

  /** Does work under the lock of the history; once there is a history, with a ledger beside it. */
  <T> T whileLocked(Table history, Callable<T> work) {
    boolean needsLedger = ledger == null && history.exists();
    try {
      return lock.during(
          () -> {
            if (needsLedger) {
              ledger =
                  ScriptLedger.prepare(
                      rawMainJdbcConnection,
                      lock.hold(),
                      history.getSchema().getName(),
                      history.getName());
            }
          },
          work);
    } finally {
      if (needsLedger) {
        ledger = null;
      }
    }
  }

  /** The ledger of the scripts that run on a connection, while there is one. */
  @Nullable ScriptLedger ledgerOf(Connection connection) {
    return connection == rawMainJdbcConnection ? ledger : null;
  }

  @Override
  protected TollgateConnection doGetConnection(Connection connection) {
    return new TollgateConnection(this, connection);
  }

  @Override
  public boolean useSingleConnection() {
    return true;
  }

  @Override
  public void ensureSupported(Configuration settings) {}

  @Override
  public boolean supportsDdlTransactions() {
    return false;
  }

  @Override
  public String getBooleanTrue() {
    return "TRUE";
  }

  @Override
  public String getBooleanFalse() {
    return "FALSE";
  }

  @Override
  public boolean catalogIsSchema() {
    return false;
  }

  @Override
  public String doQuote(String identifier) {
    return "\"" + identifier.replace("\"", "\"\"") + "\"";
  }

  /** One statement, so that a run that dies leaves a whole table or none. */
  @Override
  public String getRawCreateScript(Table table, boolean baseline) {
    return "CREATE TABLE "
        + table
        + """
        (
          "installed_rank" INT PRIMARY KEY,
          "version" VARCHAR(50),
          "description" VARCHAR(200) NOT NULL,
          "type" VARCHAR(20) NOT NULL,
          "script" VARCHAR(1000) NOT NULL,
          "checksum" INT,
          "installed_by" VARCHAR(100) NOT NULL,
          "installed_on" TIMESTAMP DEFAULT CURRENT_TIMESTAMP NOT NULL,
          "execution_time" INT NOT NULL,
          "success" BOOLEAN NOT NULL
        )\
        """
        + (baseline ? " AS SELECT " + baselineRow() : "")
        + MigrationLock.fenceClause(lock.name())
        + ";";
  }

  private String baselineRow() {
    String description = literal(configuration.getBaselineDescription());
    return "1, "
        + literal(configuration.getBaselineVersion().getVersion())
        + ", "
        + description
        + ", 'BASELINE', "
        + description
        + ", NULL, "
        + literal(getInstalledBy())
        + ", CURRENT_TIMESTAMP, 0, TRUE";
  }

  private static String literal(String text) {
    return "'" + text.replace("'", "''") + "'";
  }

  @Override
  public String getInsertStatement(Table table) {
    lock.hold();
    if (ledger != null) {
      ledger.historyIsWritten();
    }
    return super.getInsertStatement(table);
  }

  @Override
  public String getUpdateStatement(Table table) {
    lock.hold();
    return super.getUpdateStatement(table);
  }

  @Override
  public Pair<String, Object> getDeleteStatement(Table table, boolean version, String filter) {
    lock.hold();
    return super.getDeleteStatement(table, version, filter);
  }

  @Override
  public void close() {
    try {
      lock.close();
      super.close();
    } finally {
      onClose.run();
    }
  }
}
