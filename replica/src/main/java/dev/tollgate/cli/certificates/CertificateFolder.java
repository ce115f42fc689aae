package dev.tollgate.cli.certificates;

import static java.util.Objects.requireNonNull;

import dev.tollgate.log.SyncedFiles;
import dev.tollgate.tls.Pem;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509CRL;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * A folder with a CA for tests and what it has issued: NAME.crt and NAME.key for each node and
 * user, ca.crt, ca.key, and crl.pem. Only the owner can read keys. A file is replaced as a whole.
 */
public final class CertificateFolder {
  static final String AUTHORITY = "ca";
  private static final String CERTIFICATE = ".crt";
  private static final String KEY = ".key";
  private static final long AUTHORITY_DAYS = 3_650;

  private final Path folder;
  private final Instant now;
  private final TestAuthority authority;

  /**
   * Opens the folder; makes it, and the CA, if they are not there.
   *
   * @throws IOException if the folder has half a CA, or cannot be used
   */
  public CertificateFolder(Path folder, Instant now) throws IOException, GeneralSecurityException {
    this.folder = requireNonNull(folder, "folder");
    this.now = requireNonNull(now, "now");
    Files.createDirectories(folder);
    if (Files.exists(file(AUTHORITY, KEY))) {
      authority =
          new TestAuthority(
              Pem.key(file(AUTHORITY, KEY), null),
              Pem.certificates(file(AUTHORITY, CERTIFICATE)).get(0));
    } else if (Files.exists(file(AUTHORITY, CERTIFICATE))) {
      throw new IOException(
          folder + " has the certificate of a CA, ca.crt, but not its key, ca.key");
    } else {
      authority =
          TestAuthority.create(
              "Tollgate test CA", TestAuthority.Validity.days(now, AUTHORITY_DAYS));
      write(
          AUTHORITY,
          new TestAuthority.Issued(authority.key(), authority.certificate()),
          /* replace= */ false);
      writeRevocations(Set.of());
    }
  }

  /** The CA of this folder. */
  public TestAuthority authority() {
    return authority;
  }

  private Path file(String name, String suffix) {
    return folder.resolve(name + suffix);
  }

  /** The file with the certificate of a node or user, or of the CA. */
  public Path certificate(String name) {
    return file(name, CERTIFICATE);
  }

  /** The file with the key of a node or user. */
  public Path key(String name) {
    return file(name, KEY);
  }

  /** The file with the revocation list. */
  public Path revocations() {
    return folder.resolve("crl.pem");
  }

  /** Issues a certificate for a node. */
  public void issueNode(String id, Collection<String> hosts, long days, boolean replace)
      throws IOException, GeneralSecurityException {
    write(id, authority.node(id, hosts, TestAuthority.Validity.days(now, days)), replace);
  }

  /** Issues a certificate for a user. */
  public void issueUser(String user, long days, boolean replace)
      throws IOException, GeneralSecurityException {
    write(user, authority.user(user, TestAuthority.Validity.days(now, days)), replace);
  }

  /** Issues every certificate of the folder again, with another key; returns their names. */
  public List<String> renewAll(long days) throws IOException, GeneralSecurityException {
    List<String> names = new ArrayList<>();
    try (Stream<Path> files = Files.list(folder)) {
      files
          .map(file -> file.getFileName().toString())
          .filter(file -> file.endsWith(CERTIFICATE) && !file.equals(AUTHORITY + CERTIFICATE))
          .map(file -> file.substring(0, file.length() - CERTIFICATE.length()))
          .sorted()
          .forEach(names::add);
    }
    for (String name : names) {
      X509Certificate former = Pem.certificates(certificate(name)).get(0);
      write(
          name,
          authority.renewed(former, TestAuthority.Validity.days(now, days)),
          /* replace= */ true);
    }
    return names;
  }

  /** Adds the certificate of a node or user to the revocation list. */
  public void revoke(String name) throws IOException, GeneralSecurityException {
    Set<BigInteger> revoked = new TreeSet<>();
    if (Files.exists(revocations())) {
      try (var in = Files.newInputStream(revocations())) {
        X509CRL list = (X509CRL) CertificateFactory.getInstance("X.509").generateCRL(in);
        if (list.getRevokedCertificates() != null) {
          list.getRevokedCertificates().forEach(entry -> revoked.add(entry.getSerialNumber()));
        }
      }
    }
    revoked.add(Pem.certificates(certificate(name)).get(0).getSerialNumber());
    writeRevocations(revoked);
  }

  private void writeRevocations(Set<BigInteger> serials)
      throws IOException, GeneralSecurityException {
    byte[] list = authority.revocations(serials, TestAuthority.Validity.days(now, AUTHORITY_DAYS));
    write(revocations(), Pem.block("X509 CRL", list), "rw-r--r--", /* replace= */ true);
  }

  private void write(String name, TestAuthority.Issued issued, boolean replace) throws IOException {
    if (!replace && Files.exists(certificate(name))) {
      throw new FileAlreadyExistsException(
          certificate(name).toString(), null, "is there already: --renew replaces it");
    }
    write(key(name), issued.keyPem(), "rw-------", replace);
    write(certificate(name), issued.certificatePem(), "rw-r--r--", replace);
  }

  private static void write(Path file, String text, String mode, boolean replace)
      throws IOException {
    if (!replace && Files.exists(file)) {
      throw new FileAlreadyExistsException(
          file.toString(), null, "is there already: --renew replaces it");
    }
    Path fresh = file.resolveSibling(file.getFileName() + ".new");
    Files.deleteIfExists(fresh);
    boolean posix = file.getFileSystem().supportedFileAttributeViews().contains("posix");
    FileAttribute<?>[] attributes =
        posix
            ? new FileAttribute<?>[] {
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(mode))
            }
            : new FileAttribute<?>[0];
    Files.createFile(fresh, attributes);
    Files.write(fresh, text.getBytes(StandardCharsets.US_ASCII));
    SyncedFiles.sync(fresh);
    SyncedFiles.move(fresh, file);
  }
}
