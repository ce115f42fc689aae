package dev.tollgate.cli;

import dev.tollgate.node.client.CertificateLogin;
import dev.tollgate.tls.CertificateDemand;
import dev.tollgate.tls.TlsCredentials;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** The options of {@link TlsOptions} that say whether certificates of clients are logins. */
final class CertificateOptions {
  @Option(
      names = "--certificate-login",
      arity = "0..1",
      fallbackValue = "true",
      paramLabel = "true|false",
      defaultValue = "false",
      description =
          "Let a client log in by its certificate, as the user that the certificate names by a URI"
              + " tollgate:user:NAME, or as --certificate-map says. [TOLLGATE_CERTIFICATE_LOGIN]")
  private boolean login;

  @Option(
      names = "--certificate-map",
      paramLabel = "FILE",
      description =
          "File that says which certificates stand for which users, in place of the URI. Read again"
              + " when it changes. [TOLLGATE_CERTIFICATE_MAP]")
  private @Nullable Path map;

  CertificateOptions() {}

  /**
   * Reads the map, if there is one.
   *
   * @param demand what the node wants of the certificates of clients; null without TLS for them
   * @throws IOException if the map cannot be used
   */
  CertificateLogin read(
      CommandLine command, @Nullable CertificateDemand demand, TlsCredentials.Listener listener)
      throws IOException {
    if (map != null && !login) {
      throw new ParameterException(
          command, "--certificate-map needs --certificate-login, which turns such logins on");
    }
    if (!login) {
      return CertificateLogin.OFF;
    }
    if (demand == null || demand == CertificateDemand.NONE) {
      throw new ParameterException(
          command,
          "--certificate-login needs TLS with clients, and --tls-trust, the CA of their"
              + " certificates");
    }
    return map == null ? CertificateLogin.byName() : CertificateLogin.byMap(map, listener);
  }
}
