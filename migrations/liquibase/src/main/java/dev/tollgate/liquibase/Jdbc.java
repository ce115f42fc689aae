package dev.tollgate.liquibase;

import java.sql.Connection;
import liquibase.database.Database;
import liquibase.database.jvm.JdbcConnection;

/** What lies under Liquibase's own types. */
final class Jdbc {
  private Jdbc() {}

  static Connection connection(Database database) {
    return ((JdbcConnection) database.getConnection()).getUnderlyingConnection();
  }
}
