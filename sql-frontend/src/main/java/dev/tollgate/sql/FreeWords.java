package dev.tollgate.sql;

import dev.tollgate.sql.parser.Token;
import dev.tollgate.sql.parser.TollgateParserConstants;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Words that Calcite reserves and H2 does not, so that tools write them as names: {@code SELECT
 * NULL PRECISION}. Freeing a word in the grammar may cause conflicts. Instead, this class turns the
 * word into a name before the parser sees it, wherever H2 can only read a name.
 *
 * <p>This allows nothing that was refused before: a function is identified by the word in the text,
 * whatever the token.
 */
final class FreeWords {

  /** Words of syntax that H2 does not have, and types that need no token of their own. */
  private static final Set<String> NAMES =
      words(
          """
          ASOF BEGIN_FRAME BEGIN_PARTITION CUBE CURRENT_DEFAULT_TRANSFORM_GROUP CURRENT_ROW
          CURRENT_TRANSFORM_GROUP_FOR_TYPE DECIMAL END_FRAME END_PARTITION EXTEND FRAME_ROW FUSION
          INTERSECTION JSON_EXISTS JSON_QUERY JSON_SCOPE JSON_VALUE LIKE_REGEX MATCH_CONDITION
          MATCH_RECOGNIZE MEASURE MULTISET NORMALIZE NUMERIC OCCURRENCES_REGEX ORDINAL OVERLAY
          PERIOD PERMUTE POSITION_REGEX PRECEDES ROLLUP RUNNING SAFE_CAST SAFE_OFFSET SAFE_ORDINAL SPECIFIC
          STREAM SUBMULTISET SUBSTRING_REGEX SUCCEEDS SYSTEM_TIME TABLESAMPLE TIMEZONE_MINUTE TRANSLATE_REGEX
          TRY_CAST UNSIGNED UPSERT""");

  /** Words that are names unless an opening parenthesis follows. */
  private static final Set<String> FUNCTIONS =
      words(
          """
          CARDINALITY CEILING CHARACTER_LENGTH CHAR_LENGTH COALESCE CONVERT COVAR_POP COVAR_SAMP
          CUME_DIST DENSE_RANK EXTRACT FILTER FIRST_VALUE GROUPING JSON_ARRAY JSON_ARRAYAGG
          JSON_OBJECT JSON_OBJECTAGG LAST_VALUE NTH_VALUE NTILE NULLIF OCTET_LENGTH PERCENTILE_CONT
          PERCENTILE_DISC PERCENT_RANK REGR_COUNT REGR_SXX REGR_SYY STDDEV_POP STDDEV_SAMP SUBSTRING
          TRANSLATE TRIM UNNEST VAR_POP VAR_SAMP""");

  private FreeWords() {}

  /** Makes a name token of each word that is a name in its place. */
  static void free(List<Token> tokens) {
    PlacedWords placed = new PlacedWords(tokens);
    BitSet lists = lists(tokens);
    for (int i = 0; i < tokens.size(); i++) {
      Token token = tokens.get(i);
      if (isWord(token)
          && (isName(tokens, i, lists)
              || placed.isName(i)
              || (isFunction(token) && (placed.isTable(i) || isAt(tokens, i - 1, "AS"))))) {
        token.kind = TollgateParserConstants.IDENTIFIER;
      }
    }
  }

  private static boolean isFunction(Token token) {
    return FUNCTIONS.contains(Tokens.upperCase(token));
  }

  /** Returns all free words, except those that are names only after a dot. */
  static Stream<String> all() {
    return Stream.concat(
        Stream.of("FINAL", "LOCKED", "NEW", "PARTITION", "PRECISION", "RECURSIVE", "WITHIN"),
        Stream.of(NAMES, FUNCTIONS, PlacedWords.all()).flatMap(Set::stream));
  }

  private static boolean isName(List<Token> tokens, int index, BitSet lists) {
    if (index > 0 && tokens.get(index - 1).kind == TollgateParserConstants.DOT) {
      return true;
    }
    String word = Tokens.upperCase(tokens.get(index));
    return switch (word) {
      case "MONTH", "YEAR", "DAY", "HOUR", "MINUTE", "SECOND" ->
          index > 1 && isAt(tokens, index - 2, "DATE_TRUNC");
      case "PRECISION" -> index == 0 || !isAt(tokens, index - 1, "DOUBLE");
      case "RECURSIVE" -> index == 0 || !isAt(tokens, index - 1, "WITH");
      case "FINAL", "NEW" -> !isAt(tokens, index + 1, "TABLE");
      // POSITION(a, b) for POSITION(a IN b), CALL UNNEST(...), USER() for USER
      case "POSITION" -> lists.get(index + 1);
      case "UNNEST" -> !isAt(tokens, index + 1, "(") || (index == 1 && isAt(tokens, 0, "CALL"));
      case "CURRENT_USER", "USER" -> isAt(tokens, index + 1, "(") && isAt(tokens, index + 2, ")");
      case "LOCKED", "PARTITION" -> !isAt(tokens, index + 1, "BY");
      case "WITHIN" -> !isAt(tokens, index + 1, "GROUP");
      default ->
          NAMES.contains(word) || (FUNCTIONS.contains(word) && !isAt(tokens, index + 1, "("));
    };
  }

  /** Returns the opening parentheses that enclose a list with commas, by index. */
  private static BitSet lists(List<Token> tokens) {
    BitSet lists = new BitSet();
    Deque<Integer> open = new ArrayDeque<>();
    for (int i = 0; i < tokens.size(); i++) {
      switch (tokens.get(i).kind) {
        case TollgateParserConstants.LPAREN -> open.push(i);
        case TollgateParserConstants.RPAREN -> open.poll();
        case TollgateParserConstants.COMMA -> {
          if (!open.isEmpty()) {
            lists.set(open.element());
          }
        }
        default -> {}
      }
    }
    return lists;
  }

  private static boolean isAt(List<Token> tokens, int index, String word) {
    return index >= 0 && index < tokens.size() && tokens.get(index).image.equalsIgnoreCase(word);
  }

  private static boolean isWord(Token token) {
    return Character.isJavaIdentifierStart(token.image.charAt(0)) && token.image.indexOf('\'') < 0;
  }

  private static Set<String> words(String list) {
    return Set.of(list.toUpperCase(Locale.ROOT).split("\\s+", -1));
  }
}
