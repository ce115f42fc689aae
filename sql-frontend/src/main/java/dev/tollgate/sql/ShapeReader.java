package dev.tollgate.sql;

import static dev.tollgate.sql.parser.TollgateParserConstants.COMMA;
import static dev.tollgate.sql.parser.TollgateParserConstants.HOOK;
import static dev.tollgate.sql.parser.TollgateParserConstants.IN;
import static dev.tollgate.sql.parser.TollgateParserConstants.LPAREN;

import dev.tollgate.sql.SizeRanges.Measure;
import dev.tollgate.sql.parser.Token;

/** Reads the shape of a statement from its tokens. */
final class ShapeReader {
  /** Odd, so that each token changes the whole number. */
  private static final long FACTOR = 0x9E3779B97F4A7C15L;

  private final Tokens tokens;

  /** For each token that is a value, its position. */
  private final int[] positionOf;

  private long text;
  private int positions;

  private ShapeReader(Tokens tokens) {
    this.tokens = tokens;
    positionOf = new int[tokens.size()];
  }

  static StatementShape read(Tokens tokens) {
    ShapeReader reader = new ShapeReader(tokens);
    reader.findPositions();
    return reader.measured();
  }

  private void findPositions() {
    boolean inList = false;
    for (int i = 0; i < tokens.size(); i++) {
      boolean value = isValue(i);
      if (inList && value) {
        positionOf[i] = positions - 1;
      } else if (!(inList && isKind(i, COMMA) && isValue(i + 1))) {
        if (value) {
          positionOf[i] = positions++;
        }
        inList = value && isKind(i - 1, LPAREN) && isKind(i - 2, IN);
        text = text * FACTOR + StatementForm.shown(tokens.get(i)).hashCode();
      }
    }
  }

  private boolean isValue(int index) {
    return index < tokens.size() && StatementForm.isValue(tokens.get(index));
  }

  private boolean isKind(int index, int kind) {
    return index >= 0 && tokens.get(index).kind == kind;
  }

  private StatementShape measured() {
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
    return new StatementShape(text, literals, parameters);
  }

  private static void measure(SizeRanges literals, int position, String image) {
    int quote = image.indexOf('\'');
    String value = quote < 0 ? image : image.substring(quote + 1, image.length() - 1);
    byte[] ascii = new byte[value.length()];
    int bytes = 0;
    int wideBytes = 0;
    for (int i = 0; i < ascii.length; i++) {
      char character = value.charAt(i);
      int length = bytesOf(character);
      ascii[i] = (byte) (length == 1 ? character : -1);
      bytes += length;
      wideBytes += length == 1 ? 0 : length;
    }
    int amount = SizeRanges.ofNumeral(ascii, 0, ascii.length);
    if (SizeRanges.isNumeral(amount)) {
      literals.cover(position, Measure.AMOUNT, amount);
    }
    literals.cover(position, Measure.LENGTH, SizeRanges.ofNumber(bytes));
    if (wideBytes > 0) {
      literals.cover(position, Measure.WIDE, SizeRanges.ofNumber(wideBytes));
    }
  }

  /** The bytes of a character in UTF-8: a pair of surrogates has four. */
  private static int bytesOf(char character) {
    if (character < 0x80) {
      return 1;
    }
    return character < 0x800 || Character.isSurrogate(character) ? 2 : 3;
  }
}
