package dev.tollgate.transport;

import static java.util.Objects.requireNonNull;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The user of a connection, and how the driver proves to be that user. Immutable.
 *
 * <p>A password file is read for each login, so a new password counts without a restart.
 */
public final class Credentials {
  /** No user and no password, for nodes that require none. */
  public static final Credentials NONE = new Credentials("", null, null, Kind.PASSWORD);

  /** What the secret is, or what is in the file. */
  private enum Kind {
    /** A password of which only proofs are sent. */
    PASSWORD,
    /** A password that is sent itself. */
    SENT_PASSWORD,
    TOKEN
  }

  private final String user;
  private final @Nullable String secret;
  private final @Nullable Path file;
  private final Kind kind;

  private Credentials(String user, @Nullable String secret, @Nullable Path file, Kind kind) {
    this.user = requireNonNull(user, "user");
    this.secret = secret;
    this.file = file;
    this.kind = kind;
  }

  /**
   * @param password null or empty for none: then only a certificate can prove who the user is
   */
  public static Credentials ofPassword(String user, @Nullable String password) {
    return new Credentials(
        user, password == null || password.isEmpty() ? null : password, null, Kind.PASSWORD);
  }

  /**
   * @param file its first line is the password
   */
  public static Credentials ofFile(String user, Path file) {
    return new Credentials(user, null, absolute(file), Kind.PASSWORD);
  }

  /**
   * @param user may be empty: then the token says who the user is
   */
  public static Credentials ofToken(String user, String token) {
    return new Credentials(user, requireNonNull(token, "token"), null, Kind.TOKEN);
  }

  /**
   * @param user may be empty: then the token says who the user is
   * @param file its first line is the token
   */
  public static Credentials ofTokenFile(String user, Path file) {
    return new Credentials(user, null, absolute(file), Kind.TOKEN);
  }

  /** The same user and password, where the node gets the password itself. */
  public Credentials sendingPassword() {
    if (kind == Kind.TOKEN) {
      throw new IllegalArgumentException("a token is no password");
    }
    return new Credentials(user, secret, file, Kind.SENT_PASSWORD);
  }

  private static Path absolute(Path file) {
    return requireNonNull(file, "file").toAbsolutePath().normalize();
  }

  /** The name of the user; may be empty. */
  public String user() {
    return user;
  }

  /** True if there is a password, or a file that should have one. */
  boolean hasPassword() {
    return kind != Kind.TOKEN && (secret != null || file != null);
  }

  /** True if there is a token, or a file that should have one. */
  boolean hasToken() {
    return kind == Kind.TOKEN;
  }

  /** True if the password itself is sent. */
  boolean sendsPassword() {
    return kind == Kind.SENT_PASSWORD && hasPassword();
  }

  /**
   * Returns the password.
   *
   * @throws IOException if the password file cannot be read or is empty; the message does not quote
   *     the file
   */
  String password() throws IOException {
    return secret("password");
  }

  /**
   * Returns the token.
   *
   * @throws IOException if the token file cannot be read or is empty; the message does not quote
   *     the file
   */
  String token() throws IOException {
    return secret("token");
  }

  private String secret(String what) throws IOException {
    Path read = file;
    if (read == null) {
      return requireNonNull(secret, "secret");
    }
    try (BufferedReader reader = Files.newBufferedReader(read, StandardCharsets.UTF_8)) {
      String line = reader.readLine();
      if (line == null || line.isEmpty()) {
        throw new IOException("its first line is empty");
      }
      return line;
    } catch (IOException e) {
      throw new IOException("the " + what + " file " + read + " cannot be read: " + e, e);
    }
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Credentials that
        && user.equals(that.user)
        && kind == that.kind
        && Objects.equals(secret, that.secret)
        && Objects.equals(file, that.file);
  }

  @Override
  public int hashCode() {
    return Objects.hash(user, secret, file, kind);
  }

  /** Without the password or token. */
  @Override
  public String toString() {
    return "user '"
        + user
        + "'"
        + (hasToken() ? " with a token" : hasPassword() ? " with a password" : "");
  }
}
