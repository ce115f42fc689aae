package dev.tollgate.sql;

import java.util.Locale;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.parser.SqlParserPos;

/**
 * Turns the parser's names into {@link ObjectName}. The parser has already put unquoted names into
 * upper case.
 */
final class Names {

  private static final int CATALOG_SCHEMA_TABLE = 3;

  private Names() {}

  /**
   * Returns the name of a user or a role as {@link UserNames} spells it, also if it is quoted.
   *
   * @throws SqlRefused if H2 would spell the name in another way
   */
  static String grantee(Tokens tokens, SqlIdentifier identifier) {
    SqlParserPos position = identifier.getParserPosition();
    String spelled = UserNames.spelled(Tokens.written(tokens.get(tokens.indexAt(position))));
    if (!UserNames.isClear(spelled)) {
      throw Refusals.notAllowed(
          position,
          "in the name of a user or a role, small letters beyond a to z, and letters that look like"
              + " others, could be taken for other letters: write capitals, or other letters");
    }
    return spelled;
  }

  /** Refuses the name of a user or a role that H2 would spell in another way. */
  static void requireClear(Tokens tokens, SqlIdentifier identifier) {
    var unused = grantee(tokens, identifier);
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
