package dev.tollgate.cli;

import java.io.Console;
import java.nio.file.Path;
import java.util.Properties;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/**
 * The user as whom a command connects to a cluster. There is no option for the password itself:
 * arguments of a process show to every user of its machine.
 */
final class LoginOptions {
  /** System property: true if standard input is a terminal, which Java cannot tell. */
  private static final String TERMINAL = "tollgate.terminal";

  @Option(
      names = "--user",
      scope = ScopeType.INHERIT,
      defaultValue = "${env:TOLLGATE_USER}",
      description = "User of the cluster, if it requires one. [TOLLGATE_USER]")
  private @Nullable String user;

  @Option(
      names = "--password-file",
      scope = ScopeType.INHERIT,
      defaultValue = "${env:TOLLGATE_PASSWORD_FILE}",
      description =
          "File whose first line is that user's password. Without it, a terminal is asked."
              + " [TOLLGATE_PASSWORD_FILE]")
  private @Nullable Path passwordFile;

  private static final Pattern PASSWORD =
      Pattern.compile("[?&]password=", Pattern.CASE_INSENSITIVE);
  private static final Pattern PASSWORD_FILE =
      Pattern.compile("[?&]passwordfile=", Pattern.CASE_INSENSITIVE);

  private @Nullable String typed;

  LoginOptions() {}

  /** True if a URL has a password in it. */
  static boolean hasPassword(String url) {
    return PASSWORD.matcher(url).find();
  }

  /** The properties with which to connect. Asks for the password once, if there is a terminal. */
  Properties properties(String url) {
    return properties(url, Boolean.getBoolean(TERMINAL) ? System.console() : null);
  }

  private Properties properties(String url, @Nullable Console console) {
    Properties properties = of(user, passwordFile);
    boolean inUrl = hasPassword(url) || PASSWORD_FILE.matcher(url).find();
    if (user != null && passwordFile == null && !inUrl && console != null) {
      String password = typed;
      if (password == null) {
        char[] line = console.readPassword("Password of %s: ", user);
        password = line == null ? "" : new String(line);
        typed = password;
      }
      properties.setProperty("password", password);
    }
    return properties;
  }

  /** The properties of a user whose password is in a file. */
  static Properties of(@Nullable String user, @Nullable Path passwordFile) {
    Properties properties = new Properties();
    if (user != null) {
      properties.setProperty("user", user);
    }
    if (passwordFile != null) {
      properties.setProperty("passwordFile", passwordFile.toString());
    }
    return properties;
  }
}
