package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

/**
 * What a node demands of logins.
 *
 * @param bindingRequired whether a login by password has to be bound to the TLS connection
 *     (SCRAM-SHA-256-PLUS)
 * @param passwords what it demands of new passwords
 */
public record LoginRules(boolean bindingRequired, PasswordRules passwords) {
  public static final LoginRules STANDARD =
      new LoginRules(/* bindingRequired= */ false, PasswordRules.STANDARD);

  public LoginRules {
    requireNonNull(passwords, "passwords");
  }
}
