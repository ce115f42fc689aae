package dev.tollgate.h2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Locale;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Letters of other cases are those of the runtime, and take as many steps as the text is long. */
class SmallLettersTest {
  /** Letters, marks and signs that decide what a sigma becomes, where words end, or how many. */
  private static final String NASTY =
      "\u03a3\u03a3\u03a3\u03a3\u0130\u00df\ufb03\u0149aA1 .,'-_:\u00ad\u0301\u0345\u037a\u02b0\u02b9"
          + "\u1d2c\u2160\u24b6\u24ea\u01c5\u0307\u200b\u200d\u05d0\u0e01\u3042\u30a2\u4e00\uac00"
          + "\u0661\u20ac\u00a0\n\r\t\ud800\udc00\ud835\udc00\ud801\udc00\u1f88\u2019\u0000\uffff";

  @Test
  void lettersAreThoseOfTheRuntime() {
    long seed = Long.getLong("tollgate.test.seed", new Random().nextLong());
    Random random = new Random(seed);
    for (int round = 0; round < 5_000; round++) {
      String text = text(random, random.nextInt(120));
      String where = "seed " + seed + ", round " + round + ", " + escaped(text);
      for (Locale locale : new Locale[] {Locale.US, Locale.ENGLISH, Locale.ROOT}) {
        assertEquals(
            escaped(sigmas(text, text.toLowerCase(locale))),
            escaped(sigmas(text, ChargedTexts.toLowerCase(text, locale))),
            where);
        assertEquals(
            escaped(text.toUpperCase(locale)),
            escaped(ChargedTexts.toUpperCase(text, locale)),
            where);
      }
    }
  }

  /** The first half of a letter stands alone where a piece of the text ends. */
  @Test
  void halfOfALetterDoesNotTearTheNextOne() {
    String text = "a".repeat(15) + "\ud801\ud81b\ude76" + "b".repeat(60);
    assertEquals(
        escaped(text.toUpperCase(Locale.US)), escaped(ChargedTexts.toUpperCase(text, Locale.US)));
  }

  /**
   * Beside letters of two characters, the runtime asks for the end of a word in the middle of a
   * letter, and gets it.
   */
  private static String sigmas(String text, String small) {
    return text.chars().anyMatch(c -> Character.isSurrogate((char) c))
        ? small.replace('\u03c2', '\u03c3')
        : small;
  }

  @ParameterizedTest
  @CsvSource({
    "\u039f\u0394\u039f\u03a3, \u03bf\u03b4\u03bf\u03c2",
    "\u03a3\u03a3 \u03a3, \u03c3\u03c2 \u03c3",
    "a\u03a3b\u03a3, a\u03c3b\u03c2",
    "\ud835\udc00\u03a3, \ud835\udc00\u03c2",
  })
  void sigmaIsFinalAtTheEndOfAWord(String text, String small) {
    assertEquals(small, ChargedTexts.toLowerCase(text, Locale.ENGLISH));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"\u03a3", "\u03a3 ", "a\u03a3", "\u03a3.", "\u03a31,", "\u0130", "\u00df", "a"})
  void stepsGrowWithTheLengthAlone(String letters) {
    long few = steps(letters.repeat(1_000));
    long many = steps(letters.repeat(100_000));
    assertTrue(few >= 1_000 && many <= 101 * few, few + " and " + many + " steps");
  }

  private static long steps(String text) {
    return Meter.watched(
        steps -> Long.MAX_VALUE,
        () -> {
          ChargedTexts.toLowerCase(text, Locale.ENGLISH);
          ChargedTexts.toUpperCase(text, Locale.ENGLISH);
          return Meter.steps();
        });
  }

  private static String text(Random random, int length) {
    StringBuilder text = new StringBuilder();
    int most = random.nextBoolean() ? Character.MAX_CODE_POINT : Character.MIN_SURROGATE - 1;
    while (text.length() < length) {
      switch (random.nextInt(8)) {
        case 0 -> text.appendCodePoint(random.nextInt(most + 1));
        case 1 -> text.append((char) random.nextInt(0x600));
        case 2 -> text.append((char) (0x370 + random.nextInt(0x90)));
        default -> {
          char nasty = NASTY.charAt(random.nextInt(NASTY.length()));
          text.append(nasty > most ? 'a' : nasty);
        }
      }
    }
    return text.toString();
  }

  private static String escaped(String text) {
    StringBuilder escaped = new StringBuilder();
    text.chars().forEach(c -> escaped.append(String.format(Locale.ROOT, "\\u%04x", c)));
    return escaped.toString();
  }
}
