package dev.tollgate.cli;

import dev.tollgate.node.client.LoginRules;
import dev.tollgate.node.client.PasswordRules;
import picocli.CommandLine.Option;

/** What a node demands of logins and of new passwords. */
final class LoginRuleOptions {
  @Option(
      names = "--min-password-length",
      defaultValue = "8",
      description =
          "The fewest characters of a password that is set at this node, 8 to 128."
              + " [TOLLGATE_MIN_PASSWORD_LENGTH]")
  private int minPasswordLength;

  @Option(
      names = "--strict-passwords",
      arity = "0..1",
      fallbackValue = "true",
      paramLabel = "true|false",
      defaultValue = "false",
      description =
          "Refuse passwords of less than 12 characters, with the user's name in them, or among"
              + " those that are guessed first. [TOLLGATE_STRICT_PASSWORDS]")
  private boolean strictPasswords;

  @Option(
      names = "--require-channel-binding",
      arity = "0..1",
      fallbackValue = "true",
      paramLabel = "true|false",
      defaultValue = "false",
      description =
          "Take passwords of clients only if the login is bound to the TLS connection"
              + " (SCRAM-SHA-256-PLUS). [TOLLGATE_REQUIRE_CHANNEL_BINDING]")
  private boolean channelBinding;

  LoginRuleOptions() {}

  /** Rejects settings that make no sense. */
  void requireSense(ConnectionOptions.Requirement that) {
    that.require(
        minPasswordLength >= PasswordRules.LEAST_LENGTH
            && minPasswordLength <= PasswordRules.MOST_LENGTH,
        "--min-password-length has to be from "
            + PasswordRules.LEAST_LENGTH
            + " to "
            + PasswordRules.MOST_LENGTH
            + ": "
            + minPasswordLength);
  }

  LoginRules rules() {
    return new LoginRules(channelBinding, new PasswordRules(minPasswordLength, strictPasswords));
  }
}
