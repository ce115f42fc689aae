package dev.tollgate.node.client;

import dev.tollgate.core.command.UserName;
import dev.tollgate.node.login.LineFile;
import dev.tollgate.sql.UserNames;
import dev.tollgate.tls.Certificates;
import java.io.IOException;
import java.nio.file.Path;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import javax.naming.InvalidNameException;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;
import javax.security.auth.x500.X500Principal;
import org.jspecify.annotations.Nullable;

/**
 * Which user a certificate stands for: lines of a kind of name, a name, and a user, of which the
 * first one that fits decides. Names are compared exactly, character by character. Immutable;
 * docs/security.md describes the file.
 */
final class CertificateMap {
  private static final String ANY = "*";

  /** Where a name stands in a certificate. */
  private enum Kind {
    URI(6),
    DNS(2),
    EMAIL(1),
    /** The common name of the subject, if it has one alone. */
    CN(-1),
    /** The whole subject, as RFC 2253 writes it. */
    SUBJECT(-1);

    private final int tag;

    Kind(int tag) {
      this.tag = tag;
    }

    Set<String> namesIn(X509Certificate certificate) {
      return switch (this) {
        case URI, DNS, EMAIL -> alternatives(certificate, tag);
        case CN -> commonName(certificate);
        case SUBJECT -> Set.of(certificate.getSubjectX500Principal().getName());
      };
    }
  }

  /**
   * @param prefix whether the name stands for all names that begin with it
   * @param user as the cluster spells it; {@code *} for the rest of the name
   */
  private record Line(Kind kind, String name, boolean prefix, String user) {
    /** The users that the line makes of a certificate; one for each name that fits. */
    Set<String> users(X509Certificate certificate) {
      Set<String> users = new LinkedHashSet<>();
      for (String given : kind.namesIn(certificate)) {
        if (prefix
            ? given.startsWith(name) && given.length() > name.length()
            : given.equals(name)) {
          users.add(user.equals(ANY) ? given.substring(name.length()) : user);
        }
      }
      return users;
    }
  }

  /** Takes the name of a user from a URI, {@code tollgate:user:NAME}. */
  static final CertificateMap OF_NAMES =
      new CertificateMap(List.of(new Line(Kind.URI, Certificates.USER, /* prefix= */ true, ANY)));

  private final List<Line> lines;

  private CertificateMap(List<Line> lines) {
    this.lines = List.copyOf(lines);
  }

  /**
   * Reads a file.
   *
   * @throws IOException if it cannot be read, or a line of it
   */
  static CertificateMap read(Path file) throws IOException {
    return new CertificateMap(LineFile.read(file, CertificateMap::line));
  }

  private static Line line(List<String> words) {
    if (words.size() != 3) {
      throw new IllegalArgumentException(
          "write a kind of name, the name, and the user; quote what has spaces");
    }
    Kind kind = kind(words.get(0));
    String written = words.get(1);
    boolean prefix = written.endsWith(ANY);
    String name = prefix ? written.substring(0, written.length() - ANY.length()) : written;
    String user = words.get(2);
    if (user.equals(ANY)) {
      if (!prefix || kind == Kind.SUBJECT) {
        throw new IllegalArgumentException(
            "the user * is the rest of a name that ends in *, and of no subject");
      }
      return new Line(kind, name, /* prefix= */ true, ANY);
    }
    if (prefix && name.isEmpty()) {
      throw new IllegalArgumentException("the name * would log everybody in as " + user);
    }
    String spelled = UserNames.spelled(user);
    if (!UserName.isValid(spelled) || !UserNames.isClear(spelled)) {
      throw new IllegalArgumentException("no user can have the name '" + user + "'");
    }
    return new Line(kind, kind == Kind.SUBJECT ? subject(name, prefix) : name, prefix, spelled);
  }

  private static Kind kind(String word) {
    for (Kind kind : Kind.values()) {
      if (kind.name().toLowerCase(Locale.ROOT).equals(word)) {
        return kind;
      }
    }
    throw new IllegalArgumentException("'" + word + "' is none of uri, dns, email, cn and subject");
  }

  private static String subject(String name, boolean prefix) {
    if (prefix) {
      throw new IllegalArgumentException("a subject is written in full, without *");
    }
    return new X500Principal(name).getName();
  }

  /**
   * Returns the user of a certificate that was checked; null if it logs nobody in, also because it
   * has several names for which a line would have it be several users.
   */
  @Nullable String user(X509Certificate certificate) {
    if (Certificates.strangeToUsers(certificate) != null) {
      return null;
    }
    for (Line line : lines) {
      Set<String> users = line.users(certificate);
      if (!users.isEmpty()) {
        return users.size() == 1 ? users.iterator().next() : null;
      }
    }
    return null;
  }

  private static Set<String> alternatives(X509Certificate certificate, int tag) {
    Set<String> found = new LinkedHashSet<>();
    try {
      Collection<List<?>> names = certificate.getSubjectAlternativeNames();
      if (names != null) {
        for (List<?> name : names) {
          if (name.get(0).equals(tag) && name.get(1) instanceof String text) {
            found.add(text);
          }
        }
      }
    } catch (CertificateParsingException e) {
      return Set.of();
    }
    return found;
  }

  private static Set<String> commonName(X509Certificate certificate) {
    List<String> found = new ArrayList<>();
    try {
      for (Rdn part : new LdapName(certificate.getSubjectX500Principal().getName()).getRdns()) {
        if (part.toAttributes().size() > 1) {
          return Set.of();
        }
        if (part.getType().equals("CN")) {
          found.add(String.valueOf(part.getValue()));
        }
      }
    } catch (InvalidNameException e) {
      return Set.of();
    }
    return found.size() == 1 ? Set.of(found.get(0)) : Set.of();
  }
}
