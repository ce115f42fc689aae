package dev.tollgate.core.command;

import static java.util.Objects.requireNonNull;

import java.util.List;

/**
 * A user.
 *
 * @param administrator whether the user may do everything
 * @param workLimit how much a statement of the user may do, in percent of what {@link Limits} allow
 *     a statement, 1 to {@link Limits#FULL_WORK}. An administrator has no such limit
 * @param verifiers of the passwords that are valid, the newest first, at most {@link
 *     Limits#PASSWORDS_PER_USER}. They have one salt and iteration count, so that one proof can be
 *     checked against each. None for a user who logs in by a certificate
 * @param number tells the user from former and later ones of its name; from 1, and 0 for an account
 *     that is not in the state yet
 */
public record UserAccount(
    UserName name, boolean administrator, int workLimit, List<String> verifiers, long number) {
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
  }

  /** A user that has no number yet. */
  public UserAccount(UserName name, boolean administrator, int workLimit, List<String> verifiers) {
    this(name, administrator, workLimit, verifiers, 0);
  }

  /** A user that has neither a work limit nor a number. */
  public UserAccount(UserName name, boolean administrator, List<String> verifiers) {
    this(name, administrator, Limits.FULL_WORK, verifiers);
  }

  /** The same user with its number. */
  public UserAccount numbered(long given) {
    return new UserAccount(name, administrator, workLimit, verifiers, given);
  }

  /** Rejects what is no verifier: mechanism, iterations and salt, then {@code $} and the keys. */
  static void requireVerifier(String verifier) {
    if (verifier.length() > Limits.VERIFIER_CHARS || verifier.lastIndexOf('$') < 0) {
      throw new IllegalArgumentException("a verifier of " + verifier.length() + " characters");
    }
  }

  /** Returns true if the password of this verifier can be valid together with the newest one. */
  public boolean isSaltedAlike(String verifier) {
    return verifiers.isEmpty() || salting(verifier).equals(salting(verifiers.get(0)));
  }

  private static String salting(String verifier) {
    return verifier.substring(0, verifier.lastIndexOf('$'));
  }

  /** The same user with other passwords. */
  public UserAccount with(List<String> others) {
    return new UserAccount(name, administrator, workLimit, others, number);
  }

  /** The same user as an administrator, or as none. */
  public UserAccount with(boolean administers) {
    return new UserAccount(name, administers, workLimit, verifiers, number);
  }

  /** The same user with another work limit. */
  public UserAccount with(int otherWorkLimit) {
    return new UserAccount(name, administrator, otherWorkLimit, verifiers, number);
  }

  /** Without the verifiers: who knows them can pretend to be the server. */
  @Override
  public String toString() {
    return "user " + name + (administrator ? ", administrator" : "");
  }
}
