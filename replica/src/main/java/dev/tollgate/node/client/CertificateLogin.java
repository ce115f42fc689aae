package dev.tollgate.node.client;

import dev.tollgate.node.login.WatchedFile;
import dev.tollgate.tls.Certificates;
import dev.tollgate.tls.TlsCredentials;
import dev.tollgate.tls.TlsSocket;
import java.io.IOException;
import java.nio.file.Path;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLEngine;
import org.jspecify.annotations.Nullable;

/**
 * Whether clients log in by certificate, and as which users. The one place that decides it for the
 * port for clients and for the admin address. The map follows its file. Thread-safe.
 */
public final class CertificateLogin {
  /** Nobody logs in by certificate. */
  public static final CertificateLogin OFF = new CertificateLogin(/* fixed= */ null, null);

  private final @Nullable CertificateMap fixed;
  private final @Nullable WatchedFile<CertificateMap> file;

  private CertificateLogin(
      @Nullable CertificateMap fixed, @Nullable WatchedFile<CertificateMap> file) {
    this.fixed = fixed;
    this.file = file;
  }

  /** Certificates stand for the users that they name by a URI {@code tollgate:user:NAME}. */
  public static CertificateLogin byName() {
    return new CertificateLogin(CertificateMap.OF_NAMES, null);
  }

  /**
   * Certificates stand for the users that a file says.
   *
   * @param listener is told what becomes of the file when it has changed
   * @throws IOException if the file cannot be used
   */
  public static CertificateLogin byMap(Path file, TlsCredentials.Listener listener)
      throws IOException {
    return new CertificateLogin(
        null, new WatchedFile<>("the users of certificates", file, CertificateMap::read, listener));
  }

  private @Nullable CertificateMap map() {
    return file == null ? fixed : file.content();
  }

  /** True if a certificate can be a login. */
  public boolean isOn() {
    return map() != null;
  }

  /** The user of the client behind an engine; null if its certificate logs nobody in. */
  public @Nullable String userOf(SSLEngine engine) {
    CertificateMap current = map();
    X509Certificate shown = current == null ? null : TlsSocket.peerCertificate(engine);
    return current == null || shown == null ? null : current.user(shown);
  }

  /**
   * Says why the certificate of the client behind an engine logs nobody in although certificates
   * are logins; null if there is nothing to say.
   */
  @Nullable String refusalOf(SSLEngine engine) {
    CertificateMap current = map();
    X509Certificate shown = current == null ? null : TlsSocket.peerCertificate(engine);
    if (current == null || shown == null || current.user(shown) != null) {
      return null;
    }
    String strange = Certificates.strangeToUsers(shown);
    return "its certificate "
        + Certificates.describe(shown)
        + " logs nobody in: "
        + (strange != null
            ? strange
            : file == null
                ? "it has no name " + Certificates.USER + "NAME of type URI, or several"
                : "no line of " + file.file() + " makes one user of it");
  }

  /** Reads the file again if it has changed. Does I/O. */
  public void refresh() {
    if (file != null) {
      file.refresh();
    }
  }
}
