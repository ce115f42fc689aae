package dev.tollgate.cli.certificates;

import dev.tollgate.tls.Certificates;
import dev.tollgate.tls.Pem;
import java.io.ByteArrayInputStream;
import java.math.BigInteger;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.ECGenParameterSpec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;

/**
 * A CA for tests: it issues certificates (RFC 5280) with keys on the curve P-256. Its key is in
 * this process and in a file, unprotected.
 *
 * @param certificate signed by itself
 */
public record TestAuthority(PrivateKey key, X509Certificate certificate) {
  private static final SecureRandom RANDOM = new SecureRandom();

  /** Clocks of two machines may differ by so much. */
  private static final Duration SLACK = Duration.ofHours(1);

  private static final int SERIAL_BITS = 127;
  private static final int KEY_ID_BYTES = 20;
  private static final String SHA256_WITH_ECDSA = "1.2.840.10045.4.3.2";
  private static final String COMMON_NAME = "2.5.4.3";
  private static final String BASIC_CONSTRAINTS = "2.5.29.19";
  private static final String KEY_USAGE = "2.5.29.15";
  private static final String EXTENDED_KEY_USAGE = "2.5.29.37";
  private static final String ALTERNATIVE_NAMES = "2.5.29.17";
  private static final String SUBJECT_KEY_ID = "2.5.29.14";
  private static final String AUTHORITY_KEY_ID = "2.5.29.35";
  private static final String CRL_NUMBER = "2.5.29.20";
  private static final String SERVER_AUTH = "1.3.6.1.5.5.7.3.1";
  private static final String CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";
  private static final int DNS = 2;
  private static final int URI = 6;
  private static final int IP = 7;

  /** A certificate and its key. */
  public record Issued(PrivateKey key, X509Certificate certificate) {
    /** The key as a PEM file. */
    public String keyPem() {
      return Pem.block("PRIVATE KEY", key.getEncoded());
    }

    /** The certificate as a PEM file. */
    public String certificatePem() {
      return pem(certificate);
    }
  }

  /** When a certificate is valid. */
  public record Validity(Instant from, Instant to) {
    /** From now on, for some days. */
    public static Validity days(Instant now, long days) {
      return new Validity(now.minus(SLACK), now.plus(Duration.ofDays(days)));
    }
  }

  /** Makes a CA. */
  public static TestAuthority create(String name, Validity validity)
      throws GeneralSecurityException {
    KeyPair pair = newKey();
    byte[] id = keyId(pair.getPublic());
    List<byte[]> extensions =
        List.of(
            extension(BASIC_CONSTRAINTS, true, Der.sequence(Der.yes())),
            // it signs certificates and revocation lists
            extension(KEY_USAGE, true, Der.bits(1, (byte) 0x06)),
            extension(SUBJECT_KEY_ID, false, Der.octets(id)));
    return new TestAuthority(
        pair.getPrivate(),
        signed(pair.getPrivate(), name(name), name(name), pair.getPublic(), validity, extensions));
  }

  /** Issues the certificate of a node, for these names and addresses of its host. */
  public Issued node(String id, Collection<String> hosts, Validity validity)
      throws GeneralSecurityException {
    List<byte[]> names = new ArrayList<>();
    names.add(uri(Certificates.NODE + id));
    for (String host : hosts) {
      names.add(host(host));
    }
    return issue(id, List.of(SERVER_AUTH, CLIENT_AUTH), names, validity);
  }

  /** Issues the certificate of a user. */
  public Issued user(String user, Validity validity) throws GeneralSecurityException {
    boolean ascii = StandardCharsets.US_ASCII.newEncoder().canEncode(user);
    return issue(
        user,
        List.of(CLIENT_AUTH),
        ascii ? List.of(uri(Certificates.USER + user)) : List.of(),
        validity);
  }

  /** Issues a certificate like one that is there, with another key. */
  public Issued renewed(X509Certificate former, Validity validity) throws GeneralSecurityException {
    List<byte[]> names = new ArrayList<>();
    Collection<List<?>> known = former.getSubjectAlternativeNames();
    for (List<?> name : known == null ? List.<List<?>>of() : known) {
      String text = String.valueOf(name.get(1));
      names.add(name.get(0).equals(URI) ? uri(text) : host(text));
    }
    List<String> uses = former.getExtendedKeyUsage();
    return issue(
        former.getSubjectX500Principal().getEncoded(),
        uses == null ? List.of() : uses,
        names,
        validity);
  }

  /**
   * Issues a certificate for any use.
   *
   * @param uses extended key usages; none for a certificate that says nothing of its use
   * @param names subject alternative names, as DER
   */
  Issued issue(String commonName, List<String> uses, List<byte[]> names, Validity validity)
      throws GeneralSecurityException {
    return issue(name(commonName), uses, names, validity);
  }

