package dev.tollgate.sql;

import dev.tollgate.sql.parser.Token;
import dev.tollgate.sql.parser.TollgateParserConstants;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * Words of H2's own grammar that H2 also accepts as names, because they have a meaning in few
 * places: {@code SELECT groups, rows FROM update}. Calcite reserves them. This class turns them
 * into names where a name or a value has to begin, and as aliases. Where H2 reads a clause, they
 * stay keywords.
 */
final class PlacedWords {

  private static final Set<String> WORDS =
      words(
          """
          ALTER BIT BOTH CHARACTER COLLATE COLUMN CREATE CURRENT DELETE DROP ESCAPE EXPLAIN GROUPS
          INSERT INTO LATERAL LEADING MERGE NCHAR NCLOB NEXT ONLY OUTER OVER OVERLAPS REGEXP ROWS
          THEN TRAILING UPDATE\
          """);

  /** Names of columns to H2, which Calcite reads as the unit of an interval. */
  private static final Set<String> UNITS = Set.of("MONTH", "YEAR");

  /** Tokens after which a name or a value begins. */
  private static final Set<String> BEFORE_A_NAME =
      words(
          """
          , ( = < > <= >= <> != + - * / % || ADD ALTER AND AS BETWEEN BY CASE COLUMN CONSTRAINT
          DISTINCT DOMAIN DROP ELSE EXISTS FROM HAVING ILIKE INTO JOIN LIKE NOT ON OR OVER QUALIFY
          RECURSIVE REFERENCES ROLE SAVEPOINT SCHEMA SELECT SEQUENCE SET TABLE THEN TO UPDATE USING VIEW WHEN
          WHERE WINDOW WITH\
          """);

  /** Tokens that may follow an alias without AS. */
  private static final Set<String> AFTER_AN_ALIAS =
      words(
          """
          , ) CROSS EXCEPT FROM FULL GROUP HAVING INNER INTERSECT JOIN LEFT NATURAL ON ORDER RIGHT
          SET UNION USING WHERE\
          """);

  /** Words before the name of a table. A parenthesis after that name begins no call. */
  private static final Set<String> BEFORE_A_TABLE =
      Set.of("INTO", "RECURSIVE", "REFERENCES", "TABLE", "UPDATE", "VIEW", "WITH");

  /** Words that end no value, so that no alias follows them. */
  private static final Set<String> BEFORE_NO_ALIAS =
      words(
          """
          ALL ANALYZE AND ANY BETWEEN BY CASE CAST CHECK CONSTRAINT CROSS CURRENT DEFAULT DISTINCT EACH ELSE EXCEPT EXISTS
          FETCH FIRST FOR FULL GROUP HAVING ILIKE IN INNER INTERSECT INTERVAL IS JOIN LAST LEFT LIKE
          LIMIT MATCHED NATURAL NEXT NOT OF OFFSET ON OR ORDER OUTER OVER PARTITION PLAN PRIMARY QUALIFY
          RANGE RIGHT ROW SELECT SET SOME TABLE TO UNION UNIQUE USING VALUES WHEN WHERE WINDOW
          WITH\
          """);

  private final List<Token> tokens;

  PlacedWords(List<Token> tokens) {
    this.tokens = tokens;
  }

  static Set<String> all() {
    return WORDS;
  }

  /** Whether the word at an index is a name. The words before it must have their kinds already. */
  boolean isName(int index) {
    return index > 0
        && (isPlacedName(index) || (UNITS.contains(textAt(index)) && isAliasNotUnit(index)));
  }

  private boolean isPlacedName(int index) {
    return WORDS.contains(textAt(index))
        && switch (textAt(0)) {
          case "SCRIPT" -> false;
          // the rights have the names of statements
          case "GRANT", "REVOKE" -> textAt(index - 1).matches("ON|TO|FROM");
          default -> !isKeyword(index) && (isBeforeAName(index - 1) || isAlias(index));
        };
  }

  /** Whether the word at an index is the name of a table, although a parenthesis follows it. */
  boolean isTable(int index) {
    String before = keywordAt(index - 1);
    boolean exists = before.equals("EXISTS") && textAt(index - 2).matches("IF|NOT");
    boolean indexed = before.equals("ON") && isIndexUpTo(index);
    return BEFORE_A_TABLE.contains(before) || exists || indexed;
  }

  /** Whether the statement is CREATE ... INDEX, and its columns are still to come. */
  private boolean isIndexUpTo(int end) {
    boolean found = false;
    for (int i = 1; i < end; i++) {
      if (textAt(i).equals("(")) {
        return false;
      }
      found |= textAt(i).equals("INDEX");
    }
    return found && textAt(0).equals("CREATE");
  }

  /** Whether H2 reads a clause here, where a name could begin. */
  private boolean isKeyword(int index) {
    String word = textAt(index);
    String before = keywordAt(index - 1);
    String after = textAt(index + 1);
    return switch (word) {
      case "ROWS", "GROUPS" -> before.equals("(") && isFrame(index + 1);
      case "DROP" -> isAfterOnCommit(index);
      case "NEXT" -> after.equals("VALUE");
      case "CURRENT" -> after.equals("VALUE") || after.equals("ROW");
      case "COLUMN" ->
          before.matches("ADD|ALTER|DROP") || (before.equals("ON") && textAt(0).equals("COMMENT"));
      case "BIT", "CHARACTER", "NCHAR", "NCLOB" ->
          after.matches("VARYING|LARGE") || (after.equals("(") && !isTable(index));
      case "BOTH", "LEADING", "TRAILING" -> before.equals("(") && textAt(index - 2).equals("TRIM");
      case "LATERAL" -> after.equals("(") && !isTable(index);
      case "REGEXP" -> before.equals("NOT");
      case "DELETE", "INSERT", "MERGE", "UPDATE" -> isChange(before, after, index);
      default -> false;
    };
  }

