package dev.tollgate.node.admin;

import static java.util.Objects.requireNonNull;

import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsParameters;
import dev.tollgate.tls.CertificateDemand;
import dev.tollgate.tls.TlsCredentials;
import java.security.KeyManagementException;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLContextSpi;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLServerSocketFactory;
import javax.net.ssl.SSLSessionContext;
import javax.net.ssl.SSLSocketFactory;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;

/**
 * The TLS of the admin address: each connection gets an engine from the credentials of the node, so
 * it follows their files as the port for clients does.
 */
final class AdminTls extends HttpsConfigurator {
  private final TlsCredentials credentials;
  private final CertificateDemand demand;

  AdminTls(TlsCredentials credentials, CertificateDemand demand) {
    super(context(credentials, demand));
    this.credentials = requireNonNull(credentials, "credentials");
    this.demand = requireNonNull(demand, "demand");
  }

  /**
   * Gives the engine the parameters of an engine of the credentials. Left alone, the JDK's server
   * tells its engine not to ask for a certificate; told one by one, it takes "wanted" as false
   * after "needed" as true, and JSSE then asks for none.
   */
  @Override
  public void configure(HttpsParameters parameters) {
    parameters.setSSLParameters(
        credentials.serverEngine(demand, /* nodesOnly= */ false).getSSLParameters());
  }

  private static SSLContext context(TlsCredentials credentials, CertificateDemand demand) {
    try {
      SSLContext any = SSLContext.getInstance("TLS");
      any.init(null, null, null);
      return new FollowingContext(credentials, demand, any);
    } catch (NoSuchAlgorithmException | KeyManagementException e) {
      throw new IllegalStateException("this JDK has no TLS", e);
    }
  }

  private static final class FollowingContext extends SSLContext {
    FollowingContext(TlsCredentials credentials, CertificateDemand demand, SSLContext any) {
      super(new Engines(credentials, demand, any), any.getProvider(), any.getProtocol());
    }
  }

  /** Makes engines; the HTTP server asks for nothing else. */
  private static final class Engines extends SSLContextSpi {
    private final TlsCredentials credentials;
    private final CertificateDemand demand;
    private final SSLContext any;

    Engines(TlsCredentials credentials, CertificateDemand demand, SSLContext any) {
      this.credentials = requireNonNull(credentials, "credentials");
      this.demand = requireNonNull(demand, "demand");
      this.any = any;
    }

    @Override
    protected SSLEngine engineCreateSSLEngine() {
      return credentials.serverEngine(demand, /* nodesOnly= */ false);
    }

    @Override
    protected SSLEngine engineCreateSSLEngine(@Nullable String host, int port) {
      return engineCreateSSLEngine();
    }

    @Override
    protected void engineInit(
        KeyManager @Nullable [] keys,
        TrustManager @Nullable [] trust,
        @Nullable SecureRandom random) {
      throw new UnsupportedOperationException();
    }

    @Override
    protected SSLSocketFactory engineGetSocketFactory() {
      throw new UnsupportedOperationException();
    }

    @Override
    protected SSLServerSocketFactory engineGetServerSocketFactory() {
      throw new UnsupportedOperationException();
    }

    @Override
    protected SSLSessionContext engineGetServerSessionContext() {
      return any.getServerSessionContext();
    }

    @Override
    protected SSLSessionContext engineGetClientSessionContext() {
      return any.getClientSessionContext();
    }
  }
}
