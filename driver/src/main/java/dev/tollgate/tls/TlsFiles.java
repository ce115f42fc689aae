package dev.tollgate.tls;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The files with the certificate and the key of this side, and with what it trusts.
 *
 * @param certificate PEM: the certificate, and those between it and its CA
 * @param key PEM, PKCS#8; may be encrypted
 * @param keyStore PKCS#12, in place of certificate and key
 * @param password of the key, or of the PKCS#12 files
 * @param passwordFile a file whose first line is that password
 * @param trust PEM or PKCS#12: the certificates of trusted CAs; null for those of the JDK
 * @param crl PEM or DER: certificate revocation lists of trusted CAs
 */
public record TlsFiles(
    @Nullable Path certificate,
    @Nullable Path key,
    @Nullable Path keyStore,
    @Nullable String password,
    @Nullable Path passwordFile,
    @Nullable Path trust,
    @Nullable Path crl) {
  /** No file: no certificate of this side, and the CAs of the JDK. */
  public static final TlsFiles NONE = new TlsFiles(null, null, null, null, null, null, null);

  public TlsFiles {
    if ((certificate == null) != (key == null)) {
      throw new IllegalArgumentException("a certificate and its key belong together");
    }
    if (certificate != null && keyStore != null) {
      throw new IllegalArgumentException("either a certificate with its key, or a key store");
    }
  }

  /** True if this side has a certificate. */
  public boolean hasCertificate() {
    return certificate != null || keyStore != null;
  }

  char @Nullable [] readPassword() throws IOException {
    if (passwordFile != null) {
      return Files.readString(passwordFile).lines().findFirst().orElse("").toCharArray();
    }
    return password == null ? null : password.toCharArray();
  }

  /** Returns a text that differs once a file was replaced or written. */
  String state() {
    List<String> states = new ArrayList<>();
    Stream.of(certificate, key, keyStore, passwordFile, trust, crl)
        .forEach(file -> states.add(file == null ? "" : state(file)));
    return String.join("|", states);
  }

  private static String state(Path file) {
    try {
      BasicFileAttributes now = Files.readAttributes(file, BasicFileAttributes.class);
      return now.lastModifiedTime() + "," + now.size() + "," + now.fileKey();
    } catch (IOException e) {
      return "unreadable";
    }
  }

  /** Without the password. */
  @Override
  public String toString() {
    return hasCertificate()
        ? "certificate " + (keyStore != null ? keyStore : certificate) + ", trust " + trust
        : "no certificate, trust " + trust;
  }
}
