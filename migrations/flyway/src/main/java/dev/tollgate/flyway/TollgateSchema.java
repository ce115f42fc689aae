package dev.tollgate.flyway;

import java.sql.SQLException;
import java.util.List;
import org.flywaydb.core.internal.database.base.Schema;
import org.flywaydb.core.internal.jdbc.JdbcTemplate;

/** A schema; whatever changes it, or what is in it, needs the lock of the history. */
final class TollgateSchema extends Schema<TollgateDatabase, TollgateTable> {
  TollgateSchema(JdbcTemplate statements, TollgateDatabase database, String name) {
    super(statements, database, name);
  }

  @Override
  protected boolean doExists() throws SQLException {
    return jdbcTemplate.queryForInt(
            "SELECT COUNT(*) FROM INFORMATION_SCHEMA.SCHEMATA WHERE SCHEMA_NAME = ?", name)
        > 0;
  }

  @Override
  protected boolean doEmpty() throws SQLException {
    return jdbcTemplate.queryForInt(
            "SELECT (SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = ?)"
                + " + (SELECT COUNT(*) FROM INFORMATION_SCHEMA.SEQUENCES WHERE SEQUENCE_SCHEMA = ?)"
                + " + (SELECT COUNT(*) FROM INFORMATION_SCHEMA.DOMAINS WHERE DOMAIN_SCHEMA = ?)",
            name,
            name,
            name)
        == 0;
  }

  @Override
  protected void doCreate() throws SQLException {
    database.lock().hold();
    jdbcTemplate.execute("CREATE SCHEMA IF NOT EXISTS " + this);
  }

  @Override
  protected void doDrop() throws SQLException {
    database.lock().hold();
    jdbcTemplate.execute("DROP SCHEMA " + this + " CASCADE");
  }

  /** Views go first, since they may look at each other and at the tables. */
  @Override
  protected void doClean() throws SQLException {
    database.lock().hold();
    dropAll("VIEW", " CASCADE", named("TABLE", " AND TABLE_TYPE = 'VIEW'"));
    dropAll("TABLE", " CASCADE", named("TABLE", " AND TABLE_TYPE = 'BASE TABLE'"));
    dropAll("SEQUENCE", "", named("SEQUENCE", ""));
    dropAll("DOMAIN", " CASCADE", named("DOMAIN", ""));
  }

  private List<String> named(String kind, String condition) throws SQLException {
    return jdbcTemplate.queryForStringList(
        "SELECT "
            + kind
            + "_NAME FROM INFORMATION_SCHEMA."
            + kind
            + "S WHERE "
            + kind
            + "_SCHEMA = ?"
            + condition,
        name);
  }

  /** A CASCADE may have dropped some of them meanwhile. */
  private void dropAll(String kind, String clause, List<String> objects) throws SQLException {
    for (String object : objects) {
      jdbcTemplate.execute("DROP " + kind + " IF EXISTS " + database.quote(name, object) + clause);
    }
  }

  @Override
  protected TollgateTable[] doAllTables() throws SQLException {
    return named("TABLE", " AND TABLE_TYPE = 'BASE TABLE'").stream()
        .map(this::getTable)
        .toArray(TollgateTable[]::new);
  }

  @Override
  public TollgateTable getTable(String table) {
    return new TollgateTable(jdbcTemplate, database, this, table);
  }
}