  private Issued issue(byte[] subject, List<String> uses, List<byte[]> names, Validity validity)
      throws GeneralSecurityException {
    KeyPair pair = newKey();
    List<byte[]> extensions = new ArrayList<>();
    extensions.add(extension(BASIC_CONSTRAINTS, true, Der.sequence()));
    // a signature of its own is all that TLS 1.3 wants of the key
    extensions.add(extension(KEY_USAGE, true, Der.bits(7, (byte) 0x80)));
    if (!uses.isEmpty()) {
      extensions.add(
          extension(EXTENDED_KEY_USAGE, false, Der.sequence(uses.stream().map(Der::oid).toList())));
    }
    if (!names.isEmpty()) {
      extensions.add(extension(ALTERNATIVE_NAMES, false, Der.sequence(names)));
    }
    extensions.add(extension(SUBJECT_KEY_ID, false, Der.octets(keyId(pair.getPublic()))));
    extensions.add(
        extension(
            AUTHORITY_KEY_ID,
            false,
            Der.sequence(Der.implicit(0, keyId(certificate.getPublicKey())))));
    return new Issued(
        pair.getPrivate(),
        signed(key, subject(certificate), subject, pair.getPublic(), validity, extensions));
  }

  /** Makes a list of revoked certificates, as DER. */
  public byte[] revocations(Collection<BigInteger> serials, Validity validity)
      throws GeneralSecurityException {
    byte[] from = Der.time(validity.from());
    List<byte[]> parts = new ArrayList<>();
    parts.add(Der.integer(BigInteger.ONE));
    parts.add(algorithm());
    parts.add(subject(certificate));
    parts.add(from);
    parts.add(Der.time(validity.to()));
    if (!serials.isEmpty()) {
      parts.add(
          Der.sequence(
              serials.stream().map(serial -> Der.sequence(Der.integer(serial), from)).toList()));
    }
    BigInteger number = BigInteger.valueOf(validity.from().toEpochMilli());
    parts.add(Der.explicit(0, Der.sequence(extension(CRL_NUMBER, false, Der.integer(number)))));
    return sign(key, Der.sequence(parts));
  }

  private static KeyPair newKey() throws GeneralSecurityException {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
    generator.initialize(new ECGenParameterSpec("secp256r1"), RANDOM);
    return generator.generateKeyPair();
  }

  private static X509Certificate signed(
      PrivateKey signer,
      byte[] issuer,
      byte[] subject,
      PublicKey key,
      Validity validity,
      List<byte[]> extensions)
      throws GeneralSecurityException {
    byte[] content =
        Der.sequence(
            Der.explicit(0, Der.integer(BigInteger.TWO)),
            Der.integer(new BigInteger(SERIAL_BITS, RANDOM).setBit(SERIAL_BITS - 1)),
            algorithm(),
            issuer,
            Der.sequence(Der.time(validity.from()), Der.time(validity.to())),
            subject,
            key.getEncoded(),
            Der.explicit(3, Der.sequence(extensions)));
    return (X509Certificate)
        CertificateFactory.getInstance("X.509")
            .generateCertificate(new ByteArrayInputStream(sign(signer, content)));
  }

  private static byte[] sign(PrivateKey signer, byte[] content) throws GeneralSecurityException {
    Signature signature = Signature.getInstance("SHA256withECDSA");
    signature.initSign(signer);
    signature.update(content);
    return Der.sequence(content, algorithm(), Der.bits(0, signature.sign()));
  }

  private static byte[] algorithm() {
    return Der.sequence(Der.oid(SHA256_WITH_ECDSA));
  }

  private static byte[] name(String commonName) {
    return Der.sequence(Der.set(Der.sequence(Der.oid(COMMON_NAME), Der.utf8(commonName))));
  }

  private static byte[] subject(X509Certificate certificate) {
    return certificate.getSubjectX500Principal().getEncoded();
  }

  private static byte[] extension(String oid, boolean critical, byte[] value) {
    return critical
        ? Der.sequence(Der.oid(oid), Der.yes(), Der.octets(value))
        : Der.sequence(Der.oid(oid), Der.octets(value));
  }

  /** RFC 7093: any way to make it does, as long as it tells keys apart. */
  private static byte[] keyId(PublicKey key) throws GeneralSecurityException {
    byte[] hash = MessageDigest.getInstance("SHA-256").digest(key.getEncoded());
    return Arrays.copyOf(hash, KEY_ID_BYTES);
  }

  private static byte[] uri(String text) {
    return Der.implicit(URI, text.getBytes(StandardCharsets.US_ASCII));
  }

  private static byte[] host(String host) {
    boolean address = host.indexOf(':') >= 0 || host.matches("[0-9.]+");
    try {
      return address
          ? Der.implicit(IP, InetAddress.getByName(host).getAddress())
          : Der.implicit(DNS, host.getBytes(StandardCharsets.US_ASCII));
    } catch (UnknownHostException e) {
      throw new IllegalArgumentException("'" + host + "' is no address", e);
    }
  }

  /** A certificate as a PEM file. */
  public static String pem(X509Certificate certificate) {
    try {
      return Pem.block("CERTIFICATE", certificate.getEncoded());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("a certificate that was read has no bytes", e);
    }
  }
}
