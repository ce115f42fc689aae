package dev.tollgate.node.login;

import com.unboundid.ldap.sdk.LDAPException;
import dev.tollgate.tls.TlsCredentials;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Finds the entry of a user in a directory. Thread-safe. */
interface DirectoryEntries {
  /**
   * The name with which to bind as a user; null if the directory has no such user.
   *
   * @param user in small letters
   * @throws LDAPException if the directory does not answer as it should
   */
  @Nullable String nameOf(String user, DirectoryLink link) throws LDAPException;

  /** Reads files that have changed. Does I/O. */
  default void refresh() {}

  /**
   * Makes what settings say.
   *
   * @throws IOException if a file cannot be used, or a name or a filter is none
   */
  static DirectoryEntries of(DirectorySettings.Entries entries, TlsCredentials.Listener listener)
      throws IOException {
    try {
      return entries instanceof DirectorySettings.Searched searched
          ? SearchedEntries.of(searched, listener)
          : NamedEntries.of((DirectorySettings.Named) entries);
    } catch (LDAPException e) {
      throw new IOException("the settings for LDAP make no sense: " + e.getMessage(), e);
    }
  }
}
