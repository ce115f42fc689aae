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
 */
public record UserAccount(
    UserName name, boolean administrator, int workLimit, List<String> verifiers) {
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

  /** A user without a work limit. */
  public UserAccount(UserName name, boolean administrator, List<String> verifiers) {
    this(name, administrator, Limits.FULL_WORK, verifiers);
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
    return new UserAccount(name, administrator, workLimit, others);
  }

  /** The same user as an administrator, or as none. */
  public UserAccount with(boolean administers) {
    return new UserAccount(name, administers, workLimit, verifiers);
  }

  /** The same user with another work limit. */
  public UserAccount with(int otherWorkLimit) {
    return new UserAccount(name, administrator, otherWorkLimit, verifiers);
  }

  /** Without the verifiers: who knows them can pretend to be the server. */
  @Override
  public String toString() {
    return "user " + name + (administrator ? ", administrator" : "");
  }
}
