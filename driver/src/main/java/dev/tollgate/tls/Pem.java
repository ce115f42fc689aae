package dev.tollgate.tls;

import static java.util.Objects.requireNonNull;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.CertificateFactory;
import java.security.cert.X509CRL;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.crypto.Cipher;
import javax.crypto.EncryptedPrivateKeyInfo;
import javax.crypto.SecretKey;
import javax.crypto.SecretKeyFactory;
import javax.crypto.spec.PBEKeySpec;
import org.jspecify.annotations.Nullable;

/** Reads and writes PEM files (RFC 7468). Messages name the file, and nothing of its content. */
public final class Pem {
  /** The largest file that is read: thousands of certificates. */
  static final int MAX_BYTES = 16 << 20;

  private static final Pattern BLOCK =
      Pattern.compile(
          "-----BEGIN ([A-Z0-9 ]{1,40})-----([A-Za-z0-9+/=\\s]*+)-----END ([A-Z0-9 ]{1,40})-----");

  private static final String CERTIFICATE = "CERTIFICATE";
  private static final String KEY = "PRIVATE KEY";
  private static final String ENCRYPTED_KEY = "ENCRYPTED PRIVATE KEY";
  private static final String CRL = "X509 CRL";
  private static final int LINE = 64;

  /** The names under which the JDK knows the kinds of keys that TLS uses. */
  private static final List<String> KEY_KINDS = List.of("EC", "RSA", "EdDSA", "RSASSA-PSS");

  private record Block(String label, String text) {
    byte[] bytes() {
      return Base64.getMimeDecoder().decode(text);
    }
  }

  private Pem() {}

  /** Returns a PEM block. */
  public static String block(String label, byte[] bytes) {
    Base64.Encoder encoder = Base64.getMimeEncoder(LINE, new byte[] {'\n'});
    return "-----BEGIN "
        + label
        + "-----\n"
        + encoder.encodeToString(bytes)
        + "\n-----END "
        + label
        + "-----\n";
  }

  private static List<Block> blocks(Path file) throws IOException {
    List<Block> blocks = new ArrayList<>();
    Matcher matcher = BLOCK.matcher(new String(bytes(file), StandardCharsets.ISO_8859_1));
    while (matcher.find()) {
      try {
        Block block = new Block(matcher.group(1), matcher.group(2));
        requireNonNull(block.bytes());
        blocks.add(block);
      } catch (IllegalArgumentException e) {
        throw new IOException(file + " has a block " + matcher.group(1) + " that is broken", e);
      }
    }
    return blocks;
  }

  static byte[] bytes(Path file) throws IOException {
    if (!Files.isRegularFile(file)) {
      throw new IOException(file + (Files.exists(file) ? " is no file" : " is not there"));
    }
    if (Files.size(file) > MAX_BYTES) {
      throw new IOException(file + " has more than " + MAX_BYTES + " bytes");
    }
    return Files.readAllBytes(file);
  }

  /**
   * Returns a store that trusts the certificates of a file.
   *
   * @throws IOException if {@link #certificates} throws it
   * @throws GeneralSecurityException if this Java runtime has no such stores
   */
  public static KeyStore trusted(Path file) throws IOException, GeneralSecurityException {
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, null);
    int number = 0;
    for (X509Certificate certificate : certificates(file)) {
      store.setCertificateEntry("ca" + number++, certificate);
    }
    return store;
  }

  /** Reads all certificates of a file, in their order; at least one. */
  public static List<X509Certificate> certificates(Path file) throws IOException {
    List<X509Certificate> certificates = new ArrayList<>();
    for (Block block : blocks(file)) {
      if (block.label().equals(CERTIFICATE)) {
        try {
          certificates.add(
              (X509Certificate)
                  CertificateFactory.getInstance("X.509")
                      .generateCertificate(new ByteArrayInputStream(block.bytes())));
        } catch (GeneralSecurityException e) {
          throw new IOException(file + " has a certificate that cannot be read", e);
        }
      }
    }
    if (certificates.isEmpty()) {
      throw new IOException(file + " has no certificate in PEM format");
    }
    return certificates;
  }

  /** Reads revocation lists, in PEM or DER. */
  static List<X509CRL> revocations(Path file) throws IOException {
    try {
      CertificateFactory factory = CertificateFactory.getInstance("X.509");
      List<X509CRL> lists = new ArrayList<>();
      for (Block block : blocks(file)) {
        if (block.label().equals(CRL)) {
          lists.add((X509CRL) factory.generateCRL(new ByteArrayInputStream(block.bytes())));
        }
      }
      if (lists.isEmpty()) {
        lists.add((X509CRL) factory.generateCRL(new ByteArrayInputStream(bytes(file))));
      }
      return lists;
    } catch (GeneralSecurityException e) {
      throw new IOException(file + " has no certificate revocation list that can be read", e);
    }
  }

  /**
   * Reads a private key.
   *
   * @param password for a key that is encrypted
   */
  public static PrivateKey key(Path file, char @Nullable [] password) throws IOException {
    for (Block block : blocks(file)) {
      if (block.label().equals(KEY)) {
        return key(file, new PKCS8EncodedKeySpec(block.bytes()));
      }
      if (block.label().equals(ENCRYPTED_KEY)) {
        if (password == null) {
          throw new IOException("the key in " + file + " is encrypted, and no password is given");
        }
        return key(file, decrypted(file, block.bytes(), password));
      }
      if (block.label().endsWith(KEY)) {
        throw new IOException(
            file
                + " has a key of kind "
                + block.label()
                + ", which is not PKCS#8: convert it with openssl pkcs8 -topk8 -nodes");
      }
    }
    throw new IOException(file + " has no private key in PEM format");
  }

  private static PKCS8EncodedKeySpec decrypted(Path file, byte[] bytes, char[] password)
      throws IOException {
    PBEKeySpec phrase = new PBEKeySpec(password);
    try {
      EncryptedPrivateKeyInfo info = new EncryptedPrivateKeyInfo(bytes);
      AlgorithmParameters parameters = info.getAlgParameters();
      // for PBES2 only the parameters know the algorithm, and only their text tells it
      boolean nested = parameters != null && parameters.toString().startsWith("PBEWith");
      String algorithm = nested ? parameters.toString() : info.getAlgName();
      SecretKey secret = SecretKeyFactory.getInstance(algorithm).generateSecret(phrase);
      Cipher cipher = Cipher.getInstance(algorithm);
      cipher.init(Cipher.DECRYPT_MODE, secret, parameters);
      return info.getKeySpec(cipher);
    } catch (GeneralSecurityException e) {
      throw new IOException("the key in " + file + " is not opened by the password", e);
    } finally {
      phrase.clearPassword();
    }
  }

  private static PrivateKey key(Path file, PKCS8EncodedKeySpec spec) throws IOException {
    try {
      for (String kind : KEY_KINDS) {
        try {
          return KeyFactory.getInstance(kind).generatePrivate(spec);
        } catch (InvalidKeySpecException e) {
          // a key of another kind
        }
      }
    } catch (GeneralSecurityException e) {
      throw new IOException("the JDK cannot read the key in " + file, e);
    }
    throw new IOException("the key in " + file + " is none of " + KEY_KINDS);
  }
}
