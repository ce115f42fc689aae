package dev.tollgate.core.command;

/** What the core asks of the texts that it keeps as names. */
public final class Text {
  private Text() {}

  /**
   * False if a surrogate stands without its partner, as in {@code SUBSTRING('😀', 1, 1)}: the text
   * is no sequence of characters, and what is shown or written of it may be another text.
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

  /** The first characters of a text, whole ones: a pair of surrogates is not torn apart. */
  public static String first(String text, int most) {
    if (text.length() <= most) {
      return text;
    }
    boolean torn = most > 0 && Character.isHighSurrogate(text.charAt(most - 1));
    return text.substring(0, torn ? most - 1 : most);
  }
}
