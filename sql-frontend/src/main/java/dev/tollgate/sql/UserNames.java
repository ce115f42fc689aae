package dev.tollgate.sql;

import java.util.Locale;

/**
 * How the names of users and roles are spelled: the letters a to z become capitals, and every other
 * character stays as it is. H2 makes capitals of all letters, and the capital of some letters is
 * another letter of A to Z: that of {@code ı}, the small i without a dot, is {@code I}. So no user
 * and no role has a name that H2 would spell in another way than this class.
 */
public final class UserNames {
  private static final int CAPITAL = 'a' - 'A';

  private UserNames() {}

  /** Returns a name with capitals for the letters a to z. */
  public static String spelled(String name) {
    StringBuilder spelled = new StringBuilder(name.length());
    for (int i = 0; i < name.length(); i++) {
      char letter = name.charAt(i);
      spelled.append(letter >= 'a' && letter <= 'z' ? (char) (letter - CAPITAL) : letter);
    }
    return spelled.toString();
  }

  /**
   * Returns true if capitals and small letters of all alphabets lead back to the name: no other
   * spelling of another name can be taken for it.
   *
   * @param spelled as {@link #spelled} has returned it
   */
  public static boolean isClear(String spelled) {
    return spelled.equals(spelled.toUpperCase(Locale.ROOT))
        && spelled.equals(spelled.toLowerCase(Locale.ROOT).toUpperCase(Locale.ROOT));
  }
}
