package dev.tollgate.flyway;

import java.sql.SQLException;
import java.util.concurrent.Callable;
import org.flywaydb.core.internal.database.base.Connection;
import org.flywaydb.core.internal.database.base.Table;

/** A connection of a run: that of scripts and history, or that of callbacks. */
final class TollgateConnection extends Connection<TollgateDatabase> {
  TollgateConnection(TollgateDatabase database, java.sql.Connection connection) {
    super(database, connection);
  }

  @Override
  protected String getCurrentSchemaNameOrSearchPath() throws SQLException {
    return jdbcTemplate.queryForString("CALL SCHEMA()");
  }

  @Override
  protected void doChangeCurrentSchemaOrSearchPathTo(String schema) throws SQLException {
    jdbcTemplate.execute("SET SCHEMA " + database.quote(schema));
  }

  /** The schema in which this connection began. */
  String firstSchema() {
    return originalSchemaNameOrSearchPath;
  }

  @Override
  public TollgateSchema getSchema(String name) {
    return new TollgateSchema(jdbcTemplate, database, name);
  }

  /** Flyway locks only its history, on the connection that writes it. */
  @Override
  @SuppressWarnings("rawtypes")
  public <T> T lock(Table table, Callable<T> work) {
    return database.whileLocked(table, work);
  }

  /** A script may have ended the fence; Flyway calls this before it goes on. */
  @Override
  protected void doRestoreOriginalState() throws SQLException {
    database.lock().fenceAgain();
  }
}
