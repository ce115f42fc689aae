package dev.tollgate.h2;

import java.text.BreakIterator;
import java.text.CharacterIterator;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Makes the letters of a text small as {@link String#toLowerCase(Locale)} does in languages without
 * rules of their own, in one pass that counts each letter. A capital sigma becomes a final one if
 * it is the last cased letter of its word and not the first (Unicode, SpecialCasing, {@code
 * Final_Sigma}; the words are those of the runtime).
 */
final class SmallLetters {
  private static final char CAPITAL_SIGMA = '\u03a3';
  private static final char SMALL_SIGMA = '\u03c3';
  private static final char FINAL_SIGMA = '\u03c2';

  /** The letter that becomes two when it becomes small. */
  private static final char DOTTED_CAPITAL_I = '\u0130';

  private static final String SMALL_DOTTED_I = "i\u0307";

  private final String text;
  private final Locale locale;

  /** Null before the first sigma: few texts have one. */
  private @Nullable BreakIterator words;

  /** The end of the word that was looked through last. */
  private int end;

  /** The first and the last cased letter of that word. */
  private int first;

  private int last;

  private SmallLetters(String text, Locale locale) {
    this.text = text;
    this.locale = locale;
  }

  /** Whether a text has a letter for which the runtime goes through all of the text. */
  static boolean areNeeded(String text) {
    return text.indexOf(CAPITAL_SIGMA) >= 0 || text.indexOf(DOTTED_CAPITAL_I) >= 0;
  }

  static String of(String text, Locale locale) {
    SmallLetters letters = new SmallLetters(text, locale);
    Meter.allocates((long) text.length() * Character.BYTES);
    StringBuilder small = new StringBuilder(text.length());
    int letter;
    for (int at = 0; at < text.length(); at += Character.charCount(letter)) {
      Meter.step();
      letter = text.codePointAt(at);
      switch (letter) {
        case CAPITAL_SIGMA -> small.append(letters.isFinal(at) ? FINAL_SIGMA : SMALL_SIGMA);
        case DOTTED_CAPITAL_I -> small.append(SMALL_DOTTED_I);
        default -> small.appendCodePoint(Character.toLowerCase(letter));
      }
    }
    return small.toString();
  }

  private boolean isFinal(int sigma) {
    if (words == null) {
      words = BreakIterator.getWordInstance(locale);
      words.setText(new Letters(text));
    }
    if (sigma >= end) {
      int start;
      do {
        start = end;
        end = words.next();
      } while (sigma >= end);
      lookThrough(start);
    }
    return sigma == last && first < last;
  }

  private void lookThrough(int start) {
    first = -1;
    int letter;
    for (int at = start; at < end; at += Character.charCount(letter)) {
      Meter.step();
      letter = text.codePointAt(at);
      if (isCased(letter)) {
        first = first < 0 ? at : first;
        last = at;
      }
    }
  }

  /** As the runtime has it, which is not {@link Character#isLowerCase} of each of its versions. */
  private static boolean isCased(int letter) {
    return switch (Character.getType(letter)) {
      case Character.LOWERCASE_LETTER, Character.UPPERCASE_LETTER, Character.TITLECASE_LETTER ->
          true;
      default ->
          isIn(letter, 0x02b0, 0x02b8)
              || isIn(letter, 0x02c0, 0x02c1)
              || isIn(letter, 0x02e0, 0x02e4)
              || letter == 0x0345
              || letter == 0x037a
              || isIn(letter, 0x1d2c, 0x1d61)
              || isIn(letter, 0x2160, 0x217f)
              || isIn(letter, 0x24b6, 0x24e9);
    };
  }

  private static boolean isIn(int letter, int from, int to) {
    return letter >= from && letter <= to;
  }

  /** A text in which each character that the search for words passes is a step. */
  private static final class Letters implements CharacterIterator {
    private final String text;
    private int at;

    Letters(String text) {
      this.text = text;
    }

    @Override
    public char first() {
      return setIndex(0);
    }

    @Override
    public char last() {
      return setIndex(Math.max(text.length() - 1, 0));
    }

    @Override
    public char current() {
      return at < text.length() ? text.charAt(at) : DONE;
    }

    @Override
    public char next() {
      Meter.step();
      return setIndex(Math.min(at + 1, text.length()));
    }

    @Override
    public char previous() {
      Meter.step();
      return at == 0 ? DONE : setIndex(at - 1);
    }

    @Override
    public char setIndex(int position) {
      if (position < 0 || position > text.length()) {
        throw new IllegalArgumentException("position: " + position);
      }
      at = position;
      return current();
    }

    @Override
    public int getBeginIndex() {
      return 0;
    }

    @Override
    public int getEndIndex() {
      return text.length();
    }

    @Override
    public int getIndex() {
      return at;
    }

    @Override
    public Object clone() {
      Letters copy = new Letters(text);
      copy.at = at;
      return copy;
    }
  }
}
