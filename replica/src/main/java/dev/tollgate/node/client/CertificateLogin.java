package dev.tollgate.node.client;

import static java.util.Objects.requireNonNull;

import dev.tollgate.tls.Certificates;
import dev.tollgate.tls.TlsCredentials;
import dev.tollgate.tls.TlsSocket;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.security.cert.X509Certificate;
import javax.net.ssl.SSLEngine;
import org.jspecify.annotations.Nullable;

/**
 * Whether clients log in by certificate, and as which users. The one place that decides it for the
 * port for clients and for the admin address. The map follows its file. Thread-safe.
 */
public final class CertificateLogin {
  /** Nobody logs in by certificate. */
  public static final CertificateLogin OFF =
      new CertificateLogin(/* map= */ null, /* file= */ null, "", /* listener= */ null);

  private final @Nullable Path file;
  private final TlsCredentials.@Nullable Listener listener;
  private volatile @Nullable CertificateMap map;
  private String state;
  private @Nullable String failure;

  private CertificateLogin(
      @Nullable CertificateMap map,
      @Nullable Path file,
      String state,
      TlsCredentials.@Nullable Listener listener) {
    this.map = map;
    this.file = file;
    this.state = state;
    this.listener = listener;
  }

  /** Certificates stand for the users that they name by a URI {@code tollgate:user:NAME}. */
  public static CertificateLogin byName() {
    return new CertificateLogin(CertificateMap.OF_NAMES, null, "", null);
  }

  /**
   * Certificates stand for the users that a file says.
   *
   * @param listener is told what becomes of the file when it has changed
   * @throws IOException if the file cannot be used
   */
  public static CertificateLogin byMap(Path file, TlsCredentials.Listener listener)
      throws IOException {
    requireNonNull(listener, "listener");
    String state = state(file);
    return new CertificateLogin(CertificateMap.read(file), file, state, listener);
  }

  /** True if a certificate can be a login. */
  public boolean isOn() {
    return map != null;
  }

  /** The user of the client behind an engine; null if its certificate logs nobody in. */
  public @Nullable String userOf(SSLEngine engine) {
    CertificateMap current = map;
    X509Certificate shown = current == null ? null : TlsSocket.peerCertificate(engine);
    return current == null || shown == null ? null : current.user(shown);
  }

  /**
   * Says why the certificate of the client behind an engine logs nobody in although certificates
   * are logins; null if there is nothing to say.
   */
  @Nullable String refusalOf(SSLEngine engine) {
    CertificateMap current = map;
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
                : "no line of " + file + " makes one user of it");
  }

  /** Reads the file again if it has changed. Does I/O. */
  public synchronized void refresh() {
    Path read = file;
    TlsCredentials.Listener told = listener;
    if (read == null || told == null) {
      return;
    }
    try {
      String now = state(read);
      if (now.equals(state) && failure == null) {
        return;
      }
      map = CertificateMap.read(read);
      state = now;
      failure = null;
      told.reloaded("the users of certificates were read again from " + read);
    } catch (IOException e) {
      String why = "the users of certificates: " + e.getMessage();
      if (!why.equals(failure)) {
        failure = why;
        told.failed(why);
      }
    }
  }

  private static String state(Path file) throws IOException {
    BasicFileAttributes now = Files.readAttributes(file, BasicFileAttributes.class);
    return now.lastModifiedTime() + "," + now.size() + "," + now.fileKey();
  }
}
