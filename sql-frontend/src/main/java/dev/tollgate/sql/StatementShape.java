package dev.tollgate.sql;

import static dev.tollgate.sql.parser.TollgateParserConstants.COMMA;
import static dev.tollgate.sql.parser.TollgateParserConstants.HOOK;
import static dev.tollgate.sql.parser.TollgateParserConstants.IN;
import static dev.tollgate.sql.parser.TollgateParserConstants.LPAREN;
import static java.util.Objects.requireNonNull;

import dev.tollgate.sql.SizeRanges.Measure;
import dev.tollgate.sql.parser.Token;
import java.nio.charset.StandardCharsets;

/**
 * The shape of a statement, and the sizes of the values in its text. The list after IN, of literals
 * and parameters, is one position. Immutable.
 */
public final class StatementShape {
  /** Odd, so that each token changes the whole number. */
  private static final long FACTOR = 0x9E3779B97F4A7C15L;

  private final long text;
  private final int positions;
  private final SizeRanges literals;
  private final int[] positionOfParameter;

  private StatementShape(long text, int positions, SizeRanges literals, int[] positionOfParameter) {
    this.text = text;
    this.positions = positions;
    this.literals = requireNonNull(literals, "literals");
    this.positionOfParameter = positionOfParameter;
  }

  static StatementShape of(Tokens tokens) {
    int[] positionOf = new int[tokens.size()];
    long text = 0;
    int positions = 0;
    boolean inList = false;
    for (int i = 0; i < tokens.size(); i++) {
      boolean value = isValue(tokens, i);
      if (inList && value) {
        positionOf[i] = positions - 1;
      } else if (!(inList && isKind(tokens, i, COMMA) && isValue(tokens, i + 1))) {
        if (value) {
          positionOf[i] = positions++;
        }
        inList = value && isKind(tokens, i - 1, LPAREN) && isKind(tokens, i - 2, IN);
        text = text * FACTOR + StatementForm.shown(tokens.get(i)).hashCode();
      }
    }
    return measured(tokens, text, positions, positionOf);
  }

  private static boolean isValue(Tokens tokens, int index) {
    return index < tokens.size() && StatementForm.isValue(tokens.get(index));
  }

  private static boolean isKind(Tokens tokens, int index, int kind) {
    return index >= 0 && tokens.get(index).kind == kind;
  }

  private static StatementShape measured(
      Tokens tokens, long text, int positions, int[] positionOf) {
    SizeRanges literals = new SizeRanges(positions);
    int[] parameters = new int[tokens.parameterCount()];
    int[] counts = new int[positions];
    int parameter = 0;
    for (int i = 0; i < tokens.size(); i++) {
      Token token = tokens.get(i);
      if (token.kind == HOOK) {
        parameters[parameter++] = positionOf[i];
        counts[positionOf[i]]++;
      } else if (StatementForm.isValue(token)) {
        measure(literals, positionOf[i], token.image);
        counts[positionOf[i]]++;
      }
    }
    for (int i = 0; i < positions; i++) {
      literals.cover(i, Measure.COUNT, SizeRanges.ofNumber(counts[i]));
    }
    return new StatementShape(text, positions, literals, parameters);
  }

  private static void measure(SizeRanges literals, int position, String image) {
    int quote = image.indexOf('\'');
    byte[] text =
        (quote < 0 ? image : image.substring(quote + 1, image.length() - 1))
            .getBytes(StandardCharsets.UTF_8);
    int amount = SizeRanges.ofNumeral(text, 0, text.length);
    if (SizeRanges.isNumeral(amount)) {
      literals.cover(position, Measure.AMOUNT, amount);
    }
    literals.cover(position, Measure.LENGTH, SizeRanges.ofNumber(text.length));
    int wide = SizeRanges.wideBytes(text, 0, text.length);
    if (wide > 0) {
      literals.cover(position, Measure.WIDE, SizeRanges.ofNumber(wide));
    }
  }

  /**
   * A number that statements share which differ in the values of literals, in comments and in
   * spaces alone.
   */
  public long text() {
    return text;
  }

  /** How many positions have values. */
  public int positions() {
    return positions;
  }

  /** The sizes of the literals, which must not be changed, and of the lists. */
  public SizeRanges literals() {
    return literals;
  }

  /** The position of a parameter, counted from 0. */
  public int positionOfParameter(int parameter) {
    return positionOfParameter[parameter];
  }

  public int parameters() {
    return positionOfParameter.length;
  }
}
