package dev.tollgate.tls;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.net.Socket;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.X509CRL;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/** What was in the files of {@link TlsFiles} when they were read. Immutable. */
final class TlsMaterial {
  /** Tags and first bytes of what a PEM file begins with; a PKCS#12 file begins with neither. */
  private static final byte SEQUENCE = 0x30;

  private final List<X509Certificate> chain;
  private final @Nullable PrivateKey key;
  private final X509ExtendedTrustManager issuers;
  private final List<X509CRL> revocations;

  private TlsMaterial(
      List<X509Certificate> chain,
      @Nullable PrivateKey key,
      X509ExtendedTrustManager issuers,
      List<X509CRL> revocations) {
    this.chain = List.copyOf(chain);
    this.key = key;
    this.issuers = issuers;
    this.revocations = List.copyOf(revocations);
  }

  /**
   * Reads the files.
   *
   * @throws IOException if a file is missing or broken, or the key does not belong to the
   *     certificate
   */
  static TlsMaterial read(TlsFiles files) throws IOException {
    try {
      char[] password = files.readPassword();
      List<X509Certificate> chain = List.of();
      PrivateKey key = null;
      if (files.certificate() != null && files.key() != null) {
        chain = Pem.certificates(files.certificate());
        key = Pem.key(files.key(), password);
        requirePair(chain.get(0), key, files.certificate() + " and " + files.key());
      } else if (files.keyStore() != null) {
        KeyStore store = store(files.keyStore(), password);
        String alias = keyAlias(store, files.keyStore());
        for (Certificate certificate : store.getCertificateChain(alias)) {
          chain = append(chain, (X509Certificate) certificate);
        }
        key = (PrivateKey) store.getKey(alias, password);
        requirePair(chain.get(0), key, String.valueOf(files.keyStore()));
      }
      X509ExtendedTrustManager issuers = issuers(files.trust(), password);
      List<X509CRL> revocations = files.crl() == null ? List.of() : Pem.revocations(files.crl());
      for (X509CRL list : revocations) {
        requireSigned(list, issuers, files.crl());
      }
      return new TlsMaterial(chain, key, issuers, revocations);
    } catch (GeneralSecurityException e) {
      throw new IOException(files + " cannot be read: " + e.getMessage(), e);
    }
  }

  private static List<X509Certificate> append(
      List<X509Certificate> chain, X509Certificate certificate) {
    List<X509Certificate> longer = new ArrayList<>(chain);
    longer.add(certificate);
    return longer;
  }

