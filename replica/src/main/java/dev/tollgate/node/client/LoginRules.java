package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.node.login.LoginMethods;

/**
 * What a node demands of logins.
 *
 * @param bindingRequired whether a login by password has to be bound to the TLS connection
 *     (SCRAM-SHA-256-PLUS)
 * @param passwords what it demands of new passwords
 * @param methods by which ways users log in
 */
public record LoginRules(boolean bindingRequired, PasswordRules passwords, LoginMethods methods) {
  public static final LoginRules STANDARD =
      new LoginRules(/* bindingRequired= */ false, PasswordRules.STANDARD);

  /** Creates rules for passwords and certificates, for every user. */
  public LoginRules(boolean bindingRequired, PasswordRules passwords) {
    this(bindingRequired, passwords, LoginMethods.STANDARD);
  }

  public LoginRules {
    requireNonNull(passwords, "passwords");
    requireNonNull(methods, "methods");
  }
}
