package dev.tollgate.cli;

import dev.tollgate.node.login.DirectoryCheck;
import dev.tollgate.node.login.DirectorySettings;
import dev.tollgate.tls.TlsCredentials;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/** The options of {@link LoginRuleOptions} that are about a directory. */
final class LdapOptions {
  /** The attribute that names the user unless another one is chosen, as for PostgreSQL. */
  private static final String ATTRIBUTE = "uid";

  @Option(
      names = "--ldap-url",
      paramLabel = "URL[,URL]",
      description =
          "Servers of the directory that checks passwords where a line of --login-rules says ldap:"
              + " ldaps://host:port, or ldap://host:port for StartTLS, tried in turn."
              + " [TOLLGATE_LDAP_URL]")
  private @Nullable String url;

  @Option(
      names = "--ldap-trust",
      paramLabel = "FILE",
      description =
          "File with the certificates of the CAs of these servers; PEM. Without it, the JDK's own."
              + " Read again when it changes. [TOLLGATE_LDAP_TRUST]")
  private @Nullable Path trust;

  @Option(
      names = "--ldap-prefix",
      paramLabel = "TEXT",
      description =
          "What comes before the name of the user in the name with which to bind, such as uid=."
              + " [TOLLGATE_LDAP_PREFIX]")
  private @Nullable String prefix;

  @Option(
      names = "--ldap-suffix",
      paramLabel = "TEXT",
      description =
          "What comes after it, such as ,ou=people,dc=example,dc=org. [TOLLGATE_LDAP_SUFFIX]")
  private @Nullable String suffix;

  @Option(
      names = "--ldap-base",
      paramLabel = "DN",
      description =
          "Search for the entry of the user below this one, in place of --ldap-prefix and"
              + " --ldap-suffix. [TOLLGATE_LDAP_BASE]")
  private @Nullable String base;

  @Option(
      names = "--ldap-attribute",
      paramLabel = "NAME",
      description =
          "The attribute whose value is the name of the user, uid unless given."
              + " [TOLLGATE_LDAP_ATTRIBUTE]")
  private @Nullable String attribute;

  @Option(
      names = "--ldap-filter",
      paramLabel = "FILTER",
      description =
          "What to search for in place of --ldap-attribute, with $username for the name of the"
              + " user. [TOLLGATE_LDAP_FILTER]")
  private @Nullable String filter;

  @Option(
      names = "--ldap-bind-dn",
      paramLabel = "DN",
      description = "As whom to search; without it, as nobody. [TOLLGATE_LDAP_BIND_DN]")
  private @Nullable String bindDn;

  @Option(
      names = "--ldap-bind-password-file",
      paramLabel = "FILE",
      description =
          "File whose first line is the password of --ldap-bind-dn. Read again when it changes."
              + " [TOLLGATE_LDAP_BIND_PASSWORD_FILE]")
  private @Nullable Path bindPasswordFile;

  LdapOptions() {}

  /** Rejects settings that make no sense. */
  void requireSense(ConnectionOptions.Requirement that) {
    if (url == null) {
      that.require(
          Stream.of(trust, prefix, suffix, base, attribute, filter, bindDn, bindPasswordFile)
              .allMatch(Objects::isNull),
          "the options --ldap belong to --ldap-url: give it, or leave them out");
      return;
    }
    boolean named = prefix != null || suffix != null;
    that.require(
        named != (base != null),
        "--ldap-url needs either --ldap-prefix and --ldap-suffix, which make the name of an entry"
            + " of the name of the user, or --ldap-base, below which to search");
    that.require(
        base != null
            || Stream.of(attribute, filter, bindDn, bindPasswordFile).allMatch(Objects::isNull),
        "--ldap-attribute, --ldap-filter, --ldap-bind-dn and --ldap-bind-password-file belong to"
            + " --ldap-base: give it, or leave them out");
    that.require(
        attribute == null || filter == null,
        "--ldap-attribute and --ldap-filter both say what to search for: leave one out");
    that.require(
        (bindDn == null) == (bindPasswordFile == null),
        "--ldap-bind-dn and --ldap-bind-password-file go together: give both, or none");
  }

  /**
   * Reads the files; null if no directory checks passwords.
   *
   * @throws IOException if a file cannot be used, or an option has no usable value
   */
  @Nullable DirectoryCheck directory(TlsCredentials.Listener listener) throws IOException {
    String servers = url;
    if (servers == null) {
      return null;
    }
    try {
      return new DirectorySettings(urls(servers), trust, entries())
          .open(System::nanoTime, listener);
    } catch (IllegalArgumentException e) {
      throw new IOException("the options --ldap make no sense: " + e.getMessage(), e);
    }
  }

  private static List<URI> urls(String servers) {
    List<URI> urls = new ArrayList<>();
    for (String server : servers.split(",", -1)) {
      urls.add(URI.create(server.strip()));
    }
    return urls;
  }

  private DirectorySettings.Entries entries() {
    String below = base;
    return below == null
        ? new DirectorySettings.Named(prefix == null ? "" : prefix, suffix == null ? "" : suffix)
        : new DirectorySettings.Searched(
            below,
            filter != null ? null : attribute == null ? ATTRIBUTE : attribute,
            filter,
            bindDn,
            bindPasswordFile);
  }
}
