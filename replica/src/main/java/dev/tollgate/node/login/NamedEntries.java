package dev.tollgate.node.login;

import com.unboundid.ldap.sdk.DN;
import com.unboundid.ldap.sdk.LDAPException;
import com.unboundid.ldap.sdk.RDN;
import java.io.IOException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Entries whose names are made of those of users. Names that are no DNs are for Active Directory:
 * nothing can be escaped in them, so only plain names of users go into them.
 *
 * @param attribute of the first part of a DN; null for names that are no DNs
 * @param parent the rest of a DN; null for names that are no DNs
 */
record NamedEntries(
    DirectorySettings.Named settings, @Nullable String attribute, @Nullable DN parent)
    implements DirectoryEntries {
  /** What comes before the name in a DN. */
  private static final Pattern PREFIX = Pattern.compile("\\s*([A-Za-z][A-Za-z0-9-]*)\\s*=\\s*");

  /** Names that mean the same in every form of a name. */
  private static final Pattern PLAIN = Pattern.compile("[a-z0-9_][a-z0-9_.-]*");

  static NamedEntries of(DirectorySettings.Named settings) throws IOException, LDAPException {
    var prefix = PREFIX.matcher(settings.prefix());
    String suffix = settings.suffix().strip();
    if (!prefix.matches()) {
      if (settings.prefix().indexOf('=') >= 0 || suffix.indexOf('=') >= 0) {
        throw new IOException(
            "the prefix of the names of entries is an attribute and =, such as uid=, and not '"
                + settings.prefix()
                + "'");
      }
      if (settings.prefix().isEmpty() && suffix.isEmpty()) {
        throw new IOException("nothing says which entry of the directory is a user's");
      }
      return new NamedEntries(settings, null, null);
    }
    if (!suffix.startsWith(",")) {
      throw new IOException(
          "the suffix of the names of entries begins with a comma, and not as '" + suffix + "'");
    }
    return new NamedEntries(settings, prefix.group(1), new DN(suffix.substring(1)));
  }

  @Override
  public @Nullable String nameOf(String user, DirectoryLink link) {
    if (attribute != null && parent != null) {
      return new DN(new RDN(attribute, user), parent).toString();
    }
    return PLAIN.matcher(user).matches() ? settings.prefix() + user + settings.suffix() : null;
  }
}
