package dev.tollgate.node.login;

import static java.util.Objects.requireNonNull;

import dev.tollgate.tls.TlsCredentials;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Which tokens a node takes for logins.
 *
 * @param issuer what the claim iss has to be, character by character
 * @param audience what has to be among the audiences of the token
 * @param keys the keys of the issuer as a JWKS: a file, or an address with the scheme https
 * @param keysTrust file with the certificates of CAs that the server of the keys may have, PEM;
 *     null for those of the JDK
 * @param claim which claim names the user
 * @param users file that says which name in the claim is which user; null if the name is the user's
 * @param clockSkew by how much the clocks of node and issuer may differ, at most {@link #MOST_SKEW}
 * @param endsConnections whether a connection ends with the token of its login
 */
public record TokenSettings(
    String issuer,
    String audience,
    URI keys,
    @Nullable Path keysTrust,
    String claim,
    @Nullable Path users,
    Duration clockSkew,
    boolean endsConnections) {
  /** The most that clocks may differ. */
  public static final Duration MOST_SKEW = Duration.ofMinutes(5);

  /** Which claim names the user unless another one is chosen. */
  public static final String SUBJECT = "sub";

  private static final String LIBRARY = "com.nimbusds.jose.JWSHeader";

  public TokenSettings {
    requireNonNull(issuer, "issuer");
    requireNonNull(audience, "audience");
    requireNonNull(keys, "keys");
    requireNonNull(claim, "claim");
    requireNonNull(clockSkew, "clockSkew");
    if (issuer.isEmpty() || audience.isEmpty() || claim.isEmpty()) {
      throw new IllegalArgumentException("an issuer, an audience or a claim without a name");
    }
    if (clockSkew.isNegative() || clockSkew.compareTo(MOST_SKEW) > 0) {
      throw new IllegalArgumentException(
          "the clocks of node and issuer may differ by at most " + MOST_SKEW.toSeconds() + " s");
    }
    boolean file = "file".equals(keys.getScheme());
    if (!file && (!"https".equals(keys.getScheme()) || keys.getHost() == null)) {
      throw new IllegalArgumentException(
          "the keys of the issuer are in a file or at an address that begins with https://, and not"
              + " at "
              + keys);
    }
    if (file && keysTrust != null) {
      throw new IllegalArgumentException("keys in a file, and CAs of a server of keys");
    }
  }

  /** True if the keys come from a server. */
  boolean hasServer() {
    return "https".equals(keys.getScheme());
  }

  /**
   * Begins to check tokens; reads the files.
   *
   * @param clock as the issuer's, nearly
   * @param nanos a clock that does not go back
   * @param listener is told what becomes of files and keys
   * @throws IOException if a file cannot be used, or the library that reads tokens is not there
   */
  public TokenCheck open(Clock clock, LongSupplier nanos, TlsCredentials.Listener listener)
      throws IOException {
    requireLibrary();
    return TokenCheck.of(this, clock, nanos, listener);
  }

  /** A server has the library. A node in an application may not, and then loads no TokenCheck. */
  private static void requireLibrary() throws IOException {
    try {
      Class.forName(LIBRARY, false, TokenSettings.class.getClassLoader());
    } catch (ClassNotFoundException e) {
      throw new IOException(
          "logins by token need com.nimbusds:nimbus-jose-jwt on the class path: add it, or leave"
              + " out the settings for OIDC",
          e);
    }
  }
}
