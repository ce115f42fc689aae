package dev.tollgate.node.login;

import static java.util.Objects.requireNonNull;

import dev.tollgate.core.command.Limits;
import dev.tollgate.tls.TlsCredentials;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Which directory checks the passwords of users, by LDAP over TLS, and which entry is a user's.
 *
 * @param servers of the directory, tried in turn: {@code ldaps://host:636}, or {@code
 *     ldap://host:389}, where TLS begins with StartTLS
 * @param trust file with the certificates of CAs that the servers may have, PEM; null for those of
 *     the JDK
 * @param entries where the entry of a user is
 */
public record DirectorySettings(List<URI> servers, @Nullable Path trust, Entries entries) {
  /** How the entry of a user is found. */
  public sealed interface Entries permits Named, Searched {}

  /**
   * The name of the entry is made of the user's: prefix, name, suffix.
   *
   * @param prefix such as {@code uid=}, or what comes before the name in a name that is no DN
   * @param suffix such as {@code ,ou=people,dc=example,dc=org}, or {@code @example.org}
   */
  public record Named(String prefix, String suffix) implements Entries {
    public Named {
      requireNonNull(prefix, "prefix");
      requireNonNull(suffix, "suffix");
    }
  }

  /**
   * The entry is the only one that a search finds.
   *
   * @param base the DN below which to search
   * @param attribute whose value is the name of the user; null if there is a filter
   * @param filter in which {@link #USER} stands for the name; null if there is an attribute
   * @param bindDn as whom to search; null for nobody
   * @param passwordFile whose first line is the password of that entry; null for nobody
   */
  public record Searched(
      String base,
      @Nullable String attribute,
      @Nullable String filter,
      @Nullable String bindDn,
      @Nullable Path passwordFile)
      implements Entries {
    /** What stands for the name of the user in a filter. */
    public static final String USER = "$username";

    public Searched {
      requireNonNull(base, "base");
      if ((attribute == null) == (filter == null)) {
        throw new IllegalArgumentException("a search has an attribute or a filter");
      }
      if ((bindDn == null) != (passwordFile == null)) {
        throw new IllegalArgumentException("a DN to search as, and its password, go together");
      }
    }
  }

  /** The scheme of servers that speak TLS from the first byte on. */
  static final String SECURE = "ldaps";

  private static final String STARTS_TLS = "ldap";
  private static final int SECURE_PORT = 636;
  private static final int PORT = 389;
  private static final String LIBRARY = "com.unboundid.ldap.sdk.LDAPConnection";

  public DirectorySettings {
    servers = List.copyOf(servers);
    requireNonNull(entries, "entries");
    if (servers.isEmpty() || servers.size() > Limits.DIRECTORY_SERVERS) {
      throw new IllegalArgumentException(
          "a directory has 1 to "
              + Limits.DIRECTORY_SERVERS
              + " servers, and not "
              + servers.size());
    }
    for (URI server : servers) {
      boolean known = SECURE.equals(server.getScheme()) || STARTS_TLS.equals(server.getScheme());
      boolean more =
          server.getUserInfo() != null
              || server.getQuery() != null
              || !(server.getPath().isEmpty() || server.getPath().equals("/"));
      if (!known || server.getHost() == null || more) {
        throw new IllegalArgumentException(
            "a server of a directory is ldaps://host:port, or ldap://host:port for StartTLS, and"
                + " not "
                + server);
      }
    }
  }

  static int port(URI server) {
    return server.getPort() >= 0
        ? server.getPort()
        : SECURE.equals(server.getScheme()) ? SECURE_PORT : PORT;
  }

  /**
   * Begins to check passwords; reads the files, and connects to nothing.
   *
   * @param nanos a clock that does not go back
   * @param listener is told what becomes of files, and that the directory cannot be used
   * @throws IOException if a file cannot be used, a name or a filter is none, or the library that
   *     speaks LDAP is not there
   */
  public DirectoryCheck open(LongSupplier nanos, TlsCredentials.Listener listener)
      throws IOException {
    requireLibrary();
    return DirectoryCheck.of(this, nanos, listener);
  }

  /** A server has the library. A node in an application may not, and then loads none of it. */
  private static void requireLibrary() throws IOException {
    try {
      Class.forName(LIBRARY, false, DirectorySettings.class.getClassLoader());
    } catch (ClassNotFoundException e) {
      throw new IOException(
          "logins by LDAP need com.unboundid:unboundid-ldapsdk on the class path: add it, or leave"
              + " out the settings for LDAP",
          e);
    }
  }
}
