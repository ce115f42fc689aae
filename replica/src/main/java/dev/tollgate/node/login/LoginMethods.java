package dev.tollgate.node.login;

import java.net.InetAddress;
import org.jspecify.annotations.Nullable;

/**
 * By which ways a node lets users log in.
 *
 * @param rules who may log in how; null if every way that is set up is open to every user
 * @param tokens what checks tokens; null if they are no logins
 * @param directory what has a directory check passwords; null if none does. Asked only for users
 *     for whom a rule says so
 */
public record LoginMethods(
    @Nullable WatchedFile<LoginRuleFile> rules,
    @Nullable TokenCheck tokens,
    @Nullable DirectoryCheck directory)
    implements AutoCloseable {
  /** Passwords and certificates, for every user. */
  public static final LoginMethods STANDARD = new LoginMethods(/* rules= */ null, null);

  /** Creates the ways of a node without a directory. */
  public LoginMethods(@Nullable WatchedFile<LoginRuleFile> rules, @Nullable TokenCheck tokens) {
    this(rules, tokens, null);
  }

  /**
   * True if a user may log in by this way.
   *
   * @param user as the cluster spells it
   * @param from null for a client within this process
   */
  public boolean allow(LoginMethod method, String user, @Nullable InetAddress from) {
    return rules == null ? isUnruled(method) : rules.content().method(user, from) == method;
  }

  /** True if some user may log in by this way from an address. */
  public boolean offer(LoginMethod method, @Nullable InetAddress from) {
    return rules == null ? isUnruled(method) : rules.content().methods(from).contains(method);
  }

  /** Without rules, nothing says which passwords are for the cluster and which for a directory. */
  private static boolean isUnruled(LoginMethod method) {
    return method != LoginMethod.LDAP;
  }

  /** Reads files that have changed. Does I/O. */
  public void refresh() {
    if (rules != null) {
      rules.refresh();
    }
    if (tokens != null) {
      tokens.refresh();
    }
    if (directory != null) {
      directory.refresh();
    }
  }

  @Override
  public void close() {
    if (tokens != null) {
      tokens.close();
    }
    if (directory != null) {
      directory.close();
    }
  }
}
