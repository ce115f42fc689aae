package dev.tollgate.sql;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Locale;

/**
 * Plain H2 with the functions that the store provides in schema TOLLGATE in place of H2's own: here
 * without their limit. They call H2's, which in another schema than TOLLGATE are those.
 */
final class TollgateSchema {

  private TollgateSchema() {}

  static void create(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute("CREATE SCHEMA TOLLGATE");
      statement.execute("SET BUILTIN_ALIAS_OVERRIDE TRUE");
      for (String name : new String[] {"LPAD", "REPEAT", "REPLACE", "RPAD", "SPACE"}) {
        statement.execute(
            "CREATE ALIAS TOLLGATE."
                + name
                + " DETERMINISTIC FOR '"
                + TollgateFunctionsOfStore.class.getName()
                + "."
                + name.toLowerCase(Locale.ROOT)
                + "'");
      }
      statement.execute("SET BUILTIN_ALIAS_OVERRIDE FALSE");
    }
  }
}
