package dev.tollgate.flyway;

import java.sql.SQLException;
import org.flywaydb.core.internal.database.base.Table;
import org.flywaydb.core.internal.jdbc.JdbcTemplate;

final class TollgateTable extends Table<TollgateDatabase, TollgateSchema> {
  TollgateTable(
      JdbcTemplate statements, TollgateDatabase database, TollgateSchema schema, String name) {
    super(statements, database, schema, name);
  }

  @Override
  protected boolean doExists() throws SQLException {
    return jdbcTemplate.queryForInt(
            "SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME ="
                + " ?",
            schema.getName(),
            name)
        > 0;
  }

  @Override
  protected void doDrop() throws SQLException {
    database.lock().hold();
    jdbcTemplate.execute("DROP TABLE " + this + " CASCADE");
  }

  /** Flyway locks only its history, and before it writes a row. */
  @Override
  protected void doLock() {
    database.lock().hold();
  }
}
