package dev.tollgate.node.login;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.util.Collection;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManagerFactory;

/** Servers with certificates of the CAs in a file. */
final class TrustedServers {
  private TrustedServers() {}

  /**
   * What makes connections to these servers with TLS; the name in a certificate is not compared.
   *
   * @param trust file with certificates of CAs, PEM
   * @throws IOException if the file cannot be used
   */
  static SSLSocketFactory sockets(Path trust) throws IOException {
    try (InputStream in = Files.newInputStream(trust)) {
      Collection<? extends Certificate> certificates =
          CertificateFactory.getInstance("X.509").generateCertificates(in);
      if (certificates.isEmpty()) {
        throw new IOException(trust + " has no certificate");
      }
      KeyStore store = KeyStore.getInstance("PKCS12");
      store.load(null, null);
      for (Certificate certificate : certificates) {
        store.setCertificateEntry("ca" + store.size(), certificate);
      }
      TrustManagerFactory managers =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      managers.init(store);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(null, managers.getTrustManagers(), null);
      return context.getSocketFactory();
    } catch (GeneralSecurityException e) {
      throw new IOException(trust + " has no usable certificates: " + e.getMessage(), e);
    }
  }
}
