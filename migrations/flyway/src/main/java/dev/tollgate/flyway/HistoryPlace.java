package dev.tollgate.flyway;

import static java.util.Objects.requireNonNull;

import dev.tollgate.migrations.Database;
import java.sql.Connection;
import java.sql.SQLException;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.configuration.Configuration;

/** Where Flyway keeps its history in another database. */
record HistoryPlace(String schema, String table, String quote) {
  HistoryPlace {
    requireNonNull(schema, "schema");
    requireNonNull(table, "table");
    requireNonNull(quote, "quote");
  }

  /** As Flyway finds it: the default schema, the first of all, or that of the connection. */
  static HistoryPlace of(Configuration configuration) {
    try (Connection connection = configuration.getDataSource().getConnection()) {
      if (Database.isTollgate(connection)) {
        throw new FlywayException(
            "Flyway locks and fences Tollgate itself: call migrate() of Flyway");
      }
      return new HistoryPlace(
          schema(configuration, connection),
          configuration.getTable(),
          connection.getMetaData().getIdentifierQuoteString());
    } catch (SQLException e) {
      throw new FlywayException("no connection to the database: " + e.getMessage(), e);
    }
  }

  private static String schema(Configuration configuration, Connection connection)
      throws SQLException {
    if (configuration.getDefaultSchema() != null) {
      return configuration.getDefaultSchema();
    }
    if (configuration.getSchemas().length > 0) {
      return configuration.getSchemas()[0];
    }
    String current =
        connection.getSchema() == null ? connection.getCatalog() : connection.getSchema();
    if (current == null) {
      throw new FlywayException(
          "the connection has no schema: say where the history is with flyway.defaultSchema");
    }
    return current;
  }

  /** As the name of the lock has it. */
  String path() {
    return schema + "." + table;
  }

  /** As statements name it, and as Flyway does. */
  String qualified() {
    return quoted(schema) + "." + quoted(table);
  }

  /** Another table in the same schema, whose name needs no quotes. */
  String beside(String name) {
    return quoted(schema) + "." + name;
  }

  /** A column of the history. */
  String quoted(String name) {
    return quote + name.replace(quote, quote + quote) + quote;
  }
}
