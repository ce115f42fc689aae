package dev.tollgate.sql;

import dev.tollgate.sql.parser.Token;
import dev.tollgate.sql.parser.TollgateParserConstants;
import java.math.BigInteger;
import java.util.regex.Pattern;

/**
 * Numbers like 0x1F, which are one token to H2 and two to Calcite, a zero and a name. They are made
 * one, written in decimal: that has the same value and the same type in H2, and one meaning to
 * both.
 */
final class HexNumbers {

  /** Longer ones are left as they are, which {@link LexicalRules} refuses. */
  private static final Pattern DIGITS = Pattern.compile("[xX][0-9a-fA-F]{1,32}");

  private static final int RADIX = 16;

  private HexNumbers() {}

  /** Whether {@code token} is what makes a hexadecimal number of the zero in front of it. */
  static boolean continues(Token zero, Token token) {
    return zero.kind == TollgateParserConstants.UNSIGNED_INTEGER_LITERAL
        && zero.image.equals("0")
        && token.kind == TollgateParserConstants.IDENTIFIER
        && zero.endLine == token.beginLine
        && zero.endColumn + 1 == token.beginColumn
        && DIGITS.matcher(token.image).matches();
  }

  static void join(Token zero, Token token) {
    zero.image = new BigInteger(token.image.substring(1), RADIX).toString();
    zero.endColumn = token.endColumn;
  }
}
