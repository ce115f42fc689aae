package dev.tollgate.tls;

import dev.tollgate.cli.certificates.TestAuthority;
import dev.tollgate.cli.certificates.TestAuthority.Issued;
import dev.tollgate.cli.certificates.TestAuthority.Validity;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A CA in a folder, and certificates of every kind that a test may want. */
public final class TestCertificates {
  /** Valid today and tomorrow. */
  public static Validity now() {
    return Validity.days(Instant.now(), 2);
  }

  /** Valid until a minute ago. */
  public static Validity expired() {
    Instant now = Instant.now();
    return new Validity(now.minus(Duration.ofDays(2)), now.minus(Duration.ofMinutes(1)));
  }

  public final TestAuthority authority;
  public final Path folder;
  public final Events events = new Events();

  /** What became of files, in order. */
  public static final class Events implements TlsCredentials.Listener {
    public final List<String> reloaded = Collections.synchronizedList(new ArrayList<>());
    public final List<String> warned = Collections.synchronizedList(new ArrayList<>());
    public final List<String> failed = Collections.synchronizedList(new ArrayList<>());

    @Override
    public void reloaded(String what) {
      reloaded.add(what);
    }

    @Override
    public void warned(String what) {
      warned.add(what);
    }

    @Override
    public void failed(String why) {
      failed.add(why);
    }
  }

  public TestCertificates(Path folder) throws IOException, GeneralSecurityException {
    this.folder = Files.createDirectories(folder);
    this.authority = TestAuthority.create("CA in " + folder.getFileName(), now());
    Files.writeString(trust(), TestAuthority.pem(authority.certificate()));
  }

  /** The certificate of the CA. */
  public Path trust() {
    return folder.resolve("ca.crt");
  }

  public Path certificate(String name) {
    return folder.resolve(name + ".crt");
  }

  public Path key(String name) {
    return folder.resolve(name + ".key");
  }

  public Path crl() {
    return folder.resolve("crl.pem");
  }

  /** Writes a certificate and its key, in place of those that were there. */
  public X509Certificate write(String name, Issued issued) throws IOException {
    replace(key(name), issued.keyPem());
    replace(certificate(name), issued.certificatePem());
    return issued.certificate();
  }

  public static void replace(Path file, String text) throws IOException {
    Path fresh = file.resolveSibling(file.getFileName() + ".new");
    Files.writeString(fresh, text);
    Files.move(fresh, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
  }

  /** Writes the certificate of a node on this host. */
  public X509Certificate node(String id) throws IOException, GeneralSecurityException {
    return write(id, authority.node(id, List.of("127.0.0.1", "localhost"), now()));
  }

  public X509Certificate user(String name) throws IOException, GeneralSecurityException {
    return write(name, authority.user(name, now()));
  }

  public void revoke(X509Certificate... certificates) throws IOException, GeneralSecurityException {
    List<BigInteger> serials = new ArrayList<>();
    for (X509Certificate certificate : certificates) {
      serials.add(certificate.getSerialNumber());
    }
    replace(crl(), Pem.block("X509 CRL", authority.revocations(serials, now())));
  }

  /** The files of a name that trusts this CA; with the revocation list if there is one. */
  public TlsFiles files(String name) {
    return files(name, trust());
  }

  public TlsFiles files(String name, Path trust) {
    return new TlsFiles(
        certificate(name), key(name), null, null, null, trust, Files.exists(crl()) ? crl() : null);
  }

  public TlsCredentials credentials(String name) throws IOException {
    return new TlsCredentials(files(name), TlsVersion.TLS_1_3, events);
  }

  /** The credentials of a name that trusts another CA. */
  public TlsCredentials credentialsFor(String name, TestCertificates trusted) throws IOException {
    return new TlsCredentials(files(name, trusted.trust()), TlsVersion.TLS_1_3, events);
  }

  /** Writes a PKCS#12 file with the certificate and the key of a name. */
  public static void writeStore(Path file, Issued issued, TestAuthority authority, char[] password)
      throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    store.setKeyEntry(
        "own",
        issued.key(),
        password,
        new Certificate[] {issued.certificate(), authority.certificate()});
    try (var out = Files.newOutputStream(file)) {
      store.store(out, password);
    }
  }

  /** Writes a PKCS#12 file with the CA. */
  public void writeTrustStore(Path file, char[] password)
      throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    store.setCertificateEntry("ca", authority.certificate());
    try (var out = Files.newOutputStream(file)) {
      store.store(out, password);
    }
  }
}
