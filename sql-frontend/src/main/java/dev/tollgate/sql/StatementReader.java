package dev.tollgate.sql;

import dev.tollgate.sql.SqlRefused.Reason;
import dev.tollgate.sql.parser.ParseException;
import dev.tollgate.sql.parser.SimpleCharStream;
import dev.tollgate.sql.parser.Token;
import dev.tollgate.sql.parser.TollgateParser;
import dev.tollgate.sql.parser.TollgateParserConstants;
import dev.tollgate.sql.parser.TollgateParserTokenManager;
import dev.tollgate.sql.tree.GrammarException;
import dev.tollgate.sql.tree.Statement;
import java.io.StringReader;
import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import org.apache.calcite.avatica.util.Casing;
import org.apache.calcite.runtime.CalciteContextException;
import org.apache.calcite.sql.validate.SqlConformance;
import org.apache.calcite.sql.validate.SqlConformanceEnum;
import org.apache.calcite.sql.validate.SqlDelegatingConformance;

/** Runs the generated parser over checked tokens, and rewords its errors. */
final class StatementReader {

  private static final int EXPECTATIONS_WORTH_LISTING = 6;

  /** Words that are hardly meant as names when they stand in the wrong place. */
  private static final Set<String> CLAUSES =
      Set.of(
          ("AND AS BETWEEN BY CREATE DEFAULT ELSE END EXCEPT FETCH FOR FROM GROUP HAVING IF IN INNER"
                  + " INSERT INTO IS JOIN LEFT LIKE LIMIT NOT NULL OFFSET ON OR ORDER RIGHT SELECT"
                  + " SET THEN UNION UPDATE USING VALUES WHEN WHERE WITH")
              .split(" ", -1));

  private StatementReader() {}

  static Statement read(Tokens tokens) {
    TollgateParser parser = new TollgateParser(new Replay(tokens));
    parser.setUnquotedCasing(Casing.TO_UPPER);
    parser.setQuotedCasing(Casing.UNCHANGED);
    parser.setIdentifierMaxLength(SqlLimits.NAME_LENGTH);
    parser.setConformance(CONFORMANCE);
    try {
      return parser.TollgateStatement();
    } catch (ParseException e) {
      throw refusalOf(e);
    } catch (GrammarException e) {
      throw Refusals.syntax(e.position(), String.valueOf(e.getMessage()));
    } catch (CalciteContextException e) {
      throw new SqlRefused(Reason.SYNTAX, e.getPosLine(), e.getPosColumn(), sentenceOf(e), e);
    } catch (StackOverflowError e) {
      throw refusalAt(parser, Reason.TOO_LONG, "nested too deeply: split the statement", e);
    } catch (RuntimeException | AssertionError e) {
      // Calcite checks some literals while it parses; not all its errors carry a position
      throw refusalAt(
          parser,
          Reason.SYNTAX,
          "the statement cannot be read: " + Refusals.shortened(String.valueOf(e.getMessage())),
          e);
    }
  }

  private static SqlRefused refusalAt(
      TollgateParser parser, Reason reason, String sentence, Throwable cause) {
    Token token = parser.token;
    return new SqlRefused(
        reason, Math.max(1, token.beginLine), Math.max(1, token.beginColumn), sentence, cause);
  }

  private static String sentenceOf(CalciteContextException e) {
    Throwable cause = e.getCause();
    String sentence = cause == null ? e.getMessage() : cause.getMessage();
    return sentence == null ? "the statement cannot be read" : Refusals.shortened(sentence);
  }

  private static SqlRefused refusalOf(ParseException e) {
    Token last = e.currentToken;
    if (last == null || last.next == null) {
      return new SqlRefused(Reason.SYNTAX, 1, 1, "the statement cannot be read", e);
    }
    Token found = last.next;
    if (found.kind == TollgateParserConstants.FENCED) {
      return Refusals.syntax(
          found,
          "FENCED BY LOCK stands at the end of an INSERT, UPDATE, DELETE, MERGE or a statement"
              + " of DDL, or after SET, and nowhere else");
    }
    if (found.kind == TollgateParserConstants.LOCKED) {
      return Refusals.syntax(
          found,
          "LOCKED BY stands at the end of an INSERT, UPDATE, DELETE or MERGE, and nowhere else");
    }
    String sentence =
        found.kind == TollgateParserConstants.EOF || BareQueries.isInserted(found)
            ? "the statement ends too early"
            : "unexpected \"" + Refusals.excerpt(found) + "\"";
    return Refusals.syntax(found, sentence + expectations(e) + hintToQuote(e, found));
  }

  /**
   * Returns a hint for a reserved word that begins no clause and stands where a name could stand.
   */
  private static String hintToQuote(ParseException e, Token found) {
    String word = Tokens.upperCase(found);
    boolean isName =
        Arrays.stream(e.expectedTokenSequences)
            .anyMatch(sequence -> sequence[0] == TollgateParserConstants.IDENTIFIER);
    return isName
            && found.kind != TollgateParserConstants.IDENTIFIER
            && found.kind != TollgateParserConstants.EOF
            && word.matches("[A-Z_]+")
            && !CLAUSES.contains(word)
        ? ": it is a reserved word, as a name it is written \"" + word + "\""
        : "";
  }

  /** Returns what the parser expected instead, if the choice is small enough to help. */
  private static String expectations(ParseException e) {
    Set<String> expected = new TreeSet<>();
    for (int[] sequence : e.expectedTokenSequences) {
      String image = e.tokenImage[sequence[0]];
      expected.add(
          image.startsWith("\"")
              ? image.substring(1, image.length() - 1)
              : image.toLowerCase(Locale.ROOT));
    }
    if (expected.isEmpty() || expected.size() > EXPECTATIONS_WORTH_LISTING) {
      return "";
    }
    return ", expected " + String.join(" or ", expected);
  }

  /** Gives the parser the tokens that were checked, and no others. */
  private static final class Replay extends TollgateParserTokenManager {
    private final Tokens tokens;
    private int next;

    Replay(Tokens tokens) {
      super(new SimpleCharStream(new StringReader("")));
      this.tokens = tokens;
    }

    @Override
    public Token getNextToken() {
      return next < tokens.size() ? tokens.get(next++) : endOfText();
    }

    /**
     * Returns a new token each time: the parser links tokens, and would loop forever on a token
     * that follows itself.
     */
    private Token endOfText() {
      Token end = tokens.end();
      Token copy = new Token();
      copy.kind = end.kind;
      copy.image = end.image;
      copy.beginLine = end.beginLine;
      copy.beginColumn = end.beginColumn;
      copy.endLine = end.endLine;
      copy.endColumn = end.endColumn;
      return copy;
    }
  }

  /** Calcite's most liberal rules, except those that allow text which H2 reads differently. */
  private static final SqlConformance CONFORMANCE =
      new SqlDelegatingConformance(SqlConformanceEnum.BABEL) {
        @Override
        public boolean allowCharLiteralAlias() {
          return false; // E 'x' is a string to H2
        }

        @Override
        public boolean isLimitStartCountAllowed() {
          return false; // LIMIT 1, 2
        }

        @Override
        public boolean isColonFieldAccessAllowed() {
          return false;
        }

        @Override
        public boolean allowExplicitRowValueConstructor() {
          return true;
        }

        @Override
        public boolean allowExtend() {
          return false;
        }

        @Override
        public boolean isApplyAllowed() {
          return false;
        }
      };
}
