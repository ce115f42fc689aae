package dev.tollgate.sql.tree;

import java.util.Locale;
import java.util.Set;
import org.apache.calcite.sql.parser.SqlParserPos;

/** Words that are no tokens of the grammar, where one of several may stand. */
public final class WordChoice {

  private static final Set<String> SHOWN =
      Set.of(
          "SCHEMAS",
          "DATABASES",
          "CLIENT_ENCODING",
          "DEFAULT_TRANSACTION_ISOLATION",
          "DATESTYLE",
          "SEARCH_PATH",
          "SERVER_VERSION",
          "SERVER_ENCODING",
          "SSL");

  private WordChoice() {}

  public static void checkShow(String word, SqlParserPos position) {
    if (!SHOWN.contains(word.toUpperCase(Locale.ROOT))) {
      throw GrammarException.expected(position, word, "TABLES, COLUMNS or SCHEMAS");
    }
  }

  /** The two settings that are a number of milliseconds. */
  public static String timeout(String word, SqlParserPos position) {
    String setting = word.toUpperCase(Locale.ROOT);
    if (!setting.equals("LOCK_TIMEOUT") && !setting.equals("QUERY_TIMEOUT")) {
      throw GrammarException.expected(position, word, "LOCK_TIMEOUT or QUERY_TIMEOUT");
    }
    return setting;
  }

  /** The two kinds of objects whose names the grammar does not know as tokens. */
  public static ObjectClass indexOrConstant(String word, SqlParserPos position) {
    return switch (word.toUpperCase(Locale.ROOT)) {
      case "INDEX" -> ObjectClass.INDEX;
      case "CONSTANT" -> ObjectClass.CONSTANT;
      default ->
          throw GrammarException.expected(
              position, word, "TABLE, VIEW, INDEX, SEQUENCE, SCHEMA, DOMAIN or CONSTANT");
    };
  }
}
