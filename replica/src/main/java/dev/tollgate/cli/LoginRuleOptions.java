package dev.tollgate.cli;

import dev.tollgate.node.client.LoginRules;
import dev.tollgate.node.client.PasswordRules;
import dev.tollgate.node.login.LoginMethods;
import dev.tollgate.node.login.LoginRuleFile;
import dev.tollgate.node.login.WatchedFile;
import dev.tollgate.tls.TlsCredentials;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
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

  @Option(
      names = "--login-rules",
      paramLabel = "FILE",
      description =
          "File that says which user may log in from which address, and how. The first line that"
              + " fits decides; where none fits, the login is refused. Read again when it changes."
              + " [TOLLGATE_LOGIN_RULES]")
  private @Nullable Path rules;

  @Mixin private final OidcOptions oidc = new OidcOptions();

  @Mixin private final LdapOptions ldap = new LdapOptions();

  LoginRuleOptions() {}

  /** Rejects settings that make no sense. */
  void requireSense(ConnectionOptions.Requirement that) {
    oidc.requireSense(that);
    ldap.requireSense(that);
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

  PasswordRules passwords() {
    return new PasswordRules(minPasswordLength, strictPasswords);
  }

  /**
   * Reads the files.
   *
   * @throws IOException if a file cannot be used
   */
  LoginRules rules(TlsCredentials.Listener listener) throws IOException {
    Path file = rules;
    return new LoginRules(
        channelBinding,
        passwords(),
        new LoginMethods(
            file == null
                ? null
                : new WatchedFile<>("the rules of logins", file, LoginRuleFile::read, listener),
            oidc.tokens(listener),
            ldap.directory(listener)));
  }
}
