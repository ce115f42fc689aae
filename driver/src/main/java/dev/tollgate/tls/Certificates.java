package dev.tollgate.tls;

import java.io.IOException;
import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.security.spec.PSSParameterSpec;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What certificates say. docs/security.md describes it for those who issue certificates. */
public final class Certificates {
  /**
   * Before the name of a user, in a subject alternative name of type URI. A node takes it for a
   * user only if it was told so.
   */
  public static final String USER = "tollgate:user:";

  /** Before the id of a node. Only a certificate with such a name is that of a node. */
  public static final String NODE = "tollgate:node:";

  static final String SERVER_AUTH = "1.3.6.1.5.5.7.3.1";
  static final String CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";

  private static final int URI = 6;
  private static final String PSS = "RSASSA-PSS";

  private Certificates() {}

  /**
   * The channel binding {@code tls-server-end-point} of RFC 5929: a hash of the certificate of the
   * server. Null if the signature of the certificate names no hash: the RFC defines none for EdDSA.
   */
  public static byte @Nullable [] serverEndPoint(X509Certificate server) {
    try {
      String hash = signatureHash(server);
      return hash == null ? null : MessageDigest.getInstance(hash).digest(server.getEncoded());
    } catch (GeneralSecurityException | IOException e) {
      return null;
    }
  }

  /** The hash of a signature; SHA-256 in place of the two that are broken. */
  private static @Nullable String signatureHash(X509Certificate certificate)
      throws GeneralSecurityException, IOException {
    String signature = certificate.getSigAlgName().toUpperCase(Locale.ROOT);
    int with = signature.indexOf("WITH");
    String hash;
    if (signature.equals(PSS)) {
      AlgorithmParameters parameters = AlgorithmParameters.getInstance(PSS);
      parameters.init(certificate.getSigAlgParams());
      hash = parameters.getParameterSpec(PSSParameterSpec.class).getDigestAlgorithm();
    } else if (with < 0) {
      return null;
    } else {
      hash = signature.substring(0, with);
    }
    return switch (hash.replace("-", "")) {
      case "MD5", "SHA1" -> "SHA-256";
      default -> hash.matches("SHA\\d+") ? "SHA-" + hash.substring(3) : hash;
    };
  }

  /** The id of the node that a certificate names, or null if it is not that of a node. */
  public static @Nullable String node(X509Certificate certificate) {
    return uri(certificate, NODE);
  }

  /** Why a certificate is not that of a node, or null if it is. */
  static @Nullable String strangeToNodes(X509Certificate certificate) {
    List<String> uses = extendedUses(certificate);
    if (!uses.contains(SERVER_AUTH) || !uses.contains(CLIENT_AUTH)) {
      return "its extended key usage is not both serverAuth and clientAuth";
    }
    return node(certificate) == null ? "it has no name " + NODE + "ID of type URI" : null;
  }

  /**
   * Why a certificate may not stand for a user, whatever it is mapped to; null if it may. A missing
   * extended key usage allows nothing here, although RFC 5280 lets it allow everything: such
   * certificates were issued for other purposes.
   */
  public static @Nullable String strangeToUsers(X509Certificate certificate) {
    if (node(certificate) != null) {
      return "it is the certificate of a node";
    }
    return extendedUses(certificate).contains(CLIENT_AUTH)
        ? null
        : "its extended key usage is not clientAuth";
  }

  private static List<String> extendedUses(X509Certificate certificate) {
    try {
      List<String> uses = certificate.getExtendedKeyUsage();
      return uses == null ? List.of() : uses;
    } catch (CertificateParsingException e) {
      return List.of();
    }
  }

  private static @Nullable String uri(X509Certificate certificate, String prefix) {
    try {
      Collection<List<?>> names = certificate.getSubjectAlternativeNames();
      if (names != null) {
        for (List<?> name : names) {
          if (name.get(0).equals(URI)
              && name.get(1) instanceof String text
              && text.startsWith(prefix)
              && text.length() > prefix.length()) {
            return text.substring(prefix.length());
          }
        }
      }
      return null;
    } catch (CertificateParsingException e) {
      return null;
    }
  }

  /** A certificate for messages. */
  public static String describe(X509Certificate certificate) {
    return "'"
        + certificate.getSubjectX500Principal().getName()
        + "' (serial number "
        + certificate.getSerialNumber().toString(16)
        + ")";
  }
}
