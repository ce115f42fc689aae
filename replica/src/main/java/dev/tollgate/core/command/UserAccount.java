package dev.tollgate.core.command;

import static java.util.Objects.requireNonNull;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A user.
 *
 * @param administrator whether the user may do everything
 * @param workLimit how much a statement of the user may do, in percent of what {@link Limits} allow
 *     a statement, 1 to {@link Limits#FULL_WORK}. An administrator has no such limit
 * @param verifiers of the passwords that are valid, the newest first, at most {@link
 *     Limits#PASSWORDS_PER_USER}. They have one salt and iteration count, so that one proof can be
 *     checked against each. None for a user who logs in by a certificate
 * @param number tells the logins of the user from those that no longer count: of former users of
 *     its name, and of connections that an administrator has ended. From 1, and 0 for an account
 *     that is not in the state yet
 * @param locked whether the user may not log in, whatever it shows
 * @param validUntilMicros the log time from which on the user may not log in, microseconds since
 *     1970; {@link #ALWAYS} for none
 */
public record UserAccount(
    UserName name,
    boolean administrator,
    int workLimit,
    List<String> verifiers,
    long number,
    boolean locked,
    long validUntilMicros) {
  /** The end of the validity of a user that has none. */
  public static final long ALWAYS = Long.MAX_VALUE;

  public UserAccount {
    requireNonNull(name, "name");
    verifiers = List.copyOf(verifiers);
    if (verifiers.size() > Limits.PASSWORDS_PER_USER) {
      throw new IllegalArgumentException(verifiers.size() + " passwords");
    }
    verifiers.forEach(UserAccount::requireVerifier);
    if (workLimit < 1 || workLimit > Limits.FULL_WORK) {
      throw new IllegalArgumentException("a work limit of " + workLimit + " percent");
    }
    requireTime(validUntilMicros);
  }

  /** A user that may log in, and has neither a work limit nor a number. */
  public UserAccount(UserName name, boolean administrator, List<String> verifiers) {
    this(name, administrator, Limits.FULL_WORK, verifiers, 0, /* locked= */ false, ALWAYS);
  }

  /** The same user with its number. */
  public UserAccount numbered(long given) {
    return new UserAccount(
        name, administrator, workLimit, verifiers, given, locked, validUntilMicros);
  }

  /** Rejects what is no verifier: mechanism, iterations and salt, then {@code $} and the keys. */
  static void requireVerifier(String verifier) {
    if (verifier.length() > Limits.VERIFIER_CHARS || verifier.lastIndexOf('$') < 0) {
      throw new IllegalArgumentException("a verifier of " + verifier.length() + " characters");
    }
  }

  /** Rejects what is no end of a validity. */
  static void requireTime(long validUntilMicros) {
    if (validUntilMicros <= 0) {
      throw new IllegalArgumentException("valid until " + validUntilMicros + " us");
    }
  }

  /** Returns true if the password of this verifier can be valid together with the newest one. */
  public boolean isSaltedAlike(String verifier) {
    return verifiers.isEmpty() || salting(verifier).equals(salting(verifiers.get(0)));
  }

  private static String salting(String verifier) {
    return verifier.substring(0, verifier.lastIndexOf('$'));
  }

  /** True for an administrator that can log in at any time, unless another one prevents it. */
  public boolean isLastingAdministrator() {
    return administrator && !locked && validUntilMicros == ALWAYS;
  }

  /**
   * Returns why the user may not log in, for whoever has proven to be this user; null if it may.
   *
   * @param nowMicros log time
   */
  public @Nullable String closed(long nowMicros) {
    if (locked) {
      return "user "
          + name
          + " is locked: have an administrator ALTER USER "
          + name
          + " ACCOUNT UNLOCK";
    }
    return nowMicros < validUntilMicros
        ? null
        : "user "
            + name
            + " has expired: have an administrator ALTER USER "
            + name
            + " VALID UNTIL 'timestamp', or 'infinity'";
  }

  /** The same user with other passwords. */
  public UserAccount with(List<String> others) {
    return new UserAccount(
        name, administrator, workLimit, others, number, locked, validUntilMicros);
  }

  /** The same user as an administrator, or as none. */
  public UserAccount with(boolean administers) {
    return new UserAccount(
        name, administers, workLimit, verifiers, number, locked, validUntilMicros);
  }

  /** The same user with another work limit. */
  public UserAccount with(int otherWorkLimit) {
    return new UserAccount(
        name, administrator, otherWorkLimit, verifiers, number, locked, validUntilMicros);
  }

  /** The same user, that may not log in, or may again. */
  public UserAccount locked(boolean closes) {
    return new UserAccount(
        name, administrator, workLimit, verifiers, number, closes, validUntilMicros);
  }

  /** The same user with another end of its validity. */
  public UserAccount validUntil(long micros) {
    return new UserAccount(name, administrator, workLimit, verifiers, number, locked, micros);
  }

  /** Without the verifiers: who knows them can pretend to be the server. */
  @Override
  public String toString() {
    return "user " + name + (administrator ? ", administrator" : "");
  }
}
