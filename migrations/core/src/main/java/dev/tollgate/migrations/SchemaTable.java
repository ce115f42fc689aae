package dev.tollgate.migrations;

import static java.util.Objects.requireNonNull;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * A table of the runner's own, in the schema that a connection had when the run began, also if a
 * script sets another.
 *
 * @param catalog where the database has catalogs in the place of schemas, as MariaDB does
 * @param schema null on a database without schemas
 * @param name letters, digits and underscores, unquoted; in lower case where the database takes all
 *     spellings for one name, so that the name of a lock has one spelling too
 * @param quote what stands around the name of the schema or catalog
 */
record SchemaTable(@Nullable String catalog, @Nullable String schema, String name, String quote) {
  SchemaTable {
    requireNonNull(name, "name");
    requireNonNull(quote, "quote");
  }

  /** The table of that name in the schema that the connection has now. */
  static SchemaTable of(Connection connection, String name) throws SQLException {
    DatabaseMetaData meta = connection.getMetaData();
    String schema = connection.getSchema();
    boolean hasCatalogs = schema == null && meta.supportsCatalogsInDataManipulation();
    boolean folds = meta.storesUpperCaseIdentifiers() || meta.storesLowerCaseIdentifiers();
    return new SchemaTable(
        hasCatalogs ? connection.getCatalog() : null,
        schema,
        folds ? name.toLowerCase(Locale.ROOT) : name,
        meta.getIdentifierQuoteString());
  }

  private @Nullable String qualifier() {
    return schema == null ? catalog : schema;
  }

  /** Schema and table, as the name of a lock has them. */
  String path() {
    String qualifier = qualifier();
    return qualifier == null ? name : qualifier + "." + name;
  }

  /** As statements name the table. */
  String qualified() {
    String qualifier = qualifier();
    return qualifier == null
        ? name
        : quote + qualifier.replace(quote, quote + quote) + quote + "." + name;
  }

  boolean exists(Connection connection) throws SQLException {
    DatabaseMetaData meta = connection.getMetaData();
    String stored =
        meta.storesUpperCaseIdentifiers()
            ? name.toUpperCase(Locale.ROOT)
            : meta.storesLowerCaseIdentifiers() ? name.toLowerCase(Locale.ROOT) : name;
    try (ResultSet tables =
        meta.getTables(
            catalog == null ? connection.getCatalog() : catalog,
            schema == null ? null : escaped(meta, schema),
            escaped(meta, stored),
            null)) {
      return tables.next();
    }
  }

  private static String escaped(DatabaseMetaData meta, String name) throws SQLException {
    String escape = meta.getSearchStringEscape();
    return name.replace(escape, escape + escape)
        .replace("_", escape + "_")
        .replace("%", escape + "%");
  }

  /** Makes the table unless it is there; another program may do so at the same time. */
  void create(Connection connection, String columns) throws SQLException {
    if (exists(connection)) {
      return;
    }
    try (Statement statement = connection.createStatement()) {
      statement.execute("CREATE TABLE " + qualified() + columns);
    } catch (SQLException e) {
      if (!exists(connection)) {
        throw e;
      }
    }
  }
}
