package dev.tollgate.core.command;

/** Texts that clients choose, such as names: what they have to be, and how they are shown. */
public final class Text {
  private Text() {}

  /**
   * Returns false if a surrogate stands without its partner, as in {@code SUBSTRING('😀', 1, 1)}.
   * Such a text is no sequence of characters, and may become another text when it is shown or
   * written.
   */
  public static boolean isWellFormed(String text) {
    int length = text.length();
    for (int i = 0; i < length; i++) {
      char c = text.charAt(i);
      if (Character.isSurrogate(c)) {
        boolean paired =
            Character.isHighSurrogate(c)
                && i + 1 < length
                && Character.isLowSurrogate(text.charAt(i + 1));
        if (!paired) {
          return false;
        }
        i++;
      }
    }
    return true;
  }

  static void requireWellFormed(String what, String text) {
    if (!isWellFormed(text)) {
      throw new IllegalArgumentException(what + " with an unpaired surrogate");
    }
  }

  /**
   * Returns the text with a question mark for each character that a terminal obeys, or that ends a
   * line or changes its direction.
   */
  public static String printable(String text) {
    return text.replaceAll("[\\p{Cntrl}\\p{Cf}\\u0080-\\u009f\\u2028\\u2029]", "?");
  }

  /**
   * Returns the first characters of a text, at most {@code most}; a surrogate pair is not split.
   */
  public static String first(String text, int most) {
    if (text.length() <= most) {
      return text;
    }
    boolean torn = most > 0 && Character.isHighSurrogate(text.charAt(most - 1));
    return text.substring(0, torn ? most - 1 : most);
  }
}
