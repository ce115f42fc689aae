package dev.tollgate.cli;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.UserAccount;
import dev.tollgate.core.command.UserName;
import dev.tollgate.node.NodeSettings;
import dev.tollgate.node.NodeTls;
import dev.tollgate.node.UserSettings;
import dev.tollgate.node.login.LoginMethod;
import dev.tollgate.node.login.LoginMethods;
import dev.tollgate.node.login.LoginRuleFile;
import dev.tollgate.node.login.WatchedFile;
import dev.tollgate.sql.UserNames;
import dev.tollgate.tls.TlsCredentials;
import dev.tollgate.wire.PasswordVerifier;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Who may connect to a node, before the cluster has users that say so. */
final class UserOptions {
  @Option(
      names = "--admin-user",
      defaultValue = "ADMIN",
      description =
          "Name of the administrator that --admin-password-file creates. [TOLLGATE_ADMIN_USER]")
  private String adminUser;

  @Option(
      names = "--admin-password-file",
      description =
          "File whose first line is a password. The leader of a cluster without users creates an"
              + " administrator with it. Implies --require-login."
              + " [TOLLGATE_ADMIN_PASSWORD_FILE]")
  private @Nullable Path adminPasswordFile;

  @Option(
      names = "--require-login",
      arity = "0..1",
      fallbackValue = "true",
      paramLabel = "true|false",
      defaultValue = "false",
      description =
          "Serve no client that has not logged in, from the first moment on. Without it, clients"
              + " have to log in once this node knows that the cluster has users."
              + " [TOLLGATE_REQUIRE_LOGIN]")
  private boolean requireLogin;

  @Option(
      names = "--insecure",
      arity = "0..1",
      fallbackValue = "true",
      paramLabel = "true|false",
      defaultValue = "false",
      description =
          "Start although other hosts can reach this node and nothing protects it."
              + " [TOLLGATE_INSECURE]")
  private boolean insecure;

  @Mixin private final LoginRuleOptions rules = new LoginRuleOptions();

  /**
   * Reads the options. Computing the verifier of a password takes about a tenth of a second.
   *
   * @param listener is told what becomes of files that are read again
   * @throws IOException if the file cannot be read, or has no usable password
   */
  UserSettings settings(TlsCredentials.Listener listener) throws IOException {
    Path file = adminPasswordFile;
    if (file == null) {
      return new UserSettings(requireLogin, /* firstAdministrator= */ null, rules.rules(listener));
    }
    try {
      String name = administratorName();
      String password = firstLine(file);
      String bad = rules.passwords().refusal(name, password);
      if (bad != null) {
        throw new IOException("the password in " + file + " is refused: " + bad);
      }
      return new UserSettings(
          /* loginRequired= */ true,
          new UserAccount(
              new UserName(name),
              /* administrator= */ true,
              List.of(PasswordVerifier.of(password).text())),
          rules.rules(listener));
    } catch (IllegalArgumentException e) {
      throw new IOException(
          "the administrator of --admin-user and " + file + " cannot be created: " + e.getMessage(),
          e);
    }
  }

  private String administratorName() {
    String spelled = UserNames.spelled(adminUser);
    if (!UserNames.isClear(spelled)) {
      throw new IllegalArgumentException(
          "in the name of a user, letters beyond A to Z have to be capitals, and no letters that"
              + " look like others");
    }
    return spelled;
  }

  /** Rejects settings that make no sense. */
  void requireSense(ConnectionOptions.Requirement that) {
    rules.requireSense(that);
  }

  private static String firstLine(Path file) throws IOException {
    try (BufferedReader lines = Files.newBufferedReader(file)) {
      String line = lines.readLine();
      if (line == null || line.isEmpty()) {
        throw new IOException(file + " has no password in its first line");
      }
      return line;
    }
  }

