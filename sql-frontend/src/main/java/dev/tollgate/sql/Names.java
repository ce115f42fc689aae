package dev.tollgate.sql;

import java.util.Locale;
import org.apache.calcite.sql.SqlIdentifier;

/**
 * Turns the parser's names into {@link ObjectName}. The parser has already put unquoted names into
 * upper case.
 */
final class Names {

  private static final int CATALOG_SCHEMA_TABLE = 3;

  private Names() {}

  /**
   * Returns the name of a user or a role in upper case, as H2 keeps and finds these names also if
   * they are quoted.
   */
  static String grantee(SqlIdentifier identifier) {
    return upperCase(identifier.getSimple());
  }

  static String upperCase(String name) {
    return name.toUpperCase(Locale.ROOT);
  }

  static ObjectName tableName(SqlIdentifier identifier) {
    int length = identifier.names.size();
    if (length > CATALOG_SCHEMA_TABLE || identifier.isStar()) {
      throw Refusals.syntax(
          identifier.getParserPosition(),
          "the name of a table has at most three parts: catalog.schema.table");
    }
    String schema = length > 1 ? identifier.names.get(length - 2) : null;
    return new ObjectName(schema, identifier.names.get(length - 1));
  }
}
