package dev.tollgate.node.login;

import com.unboundid.ldap.sdk.Attribute;
import com.unboundid.ldap.sdk.DN;
import com.unboundid.ldap.sdk.Filter;
import com.unboundid.ldap.sdk.LDAPException;
import com.unboundid.ldap.sdk.ResultCode;
import com.unboundid.ldap.sdk.SearchRequest;
import com.unboundid.ldap.sdk.SearchResultEntry;
import com.unboundid.ldap.sdk.SearchScope;
import dev.tollgate.tls.TlsCredentials;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Entries that a search finds.
 *
 * @param password of the entry as which to search; null for a search as nobody
 */
record SearchedEntries(DirectorySettings.Searched settings, @Nullable WatchedFile<String> password)
    implements DirectoryEntries {
  private static final Pattern ATTRIBUTE = Pattern.compile("[A-Za-z][A-Za-z0-9-]*");

  static SearchedEntries of(DirectorySettings.Searched settings, TlsCredentials.Listener listener)
      throws IOException, LDAPException {
    String attribute = settings.attribute();
    if (attribute != null && !ATTRIBUTE.matcher(attribute).matches()) {
      throw new IOException("'" + attribute + "' is no attribute of an entry");
    }
    String filter = settings.filter();
    if (filter != null && !filter.contains(DirectorySettings.Searched.USER)) {
      throw new IOException(
          "the filter " + filter + " finds every user alike: write $username in it");
    }
    if (new DN(settings.base()).isNullDN()) {
      throw new IOException("a search in a directory needs the DN of an entry to begin at");
    }
    Path file = settings.passwordFile();
    SearchedEntries entries =
        new SearchedEntries(
            settings,
            file == null
                ? null
                : new WatchedFile<>(
                    "the password for searches in the directory",
                    file,
                    SearchedEntries::firstLine,
                    listener));
    if (settings.bindDn() != null && new DN(settings.bindDn()).isNullDN()) {
      throw new IOException("the DN as which to search is empty: leave it out");
    }
    // throws if the filter is none
    entries.filter("jo");
    return entries;
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

  private Filter filter(String user) throws LDAPException {
    String attribute = settings.attribute();
    String filter = settings.filter();
    return attribute != null || filter == null
        ? Filter.createEqualityFilter(attribute, user)
        : Filter.create(filter.replace(DirectorySettings.Searched.USER, Filter.encodeValue(user)));
  }

  @Override
  public @Nullable String nameOf(String user, DirectoryLink link) throws LDAPException {
    String as = settings.bindDn();
    if (as != null && password != null) {
      link.bindToSearch(as, password.content());
    }
    String attribute = settings.attribute();
    List<SearchResultEntry> found =
        link.search(
            new SearchRequest(
                settings.base(),
                SearchScope.SUB,
                filter(user),
                attribute == null ? SearchRequest.NO_ATTRIBUTES : attribute));
    if (found.size() > 1) {
      throw new LDAPException(
          ResultCode.SIZE_LIMIT_EXCEEDED,
          "the search for a user finds more than one entry: write a narrower filter or base");
    }
    // the bind that follows would be one of nobody if the entry had no name
    return found.isEmpty() || !is(found.get(0), user) || found.get(0).getParsedDN().isNullDN()
        ? null
        : found.get(0).getDN();
  }

  /** A directory may find more than was asked for: some take accents for nothing. */
  private boolean is(SearchResultEntry entry, String user) {
    if (settings.attribute() == null) {
      return true;
    }
    for (Attribute attribute : entry.getAttributes()) {
      for (String value : attribute.getValues()) {
        if (value.equalsIgnoreCase(user)) {
          return true;
        }
      }
    }
    return false;
  }

  @Override
  public void refresh() {
    if (password != null) {
      password.refresh();
    }
  }
}
