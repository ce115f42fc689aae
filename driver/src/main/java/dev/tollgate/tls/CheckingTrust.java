package dev.tollgate.tls;

import java.net.Socket;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.function.Supplier;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.X509ExtendedTrustManager;
import org.jspecify.annotations.Nullable;

/**
 * The checks of the JDK (issuer, dates, use, and the host if the engine says so), then revocation,
 * and whether the certificate is that of a node.
 */
final class CheckingTrust extends X509ExtendedTrustManager {
  private final Supplier<TlsMaterial> material;
  private final boolean nodesOnly;

  CheckingTrust(Supplier<TlsMaterial> material, boolean nodesOnly) {
    this.material = material;
    this.nodesOnly = nodesOnly;
  }

  private void check(TlsMaterial now, X509Certificate[] chain) throws CertificateException {
    String revoked = now.revocation(chain);
    if (revoked != null) {
      throw new CertificateException(revoked);
    }
    String strange = nodesOnly ? Certificates.strangeToNodes(chain[0]) : null;
    if (strange != null) {
      throw new CertificateException(
          Certificates.describe(chain[0]) + " is not the certificate of a node: " + strange);
    }
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String kind, @Nullable SSLEngine engine)
      throws CertificateException {
    TlsMaterial now = material.get();
    now.issuers().checkClientTrusted(chain, kind, engine);
    check(now, chain);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String kind, @Nullable SSLEngine engine)
      throws CertificateException {
    TlsMaterial now = material.get();
    now.issuers().checkServerTrusted(chain, kind, engine);
    check(now, chain);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String kind, @Nullable Socket socket)
      throws CertificateException {
    TlsMaterial now = material.get();
    now.issuers().checkClientTrusted(chain, kind, socket);
    check(now, chain);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String kind, @Nullable Socket socket)
      throws CertificateException {
    TlsMaterial now = material.get();
    now.issuers().checkServerTrusted(chain, kind, socket);
    check(now, chain);
  }

  @Override
  public void checkClientTrusted(X509Certificate[] chain, String kind) throws CertificateException {
    TlsMaterial now = material.get();
    now.issuers().checkClientTrusted(chain, kind);
    check(now, chain);
  }

  @Override
  public void checkServerTrusted(X509Certificate[] chain, String kind) throws CertificateException {
    TlsMaterial now = material.get();
    now.issuers().checkServerTrusted(chain, kind);
    check(now, chain);
  }

  @Override
  public X509Certificate[] getAcceptedIssuers() {
    return material.get().issuers().getAcceptedIssuers();
  }

  /** Checks nothing, for clients that say so. */
  static final class Blind extends X509ExtendedTrustManager {
    @Override
    public void checkClientTrusted(X509Certificate[] chain, String kind) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String kind) {}

    @Override
    public void checkClientTrusted(X509Certificate[] chain, String kind, @Nullable Socket socket) {}

    @Override
    public void checkServerTrusted(X509Certificate[] chain, String kind, @Nullable Socket socket) {}

    @Override
    public void checkClientTrusted(
        X509Certificate[] chain, String kind, @Nullable SSLEngine engine) {}

    @Override
    public void checkServerTrusted(
        X509Certificate[] chain, String kind, @Nullable SSLEngine engine) {}

    @Override
    public X509Certificate[] getAcceptedIssuers() {
      return new X509Certificate[0];
    }
  }
}
