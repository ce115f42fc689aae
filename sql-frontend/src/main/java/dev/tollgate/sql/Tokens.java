package dev.tollgate.sql;

import dev.tollgate.sql.SqlRefused.Reason;
import dev.tollgate.sql.parser.SimpleCharStream;
import dev.tollgate.sql.parser.Token;
import dev.tollgate.sql.parser.TokenMgrError;
import dev.tollgate.sql.parser.TollgateParserConstants;
import dev.tollgate.sql.parser.TollgateParserTokenManager;
import java.io.StringReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.calcite.sql.parser.SqlParserPos;

/**
 * The tokens of one statement, without comments and without the semicolon at its end. They are read
 * once: this one list is checked, parsed, and turned into the text for H2.
 */
final class Tokens {

  private static final Pattern LEXICAL_ERROR =
      Pattern.compile(
          "Lexical error at line (\\d+), column (\\d+)\\.  Encountered: (<EOF>|\"(.*)\""
              + " \\(\\d+\\)).*",
          Pattern.DOTALL);

  private final List<Token> tokens;
  private final Token end;

  private Tokens(List<Token> tokens, Token end) {
    this.tokens = tokens;
    this.end = end;
  }

  /**
   * @throws SqlRefused if the text holds something that is not a token or that H2 would read
   *     differently, or more than one statement
   */
  static Tokens of(String sql) {
    List<Token> tokens = new ArrayList<>();
    try {
      read(sql, tokens);
    } catch (SqlRefused refused) {
      throw PasswordStatements.withoutText(refused, tokens);
    }
    Token end = tokens.remove(tokens.size() - 1);
    if (!tokens.isEmpty() && last(tokens).kind == TollgateParserConstants.SEMICOLON) {
      tokens.remove(tokens.size() - 1);
    }
    Literals.decode(tokens);
    createWhatIsDeclared(tokens);
    FreeWords.free(tokens);
    BareQueries.enclose(tokens);
    return new Tokens(tokens, end);
  }

  /** Returns the tokens of a text, or those before the first error in it. */
  static List<Token> beforeError(String sql) {
    List<Token> tokens = new ArrayList<>();
    try {
      read(sql, tokens);
    } catch (SqlRefused theRest) {
      // is left out
    }
    return tokens;
  }

  /** Whether a text has no error that {@link #of} finds, and not too many tokens. */
  static boolean isReadable(String sql) {
    try {
      read(sql, new ArrayList<>());
      return true;
    } catch (SqlRefused refused) {
      return false;
    }
  }

  /** Adds all tokens of the text, the end among them. */
  private static void read(String sql, List<Token> tokens) {
    TollgateParserTokenManager lexer =
        new TollgateParserTokenManager(new Characters(sql), TollgateParserConstants.DQID);
    Token token;
    do {
      token = next(lexer);
      Token previous = tokens.isEmpty() ? null : last(tokens);
      Token joined = previous == null ? null : Literals.join(previous, token);
      if (joined == null) {
        LexicalRules.check(previous, token);
        requireRoom(tokens, token);
        tokens.add(Literals.plain(token));
      } else {
        LexicalRules.checkNumber(joined);
        tokens.set(tokens.size() - 1, joined);
      }
    } while (token.kind != TollgateParserConstants.EOF);
  }

  private static void requireRoom(List<Token> tokens, Token token) {
    if (tokens.size() >= SqlLimits.TOKENS && token.kind != TollgateParserConstants.EOF) {
      throw Refusals.tooLong(
          token,
          "a statement has at most "
              + SqlLimits.TOKENS
              + " words, literals and signs: send its values as a batch of parameters, or split the"
              + " statement");
    }
  }

  /** Turns DECLARE GLOBAL TEMPORARY TABLE, as Db2 and Derby have it, into CREATE, as H2 has it. */
  private static void createWhatIsDeclared(List<Token> tokens) {
    if (tokens.size() < 2 || tokens.get(0).kind != TollgateParserConstants.DECLARE) {
      return;
    }
    switch (tokens.get(1).kind) {
      case TollgateParserConstants.GLOBAL,
          TollgateParserConstants.LOCAL,
          TollgateParserConstants.TEMPORARY -> {
        tokens.get(0).kind = TollgateParserConstants.CREATE;
        tokens.get(0).image = "CREATE";
      }
      default -> {}
    }
  }

