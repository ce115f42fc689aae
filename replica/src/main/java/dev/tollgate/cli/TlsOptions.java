package dev.tollgate.cli;

import dev.tollgate.node.NodeTls;
import dev.tollgate.tls.CertificateDemand;
import dev.tollgate.tls.TlsCredentials;
import dev.tollgate.tls.TlsFiles;
import dev.tollgate.tls.TlsVersion;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Objects;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The options of {@link ServerOptions} that are about TLS. */
final class TlsOptions {
  @Option(
      names = "--tls-certificate",
      description =
          "File with this node's certificate, and those between it and its CA; PEM. Turns TLS on."
              + " Read again when it changes. [TOLLGATE_TLS_CERTIFICATE]")
  private @Nullable Path certificate;

  @Option(
      names = "--tls-key",
      description = "File with the key of the certificate; PEM, PKCS#8. [TOLLGATE_TLS_KEY]")
  private @Nullable Path key;

  @Option(
      names = "--tls-key-password-file",
      description =
          "File whose first line is the password of that key. [TOLLGATE_TLS_KEY_PASSWORD_FILE]")
  private @Nullable Path keyPasswordFile;

  @Option(
      names = "--tls-keystore",
      description =
          "PKCS#12 file with certificate and key, in place of --tls-certificate and --tls-key."
              + " [TOLLGATE_TLS_KEYSTORE]")
  private @Nullable Path keyStore;

  @Option(
      names = "--tls-keystore-password-file",
      description =
          "File whose first line is the password of PKCS#12 files."
              + " [TOLLGATE_TLS_KEYSTORE_PASSWORD_FILE]")
  private @Nullable Path keyStorePasswordFile;

  @Option(
      names = "--tls-trust",
      description =
          "File with the certificates of the CAs of clients, and of other nodes if there is no"
              + " --peer-tls-trust; PEM or PKCS#12. [TOLLGATE_TLS_TRUST]")
  private @Nullable Path trust;

  @Option(
      names = "--peer-tls-trust",
      paramLabel = "FILE",
      description =
          "File with the certificates of the CAs of other nodes alone; PEM or PKCS#12."
              + " [TOLLGATE_PEER_TLS_TRUST]")
  private @Nullable Path peerTrust;

  @Option(
      names = "--peer-tls-crl",
      paramLabel = "FILE",
      description =
          "File with revocation lists of the CAs of --peer-tls-trust; PEM or DER."
              + " [TOLLGATE_PEER_TLS_CRL]")
  private @Nullable Path peerCrl;

  @Option(
      names = "--tls-crl",
      description =
          "File with revocation lists of the CAs of --tls-trust; PEM or DER. [TOLLGATE_TLS_CRL]")
  private @Nullable Path crl;

  @Option(
      names = "--tls-min-version",
      defaultValue = "1.3",
      paramLabel = "1.3|1.2",
      description = "The oldest version of TLS that the node speaks. [TOLLGATE_TLS_MIN_VERSION]")
  private String minVersion;

  @Option(
      names = "--tls-clients",
      paramLabel = "off|on|require-certificate",
      description =
          "Whether the port for clients speaks TLS alone, and demands their certificates; on if"
              + " there is a certificate. [TOLLGATE_TLS_CLIENTS]")
  private @Nullable String clients;

  @Option(
      names = "--tls-peers",
      paramLabel = "on|off",
      description =
          "Whether nodes talk over TLS with each other, both with certificates; on if there is a"
              + " certificate. The same for all nodes. [TOLLGATE_TLS_PEERS]")
  private @Nullable String peers;

  @Mixin private final CertificateOptions certificates = new CertificateOptions();

  TlsOptions() {}

  /**
   * Reads the files.
   *
   * @param command whose arguments are rejected if they make no sense
   * @param hasPeers whether the node talks with others at all
   * @return null if the node does without TLS
   * @throws IOException if a file cannot be used
   */
  @Nullable NodeTls read(CommandLine command, TlsCredentials.Listener listener, boolean hasPeers)
      throws IOException {
    CertificateDemand demand = demand(command);
    boolean on = peers == null || choice(command, "--tls-peers", peers, "on", "off").equals("on");
    if (certificate == null && keyStore == null) {
      require(
          command,
          Stream.of(key, trust, crl, peerTrust, peerCrl, clients, peers).allMatch(Objects::isNull),
          "TLS needs --tls-certificate and --tls-key, or --tls-keystore");
      var unused = certificates.read(command, /* demand= */ null, listener);
      return null;
    }
    require(
        command,
        (certificate == null) == (key == null),
        "--tls-certificate and --tls-key belong together");
    require(
        command,
        certificate == null || keyStore == null,
        "--tls-certificate and --tls-keystore: one of the two");
    require(
        command,
        peerTrust != null || peerCrl == null,
        "--peer-tls-crl needs --peer-tls-trust, the CA that has signed it");
    require(
        command,
        trust != null || peerTrust != null || !(on && hasPeers),
        "nodes check each other's certificates: --peer-tls-trust or --tls-trust says which CA they"
            + " trust");
    require(
        command,
        trust != null || demand != CertificateDemand.REQUIRED,
        "--tls-clients=require-certificate needs --tls-trust, the CA of the clients");
    if (trust == null && demand != null) {
      // there is nothing to check a client's certificate against
      demand = CertificateDemand.NONE;
    }
    TlsCredentials credentials =
        new TlsCredentials(
            files(trust, crl), version(command), listener, /* bindable= */ demand != null);
    TlsCredentials toPeers = null;
    if (on && hasPeers) {
      toPeers =
          peerTrust == null
              ? credentials
              : new TlsCredentials(files(peerTrust, peerCrl), version(command), listener);
    }
    return new NodeTls(credentials, demand, toPeers, certificates.read(command, demand, listener));
  }

  private TlsFiles files(@Nullable Path trusted, @Nullable Path revoked) {
    return new TlsFiles(
        certificate,
        key,
        keyStore,
        /* password= */ null,
        certificate != null && keyPasswordFile != null ? keyPasswordFile : keyStorePasswordFile,
        trusted,
        revoked);
  }

  private @Nullable CertificateDemand demand(CommandLine command) {
    if (clients == null) {
      return CertificateDemand.WANTED;
    }
    return switch (choice(command, "--tls-clients", clients, "off", "on", "require-certificate")) {
      case "off" -> null;
      case "on" -> CertificateDemand.WANTED;
      default -> CertificateDemand.REQUIRED;
    };
  }

  private TlsVersion version(CommandLine command) {
    try {
      return TlsVersion.parse(minVersion);
    } catch (IllegalArgumentException e) {
      throw new ParameterException(command, "--tls-min-version: " + e.getMessage(), e);
    }
  }

  private static String choice(
      CommandLine command, String option, String value, String... choices) {
    String lower = value.toLowerCase(Locale.ROOT);
    for (String choice : choices) {
      if (choice.equals(lower)) {
        return choice;
      }
    }
    throw new ParameterException(
        command, option + "=" + value + " is none of " + String.join(", ", choices));
  }

  private static void require(CommandLine command, boolean condition, String otherwise) {
    if (!condition) {
      throw new ParameterException(command, otherwise);
    }
  }
}
