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
  public static final Credentials NONE = new Credentials("", null, null);

  private final String user;
  private final @Nullable String password;
  private final @Nullable Path passwordFile;

  private Credentials(String user, @Nullable String password, @Nullable Path passwordFile) {
    this.user = requireNonNull(user, "user");
    this.password = password;
    this.passwordFile = passwordFile;
  }

  /**
   * @param password null or empty for none: then only a certificate can prove who the user is
   */
  public static Credentials ofPassword(String user, @Nullable String password) {
    return new Credentials(user, password == null || password.isEmpty() ? null : password, null);
  }

  /**
   * @param file its first line is the password
   */
  public static Credentials ofFile(String user, Path file) {
    return new Credentials(user, null, requireNonNull(file, "file").toAbsolutePath().normalize());
  }

  /** The name of the user; may be empty. */
  public String user() {
    return user;
  }

  /** True if there is a password, or a file that should have one. */
  boolean hasPassword() {
    return password != null || passwordFile != null;
  }

  /**
   * Returns the password.
   *
   * @throws IOException if the password file cannot be read or is empty; the message does not quote
   *     the file
   */
  String password() throws IOException {
    Path file = passwordFile;
    if (file == null) {
      return requireNonNull(password, "password");
    }
    try (BufferedReader reader = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
      String line = reader.readLine();
      if (line == null || line.isEmpty()) {
        throw new IOException("its first line is empty");
      }
      return line;
    } catch (IOException e) {
      throw new IOException("the password file " + file + " cannot be read: " + e, e);
    }
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof Credentials that
        && user.equals(that.user)
        && Objects.equals(password, that.password)
        && Objects.equals(passwordFile, that.passwordFile);
  }

  @Override
  public int hashCode() {
    return Objects.hash(user, password, passwordFile);
  }

  /** Without the password. */
  @Override
  public String toString() {
    return "user '" + user + "'" + (hasPassword() ? " with a password" : "");
  }
}