  private static Token next(TollgateParserTokenManager lexer) {
    try {
      return lexer.getNextToken();
    } catch (TokenMgrError e) {
      Matcher matcher = LEXICAL_ERROR.matcher(String.valueOf(e.getMessage()));
      if (!matcher.matches()) {
        throw new SqlRefused(Reason.SYNTAX, 1, 1, "the text cannot be read", e);
      }
      throw new SqlRefused(
          Reason.SYNTAX,
          Integer.parseInt(matcher.group(1)),
          Integer.parseInt(matcher.group(2)),
          LexicalRules.sentenceFor(matcher.group(4)));
    }
  }

  private static Token last(List<Token> tokens) {
    return tokens.get(tokens.size() - 1);
  }

  /** Returns the refusal of this statement, without any text that may be a password. */
  SqlRefused withoutPassword(SqlRefused refused) {
    return PasswordStatements.withoutText(refused, tokens);
  }

  int size() {
    return tokens.size();
  }

  Token get(int index) {
    return tokens.get(index);
  }

  /** Returns the end of the text, as the parser expects it after the last token. */
  Token end() {
    return end;
  }

  /** Returns the text that H2 gets for a token. */
  String textForH2(int index) {
    return tokens.get(index) instanceof Literals.TypedNumber number
        ? number.textForH2
        : tokens.get(index).image;
  }

  /** The index of the token that begins where {@code position} begins. */
  int indexAt(SqlParserPos position) {
    int low = 0;
    int high = tokens.size() - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      int order = compare(tokens.get(middle), position);
      if (order == 0) {
        return middle;
      }
      if (order < 0) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    throw new IllegalStateException("no token begins at " + position);
  }

  private static int compare(Token token, SqlParserPos position) {
    int order = Integer.compare(token.beginLine, position.getLineNum());
    return order != 0 ? order : Integer.compare(token.beginColumn, position.getColumnNum());
  }

  /**
   * Returns the index of the name of the function that is called at {@code position}. The parser
   * gives an expression in parentheses the position of the parentheses, so there may be some in
   * front. For a name with a schema, the position is that of the name.
   */
  int indexOfFunction(SqlParserPos position) {
    int index = indexAt(position);
    while (tokens.get(index).kind == TollgateParserConstants.LPAREN) {
      index++;
    }
    return index;
  }

  /** Whether a name is qualified. */
  boolean isBehindDot(int index) {
    return index > 0 && tokens.get(index - 1).kind == TollgateParserConstants.DOT;
  }

  /** The index of the token that ends where {@code position} ends. */
  int indexOfEnd(SqlParserPos position) {
    int index = indexAt(position);
    while (index + 1 < tokens.size() && endsBefore(tokens.get(index), position)) {
      index++;
    }
    return index;
  }

  private static boolean endsBefore(Token token, SqlParserPos position) {
    return token.endLine != position.getEndLineNum()
        ? token.endLine < position.getEndLineNum()
        : token.endColumn < position.getEndColumnNum();
  }

  /** The name between double quotes. */
  static String unquoted(Token token) {
    return token.image.substring(1, token.image.length() - 1).replace("\"\"", "\"");
  }

  /** The name of a token as the statement has it. */
  static String written(Token token) {
    if (token instanceof Literals.CapitalName name) {
      return name.written;
    }
    return token.kind == TollgateParserConstants.QUOTED_IDENTIFIER ? unquoted(token) : token.image;
  }

  static String upperCase(Token token) {
    return token.image.toUpperCase(Locale.ROOT);
  }

  /** The index of the parenthesis that closes the one at {@code opening}. */
  int indexOfClosing(int opening) {
    int depth = 0;
    for (int i = opening; i < tokens.size(); i++) {
      int kind = tokens.get(i).kind;
      if (kind == TollgateParserConstants.LPAREN) {
        depth++;
      } else if (kind == TollgateParserConstants.RPAREN) {
        depth--;
      }
      if (depth == 0) {
        return i;
      }
    }
    throw new IllegalStateException("nothing closes token " + opening);
  }

  /** Returns the number of parameters in the tokens from {@code from} to {@code to}, exclusive. */
  int parameterCount(int from, int to) {
    int count = 0;
    for (Token token : tokens.subList(from, to)) {
      if (token.kind == TollgateParserConstants.HOOK) {
        count++;
      }
    }
    return count;
  }

  int parameterCount() {
    return parameterCount(0, tokens.size());
  }

  /** Counts a tab as one column, like every other character, and holds the whole text at once. */
  private static final class Characters extends SimpleCharStream {
    Characters(String sql) {
      super(new StringReader(sql), 1, 1, sql.length() + 1);
      setTabSize(1);
    }
  }
}
