package dev.tollgate.tls;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Clock;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import javax.net.ssl.KeyManager;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.TrustManager;
import org.jspecify.annotations.Nullable;

/**
 * The certificate of this side and what it trusts, which follow their files: a handshake uses what
 * the files had when they were last read without an error. Connections that are open live on.
 * Thread-safe.
 *
 * <p>An engine keeps the key with which it began, and checks by what is known when it checks.
 *
 * <p>Every engine has a context of its own, so no session is resumed. A resumed session would skip
 * the checks, and outlive the certificate that it was begun with.
 */
public final class TlsCredentials {
  private static final long CHECK_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Is told what becomes of changed files. */
  public interface Listener {
    /** The files were read again; a warning may follow. */
    void reloaded(String what);

    /** The files are in order, but an operator should know this. */
    void warned(String what);

    /** Changed files could not be used; said once for each cause. */
    void failed(String why);
  }

  private final TlsFiles files;
  private final TlsVersion minVersion;
  private final Listener listener;
  private final boolean bindable;
  private final ReentrantLock mutex = new ReentrantLock();
  private volatile TlsMaterial material;
  private volatile long checkedNanos;
  private String state;
  private @Nullable String failure;

  /**
   * Reads the files.
   *
   * @throws IOException if they cannot be used
   */
  public TlsCredentials(TlsFiles files, TlsVersion minVersion, Listener listener)
      throws IOException {
    this(files, minVersion, listener, /* bindable= */ false);
  }

  /**
   * Reads the files.
   *
   * @param bindable whether a certificate to which no login can be bound is refused, now and when
   *     the files change
   * @throws IOException if they cannot be used
   */
  public TlsCredentials(TlsFiles files, TlsVersion minVersion, Listener listener, boolean bindable)
      throws IOException {
    this.files = requireNonNull(files, "files");
    this.bindable = bindable;
    this.minVersion = requireNonNull(minVersion, "minVersion");
    this.listener = requireNonNull(listener, "listener");
    this.state = files.state();
    this.material = read();
    this.checkedNanos = System.nanoTime();
    warn(material);
  }

  private TlsMaterial read() throws IOException {
    TlsMaterial read = TlsMaterial.read(files);
    X509Certificate own = read.certificate();
    if (bindable && own != null && Certificates.serverEndPoint(own) == null) {
      throw new IOException(
          "the certificate "
              + Certificates.describe(own)
              + " is signed with "
              + own.getSigAlgName()
              + ", for which RFC 5929 defines no channel binding, so no login of a client could be"
              + " bound to it: have a CA with an RSA or an EC key issue it");
    }
    return read;
  }

  private void warn(TlsMaterial read) {
    read.warnings(Clock.systemUTC().instant()).forEach(listener::warned);
  }

  /** As {@link #refresh}, but only if the last check was a second ago. */
  public void refreshIfDue() {
    if (System.nanoTime() - checkedNanos >= CHECK_NANOS) {
      refresh();
    }
  }

  /** Reads the files again if one of them has changed. Does I/O. */
  public void refresh() {
    mutex.lock();
    try {
      checkedNanos = System.nanoTime();
      String now = files.state();
      if (now.equals(state) && failure == null) {
        return;
      }
      // the state before reading: a file that changes meanwhile is read again with the next check
      TlsMaterial read = read();
      material = read;
      state = now;
      failure = null;
      X509Certificate own = read.certificate();
      listener.reloaded(
          own == null
              ? "the trusted certificates were read again"
              : "new connections use the certificate "
                  + Certificates.describe(own)
                  + ", valid until "
                  + own.getNotAfter().toInstant());
      warn(read);
    } catch (IOException e) {
      String why = String.valueOf(e.getMessage());
      if (!why.equals(failure)) {
        failure = why;
        listener.failed(why);
      }
    } finally {
      mutex.unlock();
    }
  }

  /** The certificate of this side, or null. */
  public @Nullable X509Certificate certificate() {
    return material.certificate();
  }

  /** Why a certificate is revoked by what is known now, or null. */
  public @Nullable String revocation(X509Certificate shown) {
    return material.revocation(new X509Certificate[] {shown});
  }

  /** The oldest version of TLS that is spoken. */
  public TlsVersion minVersion() {
    return minVersion;
  }

  /**
   * An engine that accepts a connection.
   *
   * @param nodesOnly whether the other side has to be a node
   */
  public SSLEngine serverEngine(CertificateDemand demand, boolean nodesOnly) {
    TlsMaterial now = material;
    SSLEngine engine = context(now, new CheckingTrust(() -> material, nodesOnly)).createSSLEngine();
    engine.setUseClientMode(false);
    SSLParameters parameters = parameters(engine);
    switch (demand) {
      case NONE -> {}
      case WANTED -> parameters.setWantClientAuth(true);
      case REQUIRED -> parameters.setNeedClientAuth(true);
    }
    engine.setSSLParameters(parameters);
    return engine;
  }

  /** An engine that connects to a node as another node, and checks its host. */
  public SSLEngine peerEngine(String host, int port) {
    TlsMaterial now = material;
    return clientEngine(
        now, new CheckingTrust(() -> material, /* nodesOnly= */ true), host, port, true);
  }

  /** An engine that connects to a node as a client. */
  public SSLEngine clientEngine(TlsMode mode, String host, int port) {
    TlsMaterial now = material;
    boolean blind = mode == TlsMode.REQUIRE || mode == TlsMode.PREFER;
    return clientEngine(
        now,
        blind
            ? new CheckingTrust.Blind()
            : new CheckingTrust(() -> material, /* nodesOnly= */ false),
        host,
        port,
        mode == TlsMode.VERIFY_FULL);
  }

  private SSLEngine clientEngine(
      TlsMaterial now, TrustManager trust, String host, int port, boolean checksHost) {
    SSLEngine engine = context(now, trust).createSSLEngine(host, port);
    engine.setUseClientMode(true);
    SSLParameters parameters = parameters(engine);
    if (checksHost) {
      // RFC 2818: what the certificate says of hosts is compared with the host of the engine
      parameters.setEndpointIdentificationAlgorithm("HTTPS");
    }
    engine.setSSLParameters(parameters);
    return engine;
  }

  private SSLParameters parameters(SSLEngine engine) {
    SSLParameters parameters = engine.getSSLParameters();
    parameters.setProtocols(minVersion.protocols().toArray(String[]::new));
    return parameters;
  }

  private static SSLContext context(TlsMaterial now, TrustManager trust) {
    try {
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(new KeyManager[] {now.keyManager()}, new TrustManager[] {trust}, null);
      return context;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this JDK has no TLS", e);
    }
  }
}
