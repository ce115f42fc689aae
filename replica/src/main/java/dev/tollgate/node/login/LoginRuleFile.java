package dev.tollgate.node.login;

import dev.tollgate.core.command.Limits;
import dev.tollgate.core.command.UserName;
import dev.tollgate.sql.UserNames;
import java.io.IOException;
import java.net.InetAddress;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * By which way a user may log in from an address: lines of a database, a user, an address and a
 * way, as in pg_hba.conf of PostgreSQL. The first line that fits decides, and where none fits,
 * there is no way. Immutable; docs/security.md describes the file.
 */
public final class LoginRuleFile {
  private static final String ALL = "all";
  private static final int WORDS = 4;

  /**
   * @param user as the cluster spells it; null for all
   * @param from null for all addresses
   */
  private record Line(@Nullable String user, @Nullable AddressRange from, LoginMethod method) {
    boolean isFor(@Nullable InetAddress address) {
      return from == null || (address != null && from.contains(address));
    }

    boolean isFor(String name) {
      return user == null || user.equals(name);
    }
  }

  private final List<Line> lines;

  private LoginRuleFile(List<Line> lines) {
    this.lines = List.copyOf(lines);
  }

  /**
   * Reads a file.
   *
   * @throws IOException if it cannot be read, or a line of it
   */
  public static LoginRuleFile read(Path file) throws IOException {
    return of(file.toString(), LineFile.read(file, LoginRuleFile::line));
  }

  static LoginRuleFile parse(byte[] bytes) throws IOException {
    return of("rules", LineFile.parse("rules", bytes, LoginRuleFile::line));
  }

  private static LoginRuleFile of(String file, List<Line> lines) throws IOException {
    if (lines.size() > Limits.LOGIN_RULES) {
      throw new IOException(
          file + " has " + lines.size() + " lines: write at most " + Limits.LOGIN_RULES + " rules");
    }
    return new LoginRuleFile(lines);
  }

  private static Line line(List<String> words) {
    if (words.size() != WORDS) {
      throw new IllegalArgumentException(
          "write four words: all, a user or all, an address or all, and one of scram, cert, oidc,"
              + " ldap and reject");
    }
    if (!words.get(0).equals(ALL)) {
      throw new IllegalArgumentException(
          "'" + words.get(0) + "' is no database: a cluster has one, so write all");
    }
    String address = words.get(2);
    return new Line(
        user(words.get(1)),
        address.equals(ALL) ? null : AddressRange.parse(address),
        LoginMethod.parse(words.get(3)));
  }

  private static @Nullable String user(String word) {
    if (word.equals(ALL)) {
      return null;
    }
    String spelled = UserNames.spelled(word);
    if (!UserName.isValid(spelled) || !UserNames.isClear(spelled)) {
      throw new IllegalArgumentException("no user can have the name '" + word + "'");
    }
    return spelled;
  }

  /**
   * The way by which a user may log in.
   *
   * @param user as the cluster spells it
   * @param address null for a client within this process, which only lines for all addresses fit
   */
  public LoginMethod method(String user, @Nullable InetAddress address) {
    for (Line line : lines) {
      if (line.isFor(address) && line.isFor(user)) {
        return line.method();
      }
    }
    return LoginMethod.REJECT;
  }

  /** The ways by which some user may log in from an address. */
  public Set<LoginMethod> methods(@Nullable InetAddress address) {
    Set<LoginMethod> methods = EnumSet.noneOf(LoginMethod.class);
    for (Line line : lines) {
      if (line.isFor(address)) {
        methods.add(line.method());
        if (line.user() == null) {
          break;
        }
      }
    }
    methods.remove(LoginMethod.REJECT);
    return methods;
  }

  /** True if a line has this way. */
  public boolean names(LoginMethod method) {
    return lines.stream().anyMatch(line -> line.method() == method);
  }
}
