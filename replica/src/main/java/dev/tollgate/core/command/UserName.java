package dev.tollgate.core.command;

import static java.util.Objects.requireNonNull;

/**
 * The name of a user in the store's spelling (unquoted names in upper case): 1 to {@link
 * Limits#USER_NAME_CHARS} characters, well-formed, compared exactly.
 */
public record UserName(String value) implements Comparable<UserName> {
  /** Whose sessions are those of a cluster without users. Nobody can create a user of this name. */
  public static final UserName ANONYMOUS = new UserName("TOLLGATE");

  public UserName {
    requireNonNull(value, "value");
    if (!isValid(value)) {
      throw new IllegalArgumentException("user name of " + value.length() + " characters");
    }
  }

  /** Returns true if a user may have this name. */
  public static boolean isValid(String name) {
    return !name.isEmpty() && name.length() <= Limits.USER_NAME_CHARS && Text.isWellFormed(name);
  }

  @Override
  public int compareTo(UserName other) {
    return value.compareTo(other.value);
  }

  @Override
  public String toString() {
    return value;
  }
}