  private static KeyStore store(Path file, char @Nullable [] password)
      throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    try {
      store.load(new ByteArrayInputStream(Pem.bytes(file)), password);
    } catch (IOException e) {
      throw new IOException(
          file
              + " is no PKCS#12 file that "
              + (password == null ? "opens without a password" : "the password opens"),
          e);
    }
    return store;
  }

  private static String keyAlias(KeyStore store, Path file)
      throws IOException, GeneralSecurityException {
    for (var aliases = store.aliases(); aliases.hasMoreElements(); ) {
      String alias = aliases.nextElement();
      if (store.isKeyEntry(alias)) {
        return alias;
      }
    }
    throw new IOException(file + " has no private key");
  }

  /** A key and a certificate are replaced one after the other; until then they do not belong. */
  private static void requirePair(X509Certificate certificate, PrivateKey key, String files)
      throws IOException {
    String algorithm =
        switch (key.getAlgorithm()) {
          case "EC" -> "SHA256withECDSA";
          case "EdDSA" -> "EdDSA";
          default -> "SHA256withRSA";
        };
    try {
      byte[] probe = certificate.getSubjectX500Principal().getEncoded();
      Signature signature = Signature.getInstance(algorithm);
      signature.initSign(key);
      signature.update(probe);
      byte[] signed = signature.sign();
      signature.initVerify(certificate.getPublicKey());
      signature.update(probe);
      if (signature.verify(signed)) {
        return;
      }
    } catch (GeneralSecurityException e) {
      throw new IOException("the key and the certificate do not belong together: " + files, e);
    }
    throw new IOException("the key and the certificate do not belong together: " + files);
  }

  private static X509ExtendedTrustManager issuers(@Nullable Path trust, char @Nullable [] password)
      throws IOException, GeneralSecurityException {
    KeyStore store = null;
    if (trust != null) {
      byte[] bytes = Pem.bytes(trust);
      if (bytes.length > 0 && bytes[0] == SEQUENCE) {
        store = store(trust, password);
      } else {
        store = Pem.trusted(trust);
      }
    }
    TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX");
    factory.init(store);
    for (TrustManager manager : factory.getTrustManagers()) {
      if (manager instanceof X509ExtendedTrustManager extended) {
        if (extended.getAcceptedIssuers().length == 0) {
          throw new IOException(trust + " has no certificate of a trusted CA");
        }
        return extended;
      }
    }
    throw new IOException("this JDK has no trust manager for certificates");
  }

  private static void requireSigned(
      X509CRL list, X509ExtendedTrustManager issuers, @Nullable Path file) throws IOException {
    for (X509Certificate issuer : issuers.getAcceptedIssuers()) {
      if (issuer.getSubjectX500Principal().equals(list.getIssuerX500Principal())) {
        try {
          list.verify(issuer.getPublicKey());
          return;
        } catch (GeneralSecurityException e) {
          // another CA of this name
        }
      }
    }
    throw new IOException(
        file
            + " has a revocation list that no trusted CA has signed, of "
            + list.getIssuerX500Principal());
  }

  /** The certificate of this side, or null. */
  @Nullable X509Certificate certificate() {
    return chain.isEmpty() ? null : chain.get(0);
  }

  X509ExtendedTrustManager issuers() {
    return issuers;
  }

  /** The entry of a revocation list that names a certificate of a chain, as a text; or null. */
  @Nullable String revocation(X509Certificate[] certificates) {
    for (X509Certificate certificate : certificates) {
      for (X509CRL list : revocations) {
        if (list.getIssuerX500Principal().equals(certificate.getIssuerX500Principal())
            && list.getRevokedCertificate(certificate.getSerialNumber()) != null) {
          return Certificates.describe(certificate) + " is revoked";
        }
      }
    }
    return null;
  }

  /** What an operator should know of these files although they are in order; may be empty. */
  List<String> warnings(Instant now) {
    List<String> warnings = new ArrayList<>();
    X509Certificate own = certificate();
    if (own != null && own.getNotAfter().toInstant().isBefore(now)) {
      warnings.add(
          "the certificate "
              + Certificates.describe(own)
              + " expired at "
              + own.getNotAfter().toInstant());
    }
    for (X509CRL list : revocations) {
      Instant next = list.getNextUpdate() == null ? null : list.getNextUpdate().toInstant();
      if (next != null && next.isBefore(now)) {
        warnings.add(
            "the revocation list of "
                + list.getIssuerX500Principal()
                + " is out of date since "
                + next
                + "; what it revokes stays revoked");
      }
    }
    return warnings;
  }

  /** Presents the one certificate of this side. */
  X509ExtendedKeyManager keyManager() {
    return new OneKey();
  }

  private final class OneKey extends X509ExtendedKeyManager {
    private static final String ALIAS = "own";

    /** Kinds of keys as JSSE asks for them: EC, or EC_RSA for a key whose CA has an RSA key. */
    private @Nullable String alias(String... kinds) {
      if (key != null) {
        String own = key.getAlgorithm();
        for (String kind : kinds) {
          if (kind.equals(own)
              || kind.startsWith(own + "_")
              || (own.equals("RSA") && kind.equals("RSASSA-PSS"))) {
            return ALIAS;
          }
        }
      }
      return null;
    }

    @Override
    public String @Nullable [] getClientAliases(String kind, Principal @Nullable [] issuers) {
      String alias = alias(kind);
      return alias == null ? null : new String[] {alias};
    }

    @Override
    public @Nullable String chooseClientAlias(
        String[] kinds, Principal @Nullable [] issuers, @Nullable Socket socket) {
      return alias(kinds);
    }

    @Override
    public String @Nullable [] getServerAliases(String kind, Principal @Nullable [] issuers) {
      return getClientAliases(kind, issuers);
    }

    @Override
    public @Nullable String chooseServerAlias(
        String kind, Principal @Nullable [] issuers, @Nullable Socket socket) {
      return alias(kind);
    }

    @Override
    public @Nullable String chooseEngineClientAlias(
        String[] kinds, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
      return alias(kinds);
    }

    @Override
    public @Nullable String chooseEngineServerAlias(
        String kind, Principal @Nullable [] issuers, @Nullable SSLEngine engine) {
      return alias(kind);
    }

    @Override
    public X509Certificate @Nullable [] getCertificateChain(@Nullable String alias) {
      return ALIAS.equals(alias) ? chain.toArray(X509Certificate[]::new) : null;
    }

    @Override
    public @Nullable PrivateKey getPrivateKey(@Nullable String alias) {
      return ALIAS.equals(alias) ? key : null;
    }
  }
}
