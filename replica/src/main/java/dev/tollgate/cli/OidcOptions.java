package dev.tollgate.cli;

import dev.tollgate.node.login.TokenCheck;
import dev.tollgate.node.login.TokenSettings;
import dev.tollgate.tls.TlsCredentials;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of {@link LoginRuleOptions} that are about tokens of an identity provider. */
final class OidcOptions {
  @Option(
      names = "--oidc-issuer",
      paramLabel = "URL",
      description =
          "Take tokens of this issuer for logins: JWTs whose claim iss is exactly this."
              + " [TOLLGATE_OIDC_ISSUER]")
  private @Nullable String issuer;

  @Option(
      names = "--oidc-audience",
      paramLabel = "NAME",
      description = "What a token has to have among its audiences. [TOLLGATE_OIDC_AUDIENCE]")
  private @Nullable String audience;

  @Option(
      names = "--oidc-jwks",
      paramLabel = "FILE|URL",
      description =
          "The keys of the issuer, a JWKS: a file, read again when it changes, or an address that"
              + " begins with https://, fetched every five minutes. [TOLLGATE_OIDC_JWKS]")
  private @Nullable String keys;

  @Option(
      names = "--oidc-jwks-trust",
      paramLabel = "FILE",
      description =
          "File with the certificates of the CAs of the server of --oidc-jwks; PEM. Without it, the"
              + " JDK's own. [TOLLGATE_OIDC_JWKS_TRUST]")
  private @Nullable Path keysTrust;

  @Option(
      names = "--oidc-claim",
      paramLabel = "NAME",
      description =
          "The claim that names the user; without --oidc-map, its value is the name of the user."
              + " [TOLLGATE_OIDC_CLAIM]")
  private @Nullable String claim;

  @Option(
      names = "--oidc-map",
      paramLabel = "FILE",
      description =
          "File that says which value of the claim, sub unless --oidc-claim names another one, is"
              + " which user. Read again when it changes. [TOLLGATE_OIDC_MAP]")
  private @Nullable Path map;

  @Option(
      names = "--oidc-clock-skew",
      paramLabel = "SECONDS",
      defaultValue = "60",
      description =
          "By how many seconds the clocks of issuer and node may differ, 0 to 300."
              + " [TOLLGATE_OIDC_CLOCK_SKEW]")
  private long clockSkew;

  @Option(
      names = "--oidc-end-connections",
      arity = "0..1",
      fallbackValue = "true",
      paramLabel = "true|false",
      defaultValue = "true",
      description =
          "End a connection when the token of its login has expired. [TOLLGATE_OIDC_END_CONNECTIONS]")
  private boolean endConnections;

  OidcOptions() {}

  /** Rejects settings that make no sense. */
  void requireSense(ConnectionOptions.Requirement that) {
    if (issuer == null) {
      that.require(
          Stream.of(audience, keys, keysTrust, claim, map).allMatch(Objects::isNull),
          "--oidc-audience, --oidc-jwks, --oidc-jwks-trust, --oidc-claim and --oidc-map belong to"
              + " --oidc-issuer: give it, or leave them out");
      return;
    }
    that.require(
        audience != null && keys != null,
        "--oidc-issuer needs --oidc-audience, for whom tokens have to be, and --oidc-jwks, with"
            + " which the issuer signs");
    that.require(
        claim != null || map != null,
        "--oidc-issuer needs --oidc-map, a file that says which user a token is for, or"
            + " --oidc-claim, the claim that is the name of the user");
    long most = TokenSettings.MOST_SKEW.toSeconds();
    that.require(
        clockSkew >= 0 && clockSkew <= most,
        "--oidc-clock-skew has to be from 0 to " + most + ": " + clockSkew);
  }

  /**
   * Reads the files; null if tokens are no logins.
   *
   * @throws IOException if a file cannot be used
   */
  @Nullable TokenCheck tokens(TlsCredentials.Listener listener) throws IOException {
    String expected = issuer;
    String recipient = audience;
    String source = keys;
    if (expected == null || recipient == null || source == null) {
      return null;
    }
    try {
      TokenSettings settings =
          new TokenSettings(
              expected,
              recipient,
              source.contains("://") ? URI.create(source) : Path.of(source).toUri(),
              keysTrust,
              claim == null ? TokenSettings.SUBJECT : claim,
              map,
              Duration.ofSeconds(clockSkew),
              endConnections);
      return settings.open(Clock.systemUTC(), System::nanoTime, listener);
    } catch (IllegalArgumentException e) {
      throw new IOException("the options --oidc make no sense: " + e.getMessage(), e);
    }
  }
}
