package dev.tollgate.node.client;

import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * What a node demands of new passwords. A node sees a password only when it is set, and keeps a
 * verifier of it, so passwords that were set before are not checked.
 *
 * @param minLength the fewest characters
 * @param strict whether passwords that are guessed first are refused too
 */
public record PasswordRules(int minLength, boolean strict) {
  /** The least that a node may be told to demand. */
  public static final int LEAST_LENGTH = 8;

  /** The fewest characters of a password where the check is strict. */
  public static final int STRICT_LENGTH = 12;

  /** The most that a node may be told to demand; a password has at most 1,024. */
  public static final int MOST_LENGTH = 128;

  public static final PasswordRules STANDARD = new PasswordRules(LEAST_LENGTH, /* strict= */ false);

  private static final int FEWEST_DIFFERENT = 5;

  /** What the lists of stolen passwords begin with, and what people add digits to. */
  private static final List<String> GUESSED_FIRST =
      List.of(
          "password",
          "passwort",
          "123456",
          "654321",
          "qwerty",
          "qwertz",
          "letmein",
          "iloveyou",
          "welcome",
          "admin",
          "tollgate",
          "changeme",
          "secret",
          "abc123",
          "111111",
          "default");

  public PasswordRules {
    if (minLength < LEAST_LENGTH || minLength > MOST_LENGTH) {
      throw new IllegalArgumentException(
          "a password has to have at least " + LEAST_LENGTH + " to " + MOST_LENGTH + " characters");
    }
  }

  /**
   * Returns why a password is refused, without the password; null if it is not.
   *
   * @param user whose password it is to be
   */
  public @Nullable String refusal(String user, String password) {
    int least = strict ? Math.max(minLength, STRICT_LENGTH) : minLength;
    int length = password.codePointCount(0, password.length());
    if (length < least) {
      return "it has " + length + " characters, and this node demands at least " + least;
    }
    if (!strict) {
      return null;
    }
    if (password.codePoints().distinct().count() < FEWEST_DIFFERENT) {
      return "it has fewer than " + FEWEST_DIFFERENT + " different characters";
    }
    String folded = password.toLowerCase(Locale.ROOT);
    if (folded.contains(user.toLowerCase(Locale.ROOT))) {
      return "it has the name of the user in it";
    }
    for (String guess : GUESSED_FIRST) {
      // a long rest makes a good password of a bad one
      if (folded.contains(guess) && length - guess.length() < least) {
        return "it is among those that are guessed first";
      }
    }
    return null;
  }
}