  /**
   * Whether the word stays a keyword: FINAL TABLE (UPDATE ...), WHEN MATCHED THEN DELETE, ON UPDATE
   * CASCADE.
   */
  private boolean isChange(String before, String after, int index) {
    return switch (before) {
      case "(" -> textAt(index - 2).equals("TABLE");
      case "" -> textAt(0).equals("EXPLAIN") && index == 2;
      case "THEN" -> !after.matches("ELSE|END|[-+*/=<>|]+");
      case "ON" -> !isTable(index) && !after.matches("[=<>!]+|[.]|IS|IN|BETWEEN|LIKE");
      default -> false;
    };
  }

  private boolean isAfterOnCommit(int index) {
    return textAt(index - 1).equals("COMMIT")
        && textAt(index - 2).equals("ON")
        && textAt(0).equals("CREATE");
  }

  private boolean isFrame(int index) {
    return textAt(index).matches("BETWEEN|UNBOUNDED|CURRENT|\\?|[0-9].*");
  }

  private boolean isBeforeAName(int index) {
    return (index == 0 && textAt(0).equals("DELETE"))
        || BEFORE_A_NAME.contains(keywordAt(index))
        || (textAt(index).equals("FOR") && textAt(index - 1).equals("VALUE"))
        || (textAt(index).equals("USER") && textAt(0).matches("CREATE|ALTER|DROP"))
        || (textAt(index).equals("INDEX") && textAt(0).matches("CREATE|DROP|ALTER|COMMENT"));
  }

  private boolean isAlias(int index) {
    String word = textAt(index);
    String after = textAt(index + 1);
    boolean function = after.matches("LEFT|RIGHT") && textAt(index + 2).equals("(");
    boolean followed = after.isEmpty() || (AFTER_AN_ALIAS.contains(after) && !function);
    boolean offset = word.equals("ROWS") && isLimited(index);
    boolean call = word.equals("OVER") && textAt(index - 1).equals(")");
    return followed
        && !offset
        && !call
        && !word.equals("REGEXP")
        && !textAt(0).equals("ALTER")
        && endsAValue(index - 1);
  }

  /** Whether OFFSET or FETCH precedes within the same parentheses. */
  private boolean isLimited(int end) {
    int depth = 0;
    for (int i = end - 1; i >= 0 && depth >= 0; i--) {
      switch (textAt(i)) {
        case ")" -> depth++;
        case "(" -> depth--;
        case "OFFSET", "FETCH" -> {
          if (depth == 0) {
            return true;
          }
        }
        default -> {}
      }
    }
    return false;
  }

  /** Whether YEAR names a column: INTERVAL '1' YEAR and (a - b) YEAR have it as a unit. */
  private boolean isAliasNotUnit(int index) {
    boolean literal = textAt(index - 2).matches("INTERVAL|[-+]");
    return !literal && isAlias(index) && (!textAt(index - 1).equals(")") || endsACall(index - 1));
  }

  private boolean endsACall(int end) {
    int depth = 0;
    for (int i = end; i > 0; i--) {
      switch (textAt(i)) {
        case ")" -> depth++;
        case "(" -> depth--;
        default -> {}
      }
      if (depth == 0) {
        return isWord(i - 1) && !BEFORE_NO_ALIAS.contains(textAt(i - 1));
      }
    }
    return false;
  }

  /** Whether the word is a keyword after which no alias stands. */
  private static boolean endsNoValue(String word) {
    return BEFORE_NO_ALIAS.contains(word) || WORDS.contains(word);
  }

  private boolean isWord(int index) {
    return Character.isJavaIdentifierStart(textAt(index).charAt(0));
  }

  private boolean endsAValue(int index) {
    return switch (tokens.get(index).kind) {
      case TollgateParserConstants.IDENTIFIER,
          TollgateParserConstants.QUOTED_IDENTIFIER,
          TollgateParserConstants.QUOTED_STRING,
          TollgateParserConstants.UNSIGNED_INTEGER_LITERAL,
          TollgateParserConstants.DECIMAL_NUMERIC_LITERAL,
          TollgateParserConstants.APPROX_NUMERIC_LITERAL,
          TollgateParserConstants.HOOK,
          TollgateParserConstants.RPAREN,
          TollgateParserConstants.NULL,
          TollgateParserConstants.TRUE,
          TollgateParserConstants.FALSE,
          TollgateParserConstants.END ->
          true;
      default -> index > 0 && isWord(index) && !endsNoValue(textAt(index));
    };
  }

  /** Returns the word in upper case; empty for a name, and if there is no token. */
  private String keywordAt(int index) {
    return index >= 0 && tokens.get(index).kind == TollgateParserConstants.IDENTIFIER
        ? ""
        : textAt(index);
  }

  private String textAt(int index) {
    return index < 0 || index >= tokens.size() ? "" : Tokens.upperCase(tokens.get(index));
  }

  private static Set<String> words(String list) {
    return Set.of(list.toUpperCase(Locale.ROOT).split("\\s+", -1));
  }
}