  /**
   * Refuses a node that other hosts can reach without proving who they are.
   *
   * @param raft where other nodes reach this node; null if it has none
   * @param refusal is given what to do
   */
  void requireProtection(
      NodeSettings settings,
      UserSettings users,
      @Nullable InetSocketAddress raft,
      Consumer<String> refusal) {
    NodeTls tls = settings.tls();
    InetSocketAddress clients = settings.listenAddress();
    InetSocketAddress admin = settings.adminAddress();
    if (users.rules().bindingRequired() && (tls == null || tls.clients() == null)) {
      refusal.accept(
          "--require-channel-binding binds logins to TLS, which this node does not speak with"
              + " clients: give --tls-certificate and --tls-key");
    } else if (contradiction(tls, users) != null) {
      refusal.accept(requireNonNull(contradiction(tls, users)));
    } else if (!insecure && isOpen(admin) && !users.loginRequired()) {
      refusal.accept(
          "other hosts can reach the admin address "
              + admin
              + " and would not have to log in: give --admin-password-file, or --require-login if"
              + " the cluster has users, or --insecure to start all the same");
    } else if (!insecure && isOpen(admin) && (tls == null || tls.clients() == null)) {
      refusal.accept(
          "other hosts can reach the admin address "
              + admin
              + " and users would send their passwords to it without TLS: give --tls-certificate"
              + " and --tls-key, or a port alone to listen on loopback, or --insecure to start all"
              + " the same");
    } else if (!insecure && isOpen(clients) && !users.loginRequired()) {
      refusal.accept(
          "clients of other hosts can reach "
              + clients
              + " and would not have to log in: give --admin-password-file, or --require-login if"
              + " the cluster has users, or --insecure to start all the same");
    } else if (!insecure && isOpen(raft) && (tls == null || tls.peers() == null)) {
      refusal.accept(
          "other hosts can reach "
              + raft
              + " and could vote and append as if they were nodes: give --tls-certificate,"
              + " --tls-key and --tls-trust, or --insecure to start all the same");
    }
  }

  /** Says what of the ways to log in does not go together; null if nothing does. */
  private static @Nullable String contradiction(@Nullable NodeTls tls, UserSettings users) {
    LoginMethods methods = users.rules().methods();
    WatchedFile<LoginRuleFile> rules = methods.rules();
    if (methods.directory() != null && rules == null) {
      return "--ldap-url checks the passwords of users for whom a line of --login-rules says ldap:"
          + " give --login-rules, or leave --ldap-url out";
    }
    if (methods.directory() != null && (tls == null || tls.clients() == null)) {
      return "with --ldap-url, clients send their passwords to this node, and without TLS others"
          + " could read them: give --tls-certificate and --tls-key";
    }
    if (rules == null) {
      return null;
    }
    if (!users.loginRequired()) {
      return "--login-rules say who may log in, and without users nobody has to: give"
          + " --admin-password-file, or --require-login if the cluster has users";
    }
    if (rules.content().names(LoginMethod.OIDC) && methods.tokens() == null) {
      return rules.file()
          + " has a line with oidc: give --oidc-issuer and what belongs to it, or remove the line";
    }
    if (rules.content().names(LoginMethod.LDAP) && methods.directory() == null) {
      return rules.file()
          + " has a line with ldap: give --ldap-url and what belongs to it, or remove the line";
    }
    if (rules.content().names(LoginMethod.CERT) && (tls == null || !tls.logins().isOn())) {
      return rules.file() + " has a line with cert: give --certificate-login, or remove the line";
    }
    return null;
  }

  /** True if clients of other hosts reach the node without TLS. */
  static boolean isReadable(NodeSettings settings) {
    NodeTls tls = settings.tls();
    return isOpen(settings.listenAddress()) && (tls == null || tls.clients() == null);
  }

  private static boolean isOpen(@Nullable InetSocketAddress address) {
    return address != null && !address.getAddress().isLoopbackAddress();
  }
}
